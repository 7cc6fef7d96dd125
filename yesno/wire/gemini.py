"""Gemini's `generateContent` on the wire: request bodies out, what a 400 is about.

Names of fields are those of `generationConfig` (python-genai `types.py`, https://ai.google.dev/api/generate-content;
2026-11). Replies are read by `yesno.wire.completion`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["PARAMETERS", "allowed_logprobs", "generate_body", "json_generate_body", "named_config", "wait_in"]

_WORDS = {
    "logprobs": r"log[ _-]?prob(?:abilitie)?s",
    "thinkingConfig": r"thinking|\bbudget\b",
    "responseJsonSchema": r"response_?(?:json_?)?schema|\bschema\b",
    "responseMimeType": r"(?:response_?)?mime_?type|json mode",
    "maxOutputTokens": r"max_?output_?tokens",
    "temperature": r"temperature",
}
PARAMETERS = (*_WORDS, "responseLogprobs")
_RANGE = re.compile(r"\bto (\d+) \((inclusive|exclusive)\)|\[\d+, ?(\d+)\]|between \d+ and (\d+)")
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


def generate_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap: int,
    top_logprobs: int,
    temperature: float,
    refuses: frozenset[str] = frozenset(),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the body that asks for a short answer with its alternatives.

    `model` is part of it here and travels in the address. Fields of `extra` are added to `generationConfig`, those
    named in `refuses` left out of it.
    """
    config = {"responseLogprobs": True, "logprobs": top_logprobs}
    return _body(turns, model, cap, temperature, {**config, **(extra or {})}, refuses)


def json_generate_body(
    turns: Sequence[tuple[str, str]],
    *,
    model: str,
    cap: int,
    schema: Mapping[str, Any],
    refuses: frozenset[str] = frozenset(),
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the body that asks for one sampled JSON answer, at the temperature that the model was trained for."""
    config = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    return _body(turns, model, cap, 1.0, {**config, **(extra or {})}, refuses)


def _body(
    turns: Sequence[tuple[str, str]],
    model: str,
    cap: int,
    temperature: float,
    fields: Mapping[str, Any],
    refuses: frozenset[str],
) -> dict[str, Any]:
    config = {"maxOutputTokens": cap, "temperature": temperature, **copy.deepcopy(dict(fields))}
    system = [{"text": text} for role, text in turns if role == "system"]
    return {
        "model": model,
        **({"systemInstruction": {"parts": system}} if system else {}),
        "contents": [
            {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]}
            for role, text in turns
            if role != "system"
        ],
        "generationConfig": {name: value for name, value in config.items() if name not in refuses},
    }


def named_config(message: str) -> str | None:
    """Return the field of `generationConfig` that an error message speaks of first."""
    found = {
        name: match.start() for name, words in _WORDS.items() if (match := re.search(words, message, re.I))
    }
    return min(found, key=lambda name: found[name]) if found else None


def allowed_logprobs(message: str, asked: int) -> int | None:
    """Return the largest number of alternatives that an error message allows, when below what was asked."""
    numbers = [
        int(top or listed or between) - (end == "exclusive")
        for top, end, listed, between in _RANGE.findall(message)
    ]
    return max((number for number in numbers if 0 < number < asked), default=None)


def wait_in(body: object) -> float | None:
    """Return the seconds to wait that an error body asks for in `google.rpc.RetryInfo`.

    In `error.details[].retryDelay`, such as `"34s"` (google/rpc/error_details.proto; 2026-11).
    """
    inner: Any = body[0] if isinstance(body, list) and body else body
    error = inner.get("error") if isinstance(inner, Mapping) else None
    parts = error.get("details") if isinstance(error, Mapping) else None
    for part in parts if isinstance(parts, list) else ():
        delay = part.get("retryDelay") if isinstance(part, Mapping) else None
        match = _DELAY.fullmatch(delay) if isinstance(delay, str) else None
        if match:
            return float(match.group(1))
    return None
