"""What a person answered, as a document that goes from where they were asked to where the calls are resumed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from yesno.errors import DecisionError
from yesno.toolcalls.decisions import Allow, Deny, ToolCallDecisions
from yesno.toolcalls.pending import PendingCalls

__all__ = ["answers_document", "read_answers"]


def answers_document(pending: PendingCalls, decisions: Mapping[str, Any]) -> dict[str, Any]:
    """Return decisions about calls as JSON values, `{"id": ..., "decisions": {call id: {"allow": ...}}}`.

    A refusal has its `message`, if there is one. Nothing of the calls is in it.

    Raises:
        DecisionError: A value is no decision, is about no call of these, is missing for one that waits, or changes
            the arguments, which such a document cannot carry.
    """
    whole = pending.decide(decisions)
    written: dict[str, Any] = {}
    for call in pending.calls:
        if not call.waiting and call.id not in decisions:
            continue
        said = whole[call.id]
        if isinstance(said, Allow):
            if said.arguments is not None:
                raise DecisionError(
                    f"the answer about call {call.id!r} changes its arguments; allow or deny it"
                )
            written[call.id] = {"allow": True}
        else:
            written[call.id] = {"allow": False} | ({"message": said.message} if said.message else {})
    return {"id": pending.id, "decisions": written}


def read_answers(document: Any, pending: PendingCalls, *, by: str | None = None) -> ToolCallDecisions:  # noqa: ANN401 - the check is the point
    """Return the decisions that a document of `answers_document` holds, for all calls of the record.

    Args:
        document: The values, or their JSON text.
        pending: The record that they must be about: your own copy.
        by: Who decided, as you know it and not as the document says.

    Raises:
        DecisionError: It is no such document, is about another record, or lacks a call that waits.
    """
    if isinstance(document, str | bytes):
        try:
            document = json.loads(document)
        except (ValueError, RecursionError):
            raise DecisionError("the answers are no JSON text") from None
    given = document.get("decisions") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(given, Mapping):
        raise DecisionError("the answers must be an object with `id` and `decisions`")
    if document.get("id") != pending.id:
        raise DecisionError("the answers are about another record of waiting calls")
    return pending.decide({call_id: _decision(call_id, value, by) for call_id, value in given.items()})


def _decision(call_id: str, value: Any, by: str | None) -> Allow | Deny:  # noqa: ANN401 - the check is the point
    fields = dict(value) if isinstance(value, Mapping) else {}
    allowed, message = fields.pop("allow", None), fields.pop("message", None)
    if not isinstance(allowed, bool) or fields or not (message is None or isinstance(message, str)):
        raise DecisionError(
            f'the answer about call {call_id!r} must be {{"allow": true}}, or {{"allow": false}} with or without a '
            "`message`"
        )
    return Allow(by=by, note=message) if allowed else Deny(message, by=by)
