"""Which headers pass through the proxy, and which end at it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Headers", "passed_back", "passed_on"]

Headers = list[tuple[bytes, bytes]]
"""Names in lower case and values, in the order they came."""

HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer trailers "
    b"transfer-encoding upgrade".split()
)
"""Said from one machine to the next (RFC 9110, 7.6.1), with those that `connection` names."""
_ON = frozenset(b"accept accept-language user-agent idempotency-key openai-beta".split())
_ON_PREFIXES = (b"x-stainless-", b"traceparent", b"tracestate")
"""What a caller's request may tell an upstream: nothing that could hold a key, a cookie or an account."""
_NEVER_ON = frozenset(
    b"authorization api-key x-api-key cookie host content-length content-type content-encoding accept-encoding "
    b"expect x-request-id".split()
)
_NOT_BACK = frozenset(
    b"date server set-cookie alt-svc strict-transport-security x-request-id openai-organization "
    b"openai-project".split()
)
"""What an upstream says of its own server, or of the account that the key belongs to."""
_CORS = b"access-control-"


def passed_on(given: Iterable[tuple[bytes, bytes]], also: Iterable[str] = ()) -> Headers:
    """Return the headers of a caller's request that an upstream gets, besides its key and the body's.

    Args:
        given: The request's headers.
        also: Names of further ones, from the configuration; a key, a cookie or a hop's own is never among them.
    """
    headers = [(name.lower(), value) for name, value in given]
    wanted = (_ON | {name.lower().encode() for name in also}) - _NEVER_ON - _ended(headers)
    return [
        (name, value)
        for name, value in headers
        if name in wanted or (name.startswith(_ON_PREFIXES) and name not in _ended(headers))
    ]


def passed_back(given: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers of an upstream's response that the caller gets; its request id under another name."""
    headers = [(name.lower(), value) for name, value in given]
    ended = _ended(headers) | _NOT_BACK
    kept = [(name, value) for name, value in headers if name not in ended and not name.startswith(_CORS)]
    if any(name == b"transfer-encoding" for name, _ in headers):
        kept = [(name, value) for name, value in kept if name != b"content-length"]
    ids = [(b"x-upstream-request-id", value) for name, value in headers if name == b"x-request-id"]
    return kept + ids


def _ended(headers: Headers) -> frozenset[bytes]:
    named = [
        word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")
    ]
    return HOP_BY_HOP | {*named}
