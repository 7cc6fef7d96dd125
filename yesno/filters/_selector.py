"""Ask of each tool whether it helps; shared by the tool filter and the tool search."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from yesno._checks import checked_count, checked_share
from yesno._log import get_logger
from yesno.filters._shortlist import Shortlist
from yesno.flow import Ask, Flow
from yesno.messages import Input
from yesno.questions import YesNo, YesNoAnswer
from yesno.response import unwrapped
from yesno.templates.layers import QuestionTemplate
from yesno.tools import Tool

__all__ = ["Judged", "Selector"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found out about tools, by their places in the list that was asked about."""

    probabilities: dict[int, float]
    """Place -> probability of yes; a tool that the shortlist left out has none."""
    kept: tuple[int, ...]
    """Places of the tools to keep, the most probable first."""
    cut: frozenset[int]
    """Places of the tools that were probable enough, and one too many."""


@dataclass(frozen=True, slots=True)
class Selector:
    """How tools are asked about and which are kept.

    Raises:
        ConfigError: A setting is impossible; the message names it.
    """

    min_probability: float
    max_results: int | None
    max_tools_per_request: int | None
    question: QuestionTemplate
    shortlist: Shortlist | None

    @classmethod
    def checked(
        cls,
        *,
        min_probability: float,
        max_results: int | None,
        max_tools_per_request: int | None,
        question_template: str | None,
        shortlist: int | None,
    ) -> Selector:
        """Return a selector for what a user set."""
        checked_share("min_probability", min_probability)
        for name, value in (("max_results", max_results), ("max_tools_per_request", max_tools_per_request)):
            if value is not None:
                checked_count(name, value)
        return cls(
            min_probability,
            max_results,
            max_tools_per_request,
            QuestionTemplate("tool", question_template, required=("name",), allowed=("name", "description")),
            None if shortlist is None else Shortlist(checked_count("shortlist", shortlist)),
        )

    def judge(self, tools: Sequence[Tool], given: Input, query: str) -> Flow[Judged]:
        """Ask about tools, one batch after the other, and pick the probable ones.

        Args:
            tools: At least one.
            given: What the questions are about.
            query: The words that a shortlist looks for.

        Raises:
            Refused: The model declined to answer for a tool.
            UndecidedError: Its answer for a tool says too little.
        """
        places = list(range(len(tools))) if self.shortlist is None else self.shortlist.pick(query, tools)
        size = self.max_tools_per_request or len(places)
        probabilities: dict[int, float] = {}
        for start in range(0, len(places), size):
            batch = places[start : start + size]
            outcomes = yield [Ask(self._question(tools[place]), given) for place in batch]
            for place, outcome in zip(batch, outcomes, strict=True):
                probabilities[place] = cast("YesNoAnswer", unwrapped(outcome)).probability
        _log_each(tools, probabilities)
        likely = [place for place, p in probabilities.items() if p >= self.min_probability]
        ranked = sorted(likely, key=lambda place: -probabilities[place])
        kept = ranked[: self.max_results]
        return Judged(probabilities, tuple(kept), frozenset(ranked[len(kept) :]))

    def _question(self, tool: Tool) -> YesNo:
        return YesNo(self.question.text(name=tool.name, description=tool.description))


def _log_each(tools: Sequence[Tool], probabilities: dict[int, float]) -> None:
    if logging.getLogger("yesno.filters").isEnabledFor(logging.DEBUG):
        for place, probability in probabilities.items():
            get_logger("filters").debug("tool_judged", tool=tools[place].name, probability=probability)
