"""TypeSafe's System One (`POST /v1/systemone`) and its dialects: requests and responses, both ways.

Read in typesafe-sdk 0.7.5 and @typesafe-ai/sdk 0.6.0, whose schemas come from the vendor's OpenAPI file (2026-11):
questions and answers are maps by id; `noul` is the probability of yes; criteria of a choice map options to
descriptions or null; criteria of a score list its levels; at most 255 options and 10 levels. `box`, which locates
something in an image, is refused, as are images.

The protocol has no refusal: a question without an answer is left out. Ours go out with `x_refused` and
`x_undecided`, maps of id and reason at the top, and are read back. What is wrong with one answer, or a missing one,
is that question's `Undecided` (see `yesno.wire.distributions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from yesno.evidence import Reply, Usage
from yesno.messages.message import ROLES
from yesno.questions import (
    Choice,
    ChoiceAnswer,
    Outcome,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
)
from yesno.questions.base import confidence_of
from yesno.request import DecisionRequest, Parameters
from yesno.response import DecisionResponse
from yesno.wire.decisions import (
    WHICH_LEVEL,
    WHICH_OPTION,
    Asked,
    BuiltIn,
    Limits,
    Where,
    asked_of,
    checked_count,
    checked_limits,
    checked_size,
    examples_of,
    json_text,
    marks_of,
    misshaped,
    named,
    optioned,
    path_of,
    placed,
    plain,
    whole_shares_of,
)
from yesno.wire.distributions import (
    Unfit,
    choice_answer,
    label_mass_of,
    number_of,
    reply_of,
    scale_answer,
    yes_no_answer,
)

__all__ = ["TYPESAFE", "Dialect", "decode_request", "decode_response", "encode_request", "encode_response"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one server's System One differs."""

    limits: Limits = field(default_factory=Limits)
    state: str = "state"
    """Name of the field that holds the input."""
    sparse: bool = False
    """The server's schema lets it leave out distributions; such an answer has no probabilities, not made-up ones."""


TYPESAFE = Dialect()
_TYPES = {YesNo: "noul", Choice: "choice", Scale: "score"}


def encode_request(request: DecisionRequest, *, model: str, dialect: Dialect = TYPESAFE) -> dict[str, Any]:
    """Return the request body.

    Worked examples go into the instructions, a way out becomes one more option.

    Raises:
        QuestionError: The endpoint does not take this many questions, options or levels.
    """
    checked_limits(request, dialect.limits, "this System One endpoint")
    return {
        "model": model,
        dialect.state: plain(request.input),
        "questions": {name: _question(question) for name, question in request.questions.items()},
    }


def _question(question: Any) -> dict[str, Any]:  # noqa: ANN401 - a type that the limits let pass
    fields = {"type": _TYPES[type(question)], "instructions": question.text + examples_of(question)}
    criteria = _criteria(question)
    return {**fields, "criteria": criteria} if criteria else fields


def _criteria(question: BuiltIn) -> Any:  # noqa: ANN401 - JSON
    match question:
        case YesNo():
            told = {"true": question.yes_when, "false": question.no_when}
            return {outcome: text for outcome, text in told.items() if text is not None}
        case Choice():
            options = {name: None if text == name else text for name, text in question.options.items()}
            return options if question.none is None else {**options, question.none: None}
        case Scale():
            return list(question.levels)


def decode_response(
    asked: Asked | DecisionRequest, body: Mapping[str, Any], *, dialect: Dialect = TYPESAFE
) -> Reply:
    """Return the answers of a response body, by question name, with the model and the tokens.

    Raises:
        ValueError: The body has another shape, or no answer can be read.
    """
    asked = asked if isinstance(asked, Asked) else asked_of(asked)
    answers = body.get("answers")
    if not isinstance(answers, Mapping):
        raise ValueError("it holds no map of answers")  # noqa: TRY004 - the documented error
    readers: dict[str, Callable[[], Outcome]] = {}
    for (name, question), wire_name in zip(asked.request.questions.items(), asked.names, strict=True):
        missing = partial(_missing, body, wire_name)
        read = partial(_outcome, question, asked.offered.get(name, ()), answers.get(wire_name), dialect)
        readers[name] = read if wire_name in answers else missing
    return reply_of(body, readers)


def _missing(body: Mapping[str, Any], name: str | None) -> Outcome:
    refused, undecided = body.get("x_refused"), body.get("x_undecided")
    if isinstance(refused, Mapping) and name in refused:
        return Refusal("content_filter" if refused[name] == "content_filter" else "refusal")
    if isinstance(undecided, Mapping) and isinstance(undecided.get(name), str):
        return Undecided(undecided[name])
    raise Unfit("missing_answer")


