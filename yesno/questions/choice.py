"""Multiple-choice questions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Generic, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import AnswerError, NoProbabilities, QuestionError
from yesno.questions.base import Answer, OptionT, Question, checked_probability, checked_text
from yesno.questions.examples import Examples, checked_examples

__all__ = ["Choice", "ChoiceAnswer", "Options"]

MAX_OPTIONS = 255
"""Most options of one question, as in both decision protocols (openai 3.57.0; System One; 2026-11)."""

Options: TypeAlias = Mapping[str, str | None] | Iterable[str] | Iterable[tuple[str, str | None]]
_UNSET: Any = object()


@dataclass(frozen=True, slots=True)
class ChoiceAnswer(Answer, Generic[OptionT]):
    """The chosen option and the probability of each.

    Options are texts, and members of an enum or a `Literal` where a decision function returns them.
    """

    value: OptionT
    """The most probable option; the question's `none` text when the way out won."""
    probabilities: Mapping[OptionT, float] = FrozenDict()
    """Option -> probability (0..1). Empty when the provider reports none."""
    confidence: float | None = None
    """`(n * max - 1) / (n - 1)` over the options; not comparable between models."""
    options: tuple[OptionT, ...] = ()
    """The options that were offered."""
    none_probability: float | None = None
    """Probability of "none of these" (0..1), when the question offered it."""
    raw: Mapping[OptionT, float] | None = None
    """The probabilities as read: before calibration, and before a prior was taken out."""
    bounds: Mapping[OptionT, tuple[float, float]] | None = None
    """Option -> least and greatest probability that the evidence allows."""

    def __post_init__(self) -> None:
        if not (isinstance(self.value, Enum) or (isinstance(self.value, str) and self.value.strip())):
            raise AnswerError(f"`value` must be the name of an option, not {self.value!r}")
        checked = {k: checked_probability(f"probabilities[{k!r}]", p) for k, p in self.probabilities.items()}
        object.__setattr__(self, "probabilities", FrozenDict(checked))
        object.__setattr__(self, "options", tuple(self.options))
        for name in ("confidence", "none_probability"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_probability(name, getattr(self, name)))
        for name in ("raw", "bounds"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, FrozenDict(getattr(self, name)))
        if self.options and not self.is_none and self.value not in self.options:
            raise AnswerError(f"`value` {self.value!r} is not among the options {list(self.options)!r}")

    @property
    def is_none(self) -> bool:
        """Whether "none of these" won."""
        return self.none_probability is not None and self.value not in self.options

    def probability_of(self, option: OptionT) -> float:
        """Return the probability of one option; 0 for an offered option that was not reported.

        Raises:
            AnswerError: The option was not offered.
            NoProbabilities: The answer carries none.
        """
        if self.options and option not in self.options:
            raise AnswerError(f"{option!r} was not offered; the options are {list(self.options)!r}")
        self._require_probabilities()
        return self.probabilities.get(option, 0.0)

    def margin(self) -> float:
        """Return the lead (0..1) of the best option over the next.

        Probability that was not reported counts as one more rival, so a part of a distribution never
        looks surer than it is.

        Raises:
            NoProbabilities: The answer carries none.
        """
        self._require_probabilities()
        first, second, *_ = [*sorted(self.probabilities.values(), reverse=True), 0.0]
        rest = 1.0 - sum(self.probabilities.values())
        return max(0.0, first - max(second, rest))

    def _require_probabilities(self) -> None:
        if not self.probabilities:
            raise NoProbabilities("this answer has no probabilities; the provider did not report any")


@dataclass(frozen=True, slots=True, init=False)
class Choice(Question[ChoiceAnswer]):
    """A question that picks one of 2 to 255 options.

    Args:
        text: The question.
        options: Names, pairs of name and description, or a mapping of them. An option without a
            description is described by its name.
        none: Text of an explicit way out, such as `"none of these"`; its probability is reported apart.
        examples: Worked examples: pairs of an input and an option.

    Raises:
        QuestionError: There are fewer than 2 options or more than 255, a text is blank, or two names
            cannot be told apart.
    """

    kind: ClassVar[str] = "choice"
    options: Mapping[str, str]
    """Option -> description, in the order shown."""
    none: str | None
    examples: Examples[str]

    def __init__(
        self, text: str, options: Options, *, none: str | None = None, examples: Examples[str] = ()
    ) -> None:
        checked = _checked_options(options)
        answers = [*checked]
        if none is not None:
            answers.append(checked_text("none", none))
            _refuse_twins(answers)
        object.__setattr__(self, "text", checked_text("text", text))
        object.__setattr__(self, "options", checked)
        object.__setattr__(self, "none", none)
        object.__setattr__(self, "examples", checked_examples(examples, answers))

    def with_option(self, name: str, description: str = _UNSET) -> Choice:
        """Return a copy with one more option, described by its name unless described."""
        if description is not _UNSET:
            checked_text(f"description of {name!r}", description)
        else:
            description = name
        return self.with_options([*self.options.items(), (name, description)])

    def with_options(self, options: Options) -> Choice:
        """Return a copy with these options in place of the earlier ones."""
        return Choice(self.text, options, none=self.none, examples=self.examples)


def _checked_options(options: Any) -> FrozenDict[str, str]:  # noqa: ANN401 - user input
    if isinstance(options, str):
        raise QuestionError(f"`options` must be a list or a mapping, not the text {options!r}")
    pairs = list(_pairs(options))
    if len(pairs) < 2:
        raise QuestionError(f"a choice needs a minimum of two options, not {len(pairs)}; use YesNo for one")
    if len(pairs) > MAX_OPTIONS:
        raise QuestionError(
            f"a choice takes at most {MAX_OPTIONS} options, not {len(pairs)}; split it in two stages"
        )
    for name, description in pairs:
        checked_text("option name", name)
        checked_text(f"description of {name!r}", description)
    _refuse_twins([name for name, _ in pairs])
    return FrozenDict(pairs)


def _pairs(options: Any) -> Iterable[tuple[Any, Any]]:  # noqa: ANN401 - user input
    items = options.items() if isinstance(options, Mapping) else options
    try:
        for item in items:
            name, description = (item, None) if isinstance(item, str) else item
            yield name, (name if description is None else description)
    except (TypeError, ValueError):
        raise QuestionError(
            f"`options` must hold names or pairs of name and description, not {options!r}"
        ) from None


def _refuse_twins(names: list[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        key = folded(name)
        if not key:
            raise QuestionError(f"option {name!r} has no visible character")
        if key in seen:
            raise QuestionError(
                f"options {seen[key]!r} and {name!r} are the same once case and space are folded; rename one"
            )
        seen[key] = name


def folded(name: str) -> str:
    """Return a name without what a reader cannot tell apart: case, width, space and invisible characters."""
    text = unicodedata.normalize("NFKC", name).casefold()
    visible = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") or c.isspace())
    return " ".join(visible.split())
