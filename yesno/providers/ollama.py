"""Ollama's server."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["Ollama"]


class Ollama(Host):
    """Ollama, by default on this machine; its hosted service is not known to give log-probabilities."""

    name: ClassVar[str] = "ollama"
    title: ClassVar[str] = "Ollama"
    home: ClassVar[str] = "http://localhost:11434/v1"
    key_variable: ClassVar[str] = "OLLAMA_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "qwen3"