def _outcome(question: Any, offered: tuple[Any, ...], answer: Any, dialect: Dialect) -> Outcome:  # noqa: ANN401
    if not isinstance(answer, Mapping) or answer.get("type") != _TYPES[type(question)]:
        raise Unfit("contradictory_answer")
    mass = label_mass_of(answer.get("x_label_mass"))
    if isinstance(question, YesNo):
        return yes_no_answer(answer.get("noul"), mass)
    table = answer.get("probabilities")
    if table is None and dialect.sparse:
        return _without_shares(question, offered, answer)
    if not isinstance(table, Mapping):
        raise Unfit("incomplete_distribution")
    if isinstance(question, Scale):
        keys: Sequence[str] = [str(level) for level in range(len(offered))]
    else:
        keys = offered
    if not set(table) <= set(keys):
        raise Unfit("invalid_distribution")
    shares = [table.get(key) for key in keys]
    if isinstance(question, Scale):
        return scale_answer(shares, answer.get("score"), mass)
    if answer.get("choice") not in keys:
        raise Unfit("contradictory_answer")
    return choice_answer(question, shares, keys.index(answer["choice"]), mass)


def _without_shares(question: Any, offered: tuple[Any, ...], answer: Mapping[str, Any]) -> Outcome:  # noqa: ANN401
    if isinstance(question, Scale):
        mean = number_of(answer.get("score"))
        if not 0 <= mean <= len(offered) - 1:
            raise Unfit("invalid_distribution")
        return ScaleAnswer(mean)
    value = answer.get("choice")
    if (
        not isinstance(value, str) or value not in question.options
    ):  # the way out, too: its probability is not known
        raise Unfit("incomplete_distribution")
    return ChoiceAnswer(value, options=tuple(question.options))


# The other side: what a server does


def decode_request(body: Mapping[str, Any], *, dialect: Dialect = TYPESAFE) -> Asked:
    """Return the request that a body asks, with the ids, options and levels to answer it by.

    Unknown fields are ignored, as SGLang and JevCompat 0.1 have it (2026-11). Objects and arrays in instructions
    and descriptions are read as JSON. A state that is blank or empty, or an array of anything but messages of text,
    is asked about as an object with one field.

    Raises:
        QuestionError: The body has another shape, or asks what cannot be asked; it says where. One option or
            level, which the vendor takes, is nothing to ask.
    """
    listed = body.get("questions")
    if not isinstance(listed, Mapping) or not listed:
        raise misshaped(("questions",), "must be a map of at least one question")
    checked_count(len(listed), dialect.limits, "this endpoint")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise misshaped(("model",), "must be a text that is not empty")
    if body.get("assets") is not None:
        raise misshaped(("assets",), "holds images; yesno asks about text only")
    questions: dict[str, Any] = {}
    offered: dict[str, tuple[Any, ...]] = {}
    for name, (wire_name, item) in zip(named(listed), listed.items(), strict=True):
        questions[name], offered[name] = _read_question(item, ("questions", wire_name), dialect.limits)
    request = DecisionRequest(_state(body, dialect.state), questions, Parameters(model_name=model))
    return Asked(request, tuple(listed), {name: values for name, values in offered.items() if values})


def _state(body: Mapping[str, Any], field_name: str) -> Any:  # noqa: ANN401 - any input
    state = body.get(field_name)
    if isinstance(state, Mapping):
        return state or {field_name: state}
    if isinstance(state, str):
        return state if state.strip() else {field_name: state}
    if not isinstance(state, list):
        raise misshaped((field_name,), "must be a text, an object or an array")
    return state if state and all(map(_is_message, state)) else {field_name: state}


