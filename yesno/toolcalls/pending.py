"""Calls that wait for people, as a record that may leave the process and come back."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from yesno._json import strict_json
from yesno.errors import DecisionError, PendingStateError
from yesno.toolcalls.calls import Status
from yesno.toolcalls.canonical import canonical
from yesno.toolcalls.decisions import UNSAID, ToolCallDecisions

__all__ = [
    "ConfirmationRequired",
    "PendingCall",
    "PendingCalls",
    "call_summary",
    "settled_decisions",
    "visible",
]

VERSION = 1
_LONG = 500
_BLANK = frozenset(
    [*"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"]
    + [
        chr(number)
        for start, end in ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
        for number in range(start, end + 1)
    ]
)
"""Letters and marks that show nothing: Default_Ignorable_Code_Point of Unicode 16 (2026-11) outside of category C, and the
empty braille cell."""
_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)


class PendingCall(BaseModel):
    """One call of the reply, whether it waits or not."""

    model_config = _STRICT

    id: str
    name: str
    arguments_text: str = Field(repr=False)
    """The arguments exactly as the model wrote them."""
    runs_with: str | None = Field(default=None, repr=False)
    """What the tool will be called with, as JSON text: after defaults and conversions. None when they are not valid."""
    schema_digest: str | None = Field(default=None, repr=False)
    """Of the tool; None when there is no such tool."""
    waiting: bool
    why: Literal["confirm", "policy", "hint", "gate"] | None = None
    risk: str | None = Field(default=None, pattern=r"^[01]\.[0-9]{3}$")
    """The gate's probability that the call is risky, with three digits: a text, since a number would not survive."""
    method: str | None = None
    """How that was read."""
    reason: str | None = Field(default=None, repr=False)
    summary: str = Field(repr=False)
    """The call in one line for people; control characters are shown, not obeyed."""
    answers: tuple[Literal["allow", "deny", "edit"], ...] = ()
    """What may be answered; nothing for a call that has a result already."""
    settled: Status | None = None
    """The status of a call that has a result already, such as one that is not valid or that the gate blocked."""
    result: str | None = Field(default=None, repr=False)
    """That result."""

    @property
    def arguments(self) -> dict[str, Any] | None:
        """What the tool will be called with; None when the arguments are not valid."""
        return None if self.runs_with is None else dict(json.loads(self.runs_with))


class PendingCalls(BaseModel):
    """All calls of a reply of which at least one waits for a person.

    `model_dump_json` and `model_validate_json` write and read it; it may be shown to people and kept anywhere, with a
    `signer` even by the one who is asked. It holds the arguments of the calls, so it is no place for secrets.
    """

    model_config = _STRICT

    version: int = VERSION
    id: str
    issued: int
    """Seconds since 1970."""
    expires: int | None = None
    audience: str | None = None
    """The user or thread that may answer, as the caller named it."""
    reply_digest: str = Field(repr=False)
    history_digest: str = Field(repr=False)
    """Of the conversation before the reply; kept for the record, not checked, since conversations are shortened."""
    calls: tuple[PendingCall, ...]
    spent_s: str | None = Field(default=None, pattern=r"^[0-9]{1,12}\.[0-9]{3}$")
    """Seconds for which tools ran before in the same turn, with three digits; None for none."""
    signature: str | None = Field(default=None, repr=False)

    @classmethod
    def read(cls, value: Any) -> PendingCalls:  # noqa: ANN401 - the check is the point
        """Return a record given as one, as JSON text or as its values.

        Raises:
            PendingStateError: It is none (`"signature"`: what cannot be read was not signed), or of another version.
        """
        try:
            if isinstance(value, cls):  # a model may be made without any check
                value = value.model_dump(mode="json", warnings=False)
            if isinstance(value, str | bytes):
                value = strict_json(value)
            version = value.get("version", VERSION) if isinstance(value, Mapping) else VERSION
            if version != VERSION:
                raise PendingStateError(
                    f"the record of waiting calls has another version than {VERSION}; ask the model again",
                    reason="version",
                )
            return cls.model_validate_json(json.dumps(value))
        except (ValidationError, ValueError, TypeError, RecursionError):
            raise PendingStateError(
                "the record of waiting calls cannot be read, so it is none that was signed here; nothing ran",
                reason="signature",
            ) from None

    @property
    def waiting(self) -> tuple[PendingCall, ...]:
        """The calls that wait."""
        return tuple(call for call in self.calls if call.waiting)

    @property
    def signed_text(self) -> str:
        """All fields but the signature, in the one way in which they are signed."""
        return canonical(self.model_dump(mode="json", exclude={"signature"}))

    def decide(self, decisions: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> ToolCallDecisions:
        """Return the decisions for all calls; those that do not wait are allowed unless said otherwise.

        Raises:
            DecisionError: A value is no decision, a call is not one of these, or one that waits has no decision.
        """
        return settled_decisions(decisions, [call.id for call in self.calls], [c.id for c in self.waiting])


class ConfirmationRequired(Exception):
    """Calls wait for a person, and nothing of the reply ran: this is no error.

    `pending` is the record of all calls; pass it back with the decisions.
    """

    def __init__(self, pending: PendingCalls) -> None:
        super().__init__(pending)
        self.pending = pending

    def __str__(self) -> str:
        names = ", ".join(f"{call.name} [{call.id}]" for call in self.pending.waiting)
        return (
            f"{len(self.pending.waiting)} of {len(self.pending.calls)} calls wait for a person: {names}; "
            "nothing ran. Pass `pending` and `decisions` to run them"
        )


def settled_decisions(
    decisions: Any,  # noqa: ANN401 - the check is the point
    ids: Iterable[str],
    waiting: Iterable[str],
) -> ToolCallDecisions:
    """Return one decision per call: those given, and `Allow` for calls that wait for nobody.

    Raises:
        DecisionError: A value is no decision, is for no call of these, or is missing for one that waits.
    """
    known = list(ids)
    given = decisions if isinstance(decisions, ToolCallDecisions) else ToolCallDecisions(decisions)
    for call_id in given:
        if call_id not in known:
            told = ", ".join(map(repr, known))
            raise DecisionError(
                f"there is a decision for {call_id!r}, which is no call of the reply; they are {told}"
            )
    for call_id in waiting:
        if call_id not in given:
            raise DecisionError(f"call {call_id!r} waits and has no decision; give Allow() or Deny()")
    return ToolCallDecisions({call_id: given.get(call_id, UNSAID) for call_id in known})


def call_summary(name: str, arguments_text: str) -> str:
    """Return a call in one line for people, at most 500 characters and the name."""
    shown = arguments_text if len(arguments_text) <= _LONG else arguments_text[:_LONG] + " …"
    return visible(f"{name}({shown})")


def visible(text: str) -> str:
    """Return a text in which nothing can hide: what shows nothing, or a blank that is no space, is an escape.

    These are control, format and private characters, other spaces and separators, variation selectors, and letters
    that are drawn as a blank.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(letter) if _hides(letter) else letter for letter in text)


def _hides(letter: str) -> bool:
    if letter == " " or letter.isascii():
        return not letter.isprintable()
    return unicodedata.category(letter)[0] in "CZ" or letter in _BLANK


def _escaped(letter: str) -> str:
    number = ord(letter)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
