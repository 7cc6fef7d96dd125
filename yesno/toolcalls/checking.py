"""Everything that is found out about the calls of a reply before the first one runs. Pure but for the caller's rules."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from yesno.errors import InvalidArgumentsError, UnknownToolError
from yesno.flow import Flow
from yesno.toolcalls.calls import CallResult, Status, ToolCall, Why
from yesno.toolcalls.canonical import digest_of
from yesno.toolcalls.decisions import Decision, Deny
from yesno.toolcalls.gates import Gate, JudgedCall, Verdict
from yesno.toolcalls.histories import History, Turn
from yesno.toolcalls.limits import ToolLimits
from yesno.toolcalls.reading import ProblemsError, ValidArguments
from yesno.toolcalls.sets import ToolSet
from yesno.toolcalls.texts import (
    blocked_text,
    invalid_text,
    late_text,
    limit_text,
    repeated_text,
    unknown_text,
)
from yesno.toolcalls.tool import Tool
from yesno.tools import ToolContext

__all__ = ["Breach", "Policy", "Slot", "judge", "limit", "read", "refuse", "refused_by", "resolve", "rule"]

Policy: TypeAlias = Callable[[ToolCall, Tool, ToolContext], Any]
"""Of call, tool and context: True (a person is asked), False (nobody is), `"auto"` (the gate decides) or a `Deny`."""


@dataclass
class Slot:
    """What is known so far of one call. It has a result, waits, or is going to run."""

    call: ToolCall
    tool: Tool | None = None
    arguments: ValidArguments | None = field(default=None, repr=False)
    result: CallResult | None = None
    why: Why | None = None
    """Set when it waits for a person."""
    auto: bool = False
    risk: float | None = None
    method: str | None = None
    reason: str | None = field(default=None, repr=False)
    decision: Decision | None = None
    verdict: str | None = None
    """The gate's word: `run`, `confirm` or `block`."""

    @property
    def is_open(self) -> bool:
        """Whether it has no result yet and waits for nobody."""
        return self.result is None and self.why is None

    @cached_property
    def identity(self) -> str:
        """`ToolCall.identity`, found once."""
        return self.call.identity

    @cached_property
    def digest(self) -> str:
        """SHA-256 of it, for the log."""
        return digest_of(self.identity)

    @property
    def seen(self) -> ToolCall:
        """The call with the arguments that its tool will get: what rules, judges and people are shown."""
        return (
            self.call if self.arguments is None else replace(self.call, arguments_text=self.arguments.shown)
        )

    def settle(self, status: Status, content: str, *, error: str | None = None) -> None:
        """Give it a result without running it."""
        self.result = CallResult(self.call, status, content, error, decision=self.decision, risk=self.risk)


@dataclass(frozen=True, slots=True)
class Breach:
    """The first call that was one too many."""

    slot: Slot
    tool_name: str | None
    limit: float
    text: str


def resolve(
    slots: Iterable[Slot],
    tools: ToolSet,
    fallback: Callable[[str], Tool | None] | None,
    *,
    raises: bool,
) -> None:
    """Find the tools that calls name, exactly.

    Raises:
        UnknownToolError: There is none, and `raises` is set.
    """
    for slot in slots:
        name = slot.call.name
        slot.tool = tools.get(name)
        if slot.tool is None and fallback is not None:
            slot.tool = fallback(name)
        if slot.tool is None:
            text = unknown_text(name, tools.close_to(name), tools.names)
            if raises:
                raise UnknownToolError(f"call {slot.call.id!r}: {text}")
            slot.settle("unknown_tool", text)


def read(slots: Iterable[Slot], *, raises: bool) -> None:
    """Read and check the arguments of calls whose tool is known.

    Raises:
        InvalidArgumentsError: They are not valid, and `raises` is set.
    """
    for slot in slots:
        if slot.tool is None:
            continue
        try:
            slot.arguments = slot.tool.reader.read(slot.call.arguments_text, strict=slot.tool.strict)
        except ProblemsError as error:
            if raises:
                paths = ", ".join(problem.path or "the whole" for problem in error.problems)
                raise InvalidArgumentsError(
                    f"call {slot.call.id!r} of {slot.tool.name!r} has arguments that are not valid: {paths}"
                ) from None
            told = "; ".join(map(str, error.problems))
            slot.settle("invalid_arguments", invalid_text(error.problems), error=told)


def limit(slots: Iterable[Slot], turn: Turn, limits: ToolLimits, spent_s: float = 0.0) -> Breach | None:
    """Count calls of the turn and of the reply, and settle those that are too many, or too late after `spent_s`.

    Returns:
        The first breach of a limit that may be raised.
    """
    first: Breach | None = None
    per_tool, identical, total = dict(turn.per_tool), dict(turn.identical), turn.total
    too_many_rounds = limits.rounds is not None and turn.rounds + 1 > limits.rounds
    for slot in slots:
        name, identity = slot.call.name, slot.identity
        total += 1
        per_tool[name] = per_tool.get(name, 0) + 1
        identical[identity] = identical.get(identity, 0) + 1
        allowed = limits.for_tool(name, None if slot.tool is None else slot.tool.max_calls)
        breach = None
        if allowed is not None and per_tool[name] > allowed:
            breach = Breach(slot, name, allowed, f"this tool may be called {_times(allowed)} for one request")
        elif limits.total is not None and total > limits.total:
            breach = Breach(
                slot, None, limits.total, f"tools may be called {_times(limits.total)} for one request"
            )
        elif too_many_rounds and limits.rounds is not None:
            breach = Breach(
                slot, None, limits.rounds, f"tools may be asked for {_times(limits.rounds)} in a row"
            )
        elif limits.seconds is not None and spent_s >= limits.seconds:
            breach = Breach(slot, None, limits.seconds, late_text(limits.seconds))
        if breach is not None:
            slot.settle("over_limit", limit_text(breach.text))
            first = first or breach
        elif limits.identical is not None and identical[identity] > limits.identical:
            slot.settle(
                "over_limit", limit_text(f"the same call was made {_times(limits.identical)} already")
            )
    return first


