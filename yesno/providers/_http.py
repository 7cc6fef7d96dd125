"""What a provider without an SDK has in common with another: JSON posted through httpx2, synchronous and awaited.

Retries are the engine's. No redirect is followed, so a key goes to one server only.
"""

from __future__ import annotations

import asyncio
import json
import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from yesno.errors import ProviderError, ProviderUnavailable
from yesno.providers._replies import object_of, place_of
from yesno.providers._status import status_error
from yesno.providers.base import Payload, Provider
from yesno.providers.profiles import Profile

if TYPE_CHECKING:
    import httpx2

__all__ = ["HttpProvider"]


class HttpProvider(Provider):
    """One JSON route over HTTP. Subclasses give `build`, `parse`, `adapt` and what is not implemented here."""

    parameters: ClassVar[tuple[str, ...]]
    """Names of request fields that an error may be about."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str,
        profile: Profile,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.model = model
        self.profile = profile
        self._api_key = api_key
        self._base_url = base_url
        self._given = http_client
        self._async_given = async_http_client
        self._async_own: dict[int, tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient]] = {}
        self._lock = threading.Lock()

    @property
    def server(self) -> str | None:
        """The server's address."""
        return self._place

    @property
    def cancellable(self) -> bool:
        """Whether both sides go the same way: not when only the blocking one has a client of the caller's."""
        return self._given is None or self._async_given is not None

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Post one body."""
        client = self._own if self._given is None else self._given
        from yesno.providers._posting import fetched

        return self._received(fetched(client, self._request(client, payload, timeout_s), timeout_s))

    async def asend(self, payload: Payload) -> Payload:
        """Post one body, awaited."""
        client = self._async_client() if self._async_given is None else self._async_given
        request = self._request(client, payload, None)
        return self._received(await client.send(request, follow_redirects=False))

    def classify(self, error: Exception) -> ProviderError | None:
        """Name httpx2's errors; a message that quotes the prompt or the key is left out."""
        import httpx2

        if isinstance(error, httpx2.HTTPStatusError):
            return self._status_error(error)
        if isinstance(error, httpx2.TimeoutException):
            return ProviderUnavailable(f"{self._place} did not answer in time", provider=self.name)
        if isinstance(error, httpx2.ReadError | httpx2.RemoteProtocolError | httpx2.DecodingError):
            return ProviderUnavailable(
                f"cannot reach {self._place} for a whole reply: it broke off or cannot be decoded",
                provider=self.name,
            )
        if isinstance(error, httpx2.RequestError):
            away = ProviderUnavailable(
                f"cannot reach {self._place}; check that the server runs and the address is right",
                provider=self.name,
            )
            away.reached = False
            return away
        return error if isinstance(error, ProviderError) else None

    def secrets(self) -> tuple[str, ...]:
        """Return the key."""
        return (self._api_key,)

    def close(self) -> None:
        """Close the connections of the synchronous side; a client of the caller's stays open."""
        own = self.__dict__.pop("_own", None)
        if own is not None:
            own.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop; a client of the caller's stays open."""
        self.close()
        held = self._async_own.pop(id(asyncio.get_running_loop()), None)
        if held is not None:
            await held[1].aclose()

    @cached_property
    def _own(self) -> httpx2.Client:
        import httpx2

        from yesno.providers._posting import limits

        return httpx2.Client(limits=limits())

    def _async_client(self) -> httpx2.AsyncClient:
        loop = asyncio.get_running_loop()
        held = self._async_own.get(id(loop))
        if held is not None and held[0] is loop:
            return held[1]
        import httpx2

        from yesno.providers._posting import limits

        client = httpx2.AsyncClient(limits=limits())
        with self._lock:
            self._async_own = {k: v for k, v in self._async_own.items() if not v[0].is_closed()}
            self._async_own[id(loop)] = (loop, client)
        return client

    def _request(
        self, client: httpx2.Client | httpx2.AsyncClient, payload: Payload, timeout_s: float | None
    ) -> httpx2.Request:
        import httpx2

        from yesno.providers._posting import CONNECT_S, LONGEST_S, encode

        path, body = self._outgoing(payload)
        limit = LONGEST_S if timeout_s is None else timeout_s
        return client.build_request(
            "POST",
            self._base_url + path,
            content=encode(body),
            headers={"content-type": "application/json", "accept": "application/json", **self._headers()},
            timeout=httpx2.Timeout(limit, connect=min(limit, CONNECT_S)),
        )

    def _received(self, response: httpx2.Response) -> Payload:
        import httpx2

        status = response.status_code
        if not 200 <= status < 300:
            raise httpx2.HTTPStatusError(f"status {status}", request=response.request, response=response)
        return object_of(status, response.content, place=self._place, provider=self.name)

    def _status_error(self, error: httpx2.HTTPStatusError) -> ProviderError:
        response = error.response
        body = _body_of(response)
        known = status_error(
            body,
            provider=self.name,
            place=self._place,
            model=self.model,
            status=response.status_code,
            headers=response.headers,
            sent=error.request.content,
            parameters=self.parameters,
            key=self._api_key,
            key_hint=self._key_hint(),
            named=self._named,
        )
        if known.retryable and known.retry_after is None:
            known.retry_after = self._wait(body)
        return known

    @property
    def _place(self) -> str:
        return place_of(self._base_url)

    def _outgoing(self, payload: Payload) -> tuple[str, Payload]:
        """Return the route below the base address and the body that travels."""
        raise NotImplementedError

    def _headers(self) -> dict[str, str]:
        """Return the headers that hold the key."""
        raise NotImplementedError

    def _named(self, message: str, param: str | None) -> str | None:
        """Return the request field that an error is about."""
        raise NotImplementedError

    def _wait(self, body: object) -> float | None:
        """Return the seconds to wait that an error's body asks for, where no header does."""
        return None

    def _key_hint(self) -> str:
        raise NotImplementedError


def _body_of(response: httpx2.Response) -> Any:  # noqa: ANN401 - JSON, or the text
    try:
        return json.loads(response.content)
    except ValueError:
        return response.text.strip()
