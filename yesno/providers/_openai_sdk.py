"""What every provider behind the official `openai` SDK has in common.

The SDK does keys, addresses, headers and errors. Retries are the engine's, so the clients have none.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from yesno.errors import ProviderError, ProviderUnavailable
from yesno.providers._openai_errors import broke_off
from yesno.providers._replies import object_of, place_of
from yesno.providers._status import NO_KEY, status_error
from yesno.providers.base import Payload, Provider
from yesno.providers.profiles import Profile

if TYPE_CHECKING:
    import httpx2
    import openai

    from yesno.providers._aio import AioPoster
    from yesno.providers._posting import Poster

__all__ = ["NO_KEY", "OpenAISDK"]

_OPTIONS: Any = {"idempotency_key": "unused", "follow_redirects": False}
"""The SDK would draw 16 random bytes per request for a header that it does not send (openai 3.57.0), and take the
key wherever a server sends it."""


@dataclass(frozen=True, slots=True)
class _AsyncSide:
    """What belongs to one event loop."""

    loop: asyncio.AbstractEventLoop
    client: openai.AsyncOpenAI
    poster: AioPoster | None
    """None when the caller brought an HTTP client, which then has to be used."""


class OpenAISDK(Provider):
    """One route of the official SDK. Subclasses give `path`, `build`, `parse` and `adapt`."""

    path: str
    """The route below the base address."""
    parameters: ClassVar[tuple[str, ...]]
    """Names of request fields that an error may be about."""
    vendor_host: ClassVar[str] = "api.openai.com"
    """Where the SDK posts to when no address is given."""
    openai_account: ClassVar[bool] = False
    """Whether the host is OpenAI, which may be told the caller's organization, project and headers for it."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None,
        profile: Profile,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.model = model
        self.profile = profile
        self._api_key = api_key
        self._base_url = base_url
        self._http_client = http_client
        self._async_http_client = async_http_client
        self._async_sides: dict[int, _AsyncSide] = {}
        self._lock = threading.Lock()

    @property
    def address(self) -> str | None:
        """The server's address, when it is not the vendor's own."""
        return None if self._base_url is None else self._place

    @property
    def server(self) -> str | None:
        """The server's address."""
        return self._place

    @property
    def cancellable(self) -> bool:
        """Whether both sides go the same way: not when only the blocking one has a client of the caller's."""
        return self._http_client is None or self._async_http_client is not None

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Post one body as the SDK would."""
        return self._post(payload, self._route(payload), timeout_s)

    async def asend(self, payload: Payload) -> Payload:
        """Post one body as the SDK would, awaited; through the SDK itself when the caller brought a client."""
        return await self._apost(payload, self._route(payload))

    def _post(self, payload: Payload, route: str, timeout_s: float | None) -> Payload:
        response = self._poster.post(payload, timeout_s, route)
        return self._json(response.status_code, response.content)

    async def _apost(self, payload: Payload, route: str) -> Payload:
        side = self._async_side()
        if side.poster is not None:
            return self._json(*await side.poster.post(payload, route))
        import httpx2

        response = await side.client.post(route, body=payload, cast_to=httpx2.Response, options=_OPTIONS)
        return self._json(response.status_code, response.content)

    def classify(self, error: Exception) -> ProviderError | None:
        """Name the SDK's errors; a message that quotes the prompt or the key is left out."""
        sdk = self._sdk()
        if isinstance(error, sdk.APIStatusError):
            return self._status_error(cast("openai.APIStatusError", error))
        if isinstance(error, sdk.APITimeoutError):
            return ProviderUnavailable(f"{self._place} did not answer in time", provider=self.name)
        if isinstance(error, sdk.APIConnectionError) and broke_off(error.__cause__):
            return ProviderUnavailable(
                f"the reply of {self._place} broke off or cannot be decoded", provider=self.name
            )
        if isinstance(error, sdk.APIConnectionError):
            away = ProviderUnavailable(
                f"cannot reach {self._place}; check that the server runs and the address is right",
                provider=self.name,
            )
            away.reached = False
            return away
        return error if isinstance(error, ProviderError) else None

    def secrets(self) -> tuple[str, ...]:
        """Return the key."""
        return () if self._api_key == NO_KEY else (self._api_key,)

    def close(self) -> None:
        """Close the connections of the synchronous side; a client of the caller's stays open."""
        self.__dict__.pop("_poster", None)
        own = self.__dict__.pop("_own_http", None)
        if own is not None:
            own.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop; a client of the caller's stays open."""
        self.close()
        side = self._async_sides.pop(id(asyncio.get_running_loop()), None)
        if side is None:
            return
        if side.poster is not None:
            await side.poster.close()
        if self._async_http_client is None:
            await side.client.close()

    def _route(self, payload: Payload) -> str:
        """Return where a body goes: a route below the base address, or a whole address."""
        return self.path

    @property
    def _place(self) -> str:
        if self._base_url is None:
            return self.vendor_host
        return place_of(self._base_url)

    def _sdk(self) -> Any:  # noqa: ANN401 - a module; both vendors' SDKs come from one generator
        """Import the SDK: `openai`, or one with the same names for its errors."""
        import openai

        return openai

    def _new_client(self, http: httpx2.Client) -> Any:  # noqa: ANN401 - the SDK's own
        return self._sdk().OpenAI(
            api_key=self._api_key, base_url=self._base_url, max_retries=0, http_client=http
        )

    def _new_async_client(self) -> Any:  # noqa: ANN401 - the SDK's own
        return self._sdk().AsyncOpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            http_client=self._async_http_client,
        )

    def _new_poster(self, client: Any) -> AioPoster | None:  # noqa: ANN401 - the SDK's own
        """Return a faster way to post; None where the SDK's own is used."""
        if self._async_http_client is not None:
            return None
        from yesno.providers._aio import AioPoster

        return AioPoster(client, self.path)

    @cached_property
    def _own_http(self) -> httpx2.Client:
        import httpx2

        from yesno.providers._posting import limits

        return httpx2.Client(limits=limits())

    @cached_property
    def _poster(self) -> Poster:
        from yesno.providers._posting import Poster

        http = self._own_http if self._http_client is None else self._http_client
        return Poster(self._own(self._new_client(http)), self.path, http, self._sdk())

    def _async_side(self) -> _AsyncSide:
        loop = asyncio.get_running_loop()
        held = self._async_sides.get(id(loop))
        if held is not None and held.loop is loop:
            return held
        client = self._own(self._new_async_client())
        side = _AsyncSide(loop, client, self._new_poster(client))
        with self._lock:
            self._async_sides = {k: v for k, v in self._async_sides.items() if not v.loop.is_closed()}
            self._async_sides[id(loop)] = side
        return side

    def _own(self, client: Any) -> Any:  # noqa: ANN401 - the SDK's own
        """Take out what the SDK found in OpenAI's variables, where the host is another one.

        `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS` become headers of every client
        (openai 3.57.0, `lib/_client_auth.py`; 2026-11).
        """
        if not self.openai_account:
            client.organization = client.project = None
            client._custom_headers = {}
        return client

    def _json(self, status: int, content: bytes) -> Payload:
        return object_of(status, content, place=self._place, provider=self.name)

    def _status_error(self, error: openai.APIStatusError) -> ProviderError:
        return status_error(
            error.body,
            provider=self.name,
            place=self._place,
            model=self.model,
            status=error.status_code,
            headers=error.response.headers,
            sent=error.request.content,
            parameters=self.parameters,
            key=self._api_key,
            key_hint=self._key_hint(),
            named=self._named,
        )

    def _named(self, message: str, param: str | None) -> str | None:
        """Return the request field that an error is about."""
        raise NotImplementedError

    def _key_hint(self) -> str:
        return "; check the API key"
