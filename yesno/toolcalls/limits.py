"""How often tools may be called in one turn of the user."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from yesno._frozen import FrozenDict
from yesno.errors import ConfigError

__all__ = ["OnExceeded", "ToolLimits"]

OnExceeded = Literal["raise", "tell_model"]


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Limits on the calls of a turn: the last message of the user and all after it, this reply included.

    Counts are taken from the conversation, so that nothing is stored. Calls that did not run count too: what a model
    asks for without end is the same loop, whether it runs or not. Only time is nowhere in a conversation: the manager
    remembers it by the calls of a turn, a record of waiting calls carries it, and `ToolRun.spent_s` says it to a
    program that goes on in another process.

    Args:
        per_tool: Most calls of one tool; None for no limit.
        tools: Other limits for some tools, by name.
        exempt: Tools without a limit of their own; they still count to `total`.
        total: Most calls of all tools; None for no limit.
        identical: Most calls of one tool with equal arguments; None for no limit. It is always told to the model, never
            raised: a model can mend it.
        rounds: Most replies that ask for tools; None for no limit.
        seconds: Time for the tools of a turn together, over all its replies and however long people and models take in
            between. A tool at work is given up when it is over, those not begun are not run. None for no limit.
        on_exceeded: `"raise"` a `ToolLimitExceeded` and run nothing, or `"tell_model"` that the call was not run.

    Raises:
        ConfigError: A limit is not above 0. It is a `ValueError` too.
    """

    per_tool: int | None = 40
    tools: Mapping[str, int] = field(default_factory=FrozenDict)
    exempt: Collection[str] = ()
    total: int | None = 150
    identical: int | None = 3
    rounds: int | None = None
    seconds: float | None = None
    on_exceeded: OnExceeded = "raise"

    def __post_init__(self) -> None:
        for name in ("per_tool", "total", "identical", "rounds"):
            _check_count(name, getattr(self, name))
        if isinstance(self.exempt, str):
            raise _LimitError(f"`exempt` must be a list of tools' names, not {self.exempt!r}")
        for tool, limit in self.tools.items():
            _check_count(f"tools[{tool!r}]", limit)
        seconds = self.seconds
        if seconds is not None and (type(seconds) not in (int, float) or not 0 < seconds < math.inf):
            raise _LimitError(f"`seconds` must be above 0, or None for no limit, not {seconds!r}")
        if self.on_exceeded not in get_args(OnExceeded):
            raise _LimitError(f"`on_exceeded` must be 'raise' or 'tell_model', not {self.on_exceeded!r}")
        object.__setattr__(self, "tools", FrozenDict(self.tools))
        object.__setattr__(self, "exempt", frozenset(self.exempt))

    def for_tool(self, name: str, max_calls: int | None = None) -> int | None:
        """Return the limit of one tool; of its own `max_calls` and the one set here the smaller counts."""
        if name in self.exempt:
            return max_calls
        own = [limit for limit in (self.tools.get(name), max_calls) if limit is not None]
        return min(own) if own else self.per_tool


class _LimitError(ConfigError, ValueError):
    """A limit is impossible."""


def _check_count(name: str, value: int | None) -> None:
    if value is not None and (type(value) is not int or value < 1):
        raise _LimitError(
            f"`{name}` must be a whole number of at least 1, or None for no limit, not {value!r}"
        )
