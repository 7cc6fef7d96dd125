"""Post a body and read the reply to its end, within a time for all of it and to no other server.

The SDK says where to post, with which key and headers, and how errors are called. It does not post itself: it would
read the body of an error without an end, follow redirects with the key, and take twice the CPU time of the rest of a
decision (openai 3.57.0, `benchmarks/overhead`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2

__all__ = [
    "CONNECT_S",
    "LONGEST_S",
    "Poster",
    "address_of",
    "encode",
    "fetched",
    "headers_of",
    "limits",
    "plain_response",
    "status_error",
]

LONGEST_S = 600.0
"""Seconds for a request that has no limit of its own, as in openai 3.57.0 (2026-11)."""
CONNECT_S = 10.0
_DECODED = {"content-encoding", "transfer-encoding", "content-length"}
"""Headers that no longer fit a body that was decoded."""

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encode(body: Mapping[str, Any]) -> bytes:
    """Return a body as JSON, as the SDK writes it."""
    return _dumps(body).encode()


def headers_of(client: Any) -> dict[str, str]:  # noqa: ANN401 - an SDK's client
    """Return the headers that an SDK's client sends, its key included."""
    headers = {**client.default_headers, **client.auth_headers}
    return {name: value for name, value in headers.items() if isinstance(value, str)}


def address_of(base: str, route: str) -> str:
    """Return the address of a route below a base address; a whole address stays as it is."""
    return route if "://" in route else base + route


def limits() -> httpx2.Limits:
    """Return no limit on connections: how many requests are under way is the engine's."""
    return httpx2.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=60.0)


def fetched(client: httpx2.Client, request: httpx2.Request, timeout_s: float | None) -> httpx2.Response:
    """Send a request, follow no redirect, and return the response with its whole body.

    httpx2 limits the time between two pieces of a body; one that drips for ever never meets that limit.

    Raises:
        httpx2.RequestError: There is no whole reply within `timeout_s` seconds.
    """
    end = None if timeout_s is None else time.monotonic() + timeout_s
    response = client.send(request, stream=True, follow_redirects=False)
    return _whole(response, end)


def _whole(response: httpx2.Response, end: float | None) -> httpx2.Response:
    """Read the body of a response that has just begun, and give the connection back.

    Args:
        response: As it came, before its body.
        end: Reading of `time.monotonic` after which no further piece is waited for.

    Raises:
        httpx2.RequestError: It does not end in time, breaks off or cannot be decoded.
    """
    limit = response.request.extensions.get("timeout")
    if end is not None and limit is not None:
        # httpcore2 2.16.2 looks at it once per body: what is left now is the longest wait for any piece
        limit["read"] = max(0.001, end - time.monotonic())
    pieces = []
    try:
        for piece in response.iter_bytes():
            pieces.append(piece)
            if end is not None and time.monotonic() > end:
                raise httpx2.ReadTimeout("the body does not end in time", request=response.request)
    finally:
        response.close()
    return plain_response(
        response.status_code, response.headers.items(), b"".join(pieces), request=response.request
    )


def plain_response(
    status: int, headers: Iterable[tuple[str, str]], content: bytes, *, request: httpx2.Request
) -> httpx2.Response:
    """Return a response that holds its body, decoded."""
    kept = [(name, value) for name, value in headers if name.lower() not in _DECODED]
    return httpx2.Response(status, headers=kept, content=content, request=request)


class Poster:
    """Posts bodies to one path of the server that an SDK's client is set up for, through a client of httpx2's."""

    def __init__(self, client: Any, path: str, http: httpx2.Client, sdk: Any) -> None:  # noqa: ANN401 - any vendor's
        self._base = str(client.base_url).rstrip("/")
        self._path = path
        self._headers = headers_of(client)
        self._http = http
        self._sdk = sdk

    def post(
        self, body: Mapping[str, Any], timeout_s: float | None, route: str | None = None
    ) -> httpx2.Response:
        """Post one JSON body and return the response, with a status of success.

        Args:
            body: What to post.
            timeout_s: Seconds for all of it; None for the longest.
            route: Another path of the server, or a whole address.

        Raises:
            APIStatusError, APITimeoutError, APIConnectionError: The SDK's, when the SDK would.
        """
        limit = LONGEST_S if timeout_s is None else timeout_s
        request = self._http.build_request(
            "POST",
            address_of(self._base, route or self._path),
            content=encode(body),
            headers=self._headers,
            timeout=httpx2.Timeout(limit, connect=min(limit, CONNECT_S)),
        )
        try:
            response = fetched(self._http, request, timeout_s)
        except httpx2.TimeoutException as error:
            raise self._sdk.APITimeoutError(request=request) from error
        except httpx2.RequestError as error:
            raise self._sdk.APIConnectionError(request=request) from error
        if not response.is_success:
            raise status_error(self._sdk, response)
        return response


def status_error(sdk: Any, response: httpx2.Response) -> Exception:  # noqa: ANN401 - any vendor's SDK
    """Return the SDK's error for a response that is none of success."""
    try:
        body: object = json.loads(response.content)
    except ValueError:
        body = response.text.strip()
    error: Exception = sdk.APIStatusError(f"status {response.status_code}", response=response, body=body)
    return error
