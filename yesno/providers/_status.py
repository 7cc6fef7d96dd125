"""Name the error that a server answered with, without a word of the prompt or the key in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable
from yesno.providers._openai_errors import (
    NO_QUOTA,
    allowance,
    details,
    quotes,
    retry_after,
    should_retry,
)

__all__ = ["NO_KEY", "masked", "status_error"]

NO_KEY = "none"
"""What the SDK is given in place of a key where a server needs none."""
_BAD_KEY = "API key not valid"
"""How Gemini's 400 about a key begins (cequence-io/openai-scala-client issue 109; 2026-11)."""
_REQUEST_IDS = ("x-request-id", "request-id", "x-typesafe-request-id")
"""Headers that name a request: OpenAI's, Anthropic's (anthropic 2.14.0) and TypeSafe's; 2026-11."""
QUOTED = "(the server's message quotes the prompt and is left out)"


def status_error(
    body: object,
    *,
    provider: str,
    place: str,
    model: str,
    status: int,
    headers: Mapping[str, str],
    sent: bytes,
    parameters: Iterable[str],
    key: str,
    key_hint: str,
    named: Callable[[str, str | None], str | None],
) -> ProviderError:
    """Return the error for a status that is none of success.

    Args:
        body: The body that came back, as JSON where it is JSON.
        provider: The provider's name.
        place: Where the request went.
        model: The model asked for.
        status: The status.
        headers: The headers that came back.
        sent: The body that was sent; what the server's message repeats of it is not shown.
        parameters: Names of request fields that an error may be about.
        key: The key, which is not shown.
        key_hint: What to say of a key that was not taken.
        named: Returns the request field that a message, or the field it gives, is about.
    """
    message, param, code = details(body)
    quoted = quotes(message, sent, parameters)
    shown = QUOTED if quoted else masked(message, key)[:300] or f"status {status}"
    known: dict[str, Any] = {
        "provider": provider,
        "status": status,
        "request_id": next((headers[name] for name in _REQUEST_IDS if name in headers), None),
        "retry_after": retry_after(headers),
        "retryable": False if code == NO_QUOTA else should_retry(headers),
    }
    if (status in (408, 409, 429) or status >= 500) and code != NO_QUOTA:
        unavailable = ProviderUnavailable(f"{place} answered {status}: {shown}", **known)
        unavailable.remaining, unavailable.reset_s = allowance(headers)
        return unavailable
    hint = f"; is {model!r} the right model name?" if status == 404 else ""
    if status in (401, 403) or (not quoted and message.startswith(_BAD_KEY)):
        hint = key_hint
    return ProviderRejected(
        f"{place} answered {status}: {shown}{hint}",
        # words that may be the user's own must not change how anything is asked
        param=None if quoted else named(message, param) if status in (400, 422) else param,
        code=code,
        **known,
    )


def masked(message: str, key: str) -> str:
    """Return a message without the key."""
    if key == NO_KEY:
        return message
    if len(key) < 8:
        return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "***", message)
    return message.replace(key, "***")
