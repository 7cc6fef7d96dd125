"""The Gemini API behind its OpenAI-compatible route."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["GeminiCompat"]


class GeminiCompat(Host):
    """Gemini through Chat Completions, which is not known to give log-probabilities: answers are sampled.

    The provider `gemini` speaks Google's own protocol, which has them for some models.
    """

    name: ClassVar[str] = "gemini-compat"
    title: ClassVar[str] = "Gemini"
    home: ClassVar[str] = "https://generativelanguage.googleapis.com/v1beta/openai"
    key_variable: ClassVar[str] = "GEMINI_API_KEY"
    example: ClassVar[str] = "gemini-2.5-flash"
