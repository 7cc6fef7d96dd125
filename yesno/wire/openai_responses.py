"""OpenAI's Responses API on the wire: request bodies out, output items in, what a 400 asks to change.

Shapes and names as in openai 3.57.0, `types/responses` (2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from yesno.evidence import Completion, Finish, Position
from yesno.wire.completion import chat_position

__all__ = [
    "LOGPROBS",
    "PARAMETERS",
    "completion_from_items",
    "json_responses_body",
    "least_cap",
    "named_field",
    "responses_body",
]

LOGPROBS = "message.output_text.logprobs"
"""The entry of `include` without which no log-probabilities come back."""

PARAMETERS = ("top_logprobs", "max_output_tokens", "temperature", "reasoning", "include", "logprobs", "text")

_INCOMPLETE: Mapping[str, Finish] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_LEAST = re.compile(
    r"(?:>=|greater than or equal to|at least|minimum(?: value)?(?: of|:| is)?)\s*(\d+)", re.I
)
_NAMES = re.compile(
    r"""(?<=['"`])(?:include|reasoning|text\.format)\b|reasoning\.effort|reasoning_effort|top_logprobs|max_output_tokens"""
    rf"|temperature|{re.escape(LOGPROBS)}"
)
"""Fields as an error message names them; two are common words too and count in quotes only."""
_NO_CALL = {"message", "reasoning", "compaction"}
"""Items that do not stand in place of an answer."""


def responses_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap: int,
    top_logprobs: int,
    temperature: float,
    effort: str | None = None,
    refuses: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the body that asks for a short answer with its alternatives and leaves nothing on the server.

    Fields named in `refuses` are left out.
    """
    wanted = {"temperature": temperature, "include": [LOGPROBS], "top_logprobs": top_logprobs}
    return _body(turns, model, cap, wanted, effort, refuses)


def json_responses_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap: int,
    schema: Mapping[str, Any],
    structured: str,
    effort: str | None = None,
    refuses: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the body that asks for one sampled JSON answer, at the temperature that the model was trained for.

    `structured` is `"json_schema"`, `"json_object"` or `"none"`; fields named in `refuses` are left out.
    """
    wanted: dict[str, Any] = {"temperature": 1.0}
    if structured == "json_schema":
        named = {"type": "json_schema", "name": "decision", "strict": True, "schema": schema}
        wanted["text"] = {"format": named}
    elif structured == "json_object":
        wanted["text"] = {"format": {"type": "json_object"}}
    return _body(turns, model, cap, wanted, effort, refuses)


def _body(
    turns: Sequence[tuple[str, str]],
    model: str,
    cap: int,
    wanted: Mapping[str, Any],
    effort: str | None,
    refuses: frozenset[str],
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "input": [{"role": role, "content": content} for role, content in turns],
        "max_output_tokens": cap,
        **wanted,
        "store": False,
    }
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    return {name: value for name, value in body.items() if name not in refuses}


def completion_from_items(reply: Mapping[str, Any]) -> Completion:
    """Return the text and token probabilities of a reply's messages; reasoning items are passed over.

    Raises:
        KeyError, TypeError, ValueError: The reply has another shape, or is not finished.
    """
    try:
        return _completion(reply)
    except AttributeError as error:
        raise TypeError(f"the reply has another shape: {error}") from error


def _completion(reply: Mapping[str, Any]) -> Completion:
    items = reply["output"]
    if not isinstance(items, list):
        raise TypeError("`output` is not a list")
    finish = _finish(reply)
    texts: list[str] = []
    positions: list[Position] = []
    refusals: list[str] = []
    whole = True
    for part in _parts(items):
        if part["type"] == "refusal":
            refusals.append(part.get("refusal") or "refusal")
        elif part["type"] == "output_text":
            texts.append(_text(part["text"]))
            found = [chat_position(entry) for entry in part.get("logprobs") or ()]
            # tokens that are missing in the middle would shift all that follow
            whole = whole and (bool(found) or not part["text"])
            positions += found
    if finish == "stop" and not texts and not refusals:
        finish = "tool_calls" if any(item["type"] not in _NO_CALL for item in items) else "other"
    return Completion(
        text="".join(texts) if texts else None,
        positions=tuple(positions) if positions and whole else None,
        finish=finish,
        refusal=" ".join(refusals) or None,
    )


def _parts(items: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the parts of the messages that answer; commentary on the way to an answer is none."""
    for item in items:
        if item["type"] == "message" and item.get("phase") != "commentary":
            yield from item["content"]


def _finish(reply: Mapping[str, Any]) -> Finish:
    match reply.get("status", "completed"):
        case "completed":
            return "stop"
        case "incomplete":
            details = reply.get("incomplete_details") or {}
            return _INCOMPLETE.get(str(details.get("reason")), "other")
        case _:
            raise ValueError("the response is not finished")


def _text(text: Any) -> str:  # noqa: ANN401 - JSON
    if not isinstance(text, str):
        raise TypeError("a text is not a string")
    return text


def named_field(message: str, param: str | None) -> str | None:
    """Return the request field that an error is about, by its `param`, or without one by its words.

    `include` holds nothing but the wish for log-probabilities, so an error about it is one about them.
    """
    if param:
        return _field(param.removeprefix("body."))
    for name in _NAMES.findall(message):
        found = _field(name)
        if found is not None:
            return found
    return "logprobs" if re.search(r"\blog[- ]?prob(?:abilitie)?s\b", message, re.IGNORECASE) else None


def _field(name: str) -> str | None:
    first = re.split(r"[.\[]", name)[0]
    if first == "include" or name == LOGPROBS:
        return "logprobs"
    if first == "reasoning_effort":
        return "reasoning"
    return first if first in PARAMETERS else None


def least_cap(message: str, asked: int) -> int | None:
    """Return the smallest output cap that an error message allows, when above what was asked."""
    numbers = [int(number) for number in _LEAST.findall(message)]
    return max((number for number in numbers if number > asked), default=None)
