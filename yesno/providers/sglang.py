"""An SGLang server of your own."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["SGLang"]


class SGLang(Host):
    """An SGLang server, by default on this machine.

    Its log-probabilities may cover the reasoning span too (sgl-project/sglang issue 25055; 2026-11): the answer is
    found by its text. `systemone` with `dialect="sglang"` asks its decision endpoint.
    SGLang documents no variable for its key (2026-11); the name is the one that several of its clients use.
    """

    name: ClassVar[str] = "sglang"
    title: ClassVar[str] = "SGLang"
    home: ClassVar[str] = "http://localhost:30000/v1"
    key_variable: ClassVar[str] = "SGLANG_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "Qwen/Qwen3-8B"
