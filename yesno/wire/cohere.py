"""Cohere's Chat v2 on the wire (cohere-python `v2/client.py` and `types/*_v2.py`; 2026-11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yesno.evidence import Completion, Finish

__all__ = ["chat_v2_body", "completion_from_chat"]

_FINISH: Mapping[str, Finish] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR_TOXIC": "content_filter",
}
"""`chat_finish_reason.py`, and `finish_reason.py` for ERROR_TOXIC; ERROR and TIMEOUT are "other"."""


def chat_v2_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap: int,
    temperature: float,
    schema: Mapping[str, Any] | None = None,
    refuses: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the body that asks for one answer, in JSON where a schema is given.

    The schema's field is that of `JsonResponseFormatV2`; a guide calls it `schema`
    (https://docs.cohere.com/docs/structured-outputs; 2026-11). Fields named in `refuses` are left out.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": role, "content": content} for role, content in turns],
        "max_tokens": cap,
        "temperature": temperature,
    }
    if schema is not None:
        body["response_format"] = {"type": "json_object", "json_schema": schema}
    return {name: value for name, value in body.items() if name not in refuses}


def completion_from_chat(reply: Mapping[str, Any]) -> Completion:
    """Return the text of a reply; blocks of another type than text, such as thinking, are no part of it.

    Raises:
        KeyError, TypeError, AttributeError: The reply has another shape.
    """
    message = reply["message"]
    finish = _FINISH.get(str(reply.get("finish_reason")), "other")
    content = message.get("content")
    if content is None and finish == "other":
        raise KeyError("content")
    text = "".join(block["text"] for block in content or () if block["type"] == "text")
    return Completion(text or None, finish=finish)
