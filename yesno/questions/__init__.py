"""What can be asked, and what can come back."""

from yesno.questions.base import Answer, Attempt, Method, Outcome, Question, Refusal, Undecided
from yesno.questions.choice import Choice, ChoiceAnswer
from yesno.questions.scale import Scale, ScaleAnswer
from yesno.questions.shares import raw_shares_of, shares_of
from yesno.questions.yes_no import YesNo, YesNoAnswer

__all__ = [
    "Answer",
    "Attempt",
    "Choice",
    "ChoiceAnswer",
    "Method",
    "Outcome",
    "Question",
    "Refusal",
    "Scale",
    "ScaleAnswer",
    "Undecided",
    "YesNo",
    "YesNoAnswer",
    "raw_shares_of",
    "shares_of",
]
