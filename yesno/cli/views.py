"""Outcomes as JSON and as text for people."""

from __future__ import annotations

from typing import Any

from yesno._frozen import FrozenDict
from yesno.questions import Answer, ChoiceAnswer, Outcome, Refusal, ScaleAnswer, Undecided, YesNoAnswer
from yesno.response import DecisionResponse

__all__ = ["answer_text", "bounds_text", "document", "mass_text", "plain"]

_TYPES = {
    YesNoAnswer: "yes_no",
    ChoiceAnswer: "choice",
    ScaleAnswer: "scale",
    Refusal: "refusal",
    Undecided: "undecided",
}


def document(response: DecisionResponse, outcome: Outcome, seconds: float) -> dict[str, Any]:
    """Return an outcome as plain JSON values: no NaN, no infinity."""
    return {
        "type": _TYPES.get(type(outcome), "custom"),
        **plain(outcome),
        "model": response.model,
        "usage": plain(response.usage),
        "seconds": round(seconds, 3),
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - JSON values
    """Return a frozen value as what `json` can write."""
    if isinstance(value, FrozenDict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {field: plain(getattr(value, field)) for field in value.__dataclass_fields__}
    return value


def answer_text(outcome: Outcome) -> str:
    """Return an outcome in a few words."""
    match outcome:
        case YesNoAnswer(probability=p):
            return f"yes {p:.3f}" if p >= 0.5 else f"no  {1 - p:.3f}"
        case ChoiceAnswer(value=value, probabilities=shares):
            share = outcome.none_probability if outcome.is_none else shares.get(value)
            return value if share is None else f"{value} {share:.3f}"
        case ScaleAnswer(mean=mean):
            return f"level {mean:.2f}"
        case Refusal(reason=reason):
            return f"refused ({reason})"
        case Undecided(reason=reason):
            return f"undecided ({reason})"
        case _:
            return str(outcome)


def bounds_text(outcome: Outcome) -> str:
    """Return the least and greatest value that the evidence allows, of the number that is shown."""
    if not isinstance(outcome, Answer) or outcome.low is None or outcome.high is None:
        return "-"
    low, high = outcome.low, outcome.high
    if isinstance(outcome, YesNoAnswer) and outcome.probability < 0.5:
        low, high = 1 - high, 1 - low
    return f"{low:.3f} – {high:.3f}"


def mass_text(outcome: Outcome) -> str:
    """Return the label mass, or a dash."""
    mass = getattr(outcome, "label_mass", None)
    return "-" if mass is None else f"{mass:.3f}"
