"""What error bodies say, and which texts of a request they must not repeat to anyone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from yesno.errors import ConfigError, UnreadableReply
from yesno.wire.streaming import is_stream, stream_body

__all__ = ["checked_address", "complaints_of", "detail_of", "object_of", "place_of", "private_texts"]

_PRIVATE = ("messages", "system", "input", "state", "contents", "systemInstruction")
_WORDS = """
    type role name content text data input_text output_text input_json user assistant system developer tool
    parts model function_call function_call_output call_id arguments output tool_calls function questions instructions
    criteria choices levels value label description predicate choice score noul true false
"""
_PROTOCOL = frozenset(_WORDS.split())
"""Words of the protocols, which every error may say."""


def checked_address(address: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        ConfigError: It is none.
    """
    if not address.startswith(("http://", "https://")):
        raise ConfigError(f"the address {address!r} must begin with http:// or https://")
    return address.rstrip("/")


def place_of(address: str) -> str:
    """Return an address without a user and a password in it."""
    scheme, slashes, rest = address.partition("//")
    host, slash, path = rest.partition("/")
    return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"


def object_of(status: int, content: bytes, *, place: str, provider: str) -> dict[str, Any]:
    """Return the JSON object that a body holds, or spells as a stream of chunks.

    Raises:
        UnreadableReply: It holds none.
    """
    try:
        body = stream_body(content) if is_stream(content) else json.loads(content)
    except (ValueError, AttributeError, TypeError) as error:
        raise UnreadableReply(
            f"{place} answered {status} with something that is not JSON",
            provider=provider,
            status=status,
            retryable=True,  # a page of a proxy, or a body cut short: the next one may be whole
        ) from error
    if not isinstance(body, dict):
        raise UnreadableReply(
            f"{place} answered with a JSON {type(body).__name__} instead of an object", provider=provider
        )
    return body


def private_texts(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text of a request body that is somebody's own: prompts, inputs, questions and their options.

    Names of questions are none: no model reads them, and an error says by them where it is.
    """
    for field in _PRIVATE:
        yield from _texts(body.get(field))
    questions = body.get("questions")
    for question in questions.values() if isinstance(questions, Mapping) else questions or ():
        yield from _texts({key: value for key, value in question.items() if key != "name"})


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        if value not in _PROTOCOL:
            yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def detail_of(detail: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    """Return message, parameter and code of TypeSafe's `{error_type, message}` (typesafe-sdk 0.7.5; 2026-11)."""
    code = detail.get("error_type")
    code = code if isinstance(code, str) else None
    return str(detail.get("message") or code or ""), None, code


def complaints_of(detail: Any) -> str:  # noqa: ANN401 - JSON
    """Return a `detail` as one message; of a list of complaints only what is wrong and where, never `input`."""
    if not isinstance(detail, list):
        return str(detail or "")
    shown = []
    for item in detail:
        if isinstance(item, Mapping):
            loc = item.get("loc")
            place = "/".join(map(str, loc)) if isinstance(loc, list) else ""
            shown.append(f"{place}: {item.get('msg')}" if place else str(item.get("msg")))
    return "; ".join(shown)
