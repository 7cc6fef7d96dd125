"""What a model reads in place of a tool's result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from yesno.toolcalls.reading import Problem
from yesno.toolcalls.written import without_surrogates

__all__ = [
    "NO_RESULT",
    "blocked_text",
    "changed_text",
    "denied_text",
    "failed_text",
    "invalid_text",
    "is_refusal",
    "late_text",
    "limit_text",
    "not_run_text",
    "repeated_text",
    "result_text",
    "said_by",
    "timed_out_text",
    "unknown_text",
]

NO_RESULT = "The tool ran and returned nothing."
_REFUSED = "A person refused this call, and it did not run. Do not repeat this call."
_REFUSED_BEFORE = "A person refused this same call before, and it did not run. Do not repeat this call."
_SHOWN_NAMES = 20


def denied_text(message: str | None) -> str:
    """Say that a person refused, what they said, and that the call must not be repeated."""
    said = (message or "").strip()
    return f"{_REFUSED} They said: {said}" if said else _REFUSED


def repeated_text() -> str:
    """Say that the same call was refused before."""
    return _REFUSED_BEFORE


def is_refusal(text: str) -> bool:
    """Return whether a result says that a person refused its call."""
    return text.startswith((_REFUSED, _REFUSED_BEFORE))


def blocked_text(reason: str | None) -> str:
    """Say that a rule or a judge does not let a call run."""
    said = (reason or "").strip()
    told = "This call is not allowed, and it did not run. Do not repeat it."
    return f"{told} Reason: {said}" if said else told


def unknown_text(name: str, close: Sequence[str], names: Sequence[str]) -> str:
    """Say that there is no such tool, and which ones look like it."""
    told = f"There is no tool {json.dumps(name[:128])}, so nothing ran."
    if close:
        return f"{told} Did you mean: {', '.join(close)}?"
    if not names:
        return f"{told} There are no tools."
    more = len(names) - _SHOWN_NAMES
    shown = ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"{told} The tools are: {shown}."


def invalid_text(problems: Iterable[Problem]) -> str:
    """Say what is wrong with the arguments of a call."""
    lines = "\n".join(f"- {problem}" for problem in problems)
    return f"The arguments are not valid, so the tool did not run. Correct them and call it again:\n{lines}"


def limit_text(what: str) -> str:
    """Say that a call was one too many."""
    return f"This call did not run: {what}. Do not repeat it; answer with what you have."


def late_text(seconds: float) -> str:
    """Say what limit on time there is, for `limit_text`."""
    return f"tools may take {seconds:g} seconds together for one request"


def not_run_text(why: str) -> str:
    """Say that a call was not run, and that this is not its own fault."""
    return f"This call did not run: {why}."


def said_by(error: BaseException) -> str:
    """Return the message of an exception; an empty text for one that cannot say it."""
    try:
        return without_surrogates(str(error)).strip()
    except Exception:  # noqa: BLE001 - a tool's exception may do anything
        return ""


def failed_text(error: BaseException, *, show_message: bool) -> str:
    """Say that a tool failed: the kind of error, and its message only where that may be shown."""
    message = said_by(error) if show_message else ""
    return f"The tool failed: {type(error).__name__}" + (f": {message}" if message else ".")


def timed_out_text(seconds: float) -> str:
    """Say that a tool did not finish, and what that means."""
    return f"The tool did not finish within {seconds:g} seconds. It may still have had an effect."


def changed_text(shown: str, content: str) -> str:
    """Say that a person changed a call before it ran, then its result."""
    return f"A person changed this call before it ran. It ran with the arguments {shown}\n\n{content}"


def result_text(value: Any) -> str:  # noqa: ANN401 - any result
    """Return a tool's result as text: a text as it is, None and the empty text as `NO_RESULT`, all else as JSON."""
    if isinstance(value, str):
        return without_surrogates(value) or NO_RESULT
    if value is None:
        return NO_RESULT
    from pydantic_core import to_json

    try:
        return to_json(value, fallback=_named, inf_nan_mode="strings", bytes_mode="base64").decode()
    except (ValueError, TypeError, RecursionError):
        return _escaped(value)


def _escaped(value: Any) -> str:  # noqa: ANN401 - any result
    """Write what holds halves of surrogate pairs, which JSON can have as escapes alone."""
    try:
        return json.dumps(value, default=_named, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        return f"The tool ran; its result, a {type(value).__name__}, cannot be written as JSON."


def _named(value: Any) -> str:  # noqa: ANN401 - any value
    return f"<{type(value).__name__}>"
