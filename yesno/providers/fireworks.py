"""Fireworks' hosted models."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["Fireworks"]


class Fireworks(Host):
    """Models hosted by Fireworks; which of them have log-probabilities differs."""

    name: ClassVar[str] = "fireworks"
    title: ClassVar[str] = "Fireworks"
    home: ClassVar[str] = "https://api.fireworks.ai/inference/v1"
    key_variable: ClassVar[str] = "FIREWORKS_API_KEY"
    example: ClassVar[str] = "accounts/fireworks/models/NAME"
