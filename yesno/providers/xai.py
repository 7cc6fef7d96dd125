"""xAI's hosted models."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["XAI"]


class XAI(Host):
    """Models hosted by xAI; reasoning models give no log-probabilities."""

    name: ClassVar[str] = "xai"
    title: ClassVar[str] = "xAI"
    home: ClassVar[str] = "https://api.x.ai/v1"
    key_variable: ClassVar[str] = "XAI_API_KEY"
    example: ClassVar[str] = "grok-4.3"