def rule(slots: Iterable[Slot], turn: Turn, policy: Policy | None, context: ToolContext) -> None:
    """Apply what needs no model: earlier denials, the policy, `confirm`, and hints of servers."""
    for slot in slots:
        if slot.result is not None or slot.tool is None:
            continue
        if slot.identity in turn.denied:
            slot.decision = Deny()
            slot.settle("denied", repeated_text())
            continue
        of_call = context.of(slot.call.id, slot.tool.name)
        said = _asked(policy, slot.seen, slot.tool, of_call) if policy is not None else None
        if isinstance(said, Deny):
            refuse(slot, said)
            continue
        slot.why, slot.auto = _ruled(slot.seen, slot.tool, of_call, said, has_policy=policy is not None)


def refuse(slot: Slot, said: Deny) -> None:
    """Give a call the result that a policy does not let it run."""
    slot.decision = said
    slot.settle("blocked", blocked_text(said.message))


def refused_by(policy: Policy | None, slot: Slot, context: ToolContext) -> Deny | None:
    """Return the policy's refusal of a call that a person allowed, if there is one."""
    if policy is None or slot.tool is None:
        return None
    said = _asked(policy, slot.seen, slot.tool, context.of(slot.call.id, slot.tool.name))
    return said if isinstance(said, Deny) else None


def _ruled(
    call: ToolCall, tool: Tool, context: ToolContext, said: object, *, has_policy: bool
) -> tuple[Why | None, bool]:
    waived = False
    if tool.confirm is True:
        return "confirm", False
    if callable(tool.confirm):
        if _asked(tool.confirm, call, context) is not False:
            return "confirm", False
        waived = True
    if has_policy and said != "auto":
        if said is not False:
            return "policy", False
        return None, False
    is_auto = said == "auto" or tool.confirm == "auto"
    if not waived and not tool.is_local and not tool.only_reads:
        return "hint", False
    return None, is_auto


def _asked(function: Callable[..., Any], *values: Any) -> Any:  # noqa: ANN401 - only some answers count
    """Return what a caller's rule says, None when it fails: then a person is asked."""
    try:
        said = function(*values)
    except Exception:  # noqa: BLE001 - the caller's function; no answer is never a yes
        return None
    if inspect.iscoroutine(said):
        said.close()
        return None
    return said if isinstance(said, bool | Deny) or (isinstance(said, str) and said == "auto") else None


def judge(slots: Sequence[Slot], gate: Gate | None, history: History) -> Flow[list[Slot]]:
    """Ask the gate about the calls that are its to judge, and return them; without one they wait for a person."""
    automatic = [slot for slot in slots if slot.is_open and slot.auto]
    if gate is None:
        for slot in automatic:
            slot.why = "gate"
        return []
    asked = [slot for slot in slots if slot.is_open and (slot.auto or gate.check_all)]
    calls = [JudgedCall(slot.seen, slot.tool, slot.auto) for slot in asked if slot.tool is not None]
    if not calls:
        return []
    verdicts = yield from gate.judge(calls, history.said)
    sound = _sound(verdicts, len(calls))
    for slot, verdict in zip(asked, sound, strict=True):
        slot.risk, slot.method, slot.reason = verdict.risk, verdict.method, verdict.reason
        slot.verdict = verdict.action
        if verdict.action == "block":
            slot.settle("blocked", blocked_text(verdict.reason))
        elif verdict.action == "confirm":
            slot.why = "gate"
    return asked


_UNREADABLE = Verdict("confirm", reason="the gate gave no verdict that could be read")


def _sound(verdicts: Any, count: int) -> list[Verdict]:  # noqa: ANN401 - the check is the point
    if not isinstance(verdicts, list | tuple) or len(verdicts) != count:
        return [_UNREADABLE] * count
    return [verdict if _is_sound(verdict) else _UNREADABLE for verdict in verdicts]


def _is_sound(verdict: Any) -> bool:  # noqa: ANN401 - the check is the point
    actions: tuple[Literal["run", "confirm", "block"], ...] = ("run", "confirm", "block")
    if not isinstance(verdict, Verdict) or verdict.action not in actions:
        return False
    if not isinstance(verdict.method, str | None) or not isinstance(verdict.reason, str | None):
        return False
    risk = verdict.risk
    return risk is None or (isinstance(risk, int | float) and not isinstance(risk, bool) and 0 <= risk <= 1)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
