"""Any server that speaks OpenAI's Chat Completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from yesno.errors import ConfigError
from yesno.providers._openai_chat_sdk import ChatSDK
from yesno.providers._openai_sdk import NO_KEY
from yesno.providers.profiles import profile_for
from yesno.settings import Settings

if TYPE_CHECKING:
    import httpx2

__all__ = ["OpenAICompatible"]

KEY = "OPENAI_COMPATIBLE_API_KEY"


class OpenAICompatible(ChatSDK):
    """vLLM, SGLang, llama.cpp, LM Studio and other servers with OpenAI's chat route.

    Args:
        model: The name that the server knows the model by.
        base_url: Its address with the version, such as `http://127.0.0.1:8000/v1`; by default `YESNO_BASE_URL`.
        api_key: By default `OPENAI_COMPATIBLE_API_KEY`; without it a placeholder is sent. `OPENAI_API_KEY`
            is never sent to another server.
        http_client, async_http_client: Clients of your own, for proxies or tests.

    Raises:
        ConfigError: No model or no address is named, or the address is not one.
    """

    name: ClassVar[str] = "openai-compatible"

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        settings = Settings.from_env()
        address = base_url or settings.base_url
        if not model:
            raise ConfigError("name a model, such as 'openai-compatible:qwen3'")
        if not address:
            raise ConfigError(
                "an OpenAI-compatible server needs its address; pass base_url= or set YESNO_BASE_URL"
            )
        if not address.startswith(("http://", "https://")):
            raise ConfigError(f"the address {address!r} must begin with http:// or https://")
        super().__init__(
            model,
            api_key=api_key or settings.keys.get(KEY) or NO_KEY,
            base_url=address.rstrip("/"),
            profile=profile_for(self.name, model),
            http_client=http_client,
            async_http_client=async_http_client,
        )