def _is_message(item: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether an item is a message of text, and nothing in it would get lost when it is read as one."""
    return (
        isinstance(item, Mapping)
        and set(item) <= {"role", "content", "name", "tool_calls", "tool_call_id"}
        and item.get("role") in ROLES
        and isinstance(item.get("content"), str)
        and isinstance(item.get("name", ""), str)
        and isinstance(item.get("tool_call_id", ""), str)
        and all(map(_is_call, item.get("tool_calls", ()) or ()))
    )


def _is_call(item: Any) -> bool:  # noqa: ANN401 - JSON
    match item:
        case {"id": str(), "function": {"name": str(), "arguments": str()}}:
            return len(item) == len(item["function"]) == 2
    return False


def _read_question(item: Any, where: Where, limits: Limits) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - JSON
    if not where[-1]:
        raise misshaped(("questions",), "holds a question without a name")
    if not isinstance(item, Mapping):
        raise misshaped(where, "must be an object")
    match item.get("type"):
        case "noul":
            return _read_noul(item, where), ()
        case "choice":
            return _read_choice(item, where, limits)
        case "score":
            return _read_score(item, where, limits)
        case "box":
            words = "is a box, which locates something in an image; yesno cannot do that"
            raise misshaped(where, words)
    raise misshaped((*where, "type"), "must be noul, choice or score")


def _read_noul(item: Mapping[str, Any], where: Where) -> YesNo:
    criteria = item.get("criteria")
    if criteria is not None and not isinstance(criteria, Mapping):
        raise misshaped((*where, "criteria"), "must be an object with `true` and `false`")
    yes_when, no_when = (_told(criteria, outcome, where) for outcome in ("true", "false"))
    text = _instructions(item, where, "")
    if not text and yes_when is None and no_when is None:
        blank = item.get("instructions") is not None
        raise misshaped((*where, "instructions") if blank else where, "needs instructions or criteria")
    text = text or "Does the description of yes fit?"
    return YesNo(text, yes_when=yes_when, no_when=no_when)


def _told(criteria: Mapping[str, Any] | None, key: str, where: Where) -> str | None:
    """Return a description; None where there is none, or a blank one."""
    value = None if criteria is None else criteria.get(key)
    text = None if value is None else _text(value, (*where, "criteria", key))
    return text if text and text.strip() else None


def _read_choice(item: Mapping[str, Any], where: Where, limits: Limits) -> tuple[Choice, tuple[Any, ...]]:
    criteria = item.get("criteria")
    if not isinstance(criteria, Mapping):
        raise misshaped((*where, "criteria"), "must be a map of options")
    values = [(option, _told(criteria, option, where)) for option in criteria]
    text = _instructions(item, where, WHICH_OPTION)
    with placed(where, "criteria"):
        question = Choice(text, optioned(values))
        checked_size(path_of(where), question, limits, "this endpoint")
    return question, tuple(criteria)


def _read_score(item: Mapping[str, Any], where: Where, limits: Limits) -> tuple[Scale, tuple[Any, ...]]:
    criteria = item.get("criteria")
    if not isinstance(criteria, list):
        raise misshaped((*where, "criteria"), "must be a list of levels")
    levels = [_text(level, (*where, "criteria", place)) for place, level in enumerate(criteria)]
    text = _instructions(item, where, WHICH_LEVEL)
    with placed(where, "criteria"):
        question = Scale(text, levels)
        checked_size(path_of(where), question, limits, "this endpoint")
    return question, tuple(criteria)


def _instructions(item: Mapping[str, Any], where: Where, unasked: str) -> str:
    """Return the instructions; without any, the criteria speak for themselves."""
    instructions = item.get("instructions")
    text = "" if instructions is None else _text(instructions, (*where, "instructions"))
    return text if text.strip() else unasked


def _text(value: Any, where: Where) -> str:  # noqa: ANN401 - JSON
    if not isinstance(value, str | Mapping | list):
        raise misshaped(where, "must be a text, an object or an array")
    return json_text(value)


def encode_response(asked: Asked, response: DecisionResponse) -> dict[str, Any]:
    """Return the response body; questions without an answer are left out and named in `x_refused` or `x_undecided`.

    `confidence` is TypeSafe's, which is what clients of this protocol expect. Numbers are not rounded. Further
    fields begin with `x_`: see `marks_of`. A client may not notice an answer that is left out, so a server should
    send an error instead.
    """
    answers: dict[str, Any] = {}
    refused: dict[str, str] = {}
    undecided: dict[str, str] = {}
    for (name, question), wire_name in zip(asked.request.questions.items(), asked.names, strict=True):
        key, outcome = str(wire_name), response.outcome(name)
        shares = whole_shares_of(question, outcome)
        if isinstance(outcome, Refusal):
            refused[key] = outcome.reason
        elif shares is None:
            undecided[key] = outcome.reason if isinstance(outcome, Undecided) else "incomplete_distribution"
        else:
            answers[key] = _answer(question, asked.offered.get(name, ()), outcome, shares)
    usage = response.usage or Usage()
    extra = {"x_refused": refused, "x_undecided": undecided}
    return {
        "model": response.model or asked.request.parameters.model_name,
        "answers": answers,
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
        **{name: reasons for name, reasons in extra.items() if reasons},
    }


def _answer(question: Any, offered: tuple[Any, ...], outcome: Outcome, shares: list[float]) -> dict[str, Any]:  # noqa: ANN401
    fields: dict[str, Any] = {"type": _TYPES[type(question)], **marks_of(outcome)}
    if isinstance(question, YesNo):
        fields["noul"] = shares[0]
        return fields
    if isinstance(question, Choice) and isinstance(outcome, ChoiceAnswer):
        names = [*question.options, *([] if question.none is None else [question.none])]
        fields["choice"] = offered[names.index(outcome.value)]
        fields["confidence"] = confidence_of(tuple(shares))
        fields["probabilities"] = dict(zip(offered, shares, strict=True))
        return fields
    keys = [str(level) for level in range(len(shares))]
    fields["score"] = math.fsum(level * share for level, share in enumerate(shares))
    fields["confidence"] = _score_confidence(shares)
    fields["legend"] = dict(zip(keys, offered, strict=True))
    fields["probabilities"] = dict(zip(keys, shares, strict=True))
    return fields


def _score_confidence(shares: Sequence[float]) -> float:
    """Return `1 - spread around the mode / that of equal shares` (system-one-adapter 0.2.1; 2026-11)."""
    n = len(shares)
    mode = max(range(n), key=shares.__getitem__)
    spread = sum(share * abs(level - mode) for level, share in enumerate(shares))
    return max(0.0, 1 - spread * n / (n * n // 4))
