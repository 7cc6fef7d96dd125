"""Any server that speaks OpenAI's Chat Completions."""

from __future__ import annotations

from typing import ClassVar

from yesno.errors import ConfigError
from yesno.providers._host import Host
from yesno.settings import Settings

__all__ = ["OpenAICompatible"]


class OpenAICompatible(Host):
    """vLLM, SGLang, llama.cpp, LM Studio and other servers with OpenAI's chat route.

    The address, with the version, such as `http://127.0.0.1:8000/v1`, is `base_url` or `YESNO_BASE_URL`. Without a key
    a placeholder is sent.
    """

    name: ClassVar[str] = "openai-compatible"
    title: ClassVar[str] = "the server"
    key_variable: ClassVar[str] = "OPENAI_COMPATIBLE_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "qwen3"

    def _address(self, base_url: str | None, settings: Settings) -> str:
        address = base_url or settings.base_url
        if not address:
            raise ConfigError(
                "an OpenAI-compatible server needs its address; pass base_url= or set YESNO_BASE_URL"
            )
        return address

    def _key_hint(self) -> str:
        return f"; check the API key: api_key= or {self.key_variable}"
