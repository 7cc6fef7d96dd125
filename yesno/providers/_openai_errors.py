"""What the error of an OpenAI-compatible server says, and whether it quotes the prompt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from yesno.providers._replies import complaints_of, detail_of, private_texts

__all__ = ["details", "quotes", "retry_after"]


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


def details(body: object) -> tuple[str, str | None, str | None]:
    """Return message, parameter and code of an error body in any of the shapes that servers use.

    Nested `error` (OpenAI), a flat object (vLLM), a list with one object (Gemini), the upstream's body as JSON
    text in `metadata.raw` (OpenRouter), and `detail` as object, list or text (TypeSafe); 2026-11.
    """
    inner: Any = body[0] if isinstance(body, list) and body else body
    if isinstance(inner, Mapping) and isinstance(inner.get("error"), Mapping | str):
        inner = inner["error"]
    if isinstance(inner, str):
        return inner, None, None
    if not isinstance(inner, Mapping):
        return "", None, None
    raw = (inner.get("metadata") or {}).get("raw") if isinstance(inner.get("metadata"), Mapping) else None
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            return details(json.loads(raw))
        except ValueError:
            pass
    detail = inner.get("detail")
    if isinstance(detail, Mapping) and not inner.get("message"):
        return detail_of(detail)
    message = inner.get("message") or complaints_of(detail) or ""
    param, code = inner.get("param"), inner.get("code") or inner.get("type")
    if isinstance(code, int):
        code = inner.get("status")  # Gemini's number says what the status of the reply does
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
