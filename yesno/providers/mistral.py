"""Mistral's hosted models."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["Mistral"]


class Mistral(Host):
    """Models hosted by Mistral, none of which is known to give log-probabilities: answers are sampled."""

    name: ClassVar[str] = "mistral"
    title: ClassVar[str] = "Mistral"
    home: ClassVar[str] = "https://api.mistral.ai/v1"
    key_variable: ClassVar[str] = "MISTRAL_API_KEY"
    example: ClassVar[str] = "mistral-small-latest"
