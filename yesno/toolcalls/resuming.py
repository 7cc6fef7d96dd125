"""Stop for people, and go on with what they decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from yesno.errors import DecisionError, PendingStateError
from yesno.toolcalls.batch import Batch
from yesno.toolcalls.canonical import digest_of
from yesno.toolcalls.checking import Policy, Slot, refuse, refused_by
from yesno.toolcalls.decisions import UNSAID, Allow, Deny, ToolCallDecisions
from yesno.toolcalls.pending import PendingCall, PendingCalls, call_summary
from yesno.toolcalls.reading import ProblemsError
from yesno.toolcalls.sets import ToolSet, meaning_of
from yesno.toolcalls.signing import PendingSigner
from yesno.toolcalls.stores import PendingStore
from yesno.toolcalls.texts import denied_text
from yesno.toolcalls.written import without_surrogates, written

__all__ = ["Records", "apply_decisions", "settle_as_before"]


class Records:
    """Makes records of waiting calls, and says whether one that comes back is to be trusted."""

    def __init__(
        self,
        signer: PendingSigner | None,
        store: PendingStore | None,
        ttl_s: int | None,
        clock: Callable[[], float],
        *,
        allow_replay: bool,
    ) -> None:
        self._signer = signer
        self._store = store
        self._ttl_s = ttl_s
        self._clock = clock
        self._allow_replay = allow_replay

    def issue(self, batch: Batch, audience: str | None) -> PendingCalls:
        """Return the record of a reply of which calls wait, signed and remembered as far as that is set up."""
        issued = int(self._clock())
        record = PendingCalls(
            id=batch.log.run,
            issued=issued,
            expires=None if self._ttl_s is None else issued + self._ttl_s,
            audience=audience,
            reply_digest=batch.reply.digest,
            history_digest=digest_of([message.as_dict() for message in batch.history.said]),
            calls=tuple(_pending(slot) for slot in batch.slots),
            spent_s=f"{batch.spent_s:.3f}" if batch.spent_s else None,
        )
        text = record.signed_text
        if self._signer is not None:
            record = record.model_copy(update={"signature": self._signer.sign(text)})
        if self._store is not None:
            self._store.issue(record.id, digest_of(text), record.expires)
        return record

    def taken_up(self, value: Any, batch: Batch, tools: ToolSet, audience: str | None) -> PendingCalls | None:  # noqa: ANN401
        """Return the record to go on with, and let the batch go on under its name; None where none is needed.

        Raises:
            PendingStateError: There is none and one is needed, or it may not be gone on with.
        """
        if value is not None:
            batch.record = self.checked(value, batch, tools, audience)
            batch.log = replace(batch.log, run=batch.record.id)
            batch.spent_s = max(batch.spent_s, float(batch.record.spent_s or 0))
        elif self._signer is not None or self._store is not None:
            raise PendingStateError(
                "decisions came without the record of the calls that they are about; pass `pending` too",
                reason="missing",
            )
        return batch.record

    def checked(self, value: Any, batch: Batch, tools: ToolSet, audience: str | None) -> PendingCalls:  # noqa: ANN401
        """Return a record that may be gone on with; whether it was used before is seen when it is.

        Raises:
            PendingStateError: It may not.
        """
        record = PendingCalls.read(value)
        if not self._is_genuine(record):
            raise _refused("it was changed, or was not made here", "signature")
        if record.expires is not None and not self._clock() <= record.expires:  # NaN is no time
            raise _refused("it expired", "expired")
        if record.audience != audience:
            raise _refused("it is for another user or thread", "audience")
        same = [call.id for call in record.calls] == [call.id for call in batch.reply.calls]
        if not same or record.reply_digest != batch.reply.digest:
            raise _refused("it is about another reply", "reply")
        for call in record.calls:
            known = tools.digest(call.name) if call.name in tools else None
            if call.schema_digest is not None and known != call.schema_digest:
                raise _refused(f"tool {call.name!r} is not there any more, or takes other arguments", "tools")
        return record

    def consume(self, record: PendingCalls, batch: Batch) -> None:
        """Use a record up, as the last thing before the first tool.

        Raises:
            PendingStateError: It was used before, or without a store nobody could tell.
        """
        if self._store is not None:
            if not self._store.consume(record.id, record.expires):
                raise _refused("it was used before", "already_used")
        elif self._signer is not None and not self._allow_replay:
            for slot in batch.slots:
                if slot.call.id in batch.jobs and slot.tool is not None and not slot.tool.may_repeat:
                    raise _refused(
                        f"tool {slot.tool.name!r} must not run twice, and without a `store` a record could be used "
                        "again; give the manager a store, mark the tool idempotent, or set allow_replay=True",
                        "replay",
                    )

    def _is_genuine(self, record: PendingCalls) -> bool:
        text = record.signed_text
        if self._signer is not None:
            return self._signer.verify(text, record.signature)
        if self._store is not None:
            return self._store.digest(record.id) == digest_of(text)
        return True


def _refused(why: str, reason: str) -> PendingStateError:
    return PendingStateError(f"the record of waiting calls is refused: {why}; nothing ran", reason=reason)


def settle_as_before(slots: Iterable[Slot], record: PendingCalls) -> None:
    """Give calls that had a result when the record was made the same result again.

    Raises:
        PendingStateError: A tool would now be called with other values than people were shown.
    """
    for slot, call in zip(slots, record.calls, strict=True):
        if call.settled is not None:
            slot.settle(call.settled, call.result or "")
            continue
        slot.risk = None if call.risk is None else float(call.risk)
        slot.method = call.method
        if slot.result is not None or slot.arguments is None or slot.arguments.shown != call.runs_with:
            raise _refused(f"call {call.id!r} would run with other values than were shown", "arguments")


def apply_decisions(batch: Batch, decisions: ToolCallDecisions, policy: Policy | None) -> None:
    """Put people's decisions on the calls that have no result yet; a policy's refusal still wins.

    Raises:
        DecisionError: Changed arguments are not allowed, or not valid.
    """
    for slot in batch.slots:
        if slot.result is not None:
            said = decisions[slot.call.id]
            if slot.tool is None and batch.record is None and isinstance(said, Allow) and said is not UNSAID:
                raise DecisionError(
                    f"call {slot.call.id!r} is allowed, but the request carries no tool {slot.call.name[:64]!r}; "
                    "pass the tools that the model was given"
                )
            continue
        said = decisions[slot.call.id]
        slot.decision, slot.why = None if said is UNSAID else said, None
        if isinstance(slot.decision, Deny):
            slot.settle("denied", denied_text(slot.decision.message))
            continue
        if slot.decision is not None and slot.decision.arguments is not None:
            _change(slot, slot.decision.arguments)
        refusal = refused_by(policy, slot, batch.context)
        if refusal is not None:
            refuse(slot, refusal)


def _change(slot: Slot, arguments: Mapping[str, Any]) -> None:
    tool, number = slot.tool, slot.call.id
    if tool is None or not tool.editable:
        raise DecisionError(
            f"the arguments of call {number!r} cannot be changed: tool {slot.call.name!r} is not `editable`"
        )
    try:
        slot.arguments = tool.reader.read(written(arguments), strict=tool.strict)
    except ProblemsError as error:
        paths = ", ".join(problem.path or "the whole" for problem in error.problems)
        raise DecisionError(f"the changed arguments of call {number!r} are not valid: {paths}") from None
    except (TypeError, ValueError, RecursionError):
        raise DecisionError(f"the changed arguments of call {number!r} are no JSON values") from None


def _pending(slot: Slot) -> PendingCall:
    call, tool, result = slot.call, slot.tool, slot.result
    shown = None if slot.arguments is None else slot.arguments.shown
    answers: tuple[Any, ...] = ()
    if result is None:
        answers = ("allow", "deny", "edit") if tool is not None and tool.editable else ("allow", "deny")
    return PendingCall(
        id=call.id,
        name=without_surrogates(call.name),
        arguments_text=without_surrogates(call.arguments_text),
        runs_with=shown,
        schema_digest=None if tool is None else meaning_of(tool),
        waiting=slot.why is not None,
        why=slot.why,
        risk=None if slot.risk is None else f"{slot.risk:.3f}",
        method=slot.method,
        reason=None if slot.reason is None else without_surrogates(slot.reason),
        summary=call_summary(call.name, call.arguments_text if shown is None else shown),
        answers=answers,
        settled=None if result is None else result.status,
        result=None if result is None else result.content,
    )
