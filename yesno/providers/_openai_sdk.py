"""What every provider behind the official `openai` SDK has in common.

The SDK does keys, addresses, headers and errors. Retries are the engine's, so the clients have none.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.providers._openai_errors import (
    NO_QUOTA,
    allowance,
    broke_off,
    details,
    quotes,
    retry_after,
    should_retry,
)
from yesno.providers.base import Payload, Provider
from yesno.providers.profiles import Profile

if TYPE_CHECKING:
    import httpx2
    import openai

    from yesno.providers._aio import AioPoster

__all__ = ["OpenAISDK"]

NO_KEY = "none"
"""What the SDK is given in place of a key where a server needs none."""
QUOTED = "(the server's message quotes the prompt and is left out)"
_OPTIONS: Any = {"idempotency_key": "unused"}
"""The SDK would draw 16 random bytes per request for a header that it does not send (openai 3.57.0)."""

_Client = TypeVar("_Client", "openai.OpenAI", "openai.AsyncOpenAI")


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

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Post one body through the SDK."""
        import httpx2

        from yesno.providers._whole import whole

        options = dict(_OPTIONS) if timeout_s is None else {**_OPTIONS, "timeout": timeout_s}
        end = None if timeout_s is None else time.monotonic() + timeout_s
        post: Any = self._client.post  # its types want a reader of events for `stream`
        response: httpx2.Response = post(
            self.path, body=payload, cast_to=httpx2.Response, options=options, stream=True
        )
        return self._json(response.status_code, whole(response, end))

    async def asend(self, payload: Payload) -> Payload:
        """Post one body as the SDK would, awaited; through the SDK itself when the caller brought a client."""
        side = self._async_side()
        if side.poster is not None:
            return self._json(*await side.poster.post(payload))
        import httpx2

        response = await side.client.post(self.path, body=payload, cast_to=httpx2.Response, options=_OPTIONS)
        return self._json(response.status_code, response.content)

    def classify(self, error: Exception) -> ProviderError | None:
        """Name the SDK's errors; a message that quotes the prompt or the key is left out."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._status_error(error)
        if isinstance(error, openai.APITimeoutError):
            return ProviderUnavailable(f"{self._place} did not answer in time", provider=self.name)
        if isinstance(error, openai.APIConnectionError) and broke_off(error.__cause__):
            return ProviderUnavailable(
                f"the reply of {self._place} broke off or cannot be decoded", provider=self.name
            )
        if isinstance(error, openai.APIConnectionError):
            return ProviderUnavailable(
                f"cannot reach {self._place}; check that the server runs and the address is right",
                provider=self.name,
            )
        return error if isinstance(error, ProviderError) else None

    def secrets(self) -> tuple[str, ...]:
        """Return the key."""
        return () if self._api_key == NO_KEY else (self._api_key,)

    def close(self) -> None:
        """Close the connections of the synchronous side."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        self.close()
        side = self._async_sides.pop(id(asyncio.get_running_loop()), None)
        if side is not None:
            if side.poster is not None:
                await side.poster.close()
            await side.client.close()

    @property
    def _place(self) -> str:
        if self._base_url is None:
            return "api.openai.com"
        scheme, slashes, rest = self._base_url.partition("//")
        host, slash, path = rest.partition("/")
        return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        return self._own(
            openai.OpenAI(
                api_key=self._api_key, base_url=self._base_url, max_retries=0, http_client=self._http_client
            )
        )

    def _async_side(self) -> _AsyncSide:
        loop = asyncio.get_running_loop()
        held = self._async_sides.get(id(loop))
        if held is not None and held.loop is loop:
            return held
        import openai

        from yesno.providers._aio import AioPoster

        client = self._own(
            openai.AsyncOpenAI(
                api_key=self._api_key,
                base_url=self._base_url,
                max_retries=0,
                http_client=self._async_http_client,
            )
        )
        side = _AsyncSide(
            loop, client, AioPoster(client, self.path) if self._async_http_client is None else None
        )
        with self._lock:
            self._async_sides = {k: v for k, v in self._async_sides.items() if not v.loop.is_closed()}
            self._async_sides[id(loop)] = side
        return side

    def _own(self, client: _Client) -> _Client:
        """Take out what the SDK found in OpenAI's variables, where the host is another one.

        `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS` become headers of every client
        (openai 3.57.0, `lib/_client_auth.py`; 2026-11).
        """
        if not self.openai_account:
            client.organization = client.project = None
            client._custom_headers = {}
        return client

    def _json(self, status: int, content: bytes) -> Payload:
        try:
            body = json.loads(content)
        except ValueError as error:
            raise UnreadableReply(
                f"{self._place} answered {status} with something that is not JSON",
                provider=self.name,
                status=status,
                retryable=True,  # a page of a proxy, or a body cut short: the next one may be whole
            ) from error
        if not isinstance(body, dict):
            raise UnreadableReply(
                f"{self._place} answered with a JSON {type(body).__name__} instead of an object",
                provider=self.name,
            )
        return body

    def _status_error(self, error: openai.APIStatusError) -> ProviderError:
        status = error.status_code
        message, param, code = details(error.body)
        quoted = quotes(message, error.request.content, self.parameters)
        shown = QUOTED if quoted else self._masked(message)[:300] or f"status {status}"
        headers = error.response.headers
        known: dict[str, Any] = {
            "provider": self.name,
            "status": status,
            "request_id": error.request_id or headers.get("x-typesafe-request-id"),
            "retry_after": retry_after(headers),
            "retryable": False if code == NO_QUOTA else should_retry(headers),
        }
        if (status in (408, 409, 429) or status >= 500) and code != NO_QUOTA:
            unavailable = ProviderUnavailable(f"{self._place} answered {status}: {shown}", **known)
            unavailable.remaining, unavailable.reset_s = allowance(headers)
            return unavailable
        hint = {
            401: self._key_hint(),
            403: self._key_hint(),
            404: f"; is {self.model!r} the right model name?",
        }
        return ProviderRejected(
            f"{self._place} answered {status}: {shown}{hint.get(status, '')}",
            # words that may be the user's own must not change how anything is asked
            param=None if quoted else self._named(message, param) if status in (400, 422) else param,
            code=code,
            **known,
        )

    def _named(self, message: str, param: str | None) -> str | None:
        """Return the request field that an error is about."""
        raise NotImplementedError

    def _key_hint(self) -> str:
        return "; check the API key"

    def _masked(self, message: str) -> str:
        key = self._api_key
        if key == NO_KEY:
            return message
        if len(key) < 8:
            return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "***", message)
        return message.replace(key, "***")
