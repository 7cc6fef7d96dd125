"""Run what a model asks for."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from yesno._checks import check_kinds, check_methods, checked_count, checked_seconds
from yesno.errors import ConfigError, PendingStateError, ToolDefinitionError
from yesno.flow import Flow, Later, arun, run
from yesno.toolcalls.audit import Audit
from yesno.toolcalls.batch import Batch, Log
from yesno.toolcalls.calls import Plan, ToolRun
from yesno.toolcalls.checking import Policy, Slot, judge, limit, read, resolve, rule
from yesno.toolcalls.errors import ToolErrors
from yesno.toolcalls.gates import Gate
from yesno.toolcalls.histories import History
from yesno.toolcalls.limits import ToolLimits
from yesno.toolcalls.pending import ConfirmationRequired, settled_decisions
from yesno.toolcalls.replies import Reply
from yesno.toolcalls.resuming import Records, apply_decisions, settle_as_before
from yesno.toolcalls.running import arun_jobs, refuse_inside_a_loop, run_jobs
from yesno.toolcalls.sets import ToolDefinition, ToolSet
from yesno.toolcalls.shapes import as_tool
from yesno.toolcalls.signing import PendingSigner
from yesno.toolcalls.stores import PendingStore
from yesno.toolcalls.timing import TurnTimes
from yesno.toolcalls.tool import Tool
from yesno.tools import ToolContext

__all__ = ["ToolCallingManager"]


class ToolCallingManager:
    """Runs the calls of one reply: all are checked before the first runs, and each gets exactly one result.

    It holds no model, and nothing of a conversation but how long the tools of its newest calls ran where `ToolLimits` sets
    `seconds`; share it between threads. Its flows are run by a model, which
    answers what the gate asks (nothing without one)::

        run = model.run(manager.execute_tool_calls(messages, reply, tools=tools))
        run = await async_model.run(manager.aexecute_tool_calls(messages, reply, tools=tools))

    The gate is any `yesno.toolcalls.Gate`: `gate.judge(calls, messages) -> Flow[Sequence[Verdict]]`. It is asked once
    per reply, after names, arguments, limits, policy, `confirm` and hints, about the calls marked `"auto"` and, with
    `gate.check_all`, about those that would run. The first tool starts after its last question is answered.

    Args:
        policy: `(call, tool, context)` -> True (a person is asked), False (nobody is), `"auto"` (the gate decides) or
            a `Deny`; anything else, and an exception, means that a person is asked. It cannot waive `confirm=True`.
        gate: The judge of calls marked `"auto"`; without one a person is.
        limits: How often tools may be called; by default 40 times each, 150 times together, 3 times with equal
            arguments.
        errors: What the model is told of failures, and what is raised.
        signer: Seals records of waiting calls, so that they may be kept where others can write.
        store: Makes each record good for one use.
        audit: An `Audit`, or what it takes as a sink.
        audit_required: Run nothing whose event cannot be written.
        parallel: Tools that run at once, when all of a reply only read; others run one after another.
        resolver: From a name to a tool, for calls of tools that the request does not carry; used only with
            `resolver_fallback`, since it makes them callable by any reply.
        resolver_fallback: Whether it is.
        allow_cut_off: Act on replies that were cut off.
        allow_replay: With a signer and without a store, resume tools that must not run twice too.
        pending_ttl_s: Seconds for which people may answer; None for ever.
        clock: Gives seconds since 1970, to tell when records expire.
        timer: Gives seconds from any beginning, to measure how long tools run; what `ToolLimits(seconds=...)` counts.

    Raises:
        ConfigError: A setting is impossible.
    """

    def __init__(
        self,
        *,
        policy: Policy | None = None,
        gate: Gate | None = None,
        limits: ToolLimits | None = None,
        errors: ToolErrors | None = None,
        signer: PendingSigner | None = None,
        store: PendingStore | None = None,
        audit: Any = None,  # noqa: ANN401 - an `Audit`, a function or a logger
        audit_required: bool = False,
        parallel: int = 1,
        resolver: Callable[[str], Any] | None = None,
        resolver_fallback: bool = False,
        allow_cut_off: bool = False,
        allow_replay: bool = False,
        pending_ttl_s: int | None = 86_400,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        for name, function in (
            ("policy", policy),
            ("resolver", resolver),
            ("clock", clock),
            ("timer", timer),
        ):
            if function is not None and not callable(function):
                raise ConfigError(f"`{name}` must be a function, not a {type(function).__name__}")
        check_kinds(limits=(limits, ToolLimits), errors=(errors, ToolErrors), signer=(signer, PendingSigner))
        check_methods("gate", gate, "judge")
        check_methods("store", store, "issue", "digest", "consume")
        if audit_required and audit is None:
            raise ConfigError("`audit_required` needs an `audit` to write to")
        if pending_ttl_s is not None:
            checked_count("pending_ttl_s", pending_ttl_s)
        self.policy = policy
        self.gate = gate
        self.limits = limits or ToolLimits()
        self.errors = errors or ToolErrors()
        self.audit = audit if audit is None or isinstance(audit, Audit) else Audit(audit)
        self.audit_required = audit_required
        self.parallel = checked_count("parallel", parallel)
        self.resolver = resolver if resolver_fallback else None
        self.allow_cut_off = allow_cut_off
        self._timer = timer
        self._times = None if self.limits.seconds is None else TurnTimes()
        self._records = Records(signer, store, pending_ttl_s, clock, allow_replay=allow_replay)

    def resolve_tool_definitions(self, tools: Iterable[Any] | ToolSet) -> list[ToolDefinition]:
        """Return what a model is told of tools, in their order; none for none.

        Raises:
            ToolDefinitionError: One cannot be read.
            DuplicateToolError: Two have one name.
        """
        return ToolSet.of(tools).definitions()

    def plan(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        *,
        tools: Iterable[Any] | ToolSet,
        context: Mapping[str, Any] | None = None,
    ) -> Flow[Plan]:
        """Return the flow that says what would become of each call: it asks the gate, runs nothing, logs nothing.

        Raises:
            ToolError: As `execute_tool_calls`, but for limits and people: these show in the plan.
        """
        batch = self._begun(messages, reply, context, audit=None)
        self._check(batch, ToolSet.of(tools), self.resolver)
        limit(batch.slots, batch.turn, self.limits, batch.spent_s)
        rule(batch.slots, batch.turn, self.policy, batch.context)
        yield from judge(batch.slots, self.gate, batch.history)
        return batch.plan()

    def execute_tool_calls(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        *,
        tools: Iterable[Any] | ToolSet,
        context: Mapping[str, Any] | None = None,
        decisions: Any = None,  # noqa: ANN401 - checked
        pending: Any = None,  # noqa: ANN401 - checked
        audience: str | None = None,
        spent_s: float = 0.0,
    ) -> Flow[ToolRun]:
        """Return the flow that runs the calls of a reply, for a `DecisionModel`.

        Args:
            messages: The conversation that the reply answers, in any shape that `yesno.messages.messages_of` reads; it
                may end with the reply.
            reply: The reply, in any shape that `Reply.parse` reads. When calls are resumed it must be the server's
                own copy, never one that a client sent.
            tools: Those of the request; no others can be called. A `ToolSet` saves reading them again.
            context: Values for tools and rules, which no model sees.
            decisions: To resume: what people decided, by call id; see `ToolCallDecisions`.
            pending: To resume: the record from `ConfirmationRequired`, as an object, JSON text or values.
            audience: The user or thread that is asked, written into the record; when resuming, who answered.
            spent_s: `ToolRun.spent_s` of the reply before in the same turn, where another manager ran that.

        Returns:
            The conversation with reply and results in the caller's own shapes.

        Raises:
            ConfirmationRequired: Calls wait for a person; nothing ran.
            NoToolCallsError, ReplyError: The reply asks for nothing, or cannot be acted upon; nothing ran.
            ToolLimitExceeded: A limit is set to be raised; nothing ran, or for `seconds` no further tool.
            DecisionError, PendingStateError: Decisions or record are not good; nothing ran.
            ToolDefinitionError, QuestionError, ConfigError: Tools, messages or set-up cannot be used; nothing ran.
            AuditError: An event could not be written, and `audit_required` is set.
        """
        batch = yield from self._ready(messages, reply, tools, context, decisions, pending, audience, spent_s)
        refuse_inside_a_loop(list(batch.jobs.values()))
        return self._run(batch)

    def aexecute_tool_calls(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        *,
        tools: Iterable[Any] | ToolSet,
        context: Mapping[str, Any] | None = None,
        decisions: Any = None,  # noqa: ANN401 - checked
        pending: Any = None,  # noqa: ANN401 - checked
        audience: str | None = None,
        spent_s: float = 0.0,
    ) -> Flow[Later[ToolRun]]:
        """Return the flow that does what `execute_tool_calls` does, for an `AsyncDecisionModel`.

        Coroutine functions are awaited in its loop, blocking tools run in threads.
        """
        batch = yield from self._ready(messages, reply, tools, context, decisions, pending, audience, spent_s)
        return Later(partial(self._arun, batch))

    def _ready(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        tools: Iterable[Any] | ToolSet,
        context: Mapping[str, Any] | None,
        decisions: Any,  # noqa: ANN401 - checked
        pending: Any,  # noqa: ANN401 - checked
        audience: str | None,
        spent_s: float,
    ) -> Flow[Batch]:
        """Do everything that comes before the first tool."""
        if not isinstance(audience, str | None):
            raise ConfigError(f"`audience` must be a text, not a {type(audience).__name__}")
        known = ToolSet.of(tools)
        batch = self._begun(messages, reply, context, audit=self.audit)
        batch.spent_s = max(batch.spent_s, checked_seconds("spent_s", spent_s))
        if decisions is not None or pending is not None:
            self._resume(batch, known, decisions, pending, audience)
        else:
            yield from self._propose(batch, known, audience)
        batch.prepare()
        return batch

    def _begun(
        self,
        messages: Any,  # noqa: ANN401 - any of many shapes
        reply: Any,  # noqa: ANN401 - any of many shapes
        context: Mapping[str, Any] | None,
        *,
        audit: Audit | None,
    ) -> Batch:
        parsed = Reply.parse(reply).checked(allow_cut_off=self.allow_cut_off)
        history = History.read(messages, parsed)
        turn = history.turn
        return Batch(
            parsed,
            history,
            turn,
            [Slot(call) for call in parsed.calls],
            ToolContext(context),
            Log(audit, self.audit_required, secrets.token_hex(16), 0 if audit is None else history.number),
            self.limits,
            self.errors,
            self.parallel,
            self._timer,
            self._times,
            0.0 if self._times is None else self._times.of(history.calls),
        )

    def _check(self, batch: Batch, tools: ToolSet, resolver: Callable[[str], Any] | None) -> None:
        resolve(batch.slots, tools, resolver and partial(_resolved, resolver), raises=self.errors.raise_)
        read(batch.slots, raises=self.errors.raise_)

    def _propose(self, batch: Batch, tools: ToolSet, audience: str | None) -> Flow[None]:
        for slot in batch.slots:
            batch.log.about("proposed", slot)
        self._check(batch, tools, self.resolver)
        self._limit(batch, batch.slots)
        rule(batch.slots, batch.turn, self.policy, batch.context)
        judged = yield from judge(batch.slots, self.gate, batch.history)
        for slot in judged:
            batch.log.about("gate", slot, risk=slot.risk, method=slot.method, status=slot.verdict)
        for slot in batch.slots:
            if slot.result is not None and slot.result.status != "over_limit":
                batch.log.about("rejected", slot, status=slot.result.status, error=slot.result.error)
        if any(slot.why is not None for slot in batch.slots):
            record = self._records.issue(batch, audience)
            for slot in batch.slots:
                if slot.why is not None:
                    batch.log.about("waiting", slot, why=slot.why, risk=slot.risk)
            raise ConfirmationRequired(record)

    def _resume(
        self,
        batch: Batch,
        tools: ToolSet,
        decisions: Any,  # noqa: ANN401 - checked
        pending: Any,  # noqa: ANN401 - checked
        audience: str | None,
    ) -> None:
        try:
            record = self._records.taken_up(pending, batch, tools, audience)
            self._check(batch, tools, None)
            if record is not None:
                settle_as_before(batch.slots, record)
        except PendingStateError as error:
            batch.log.refused(error.reason)
            raise
        if record is None:
            self._rule_again(batch)
            waiting = [slot.call.id for slot in batch.slots if slot.why is not None]
        else:
            waiting = [call.id for call in record.waiting]
        ids = [slot.call.id for slot in batch.slots]
        settled = settled_decisions({} if decisions is None else decisions, ids, waiting)
        apply_decisions(batch, settled, self.policy)
        for slot in batch.slots:
            batch.log.decided(slot)
        self._limit(batch, [slot for slot in batch.slots if slot.is_open])

    def _rule_again(self, batch: Batch) -> None:
        """Find out which calls wait, where there is no record that says so; the gate is not asked a second time."""
        rule(batch.slots, batch.turn, self.policy, batch.context)
        for slot in batch.slots:
            if slot.is_open and (slot.auto or (self.gate is not None and self.gate.check_all)):
                slot.why = "gate"

    def _limit(self, batch: Batch, slots: Sequence[Slot]) -> None:
        breach = limit(slots, batch.turn, self.limits, batch.spent_s)
        for slot in slots:
            if slot.result is not None and slot.result.status == "over_limit":
                batch.log.about("limit", slot, status="over_limit")
        if breach is not None and self.limits.on_exceeded == "raise":
            raise batch.exceeded(breach.text, tool_name=breach.tool_name, limit=breach.limit)

    def _run(self, batch: Batch) -> ToolRun:
        self._use_up(batch)
        steps = batch.steps()
        try:
            return run(steps, run_jobs)
        except BaseException as error:
            steps.close()  # it takes the time
            batch.attach_to(error)
            raise

    async def _arun(self, batch: Batch) -> ToolRun:
        self._use_up(batch)
        steps = batch.steps()
        try:
            return await arun(steps, arun_jobs)
        except BaseException as error:
            steps.close()
            batch.attach_to(error)
            raise

    def _use_up(self, batch: Batch) -> None:
        if batch.record is not None:
            try:
                self._records.consume(batch.record, batch)
            except PendingStateError as error:
                batch.log.refused(error.reason)
                raise


def _resolved(resolver: Callable[[str], Any], name: str) -> Tool | None:
    found = resolver(name)
    if found is None:
        return None
    tool = as_tool(found)
    if tool.name != name:  # people are shown the name of the call
        raise ToolDefinitionError(
            f"the resolver was asked for {name[:64]!r} and gave {tool.name!r}; give None for what it does not know"
        )
    return tool
