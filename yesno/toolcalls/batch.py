"""The calls of one reply on their way from proposal to result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from yesno.errors import (
    AuditError,
    InvalidArgumentsError,
    RetryTool,
    ToolFailed,
    ToolLimitExceeded,
    ToolTimeout,
)
from yesno.toolcalls.audit import Audit
from yesno.toolcalls.calls import CallResult, Plan, PlannedCall, Status, ToolRun
from yesno.toolcalls.checking import Slot
from yesno.toolcalls.decisions import Allow
from yesno.toolcalls.errors import ToolErrors
from yesno.toolcalls.histories import History, Turn
from yesno.toolcalls.limits import ToolLimits
from yesno.toolcalls.pending import PendingCalls
from yesno.toolcalls.replies import Reply
from yesno.toolcalls.running import Done, Job
from yesno.toolcalls.texts import (
    changed_text,
    failed_text,
    late_text,
    limit_text,
    not_run_text,
    result_text,
    said_by,
    timed_out_text,
)
from yesno.toolcalls.timing import TurnTimes
from yesno.tools import ToolContext

__all__ = ["Batch", "Log"]


@dataclass(frozen=True, slots=True)
class Log:
    """Writes the events of one run."""

    audit: Audit | None
    required: bool
    run: str
    turn: int

    def about(self, name: str, slot: Slot, **fields: Any) -> None:
        """Write an event about one call; raises `AuditError` as `Audit.event` does."""
        if self.audit is None:
            return
        private = {key: fields.pop(key, None) for key in ("error", "result", "note")}
        if self.audit.include_arguments:
            private["arguments"] = slot.seen.arguments
        self.audit.event(
            name,
            required=self.required,
            private=private,
            run=self.run,
            turn=self.turn,
            call_id=slot.call.id,
            tool=slot.call.name,
            source=None if slot.tool is None else slot.tool.source,
            arguments_digest=slot.digest,
            **fields,
        )

    def decided(self, slot: Slot) -> None:
        """Write what a person decided about a call, if they did."""
        decision = slot.decision
        if decision is None:
            return
        allowed = isinstance(decision, Allow)
        self.about(
            "decided",
            slot,
            decision="allow" if allowed else "deny",
            changed=True if isinstance(decision, Allow) and decision.arguments is not None else None,
            by=decision.by,
            note=decision.note if isinstance(decision, Allow) else decision.message,
            status=None if slot.result is None else slot.result.status,
        )

    def refused(self, reason: str) -> None:
        """Write that a record of waiting calls was not trusted."""
        if self.audit is not None:
            self.audit.event(
                "pending_refused", required=False, private={}, run=self.run, turn=self.turn, status=reason
            )


@dataclass(slots=True)
class Batch:
    """All calls of a reply, checked."""

    reply: Reply
    history: History
    turn: Turn
    slots: list[Slot]
    context: ToolContext
    log: Log
    limits: ToolLimits
    errors: ToolErrors
    parallel: int = 1
    timer: Callable[[], float] = monotonic
    times: TurnTimes | None = None
    spent_s: float = 0.0
    """Seconds for which the tools of the turn ran so far."""
    record: PendingCalls | None = None
    jobs: dict[str, Job] = field(default_factory=dict, repr=False)

    def plan(self) -> Plan:
        """Return what would become of each call."""
        return Plan(tuple(_planned(slot) for slot in self.slots))

    def finished(self, why_not: str = "the run was stopped before it") -> ToolRun:
        """Return the conversation with a result for every call; those without one did not run, and say why."""
        for slot in self.slots:
            if slot.result is None:
                slot.settle("over_limit", not_run_text(why_not))
        results = tuple(slot.result for slot in self.slots if slot.result is not None)
        messages, new = self.history.continued(self.reply, results)
        direct = all(
            s.tool is not None and s.tool.return_direct and s.result.ok for s in self.slots if s.result
        )
        return ToolRun(messages, new, results, return_direct=direct, spent_s=self.spent_s)

    def exceeded(self, text: str, *, tool_name: str | None, limit: float) -> ToolLimitExceeded:
        """Return the error of a limit that was broken, with a conversation that can be sent."""
        name = "" if tool_name is None else f" for {tool_name!r}"
        return ToolLimitExceeded(
            f"the limit{name} is reached: {text}; `partial` holds a result for every call. Raise it in `ToolLimits`, "
            "or set on_exceeded='tell_model'",
            tool_name=tool_name,
            limit=limit,
            partial=self.finished("another call of the same reply was over a limit"),
        )

    def prepare(self) -> None:
        """Make ready what will run.

        Raises:
            ToolDefinitionError: A tool has nothing to run.
        """
        for slot in self.slots:
            if slot.is_open and slot.tool is not None and slot.arguments is not None:
                context = self.context.of(slot.call.id, slot.tool.name)
                self.jobs[slot.call.id] = Job(
                    slot.tool.binding, slot.arguments.values, context, slot.tool.timeout
                )

    def steps(self) -> Generator[Sequence[Job], Sequence[Done], ToolRun]:
        """Yield runs that may go on at once, are sent what each gave, and return the finished conversation.

        Raises:
            ToolLimitExceeded: The time is over and is to be raised.
            AuditError: An event that is required could not be written.
        """
        waiting = [slot for slot in self.slots if slot.call.id in self.jobs]
        width = self._width(waiting)
        limit = self.limits.seconds
        try:
            while waiting:
                group, waiting = waiting[:width], waiting[width:]
                left = None if limit is None else limit - self.spent_s
                if left is not None and left <= 0:
                    self._late([*group, *waiting])
                    break
                for slot in group:
                    self.log.about("started", slot)
                jobs = [_within(self.jobs[slot.call.id], left) for slot in group]
                begun = self.timer()
                try:
                    dones = yield jobs
                finally:
                    self._spend(self.timer() - begun)
                raised = [
                    self._conclude(slot, job, done)
                    for slot, job, done in zip(group, jobs, dones, strict=True)
                ]
                for slot in group:
                    self._tell_finished(slot)
                for error in raised:
                    if error is not None:
                        raise error
        except AuditError as error:
            error.partial = self.finished()
            raise
        return self.finished()

    def _spend(self, seconds: float) -> None:
        self.spent_s += max(0.0, seconds)  # a clock may go back
        if self.times is not None:
            self.times.keep(self.history.calls_of(self.reply), self.spent_s)

    def _width(self, waiting: Sequence[Slot]) -> int:
        safe = all(slot.tool is not None and slot.tool.only_reads for slot in waiting)
        return self.parallel if safe else 1

    def _late(self, slots: Sequence[Slot]) -> None:
        seconds = self.limits.seconds or 0.0
        text = late_text(seconds)
        for slot in slots:
            slot.settle("over_limit", limit_text(text))
            self.log.about("limit", slot, status="over_limit")
        if self.limits.on_exceeded == "raise":
            raise self.exceeded(text, tool_name=None, limit=seconds)

    def _conclude(self, slot: Slot, job: Job, done: Done) -> Exception | None:
        """Give a call the result of its run; return what has to be raised."""
        slot.result = result = self._result(slot, job, done)
        decision = result.decision
        if isinstance(decision, Allow) and decision.arguments is not None and slot.arguments is not None:
            slot.result = replace(result, content=changed_text(slot.arguments.shown, result.content))
        error = _lateness(slot, job) if done.timed_out else done.error
        return error if isinstance(error, self.errors.reraise) else None

    def _result(self, slot: Slot, job: Job, done: Done) -> CallResult:
        def made(status: Status, content: str, error: str | None = None) -> CallResult:
            return CallResult(slot.call, status, content, error, done.seconds, slot.decision, slot.risk)

        if done.timed_out:
            return made("timed_out", timed_out_text(job.timeout_s or 0.0), "ToolTimeout")
        if done.error is None:
            return made("ran", result_text(done.value))
        said = said_by(done.error)
        told = f"{type(done.error).__name__}: {said}".removesuffix(": ")
        if isinstance(done.error, RetryTool | InvalidArgumentsError) and said:
            return made("failed", said, told)
        if isinstance(done.error, ToolFailed) and said:
            return made("failed", f"{said}\nDo not retry this call.", told)
        return made("failed", failed_text(done.error, show_message=self.errors.show_message), told)

    def _tell_finished(self, slot: Slot) -> None:
        result = slot.result
        if result is None:
            return
        self.errors.log(result)
        self.log.about(
            "finished",
            slot,
            status=result.status,
            seconds=None if result.seconds is None else round(result.seconds, 6),
            risk=slot.risk,
            error=result.error,
            result=result.content,
        )

    def attach_to(self, error: BaseException) -> None:
        """Attach the results so far, as `call_results`, to what ends the run."""
        results = tuple(slot.result for slot in self.slots if slot.result is not None)
        error.call_results = results  # type: ignore[attr-defined]  # set here alone


def _lateness(slot: Slot, job: Job) -> ToolTimeout:
    return ToolTimeout(
        f"tool {slot.call.name!r} did not finish within {job.timeout_s:g} s; it may still be at work"
    )


def _within(job: Job, left_s: float | None) -> Job:
    if left_s is None or (job.timeout_s is not None and job.timeout_s <= left_s):
        return job
    return Job(job.binding, job.values, job.context, left_s)


def _planned(slot: Slot) -> PlannedCall:
    if slot.result is not None:
        return PlannedCall(slot.call, "settled", risk=slot.risk, result=slot.result)
    if slot.why is not None:
        return PlannedCall(slot.call, "wait", why=slot.why, risk=slot.risk, reason=slot.reason)
    return PlannedCall(slot.call, "run", risk=slot.risk)
