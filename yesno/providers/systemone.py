"""TypeSafe's System One, and the servers that speak it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from yesno.errors import ConfigError
from yesno.evidence import Reply
from yesno.providers._native import DecisionSDK
from yesno.providers._openai_sdk import NO_KEY
from yesno.providers.profiles import SYSTEM_ONE_HOSTS, profile_for
from yesno.request import DecisionRequest
from yesno.settings import Settings
from yesno.wire.decisions import Limits
from yesno.wire.systemone import Dialect, decode_response, encode_request

if TYPE_CHECKING:
    import httpx2

__all__ = ["SystemOne"]


class SystemOne(DecisionSDK):
    """`POST /v1/systemone`: all questions about an input in one request, answered with probabilities.

    Args:
        model: Such as `jev-latest`.
        dialect: Whose System One it is, a row of `SYSTEM_ONE_HOSTS` such as `openrouter`, `perplexity` or
            `ollama`: it gives the address, the route, the key's variable and the limits.
        api_key: By default the vendor's variable (`TYPESAFE_API_KEY`), but only for the vendor's own address.
        base_url: Root of another server, without the route, such as `http://127.0.0.1:8000`.
        path: Its route, where it is not the dialect's.
        http_client, async_http_client: Clients of your own, for proxies or tests.

    Raises:
        ConfigError: No model is named, the dialect is unknown, or an address or a key is missing.
    """

    name: ClassVar[str] = "systemone"

    def __init__(
        self,
        model: str = "",
        *,
        dialect: str = "typesafe",
        api_key: str | None = None,
        base_url: str | None = None,
        path: str | None = None,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        if not model:
            raise ConfigError("name a model, such as 'systemone:jev-latest'")
        if dialect not in SYSTEM_ONE_HOSTS:
            known = ", ".join(sorted(SYSTEM_ONE_HOSTS))
            raise ConfigError(f"there is no dialect {dialect!r} of System One; known are {known}")
        host = SYSTEM_ONE_HOSTS[dialect]
        address = base_url or host.base_url
        if not address.startswith(("http://", "https://")):
            raise ConfigError(
                f"System One of {dialect!r} needs an address that begins with http:// or https://; pass base_url="
            )
        if not (path or host.path):
            raise ConfigError(f"System One of {dialect!r} needs its route; pass path=")
        self._host = host
        limits = Limits(host.max_questions, host.max_options, host.max_levels)
        self._dialect = Dialect(limits, state=host.state, sparse=host.sparse)
        self.path = path or host.path
        super().__init__(
            model,
            api_key=api_key or self._key(address),
            base_url=address.rstrip("/"),
            profile=profile_for(self.name, model),
            http_client=http_client,
            async_http_client=async_http_client,
        )

    def _key(self, address: str) -> str:
        """Return the vendor's key for the vendor's address; another server never gets it."""
        host = self._host
        if not host.key or urlsplit(address)[:2] != urlsplit(host.base_url)[:2]:
            return NO_KEY
        key = Settings.from_env().keys.get(host.key)
        if not key:
            raise ConfigError(f"there is no key for {host.base_url}; set {host.key} or pass api_key=...")
        return key

    def _encoded(self, request: DecisionRequest, model: str) -> dict[str, Any]:
        return encode_request(request, model=model, dialect=self._dialect)

    def _decoded(self, request: DecisionRequest, body: Mapping[str, Any]) -> Reply:
        return decode_response(request, body, dialect=self._dialect)

    def _key_hint(self) -> str:
        return f"; check {self._host.key or 'api_key='} and what the key may use"
