"""What a tool filter decided, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from yesno.errors import YesnoError

__all__ = ["Reason", "ToolSelection", "ToolVerdict"]

T = TypeVar("T")

Reason: TypeAlias = Literal[
    "probable",
    "always_included",
    "always_visible",
    "called_before",
    "no_user_text",
    "nothing_to_show",
    "improbable",
    "over_max_results",
    "not_shortlisted",
    "fallback",
]

_WHY: Mapping[Reason, str] = {
    "probable": "",
    "always_included": "in always_include, not asked",
    "always_visible": "always visible, not asked",
    "called_before": "called earlier, not asked",
    "no_user_text": "the user wrote no text, not asked",
    "nothing_to_show": "the message filter left nothing, not asked",
    "improbable": "below min_probability",
    "over_max_results": "cut by max_results",
    "not_shortlisted": "not on the shortlist, not asked",
    "fallback": "fallback",
}


@dataclass(frozen=True, slots=True)
class ToolVerdict:
    """What became of one tool."""

    name: str
    kept: bool
    reason: Reason
    probability: float | None = None
    """Probability (0..1) that it helps; None when it was not asked about or the selection fell back."""

    @property
    def why(self) -> str:
        """The reason in words, in terms of the filter's settings; empty for a tool that is probable enough."""
        return _WHY[self.reason]

    def __str__(self) -> str:
        return _row(self, len(self.name))


@dataclass(frozen=True, slots=True)
class ToolSelection(Generic[T]):
    """The tools that a filter let through, and why; its text is a table of the verdicts."""

    tools: list[T] = field(repr=False)
    """The caller's own objects, in their order."""
    verdicts: tuple[ToolVerdict, ...]
    """One for each tool that was offered, in their order."""
    error: YesnoError | None = None
    """Why the selection fell back, None when it did not."""

    def verdict(self, name: str) -> ToolVerdict:
        """Return the verdict on a tool.

        Raises:
            KeyError: No tool of this name was offered.
        """
        for verdict in self.verdicts:
            if verdict.name == name:
                return verdict
        raise KeyError(f"no tool called {name!r} was offered")

    def __str__(self) -> str:
        width = max((len(verdict.name) for verdict in self.verdicts), default=0)
        rows = [_row(verdict, width) for verdict in self.verdicts]
        if self.error is not None:
            rows.append(f"fell back: {type(self.error).__name__}")
        return "\n".join(rows)


def _row(verdict: ToolVerdict, width: int) -> str:
    number = "    –" if verdict.probability is None else f"{verdict.probability:.3f}"
    row = f"{'keep' if verdict.kept else 'drop'}  {verdict.name:<{width}}  {number}  {verdict.why}"
    return row.rstrip()
