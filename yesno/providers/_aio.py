"""Post what the OpenAI SDK would post, at a fraction of its cost.

The SDK builds, copies and checks a dozen objects around a request, which takes about as much CPU time as all the
rest of a decision (0.5 of 1.1 ms; openai 3.57.0, `benchmarks/overhead`). So the SDK says where to post, with which
key and headers, and how errors are called, and the body itself travels through aiohttp.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import aiohttp
import httpx2
import openai
from yarl import URL

from yesno.providers._posting import address_of, encode, headers_of, plain_response, status_error
from yesno.providers._proxies import proxy_for

__all__ = ["AioPoster"]


class AioPoster:
    """Posts bodies to one path of the server that an SDK client is set up for.

    It follows no redirects and keeps no cookies. Proxies come from the environment. It belongs to the event
    loop it was first used in.
    """

    def __init__(self, client: openai.AsyncOpenAI, path: str, *, timeout_s: float = 600.0) -> None:
        self._base = str(client.base_url).rstrip("/")
        self._path = path
        self._urls: dict[str, URL] = {}
        self._proxy = proxy_for(self._base + path)
        self._headers = headers_of(client)
        self._limits = aiohttp.ClientTimeout(total=timeout_s, sock_connect=10.0)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: Mapping[str, Any], route: str | None = None) -> tuple[int, bytes]:
        """Post one JSON body and return the status and body that come back.

        Args:
            body: What to post.
            route: Another path of the server, or a whole address on it.

        Raises:
            openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError: When the SDK would.
        """
        content = encode(body)
        url = self._url(route or self._path)
        try:
            async with self._open().post(
                url, data=content, allow_redirects=False, proxy=self._proxy
            ) as response:
                received = await response.read()
        except TimeoutError as error:
            raise openai.APITimeoutError(request=_request(url, content)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise openai.APIConnectionError(request=_request(url, content)) from error
        if not 200 <= response.status < 300:
            raise self._status_error(response, url, content, received)
        return response.status, received

    async def close(self) -> None:
        """Close the session and its connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def connector(self) -> aiohttp.BaseConnector:
        """Return what makes the connections."""
        return aiohttp.TCPConnector(limit=0, ssl=_tls(), keepalive_timeout=60)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            # trust_env stays off: aiohttp would look for proxies in a thread at every request
            self._session = aiohttp.ClientSession(
                connector=self.connector(),
                headers=self._headers,
                timeout=self._limits,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _url(self, route: str) -> URL:
        known = self._urls.get(route)
        if known is None:
            known = self._urls[route] = URL(address_of(self._base, route), encoded=True)
        return known

    def _status_error(
        self, response: aiohttp.ClientResponse, url: URL, content: bytes, received: bytes
    ) -> Exception:
        request = _request(url, content)
        return status_error(
            openai, plain_response(response.status, response.headers.items(), received, request=request)
        )


def _request(url: URL, content: bytes) -> httpx2.Request:
    return httpx2.Request("POST", str(url), content=content)


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()
