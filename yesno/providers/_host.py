"""What every host that speaks OpenAI's Chat Completions at an address of its own has in common.

Addresses and key variables are those of the vendors' documentation, or where that was not at hand of pydantic-ai's
`providers/*.py` (2026-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from yesno.errors import ConfigError
from yesno.providers._openai_chat_sdk import ChatSDK
from yesno.providers._openai_sdk import NO_KEY
from yesno.providers._replies import checked_address
from yesno.providers.profiles import profile_for
from yesno.settings import Settings

if TYPE_CHECKING:
    import httpx2

__all__ = ["Host"]


class Host(ChatSDK):
    """One host. A subclass names it; the facts about its models are rows in `profiles.py`.

    Args:
        model: The name that the host knows the model by.
        api_key: By default the variable `key_variable`; `OPENAI_API_KEY` is never sent to another host.
        base_url: By default `home`.
        http_client, async_http_client: Clients of your own, for proxies or tests.

    Raises:
        ConfigError: There is no key where one is needed, no model is named, or the address is not one.
    """

    title: ClassVar[str]
    """The host's name as it writes it."""
    home: ClassVar[str] = ""
    """Where it is, with the version; empty where everybody has an address of their own."""
    key_variable: ClassVar[str]
    """The vendor's own variable for a key."""
    needs_key: ClassVar[bool] = True
    example: ClassVar[str]
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
        settings = Settings.from_env()
        if not model:
            raise ConfigError(f"name a model, such as '{self.name}:{self.example}'")
        key = api_key or settings.keys.get(self.key_variable)
        if not key and self.needs_key:
            raise ConfigError(
                f"there is no key for {self.title}; set {self.key_variable} or pass api_key=..."
            )
        super().__init__(
            model,
            api_key=key or NO_KEY,
            base_url=checked_address(self._address(base_url, settings)),
            profile=profile_for(self.name, model),
            http_client=http_client,
            async_http_client=async_http_client,
        )

    @property
    def address(self) -> str | None:
        """The address, when it is not the host's own."""
        return None if self._base_url == self.home else self._place

    def _address(self, base_url: str | None, settings: Settings) -> str:
        return base_url or self.home

    def _key_hint(self) -> str:
        return f"; check {self.key_variable} and what the key may use"
