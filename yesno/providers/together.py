"""Together's hosted models."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["Together"]


class Together(Host):
    """Models hosted by Together; alternatives come as tables keyed by text, and answers are then flagged `lossy`."""

    name: ClassVar[str] = "together"
    title: ClassVar[str] = "Together"
    home: ClassVar[str] = "https://api.together.xyz/v1"
    key_variable: ClassVar[str] = "TOGETHER_API_KEY"
    example: ClassVar[str] = "Qwen/Qwen3-235B-A22B-Instruct-2507-tput"
