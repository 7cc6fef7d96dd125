"""What a model asks for, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from yesno.toolcalls.arguments import ArgumentsProblem, read_arguments
from yesno.toolcalls.canonical import canonical
from yesno.toolcalls.decisions import Decision
from yesno.toolcalls.written import without_surrogates

__all__ = ["CallResult", "Plan", "PlannedCall", "Status", "ToolCall", "ToolRun", "Why"]

Status: TypeAlias = Literal[
    "ran",
    "failed",
    "denied",
    "blocked",
    "unknown_tool",
    "invalid_arguments",
    "over_limit",
    "timed_out",
]
"""`denied` is a person's no, `blocked` a policy's or a gate's; `over_limit` also stands for calls that were not run
because another one broke a limit."""

Why: TypeAlias = Literal["confirm", "policy", "hint", "gate"]
"""What made a call wait for a person: the tool's `confirm`, the policy, MCP hints, or the gate (or its absence)."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model proposed it.

    Args:
        id: The model's name for the call; its result carries it.
        name: The tool it names.
        arguments_text: The arguments exactly as written. Where a provider gives values in place of text (Anthropic,
            LangChain), they are written as JSON with sorted keys.
        index: Its place in the reply, from 0.
    """

    id: str
    name: str
    arguments_text: str = field(default="{}", repr=False)
    index: int = 0

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments, read anew each time so that nobody changes them for others; None when they cannot be read."""
        try:
            return read_arguments(self.arguments_text)
        except ArgumentsProblem:
            return None

    @property
    def identity(self) -> str:
        """Equal for calls of one tool with equal arguments, however they are written."""
        arguments = self.arguments
        written = "!" + self.arguments_text.strip() if arguments is None else canonical(arguments)
        return f"{self.name}\n{written}"


@dataclass(frozen=True, slots=True)
class CallResult:
    """What became of one call.

    `content` is the text that the model reads; it is never empty. `error` is type and message of what a tool raised,
    for logs; `seconds` is how long the tool ran; `risk` the gate's probability, if it was asked.
    """

    call: ToolCall
    status: Status
    content: str = field(repr=False)
    error: str | None = field(default=None, repr=False)
    seconds: float | None = None
    decision: Decision | None = None
    risk: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", without_surrogates(self.content))

    @property
    def ok(self) -> bool:
        """Whether the tool ran and gave a result."""
        return self.status == "ran"


@dataclass(frozen=True, slots=True)
class ToolRun:
    """The conversation after the calls of one reply, and their results.

    `messages` is the whole conversation in the caller's own shapes, `new_messages` what was added to it: the reply,
    unless it was there already, and one result per call. `return_direct` says that every tool is marked so and ran:
    the results may go to the user without another word of the model.
    """

    messages: list[Any] = field(repr=False)
    new_messages: list[Any] = field(repr=False)
    results: tuple[CallResult, ...]
    return_direct: bool = False
    spent_s: float = 0.0
    """Seconds for which the tools of the turn ran, this reply included; those before it as far as the manager knows."""

    def result(self, call_id: str) -> CallResult:
        """Return the result of a call; `KeyError` when there is no such call."""
        for result in self.results:
            if result.call.id == call_id:
                return result
        raise KeyError(call_id)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """What would become of a call: it would run, wait for a person, or has a result already.

    Only with `action` "settled" there is a `result`; only with "wait" a `why`.
    """

    call: ToolCall
    action: Literal["run", "wait", "settled"]
    why: Why | None = None
    risk: float | None = None
    result: CallResult | None = None
    reason: str | None = field(default=None, repr=False)
    """What the gate says about one that waits."""

    def __str__(self) -> str:
        doing = self.result.status if self.result is not None else self.action
        told = [doing, *([f"({self.why})"] if self.why else [])]
        risk = "" if self.risk is None else f"  risk {self.risk:.3f}"
        return f"{' '.join(told):24} {self.call.name} [{self.call.id}]{risk}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What would become of the calls of a reply, in their order. Prints as a table."""

    calls: tuple[PlannedCall, ...]

    @property
    def waiting(self) -> tuple[PlannedCall, ...]:
        """The calls that would wait for a person."""
        return tuple(planned for planned in self.calls if planned.action == "wait")

    def __iter__(self) -> Iterator[PlannedCall]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __str__(self) -> str:
        return "\n".join(map(str, self.calls))
