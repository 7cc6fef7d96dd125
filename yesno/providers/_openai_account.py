"""What the routes of OpenAI itself have in common: an account and its key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from yesno.errors import ConfigError
from yesno.providers._openai_sdk import OpenAISDK
from yesno.providers.profiles import profile_for
from yesno.settings import Settings

if TYPE_CHECKING:
    import httpx2

__all__ = ["OpenAIAccount"]

KEY = "OPENAI_API_KEY"


class OpenAIAccount(OpenAISDK):
    """A route of OpenAI; mixed in before the class that speaks it.

    Args:
        model: The model's name.
        api_key: By default `OPENAI_API_KEY`.
        base_url: By default the SDK's own.
        http_client, async_http_client: Clients of your own, for proxies or tests.

    Raises:
        ConfigError: There is no key, or no model is named.
    """

    openai_account: ClassVar[bool] = True
    example: ClassVar[str] = "gpt-5.4-mini"
    """A model's name, for an error message."""

    def __init__(
        self,
        model: str = "",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        if not model:
            raise ConfigError(f"name a model, such as '{self.name}:{self.example}'")
        key = api_key or Settings.from_env().keys.get(KEY)
        if not key:
            raise ConfigError(f"there is no key for OpenAI; set {KEY} or pass api_key=...")
        super().__init__(
            model,
            api_key=key,
            base_url=base_url,
            profile=profile_for(self.name, model),
            http_client=http_client,
            async_http_client=async_http_client,
        )

    def _key_hint(self) -> str:
        return f"; check {KEY} and what the key may use"
