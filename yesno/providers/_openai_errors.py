"""What the error of an OpenAI-compatible server says, and whether it quotes the prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from yesno.providers._replies import complaints_of, detail_of, private_texts

__all__ = ["NO_QUOTA", "allowance", "broke_off", "details", "quotes", "retry_after", "should_retry"]

NO_QUOTA = "insufficient_quota"
"""The code, or type, of a 429 that waiting does not mend: the account has no money left."""
_BROKEN = frozenset(
    {
        "ClientPayloadError",
        "ClientResponseError",
        "DecodingError",
        "ReadError",
        "RemoteProtocolError",
        "ServerDisconnectedError",
    }
)
"""What aiohttp and httpx2 raise when a reply ends early, or comes in an encoding that cannot be read."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def quotes(message: str, sent: bytes, parameters: Iterable[str], width: int = 20) -> bool:
    """Return whether a server's message holds a line of the prompt or `width` characters in a row of it.

    A line that is only the name of one of the `parameters` does not count.
    """
    pieces = {message[i : i + width] for i in range(min(600, len(message) - width + 1))}
    for content in private_texts(json.loads(sent)) if sent else ():
        lines = {line.strip() for line in content.splitlines()} - {*parameters}
        if any(len(line) > 5 and line in message for line in _spellings(lines)):
            return True
        if any(piece in text for text in _spellings([content]) for piece in pieces):
            return True
    return False


def _spellings(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts as they are and as JSON and Python escape them."""
    for text in texts:
        yield from {text, *(escaped(text)[1:-1] for escaped in (json.dumps, repr, ascii))}


def details(body: object, depth: int = 8) -> tuple[str, str | None, str | None]:
    """Return message, parameter and code of an error body in any of the shapes that servers use.

    Nested `error` (OpenAI), a flat object (vLLM), a list with one object (Gemini), a list `errors` (Cloudflare), the
    upstream's body in `metadata.raw` (OpenRouter), JSON text in place of an object or of a message (gateways), and
    `detail` as object, list or text (TypeSafe); 2026-11.
    """
    inner: Any = _first(body)
    if isinstance(inner, str) and depth:
        unpacked = _object_in(inner)
        return (inner, None, None) if unpacked is None else details(unpacked, depth - 1)
    if not isinstance(inner, Mapping) or not depth:
        return "", None, None
    within = _within(inner)
    if isinstance(within, str):
        return _of_text(within, inner, depth - 1)
    return _of_object(inner) if within is None else details(within, depth - 1)


def _first(body: Any) -> Any:  # noqa: ANN401 - JSON
    return body[0] if isinstance(body, list) and body else body


def _within(outer: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Return what an object only wraps: the error itself; None where the object is that."""
    for name in ("error", "errors"):
        if isinstance(outer.get(name), Mapping | list | str) and outer[name]:
            return outer[name]
    metadata = outer.get("metadata")
    for wrapped in (metadata.get("raw") if isinstance(metadata, Mapping) else None, outer.get("message")):
        found = _object_in(wrapped) if isinstance(wrapped, str) else wrapped
        if isinstance(found, Mapping) and found:
            return found
    return None


def _of_text(text: str, around: Mapping[str, Any], depth: int) -> tuple[str, str | None, str | None]:
    """Return what an `error` that is a text says, with the code or the message beside it (xAI, TGI; 2026-11)."""
    message, param, code = details(text, depth)
    beside = next((around[n] for n in ("code", "error_type", "type") if isinstance(around.get(n), str)), None)
    if isinstance(around.get("message"), str) and message.replace("_", "").isalnum():
        return around["message"], param, message  # a lone word is a kind of error, not what happened
    return message, param, code or beside


def _of_object(inner: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    detail = inner.get("detail")
    if isinstance(detail, Mapping) and not inner.get("message"):
        return detail_of(detail)
    message = inner.get("message") or inner.get("Message") or complaints_of(detail) or ""
    param, code = inner.get("param"), inner.get("code") or inner.get("type")
    if isinstance(code, int):
        code = inner.get("status")  # Gemini's number says what the status of the reply does
    if inner.get("type") == NO_QUOTA:
        code = NO_QUOTA
    return str(message), param if isinstance(param, str) else None, code if isinstance(code, str) else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `retry-after-ms` or `retry-after` ask to wait; None without a usable one."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        try:
            return max(0.0, float(value))
        except ValueError:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError):
        return None


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """Return what `x-should-retry` says; None when it says nothing (openai 3.57.0 obeys it too; 2026-11)."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())


def allowance(headers: Mapping[str, str]) -> tuple[int | None, float | None]:
    """Return how many requests a rate limit still allows, and after how many seconds it allows more.

    OpenAI's `x-ratelimit-remaining-requests` and `-reset-requests` (a duration such as `6m0s`), and Anthropic's
    `anthropic-ratelimit-requests-remaining` and `-reset` (a time in RFC 3339); 2026-11.
    """
    left = headers.get("x-ratelimit-remaining-requests")
    reset = headers.get("x-ratelimit-reset-requests", "")
    if left is None:
        left = headers.get("anthropic-ratelimit-requests-remaining", "")
        reset = headers.get("anthropic-ratelimit-requests-reset", "")
    return (int(left) if left.isascii() and left.isdigit() and len(left) < 10 else None), _seconds_in(reset)


def broke_off(cause: BaseException | None) -> bool:
    """Return whether there was a reply that ended early or cannot be decoded, rather than no connection."""
    return type(cause).__name__ in _BROKEN


def _seconds_in(text: str) -> float | None:
    parts = _DURATION.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text.strip():
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - time()) if "T" in text else None
    except (ValueError, OverflowError):
        return None


def _object_in(text: str) -> object:
    if not text.lstrip().startswith("{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
