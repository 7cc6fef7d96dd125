"""DeepSeek's hosted models, asked without thinking."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["DeepSeek"]


class DeepSeek(Host):
    """Models hosted by DeepSeek; thinking, which hides log-probabilities, is turned off."""

    name: ClassVar[str] = "deepseek"
    title: ClassVar[str] = "DeepSeek"
    home: ClassVar[str] = "https://api.deepseek.com"
    key_variable: ClassVar[str] = "DEEPSEEK_API_KEY"
    example: ClassVar[str] = "deepseek-flash"
