"""Anthropic's Messages on the wire: bodies that ask for a JSON answer, and what comes back.

The API has no log-probabilities, no seed and no `n`, and the SDK takes no temperature any more (anthropic 2.14.0,
`messages.create`; 2026-11), so an answer is a sample at the model's own temperature.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from yesno.evidence import Completion, Finish, Usage

__all__ = ["PARAMETERS", "TOOL", "completion_of", "messages_body", "named_field", "usage_of"]

PARAMETERS = ("output_config", "tool_choice", "thinking", "max_tokens", "system", "messages")
TOOL = "decision"
"""Name of the tool whose input is the answer, where structured output is refused."""
_FINISH: Mapping[str | None, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "tool_use": "tool_calls",
}
"""Stop reasons of anthropic 2.14.0; `pause_turn` is left out, for it ends no answer."""


def messages_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap: int,
    schema: Mapping[str, Any] | None,
    structured: str,
    refuses: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the body for one prompt.

    Args:
        turns: Role and content; the system's go into their own field.
        model: The model's name.
        cap: Most output tokens, thinking included.
        schema: JSON schema of the reply; None for plain text.
        structured: How to ask for it: `"json_schema"`, `"tool"` (a forced tool), or `"none"` (in words only).
        refuses: Fields to leave out. Without `thinking` a model that thinks by default does so within `cap`.
    """
    system = "\n\n".join(content for role, content in turns if role == "system")
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": cap,
        "messages": [{"role": role, "content": content} for role, content in turns if role != "system"],
        "thinking": {"type": "disabled"},
    }
    if system:
        body["system"] = system
    if schema is not None and structured == "json_schema":
        body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    elif schema is not None and structured == "tool":
        body["tools"] = [{"name": TOOL, "description": "Report the answer.", "input_schema": schema}]
        body["tool_choice"] = {"type": "tool", "name": TOOL}
    return {name: value for name, value in body.items() if name not in refuses}


def completion_of(reply: Mapping[str, Any]) -> Completion:
    """Return the visible text of a reply, or the input of our tool as JSON; thinking is not looked at.

    Raises:
        KeyError, TypeError, AttributeError: The reply has another shape.
    """
    texts: list[str] = []
    finish = _FINISH.get(reply["stop_reason"], "other")
    for block in reply["content"]:
        if block["type"] == "text":
            texts.append(_text(block["text"]))
        elif block["type"] == "tool_use" and block["name"] == TOOL:
            texts.append(json.dumps(block["input"]))
            finish = "stop"
    details = reply.get("stop_details") or {}
    refusal = (details.get("category") or "refusal") if finish == "refusal" else None
    return Completion("".join(texts) or None, finish=finish, refusal=refusal)


def usage_of(reply: Mapping[str, Any]) -> Usage:
    """Return the tokens; the input is what was read anew, written to the cache and read from it."""
    usage = reply.get("usage") or {}
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    return Usage(
        input_tokens=(usage.get("input_tokens") or 0) + written + cached,
        output_tokens=usage.get("output_tokens") or 0,
        cached_tokens=cached,
        requests=1,
        cache_written_tokens=written,
    )


def named_field(message: str, param: str | None) -> str | None:
    """Return the request field that an error is about: Anthropic's errors name it in words, often with its path."""
    words = f"{param or ''} {message}"
    places = {name: match.start() for name in PARAMETERS if (match := re.search(rf"\b{name}\b", words))}
    return min(places, key=places.__getitem__) if places else None


def _text(value: Any) -> str:  # noqa: ANN401 - the check is the point
    if not isinstance(value, str):
        raise TypeError(f"a text block holds a {type(value).__name__}")
    return value
