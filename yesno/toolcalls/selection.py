"""What a tool selector chose, and why not the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal, TypeAlias, get_args

from yesno._checks import checked_count, checked_share
from yesno.errors import ConfigError, SelectionError
from yesno.evidence import Usage
from yesno.questions.base import Method
from yesno.toolcalls.sets import ToolSet

__all__ = [
    "MAX_CHOICE",
    "Mode",
    "Once",
    "Rejected",
    "SelectedCall",
    "SelectionResult",
    "ToolSelectionConfig",
    "Why",
]

Mode: TypeAlias = Literal["choice", "each"]
MAX_CHOICE = 19
"""Most tools of one choice: with "none of these" they fill the 20 alternatives that most hosts list (2026-11)."""

Why: TypeAlias = Literal["below_threshold", "over_max", "invalid_arguments", "undecided", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSelectionConfig:
    """How a `ToolSelector` chooses.

    Args:
        confidence_threshold: Least probability (0..1) with which a tool is called.
        max_tools_per_step: Most calls of one selection, the most probable; of equal ones the earlier tool.
        mode: `"choice"` asks which one tool fits (at most one can be probable then), `"each"` asks of every tool
            whether to call it. A choice among more than 19 tools, a single one, or tools whose names look alike is
            asked as `"each"`, and the result says so.
        allow_none: Offer "none of these" in a choice.
        always_include: Names of tools that `max_tools_per_step` does not cut.
        repair: How often the arguments may be written again when they do not fit.
        question_template: Your own question in Jinja: for `"each"` it must name `{{name}}` and may name
            `{{description}}`, for `"choice"` it names nothing.
        leave_out: Names of the context, at its top, that no model sees.
        max_context_length: Most characters of each value of the context as JSON; longer ones lose their middle.

    Raises:
        ConfigError: A setting is impossible.
    """

    confidence_threshold: float = 0.7
    max_tools_per_step: int = 3
    mode: Mode = "choice"
    allow_none: bool = True
    always_include: Collection[str] = ()
    repair: int = 1
    question_template: str | None = None
    leave_out: Collection[str] = ()
    max_context_length: int = 2000

    def __post_init__(self) -> None:
        checked_share("confidence_threshold", self.confidence_threshold)
        checked_count("max_tools_per_step", self.max_tools_per_step)
        checked_count("max_context_length", self.max_context_length)
        if self.mode not in get_args(Mode):
            raise ConfigError(f"`mode` must be 'choice' or 'each', not {self.mode!r}")
        if not isinstance(self.allow_none, bool):
            raise ConfigError(f"`allow_none` must be True or False, not {self.allow_none!r}")
        if type(self.repair) is not int or self.repair < 0:
            raise ConfigError(f"`repair` must be a whole number from 0, not {self.repair!r}")
        for name in ("always_include", "leave_out"):
            names = getattr(self, name)
            if isinstance(names, str) or not all(isinstance(each, str) for each in names):
                raise ConfigError(f"`{name}` must be a list of names, not {names!r}")
            object.__setattr__(self, name, frozenset(names))


@dataclass(frozen=True, slots=True)
class SelectedCall:
    """A tool that was chosen, with arguments that are valid for it."""

    name: str
    arguments_text: str = field(repr=False)
    """The arguments as JSON text, as they were written."""
    probability: float
    """Probability (0..1) that it is to be called, from the model's tokens."""
    margin: float
    """Lead over the most probable other tool, or "none of these"; below 0 for one that is not the most probable."""
    answer_mass: float | None
    """Share (0..1) of the model's probability that fell on the answers asked for; None when not known."""
    method: Method | None
    """How the probability was read: `"logprobs"`, `"native"`, `"sampled"`."""
    stated_confidence: float | None = None
    """What the model says of its certainty, where it was sampled: its words, which decide nothing."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A tool that is not called, and why."""

    name: str
    reason: Why
    probability: float | None = None
    """None when there is no answer about it."""
    problems: tuple[str, ...] = field(default=(), repr=False)
    """What is wrong with its arguments."""

    def __str__(self) -> str:
        number = "    –" if self.probability is None else f"{self.probability:.3f}"
        return "  ".join([number, self.name, self.reason, *self.problems])


class Once:
    """Something that may be claimed one time; copies share it."""

    __slots__ = ("_lock", "_taken")

    def __init__(self, *, taken: bool = False) -> None:
        self._lock = Lock()
        self._taken = taken

    def claim(self) -> bool:
        """Take it; False when it is taken."""
        with self._lock:
            free, self._taken = not self._taken, True
            return free

    def release(self) -> None:
        """Give it back."""
        with self._lock:
            self._taken = False

    def __deepcopy__(self, memo: object) -> Once:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _once, (self._taken,)


def _once(taken: bool) -> Once:  # noqa: FBT001 - what `__reduce__` gives
    return Once(taken=taken)


@dataclass(frozen=True, slots=True)
class SelectionResult:
    """What was selected: a sequence of `SelectedCall`, the most probable first.

    No calls means that the model was asked and no tool fits; a model that fails raises.
    """

    calls: tuple[SelectedCall, ...]
    rejected: tuple[Rejected, ...]
    """All other tools, in their order."""
    probabilities: Mapping[str, float]
    """Tool -> probability (0..1); one without an answer is missing."""
    none_probability: float | None
    """Probability of "none of these"; None when it was not offered."""
    mode: Mode
    """How it was asked."""
    task: str = field(repr=False)
    tools: ToolSet = field(repr=False, compare=False)
    usage: Usage | None = None
    """Tokens and requests of the questions; None when not known. What writing arguments took is not in it."""
    runs: Once = field(default_factory=Once, repr=False, compare=False)
    """Whether it was run."""

    def __iter__(self) -> Iterator[SelectedCall]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __getitem__(self, place: int) -> SelectedCall:
        return self.calls[place]

    def __str__(self) -> str:
        lines = [f"{call.probability:.3f}  {call.name}  call" for call in self.calls]
        if self.none_probability is not None:
            lines.append(f"{self.none_probability:.3f}  none of these")
        return "\n".join([*lines, *map(str, self.rejected)])

    def claim(self, *, again: bool) -> bool:
        """Take the right to run it, and return whether this is the first time.

        Raises:
            SelectionError: It was run, and `again` is not set.
        """
        is_first = self.runs.claim()
        if not is_first and not again:
            names = ", ".join(call.name for call in self.calls)
            raise SelectionError(
                f"this selection ({names}) was run already; pass again=True to run its tools once more"
            )
        return is_first
