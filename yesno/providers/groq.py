"""Groq's hosted models."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["Groq"]


class Groq(Host):
    """Models hosted by Groq, none of which is known to give log-probabilities: answers are sampled."""

    name: ClassVar[str] = "groq"
    title: ClassVar[str] = "Groq"
    home: ClassVar[str] = "https://api.groq.com/openai/v1"
    key_variable: ClassVar[str] = "GROQ_API_KEY"
    example: ClassVar[str] = "openai/gpt-oss-20b"
