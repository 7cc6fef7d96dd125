"""What people say about calls that wait for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import DecisionError

__all__ = ["UNSAID", "Allow", "Decision", "Deny", "ToolCallDecisions"]


@dataclass(frozen=True, slots=True)
class Allow:
    """A person lets a call run.

    Args:
        arguments: Other arguments to run it with; only where the tool is `editable`. They are validated again.
        by: Who decided, for the audit log.
        note: Why, for the audit log; no model sees it.

    Raises:
        DecisionError: The arguments are no mapping, or another value is no text.
    """

    arguments: Mapping[str, Any] | None = field(default=None, repr=False)
    by: str | None = None
    note: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.arguments, Mapping | None):
            raise DecisionError(
                f"`arguments` of Allow must be a mapping of all arguments, not a {type(self.arguments).__name__}"
            )
        _check_texts(by=self.by, note=self.note)


@dataclass(frozen=True, slots=True)
class Deny:
    """A person, or a policy, does not let a call run.

    Args:
        message: Why, for the model that asked.
        by: Who decided, for the audit log.

    Raises:
        DecisionError: A value is no text.
    """

    message: str | None = field(default=None, repr=False)
    by: str | None = None

    def __post_init__(self) -> None:
        _check_texts(message=self.message, by=self.by)


def _check_texts(**texts: object) -> None:
    for name, value in texts.items():
        if not isinstance(value, str | None):
            raise DecisionError(f"`{name}` of a decision must be a text, not a {type(value).__name__}")


Decision: TypeAlias = Allow | Deny


UNSAID = Allow()
"""Stands for a call that waits for nobody and that nobody spoke of."""


class ToolCallDecisions(Mapping[str, Decision]):
    """Decisions by the id of the call.

    Args:
        decisions: Id -> `Allow`, `Deny`, True or False; or pairs of them. Nothing else is a decision: None, 1 and
            `"yes"` are refused.

    Raises:
        DecisionError: A value is no decision, an id is no text or is named twice.
    """

    __slots__ = ("_decisions",)

    def __init__(self, decisions: Mapping[str, Any] | Iterable[tuple[str, Any]] = ()) -> None:
        made: dict[str, Decision] = {}
        for call_id, value in _pairs(decisions):
            if not isinstance(call_id, str):
                raise DecisionError(f"a decision is for a {type(call_id).__name__}; give the id of a call")
            if call_id in made:
                raise DecisionError(f"there are two decisions for call {call_id!r}; give one")
            made[call_id] = _decision(call_id, value)
        self._decisions = FrozenDict(made)

    def __getitem__(self, call_id: str) -> Decision:
        return self._decisions[call_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decisions)

    def __len__(self) -> int:
        return len(self._decisions)

    def __repr__(self) -> str:
        return f"ToolCallDecisions({self._decisions!r})"


def _pairs(decisions: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - user input
    if isinstance(decisions, Mapping):
        yield from decisions.items()
        return
    if isinstance(decisions, str | bytes) or not isinstance(decisions, Iterable):
        raise DecisionError(
            f"decisions must be a mapping of call ids to decisions, not a {type(decisions).__name__}"
        )
    for pair in decisions:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DecisionError(
                f"a list of decisions holds pairs of id and decision, not a {type(pair).__name__}"
            )
        yield pair[0], pair[1]


def _decision(call_id: str, value: Any) -> Decision:  # noqa: ANN401 - the check is the point
    if isinstance(value, Allow | Deny):
        return value
    if value is True:
        return Allow()
    if value is False:
        return Deny()
    kind = "None" if value is None else f"a {type(value).__name__}"
    raise DecisionError(
        f"the decision for call {call_id!r} is {kind}; give Allow(), Deny(), True or False. No answer is never a yes"
    )
