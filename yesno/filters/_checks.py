"""What guardrails ask: checks of one's own, and ready ones from `prompts/guardrails`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from yesno._checks import checked_share
from yesno._frozen import FrozenDict
from yesno.errors import QuestionError
from yesno.filters._cards import Card, card_of
from yesno.questions import YesNo
from yesno.templates.encoding import Encoded, encode_text
from yesno.templates.sets import FileTemplate, check_names, check_template

__all__ = ["Check", "Side", "card", "ready_checks"]

Side: TypeAlias = Literal["input", "output"]
_SUBJECTS: Mapping[Side, str] = {"input": "message", "output": "response"}


@dataclass(frozen=True, slots=True, init=False)
class Check:
    """A yes/no question that says whether to reject a text: yes does, but for ready checks that ask the other way.

    Args:
        name: Of a ready check (see `ready_checks`), or of your own; it shows in messages.
        question: Your own question, a text or a `YesNo`; None for a ready check.
        threshold: Probability (0..1) of reject from which on it blocks; None for that of the guardrails.
        review: Probability from which on it wants a review; None for that of the guardrails.
        variables: What a ready check asks for, such as `topic` of `off_topic`.

    Raises:
        QuestionError: A name or question is blank, there is no such ready check, or it lacks a variable or takes no
            such.
        ConfigError: A threshold is no probability.
    """

    name: str
    own: YesNo | None
    threshold: float | None
    review: float | None
    variables: Mapping[str, str]

    def __init__(
        self,
        name: str,
        question: str | YesNo | None = None,
        *,
        threshold: float | None = None,
        review: float | None = None,
        **variables: str,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise QuestionError(f"a check's name must be a text that is not blank, not {name!r}")
        own = None if question is None else _own(name, question)
        if own is None:
            _check_variables(name, _ready(name), variables)
        elif variables:
            raise QuestionError(
                f"check {name!r} has a question of its own and takes no {', '.join(variables)}"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "own", own)
        for key, limit in (("threshold", threshold), ("review", review)):
            checked = None if limit is None else checked_share(f"{key}` of check `{name}", limit)
            object.__setattr__(self, key, checked)
        object.__setattr__(self, "variables", FrozenDict(variables))

    @property
    def card(self) -> Card | None:
        """What was measured of a ready check; None for one of your own."""
        return None if self.own is not None else card(self.name)

    @property
    def rejects(self) -> Literal["yes", "no"]:
        """Which answer means reject: "no" for ready checks that ask whether all is well, else "yes"."""
        no = self.own is None and _ready(self.name).front.get("rejects") == "no"
        return "no" if no else "yes"

    @property
    def needs(self) -> tuple[str, ...]:
        """What else must be given to judge by, such as `sources`."""
        return () if self.own is not None else tuple(_ready(self.name).front.get("needs", ()))

    def question(self, side: Side) -> YesNo:
        """Return the question as it is asked of an input (a user's message) or an output (a response).

        Raises:
            QuestionError: It judges the other side only.
        """
        if self.own is not None:
            return self.own
        template = _ready(self.name)
        if side not in template.front["applies_to"]:
            right = "check_output" if side == "input" else "check_input"
            raise QuestionError(f"check {self.name!r} does not judge an {side}; use it with `{right}`")
        values = {name: encode_text(text.strip()) for name, text in self.variables.items()}
        values["subject"] = _SUBJECTS[side]
        words = {
            block: Encoded(" ".join(template.render(block, values).split()))
            for block in ("question", "yes_when", "no_when")
            if block in template.jinja.blocks
        }
        return YesNo(words["question"], yes_when=words.get("yes_when"), no_when=words.get("no_when"))


def ready_checks() -> tuple[str, ...]:
    """Return the names of the checks that come with yesno."""
    return check_names()


def card(name: str) -> Card:
    """Return what was measured of a ready check.

    Raises:
        QuestionError: There is no such check.
    """
    return card_of(name, _ready(name))


def _own(name: str, question: Any) -> YesNo:  # noqa: ANN401 - user input
    if isinstance(question, YesNo):
        return question
    if not isinstance(question, str):
        raise QuestionError(
            f"check {name!r}: its question must be a text or a YesNo, not {type(question).__name__}"
        )
    try:
        return YesNo(question)
    except QuestionError as error:
        raise QuestionError(f"check {name!r}: {error}") from None


def _ready(name: str) -> FileTemplate:
    names = check_names()
    if name in names:
        return check_template(name)
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise QuestionError(
        f"there is no ready check {name!r}; {hint}Ready are {', '.join(names)}. "
        "For one of your own give its question too"
    )


def _check_variables(name: str, template: FileTemplate, given: Mapping[str, Any]) -> None:
    wanted = template.front.get("parameters", [])
    for key in wanted:
        if key not in given:
            raise QuestionError(f"check {name!r} needs `{key}`: Check({name!r}, {key}='…')")
    for key, value in given.items():
        if key not in wanted:
            takes = ", ".join(wanted) or "none"
            raise QuestionError(f"check {name!r} takes no `{key}`; its own variables: {takes}")
        if not isinstance(value, str) or not value.strip():
            raise QuestionError(f"check {name!r}: `{key}` must be a text that is not blank, not {value!r}")
