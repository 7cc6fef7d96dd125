"""The place of a judge between the proposal of a call and its run.

A gate is asked in step 5 of the manager, for all calls of a reply at once, after everything that needs no model was
checked: names, arguments, limits, policy, `confirm`, hints. It is a flow; the `DecisionModel` that runs the manager's
flow answers what it yields. It can let a call marked `"auto"` run, and it can stop any call that it is asked about;
it is never asked about a call that a rule already sends to a person or refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from yesno.flow import Flow
from yesno.messages import Message
from yesno.toolcalls.calls import ToolCall
from yesno.toolcalls.tool import Tool

__all__ = ["Action", "Gate", "JudgedCall", "Verdict"]

Action: TypeAlias = Literal["run", "confirm", "block"]


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call that a gate is asked about: its arguments are valid for its tool."""

    call: ToolCall
    tool: Tool
    auto: bool
    """Whether the call waits for the gate's word. If not, it would run, and the gate (`check_all`) may only stop it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate says about one call.

    Args:
        action: `"run"`, `"confirm"` (a person decides) or `"block"` (the model hears that it may not).
        risk: Probability (0..1) that the call is risky; None when it could not be read.
        method: How the probability was read: `"logprobs"`, `"native"`, `"sampled"`.
        reason: Why, in a few words; for a blocked call the model hears it, for a waiting one the person.
    """

    action: Action
    risk: float | None = None
    method: str | None = None
    reason: str | None = None


class Gate(Protocol):
    """Judges calls; `yesno.toolcalls.RiskGate` is one."""

    @property
    def check_all(self) -> bool:
        """Whether it is also asked about calls that would run without it."""

    def judge(self, calls: Sequence[JudgedCall], messages: Sequence[Message]) -> Flow[Sequence[Verdict]]:
        """Return the flow that judges calls.

        Args:
            calls: The calls of one reply, in the model's order; at least one.
            messages: The conversation that the reply answers, without the reply.

        Returns:
            One verdict per call, in the same order. What does not fit (another number, another type) sends all of
            them to a person.

        Raises:
            GateUnavailable: The gate is told to raise when it cannot judge; nothing ran.
        """
