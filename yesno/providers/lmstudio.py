"""LM Studio's server."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["LMStudio"]


class LMStudio(Host):
    """LM Studio, by default on this machine. Its chat route is not known to give log-probabilities: answers are sampled."""

    name: ClassVar[str] = "lmstudio"
    title: ClassVar[str] = "LM Studio"
    home: ClassVar[str] = "http://localhost:1234/v1"
    key_variable: ClassVar[str] = "LM_API_TOKEN"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "google/gemma-3-4b"
