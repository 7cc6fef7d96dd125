"""Servers that answer conversations: requests go there, and what comes back is passed on as it comes."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yesno.errors import ProviderUnavailable, UnreadableReply
from yesno.evidence import Usage
from yesno.providers._proxies import proxy_for
from yesno.routers.replies import usage_of
from yesno.serve.headers import Headers

if TYPE_CHECKING:
    import aiohttp

__all__ = ["Answer", "Upstream", "UsageWatch"]

PATH = "/chat/completions"
KEEP_S = 4.0
"""Less than the five seconds after which uvicorn, and so vLLM and SGLang, close an idle connection (0.54; 2026-11): a
request that meets such an end is lost."""
LONGEST_EVENT = 4 * 2**20
"""Bytes of one line, or of an answer that is no stream, that are looked at for counts of tokens."""


@dataclass(slots=True)
class Answer:
    """What an upstream has begun to answer."""

    status: int
    headers: Headers
    """As they came, names in their own case."""
    pieces: AsyncGenerator[bytes] = field(repr=False)
    """The body as it comes; raises `ProviderUnavailable` when it breaks off."""


class Upstream:
    """One server of a route, and the connections to it.

    Args:
        route: The route's name, for errors.
        base_url: Up to what `/chat/completions` follows.
        key: Sent as a bearer token; none without it.
        connect_timeout_s: Seconds to be connected.
        timeout_s: Seconds to wait for the first byte, and for each further one.
    """

    def __init__(
        self, route: str, base_url: str, key: str | None, *, connect_timeout_s: float, timeout_s: float
    ) -> None:
        self.route = route
        self._url = base_url.rstrip("/") + PATH
        self._proxy = proxy_for(self._url)
        self._key = key
        self._connect_s = connect_timeout_s
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None

    def __repr__(self) -> str:
        return f"Upstream({self.route!r})"

    @asynccontextmanager
    async def ask(self, body: bytes, headers: Headers) -> AsyncIterator[Answer]:
        """Send a request and yield its answer; leaving early ends the request there too.

        Raises:
            ProviderUnavailable: Nobody answers, or not in time.
            UnreadableReply: The answer is a redirect, which is not followed with a key.
        """
        import aiohttp

        given = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
        given += [("content-type", "application/json"), ("accept-encoding", "identity")]
        if self._key is not None:
            given.append(("authorization", f"Bearer {self._key}"))
        try:
            response = await self._open().post(
                self._url, data=body, headers=given, allow_redirects=False, proxy=self._proxy
            )
        except TimeoutError as error:
            raise self._unavailable("did not answer in time", status=504) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._unavailable(f"cannot be reached ({type(error).__name__})", status=502) from error
        try:
            if 300 <= response.status < 400:
                raise UnreadableReply(
                    f"the upstream of route {self.route!r} answers with a redirect; set its `base_url` to where it leads",
                    provider=self.route,
                    status=502,
                )
            yield Answer(response.status, [*response.raw_headers], self._pieces(response))
        finally:
            response.close()  # one that was read to its end has given its connection back already

    async def _pieces(self, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes]:
        import aiohttp

        try:
            async for piece in response.content.iter_any():
                yield piece
        except TimeoutError as error:
            raise self._unavailable("stopped in the middle of its answer", status=504) from error
        except (aiohttp.ClientError, OSError) as error:
            raise self._unavailable("broke off its answer", status=502) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def connector(self) -> aiohttp.BaseConnector:
        """Return what makes the connections."""
        import aiohttp

        return aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_S)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            self._session = aiohttp.ClientSession(
                connector=self.connector(),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._connect_s, connect=None, sock_read=self._timeout_s
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("user-agent", "accept", "accept-encoding"),
            )
        return self._session

    def _unavailable(self, what: str, *, status: int) -> ProviderUnavailable:
        return ProviderUnavailable(
            f"the upstream of route {self.route!r} {what}; try again", provider=self.route, status=status
        )


class UsageWatch:
    """Looks for the counts of tokens in an answer that passes by, whole or in events."""

    def __init__(self, *, stream: bool) -> None:
        self.usage: Usage | None = None
        """What the answer says was used; None when it does not say."""
        self._stream = stream
        self._rest = bytearray()
        self._lost = False

    def see(self, piece: bytes) -> None:
        """Look at the next bytes of the answer."""
        if self._lost:
            return
        self._rest += piece
        if self._stream:
            *lines, rest = self._rest.split(b"\n")
            self._rest = bytearray(rest)
            for line in lines:
                self._look(line)
        if len(self._rest) > LONGEST_EVENT:
            self._lost = True
            self._rest.clear()

    def end(self) -> Usage | None:
        """Return the usage, once the answer has ended."""
        self._look(b"data:" + self._rest if not self._stream else self._rest)
        self._rest.clear()
        return self.usage

    def _look(self, line: bytes | bytearray) -> None:
        if not line.startswith(b"data:") or b'"usage"' not in line or b'"usage":null' in line:
            return
        try:
            event = json.loads(line[5:])
        except (ValueError, RecursionError):
            return
        self.usage = usage_of(event) or self.usage
