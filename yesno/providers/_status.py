"""Name the error that a server answered with, without a word of the prompt or the key in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable
from yesno.providers._moderation import CONTENT_FILTER, declines
from yesno.providers._openai_errors import (
    NO_QUOTA,
    allowance,
    details,
    quotes,
    retry_after,
    should_retry,
)

__all__ = ["NO_KEY", "error_in_body", "masked", "status_error"]

NO_KEY = "none"
"""What the SDK is given in place of a key where a server needs none."""
_BAD_KEY = "API key not valid"
"""How Gemini's 400 about a key begins (cequence-io/openai-scala-client issue 109; 2026-11)."""
_REQUEST_IDS = ("x-request-id", "request-id", "x-typesafe-request-id")
"""Headers that name a request: OpenAI's, Anthropic's (anthropic 2.14.0) and TypeSafe's; 2026-11."""
NOT_IMPLEMENTED = 501
"""The only status from 500 on that waiting does not change."""
_OTHERS = (401, 402, 429)
"""Statuses that are about the account, whatever else the words may mean."""
_FINAL = (NO_QUOTA, CONTENT_FILTER)
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
    if status not in _OTHERS and declines(body, "" if quoted else message, code):
        code = CONTENT_FILTER
    shown = QUOTED if quoted else masked(message, key)[:300] or f"status {status}"
    known: dict[str, Any] = {
        "provider": provider,
        "status": status,
        "request_id": next((headers[name] for name in _REQUEST_IDS if name in headers), None),
        "retry_after": retry_after(headers),
        "retryable": False if code in _FINAL else should_retry(headers),
    }
    if (status in (408, 409, 429) or status >= 500) and status != NOT_IMPLEMENTED and code not in _FINAL:
        unavailable = ProviderUnavailable(f"{place} answered {status}: {shown}", **known)
        unavailable.remaining, unavailable.reset_s = allowance(headers)
        return unavailable
    hint = f"; is {model!r} the right model name?" if status == 404 else ""
    if status in (401, 403) or (not quoted and message.startswith(_BAD_KEY)):
        hint = key_hint
    return ProviderRejected(
        f"{place} answered {status}: {shown}{hint}",
        # words that may be the user's own must not change how anything is asked
        param=None if quoted else named(message, param) if status in (400, 422, NOT_IMPLEMENTED) else param,
        code=code,
        **known,
    )


def error_in_body(body: Mapping[str, Any], *, provider: str, place: str) -> ProviderError:
    """Return the error for a body that reports one under a status of success.

    OpenRouter does so once a model has begun (https://openrouter.ai/docs/api/reference/errors-and-debugging; 2026-11).
    Its message is not shown: what it may repeat of the prompt is not known here.
    """
    failure = body["error"]
    number = failure.get("code") if type(failure.get("code")) is int else None
    words = f"{place} answered with an error in place of a reply (code {number or 'not given'})"
    if declines(body, "", None):
        return ProviderRejected(words, provider=provider, status=number, code=CONTENT_FILTER)
    if number is None or number in (408, 409, 429) or number >= 500:
        return ProviderUnavailable(words, provider=provider, status=number)
    return ProviderRejected(words, provider=provider, status=number)


def masked(message: str, key: str) -> str:
    """Return a message without the key."""
    if key == NO_KEY:
        return message
    if len(key) < 8:
        return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "***", message)
    return message.replace(key, "***")
