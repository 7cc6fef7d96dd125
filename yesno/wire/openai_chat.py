"""OpenAI Chat Completions on the wire: request bodies out, what a 400 asks to change."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "CAP_NAMES",
    "PARAMETERS",
    "SYSTEM",
    "allowed_top_logprobs",
    "chat_body",
    "json_body",
    "least_cap",
    "named_parameter",
    "names_field",
    "next_effort",
    "refuses_system",
    "without",
    "without_system",
]

SYSTEM = "system"
"""Among the fields that a model refuses: it takes no system message."""
CAP_NAMES = ("max_tokens", "max_completion_tokens")

PARAMETERS = (
    "top_logprobs",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "reasoning_effort",
    "logprobs",
    "response_format",
)
_CAP = "max_output_tokens"
"""What the upstream of a router may call the output cap; `named_parameter` gives it the first of `CAP_NAMES`."""
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
"""Values of `reasoning_effort`, least first (openai 3.57.0, `shared/reasoning_effort.py`; 2026-11)."""
_LEAST = re.compile(
    r"(?:>=|greater than or equal to|at least|minimum(?: value)?(?: of|:| is)?)\s*(\d+)", re.IGNORECASE
)
_NO_ROOM = re.compile(r"could not finish the message|model output limit was reached", re.IGNORECASE)
"""A reasoning model's 400 about a cap that its thoughts used up (mnfst/modelparams.dev issue 356; 2026-11)."""
_LIMIT = re.compile(
    r"(?:less than or equal to|<=|at most|max(?:imum)?(?: (?:allowed|of|is|value))*:?|up to|between \d+ and|from \d+ to|\[\d+,)\s*(\d+)",
    re.IGNORECASE,
)


def chat_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap_name: str,
    cap: int,
    top_logprobs: int,
    temperature: float,
    effort: str | None = None,
    refuses: frozenset[str] = frozenset(),
    count_name: str = "top_logprobs",
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the body that asks for a short answer with its alternatives.

    Fields named in `refuses` are left out, fields of `extra` added. `count_name` is the field for the number of
    alternatives; where it is `logprobs` itself, that takes the place of the switch.
    """
    wanted = {"temperature": temperature, "logprobs": True, count_name: top_logprobs}
    return _body(turns, model, {cap_name: cap, **wanted}, effort, refuses, extra)


def json_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap_name: str,
    cap: int,
    schema: Mapping[str, Any],
    structured: str,
    effort: str | None = None,
    refuses: frozenset[str] = frozenset(),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the body that asks for one sampled JSON answer, at the temperature that the model was trained for.

    `structured` is `"json_schema"`, `"json_object"` or `"none"`; fields named in `refuses` are left out,
    fields of `extra` added.
    """
    wanted: dict[str, Any] = {cap_name: cap, "temperature": 1.0}
    if structured == "json_schema":
        named = {"name": "decision", "strict": True, "schema": schema}
        wanted["response_format"] = {"type": "json_schema", "json_schema": named}
    elif structured == "json_object":
        wanted["response_format"] = {"type": "json_object"}
    return _body(turns, model, wanted, effort, refuses, extra)


def _body(
    turns: Sequence[tuple[str, str]],
    model: str,
    wanted: Mapping[str, Any],
    effort: str | None,
    refuses: frozenset[str],
    extra: Mapping[str, Any] | None,
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": role, "content": content} for role, content in turns],
        **wanted,
        **copy.deepcopy(dict(extra or {})),
    }
    if effort is not None:
        body["reasoning_effort"] = effort
    return {name: value for name, value in body.items() if name not in refuses}


def named_parameter(message: str, param: str | None) -> str | None:
    """Return the request parameter that an error is about, by its `param` field or its words."""
    if param:
        for name in PARAMETERS:
            if param == name or param.startswith(f"{name}.") or param == f"body.{name}":
                return name
    if re.search(r"\blogprobs of \d+", message):
        return "top_logprobs"
    if _CAP in (param or message) or _NO_ROOM.search(message):
        return CAP_NAMES[0]
    positions = {name: message.find(name) for name in PARAMETERS if name in message}
    if positions:
        return min(positions, key=lambda name: (positions[name], -len(name)))
    return _spaced(message)


def names_field(message: str, param: str | None, name: str) -> bool:
    """Return whether an error is about a field whose name is a common word too: by `param`, or set apart in words."""
    if param:
        return param in (name, f"body.{name}") or param.startswith(f"{name}.")
    apart = rf"""['"`]{name}['"`.]|(?:supplied|arguments?|fields?|parameters?|name):? {name}\b"""
    return re.search(apart, message, re.IGNORECASE) is not None


def _spaced(message: str) -> str | None:
    return "logprobs" if re.search(r"\blog[- ]?prob(?:abilitie)?s\b", message, re.IGNORECASE) else None


def allowed_top_logprobs(message: str, asked: int) -> int | None:
    """Return the largest number of alternatives that an error message allows, when below what was asked."""
    numbers = [int(match) for match in _LIMIT.findall(message)]
    fitting = [number for number in numbers if 0 < number < asked]
    return max(fitting) if fitting else None


def least_cap(message: str, asked: int, *, room: int) -> int | None:
    """Return the smallest output cap that an error allows, `room` for thinking that was cut off; None for neither."""
    if _NO_ROOM.search(message):
        return room if asked < room else None
    return max(
        (number for number in map(int, _LEAST.findall(message)) if asked < number <= room), default=None
    )


def next_effort(message: str, refused: str) -> str | None:
    """Return the least effort that an error allows in place of the one it refuses; None when none is known."""
    quoted = set(re.findall(r"""['"`](\w+)['"`]""", message)) - {refused}
    named = [effort for effort in _EFFORTS if effort in quoted]
    if named:
        return named[0]
    said = re.search(rf"\b{refused}\b", message) is not None  # else the field itself is refused
    return "low" if said and refused in _EFFORTS[:2] else None


def refuses_system(message: str, param: str | None) -> bool:
    """Return whether an error is about a system message, as of o1-mini and of templates such as Gemma's (2026-11)."""
    if param and not param.startswith("messages"):
        return False
    return (
        re.search(r"\bsystem\W{0,2} ?(?:role|messages?|prompt)\b|\brole\b.{0,30}\bsystem\b", message, re.I)
        is not None
    )


def without_system(turns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return turns whose system texts stand at the beginning of the first turn of the user."""
    system = [content for role, content in turns if role == SYSTEM]
    rest = [turn for turn in turns if turn[0] != SYSTEM]
    if not system or not rest:
        return list(turns)
    return [(rest[0][0], "\n\n".join([*system, rest[0][1]])), *rest[1:]]


def without(body: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return a body without some of its fields."""
    return {key: value for key, value in body.items() if key not in names}
