"""A llama.cpp server of your own."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["LlamaCpp"]


class LlamaCpp(Host):
    """A `llama-server`, by default on this machine; without a key a placeholder is sent."""

    name: ClassVar[str] = "llamacpp"
    title: ClassVar[str] = "llama.cpp"
    home: ClassVar[str] = "http://localhost:8080/v1"
    key_variable: ClassVar[str] = "LLAMA_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "qwen3"
