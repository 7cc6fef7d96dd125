"""A vLLM server of your own."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._host import Host

__all__ = ["VLLM"]


class VLLM(Host):
    """A vLLM server, by default on this machine.

    Its `logprob_token_ids`, which reads exact tokens instead of the most probable, is not used: it takes the
    numbers of tokens, and those need the model's tokenizer.
    """

    name: ClassVar[str] = "vllm"
    title: ClassVar[str] = "vLLM"
    home: ClassVar[str] = "http://localhost:8000/v1"
    key_variable: ClassVar[str] = "VLLM_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "Qwen/Qwen3-8B"
