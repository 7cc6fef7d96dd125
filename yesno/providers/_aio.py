"""A lean HTTP client for the OpenAI SDK's asynchronous side.

The SDK asks its client for two things: build a request, send it. `httpx2.AsyncClient` merges cookies,
redirects, hooks and authentication on the way, which costs more than the rest of a decision. This client
does the two things on aiohttp and nothing else; see `benchmarks/overhead` for what that brings.
"""

from __future__ import annotations

import ssl
import urllib.request
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx2
from multidict import CIMultiDict
from yarl import URL

__all__ = ["AioClient"]

_DECODED = {b"content-encoding", b"transfer-encoding", b"content-length"}
"""Headers that no longer fit a body that aiohttp has decoded."""


class AioClient(httpx2.AsyncClient):
    """An `httpx2.AsyncClient` whose requests travel through one aiohttp session.

    It follows no redirects, keeps no cookies and calls no hooks. Proxies come from the environment.
    It belongs to the event loop it was first used in.
    """

    def __init__(self, *, timeout_s: float = 600.0) -> None:
        super().__init__(trust_env=False, verify=False)
        self._limits = aiohttp.ClientTimeout(total=timeout_s, sock_connect=10.0)
        self._session: aiohttp.ClientSession | None = None
        # the SDK sends the same headers again and again
        self._parsed: tuple[list[tuple[str, str]], httpx2.Headers] = ([], httpx2.Headers())
        self._sent: tuple[list[tuple[bytes, bytes]], CIMultiDict[str]] = ([], CIMultiDict())

    def build_request(
        self,
        method: str,
        url: httpx2.URL | str,
        *,
        content: Any = None,  # noqa: ANN401 - as in httpx2
        headers: Any = None,  # noqa: ANN401
        params: Any = None,  # noqa: ANN401
        extensions: Any = None,  # noqa: ANN401
        **_: Any,
    ) -> httpx2.Request:
        """Build a request without merging anything into it; aiohttp adds what belongs to the connection."""
        request = httpx2.Request(
            method,
            _parsed(url) if isinstance(url, str) else url,
            params=params,
            headers=self._parsed_headers(headers) if isinstance(headers, list) else headers,
            stream=httpx2.ByteStream(content or b""),
            extensions=extensions,
        )
        request.read()
        return request

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """Send a request and read the whole response.

        Raises:
            httpx2.TimeoutException, httpx2.ConnectError, httpx2.ReadError: As `httpx2` would.
        """
        url = str(request.url)
        try:
            async with self._open().request(
                request.method,
                _encoded(url),
                headers=self._sent_headers(request.headers.raw),
                data=request.content or None,
                allow_redirects=False,
                proxy=_proxy_for(url),
            ) as response:
                body = await response.read()
        except TimeoutError as error:
            raise httpx2.ReadTimeout("the server did not answer in time", request=request) from error
        except aiohttp.ClientConnectorError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError(str(error), request=request) from error
        headers = [item for item in response.raw_headers if item[0].lower() not in _DECODED]
        return httpx2.Response(response.status, headers=headers, content=body, request=request)

    async def aclose(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None
        await super().aclose()

    def _parsed_headers(self, items: list[tuple[str, str]]) -> httpx2.Headers:
        if items != self._parsed[0]:
            self._parsed = (items, httpx2.Headers(items))
        return self._parsed[1]

    def _sent_headers(self, items: list[tuple[bytes, bytes]]) -> CIMultiDict[str]:
        if items != self._sent[0]:
            pairs = ((name.decode("ascii"), value.decode("latin-1")) for name, value in items)
            self._sent = (items, CIMultiDict(pairs))
        return self._sent[1]

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, ssl=_tls(), keepalive_timeout=60)
            # trust_env stays off: aiohttp would look for proxies in a thread at every request
            self._session = aiohttp.ClientSession(connector=connector, timeout=self._limits)
        return self._session


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


@lru_cache(maxsize=256)
def _parsed(url: str) -> httpx2.URL:
    return httpx2.URL(url)


@lru_cache(maxsize=256)
def _encoded(url: str) -> URL:
    return URL(url, encoded=True)


@lru_cache(maxsize=256)
def _proxy_for(url: str) -> str | None:
    parts = urlsplit(url)
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return None
    return urllib.request.getproxies().get(parts.scheme)
