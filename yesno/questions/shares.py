"""The probabilities of an answer as one distribution."""

from __future__ import annotations

from yesno.questions.choice import Choice, ChoiceAnswer
from yesno.questions.scale import Scale, ScaleAnswer
from yesno.questions.yes_no import YesNo, YesNoAnswer

__all__ = ["raw_shares_of", "shares_of"]


def shares_of(question: object, outcome: object) -> tuple[float, ...] | None:
    """Return the probability of each answer that a question offers, in its order.

    Nothing is filled in: a distribution that lacks an option is none.

    Args:
        question: Any question.
        outcome: What came of it.

    Returns:
        Probabilities of yes and no, of the options with the way out behind them, or of the levels from the lowest, as
        they were reported: rounded ones may not sum to 1. None of a refusal, an undecided outcome, an answer that
        names an option and no probabilities, and an answer to another type of question.
    """
    match question, outcome:
        case YesNo(), YesNoAnswer():
            return outcome.probability, 1 - outcome.probability
        case Choice(), ChoiceAnswer():
            shares = [outcome.probabilities.get(option) for option in question.options]
            shares += [] if question.none is None else [outcome.none_probability]
        case Scale(), ScaleAnswer():
            shares = [*outcome.probabilities]
        case _:
            return None
    known = tuple(share for share in shares if share is not None)
    return known if known and len(known) == len(shares) else None


def raw_shares_of(question: object, outcome: object) -> tuple[float, ...] | None:
    """Return the same as `shares_of` as read: before a calibration, and before a prior was taken out.

    None as well of a choice with a way out, of which nobody tells what was read.
    """
    match question, outcome:
        case YesNo(), YesNoAnswer(raw=raw) if raw is not None:
            return raw, 1 - raw
        case Choice(none=None), ChoiceAnswer(raw=raw) if raw is not None:
            known = tuple(raw[option] for option in question.options if option in raw)
            return known if len(known) == len(question.options) else None
        case Scale(), ScaleAnswer(raw=raw) if raw is not None:
            return tuple(raw)
        case _:
            return None
