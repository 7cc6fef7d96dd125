"""OpenAI's `POST /v1/decisions`: requests and responses, both ways.

Read in openai 3.57.0 (`types/decision.py`, `types/decision_create_params.py`; 2026-11): 1 to 400 questions, 2 to 255
choices whose values are strings or booleans and distinct by type, 2 to 10 levels (pydantic-ai 2.68.0 cites the
OpenAPI file), no field for criteria, answers in question order with names that may be null, and a refusal per
question.

Answers are read by position. A count, a type or a name that contradicts the position makes the whole reply
unreadable, because no answer can be told from another then; what is wrong inside one answer is that question's
`Undecided` (see `yesno.wire.distributions`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from yesno.evidence import Reply, Usage
from yesno.questions import Choice, ChoiceAnswer, Outcome, Refusal, Scale, Undecided, YesNo
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
    marks_of,
    misshaped,
    named,
    optioned,
    path_of,
    placed,
    typed_key,
    whole_shares_of,
)
from yesno.wire.distributions import Unfit, choice_answer, reply_of, scale_answer, yes_no_answer
from yesno.wire.openai_items import input_items, input_of, text_of

__all__ = ["LIMITS", "decode_request", "decode_response", "encode_request", "encode_response"]

LIMITS = Limits(questions=400, options=255, levels=10)
PLACE = "OpenAI's decisions endpoint"
DECIMALS = 12
_TYPES = {YesNo: "predicate", Choice: "choice", Scale: "score"}


def encode_request(request: DecisionRequest, *, model: str, limits: Limits = LIMITS) -> dict[str, Any]:
    """Return the request body.

    Criteria and worked examples go into the instructions, a way out becomes one more choice.

    Raises:
        QuestionError: The endpoint does not take this many questions, options or levels, or this input.
    """
    checked_limits(request, limits, PLACE)
    return {
        "model": model,
        "input": input_items(request.input),
        "questions": [_question(name, question) for name, question in request.questions.items()],
    }


def _question(name: str, question: Any) -> dict[str, Any]:  # noqa: ANN401 - a type that the limits let pass
    fields: dict[str, Any] = {
        "type": _TYPES[type(question)],
        "name": name,
        "instructions": _instructions_of(question),
    }
    match question:
        case Choice():
            fields["choices"] = [
                {"value": value} if text == value else {"value": value, "description": text}
                for value, text in question.options.items()
            ]
            if question.none is not None:
                fields["choices"].append({"value": question.none})
        case Scale():
            fields["levels"] = [{"label": level} for level in question.levels]
    return fields


def _instructions_of(question: BuiltIn) -> str:
    criteria = ""
    if isinstance(question, YesNo):
        told = (
            ("The answer is yes when: ", question.yes_when),
            ("The answer is no when: ", question.no_when),
        )
        criteria = "".join(f"\n{words}{text}" for words, text in told if text is not None)
    return question.text + criteria + examples_of(question)


def decode_response(asked: Asked | DecisionRequest, body: Mapping[str, Any]) -> Reply:
    """Return the answers of a response body, by question name, with the model and the tokens.

    Args:
        asked: What was asked: a request of ours, or one that came over the wire.
        body: The response.

    Raises:
        ValueError: The body has another shape, its answers are not in question order, or none can be read.
    """
    asked = asked if isinstance(asked, Asked) else asked_of(asked)
    answers = body.get("answers")
    questions = asked.request.questions
    if not isinstance(answers, list) or not all(isinstance(answer, Mapping) for answer in answers):
        raise ValueError("it holds no list of answers")
    if len(answers) != len(questions):
        raise ValueError(f"it holds {len(answers)} answers to {len(questions)} questions")
    readers: dict[str, Callable[[], Outcome]] = {}
    pairs = zip(questions.items(), asked.names, answers, strict=True)
    for place, ((name, question), sent, answer) in enumerate(pairs):
        kind = answer.get("type")
        if kind not in ("refusal", _TYPES[type(question)]):
            raise ValueError(f"answer {place} is not of the type of its question")
        if (
            answer.get("name") != sent
            and answer.get("name") in asked.names
            and answer.get("name") is not None
        ):
            raise ValueError(f"answer {place} bears the name of another question")
        readers[name] = partial(_outcome, question, asked.offered.get(name, ()), answer)
    return reply_of(body, readers)


def _outcome(question: Any, offered: tuple[Any, ...], answer: Mapping[str, Any]) -> Outcome:  # noqa: ANN401
    if answer["type"] == "refusal":
        reason = answer.get("x_undecided")
        return Undecided(reason) if isinstance(reason, str) else Refusal()
    match question:
        case Choice():
            keys = {typed_key(value): place for place, value in enumerate(offered)}
            shares = _shares(answer, len(offered), lambda entry: keys.get(typed_key(entry.get("value"))))
            claimed = keys.get(typed_key(answer.get("choice")))
            if claimed is None:
                raise Unfit("contradictory_answer")
            return choice_answer(question, shares, claimed)
        case Scale():
            shares = _shares(answer, len(offered), lambda entry: _level(entry, offered))
            return scale_answer(shares, answer.get("score"))
        case _:
            return yes_no_answer(answer.get("probability"))


def _shares(
    answer: Mapping[str, Any], count: int, place_of: Callable[[Mapping[str, Any]], int | None]
) -> Sequence[Any]:
    entries = answer.get("probabilities")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise Unfit("incomplete_distribution")
    shares: list[Any] = [None] * count
    for entry in entries:
        place = place_of(entry)
        if place is None or shares[place] is not None:  # something that was not offered, or twice the same
            raise Unfit("invalid_distribution")
        shares[place] = entry.get("probability")
    return shares


def _level(entry: Mapping[str, Any], offered: tuple[Any, ...]) -> int | None:
    number = entry.get("value")
    if type(number) is not int or not 0 <= number < len(offered):
        return None
    label = entry.get("label")
    return number if label is None or label == offered[number] else None


# The other side: what a server does


def decode_request(body: Mapping[str, Any], *, limits: Limits = LIMITS) -> Asked:
    """Return the request that a body asks, with the names and values to answer it by.

    Unknown fields are ignored. Unnamed questions, and those with a name that was used before, get a name of ours.

    Raises:
        QuestionError: The body has another shape, or asks what cannot be asked; it says where.
    """
    listed = body.get("questions")
    if not isinstance(listed, list) or not listed:
        raise misshaped(("questions",), "must be a list of at least one question")
    checked_count(len(listed), limits, "this endpoint")
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise misshaped(("model",), "must be a text that is not empty")
    wire_names = [_name(item, ("questions", place)) for place, item in enumerate(listed)]
    questions: dict[str, Any] = {}
    offered: dict[str, tuple[Any, ...]] = {}
    for place, (name, item) in enumerate(zip(named(wire_names), listed, strict=True)):
        questions[name], offered[name] = _read_question(item, ("questions", place), limits)
    request = DecisionRequest(input_of(body.get("input")), questions, Parameters(model_name=model))
    return Asked(request, tuple(wire_names), {name: values for name, values in offered.items() if values})


def _name(item: Any, where: Where) -> str | None:  # noqa: ANN401 - JSON
    if not isinstance(item, Mapping):
        raise misshaped(where, "must be an object")
    name = item.get("name")
    if name is not None and not isinstance(name, str):
        raise misshaped((*where, "name"), "must be a text")
    return name


def _read_question(item: Mapping[str, Any], where: Where, limits: Limits) -> tuple[Any, tuple[Any, ...]]:
    match item.get("type"):
        case "predicate":
            return YesNo(_instructions(item, where)), ()
        case "choice":
            return _read_choice(_instructions(item, where, WHICH_OPTION), item, where, limits)
        case "score":
            return _read_score(_instructions(item, where, WHICH_LEVEL), item, where, limits)
    raise misshaped((*where, "type"), "must be predicate, choice or score")


def _instructions(item: Mapping[str, Any], where: Where, unasked: str | None = None) -> str:
    given = item.get("instructions")
    text = unasked if given is None and unasked is not None else text_of(given, (*where, "instructions"))
    if not text.strip():
        if unasked is None:
            raise misshaped((*where, "instructions"), "is blank; say what is asked")
        return unasked
    return text


def _read_choice(
    text: str, item: Mapping[str, Any], where: Where, limits: Limits
) -> tuple[Choice, tuple[Any, ...]]:
    entries = _entries(item, "choices", "value", where)
    if len({typed_key(entry["value"]) for entry in entries}) < len(entries):
        raise misshaped((*where, "choices"), "holds two choices with the same value")
    values = [(entry["value"], entry.get("description")) for entry in entries]
    with placed(where, "choices"):
        question = Choice(text, optioned(values))
        checked_size(path_of(where), question, limits, "this endpoint")
    return question, tuple(value for value, _ in values)


def _read_score(
    text: str, item: Mapping[str, Any], where: Where, limits: Limits
) -> tuple[Scale, tuple[Any, ...]]:
    entries = _entries(item, "levels", "label", where)
    with placed(where, "levels"):
        question = Scale(text, [_level_text(entry["label"], entry.get("description")) for entry in entries])
        checked_size(path_of(where), question, limits, "this endpoint")
    return question, tuple(entry["label"] for entry in entries)


def _entries(item: Mapping[str, Any], field: str, key: str, where: Where) -> list[Mapping[str, Any]]:
    entries = item.get(field)
    if not isinstance(entries, list):
        raise misshaped((*where, field), "must be a list")
    for place, entry in enumerate(entries):
        at = (*where, field, place)
        if not isinstance(entry, Mapping):
            raise misshaped(at, "must be an object")
        value, description = entry.get(key), entry.get("description")
        if key == "value" and not isinstance(value, str | bool):
            raise misshaped((*at, key), "must be a text or a boolean")
        if key == "label" and (not isinstance(value, str) or not value.strip()):
            raise misshaped((*at, key), "must be a text that is not blank")
        if description is not None and not isinstance(description, str):
            raise misshaped((*at, "description"), "must be a text")
    return entries


def _level_text(label: str, description: str | None) -> str:
    return label if description is None or not description.strip() else f"{label}: {description}"


def encode_response(asked: Asked, response: DecisionResponse) -> dict[str, Any]:
    """Return the response body.

    The protocol knows no undecided answer, so one travels as a `refusal` with its reason in `x_undecided`; so does
    an answer that lacks the distribution which the protocol demands. Further fields begin with `x_`: see
    `marks_of`.

    Shares and means are rounded to twelve decimals: clients take a number for any that rounds to it, and want some
    distribution to fit exactly (pydantic-ai-slim 2.68.0, `_score_fits`; 2026-11), so all digits of a float would
    claim more than float arithmetic keeps.
    """
    pairs = zip(asked.request.questions.items(), asked.names, strict=True)
    usage = response.usage or Usage()
    return {
        "model": response.model or asked.request.parameters.model_name,
        "answers": [
            _answer(wire_name, question, asked.offered.get(name, ()), response.outcome(name))
            for (name, question), wire_name in pairs
        ],
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {
                "cached_tokens": usage.cached_tokens,
                "cache_write_tokens": usage.cache_written_tokens,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
    }


def _answer(name: str | None, question: Any, offered: tuple[Any, ...], outcome: Outcome) -> dict[str, Any]:  # noqa: ANN401
    if isinstance(outcome, Refusal):
        return {"type": "refusal", "name": name}
    shares = whole_shares_of(question, outcome)
    if shares is None:
        reason = outcome.reason if isinstance(outcome, Undecided) else "incomplete_distribution"
        return {"type": "refusal", "name": name, "x_undecided": reason}
    fields: dict[str, Any] = {"type": _TYPES[type(question)], "name": name, **marks_of(outcome)}
    if isinstance(question, YesNo):
        fields["probability"] = shares[0]
        return fields
    fields["confidence"] = confidence_of(tuple(shares))
    if isinstance(question, Choice) and isinstance(outcome, ChoiceAnswer):
        names = [*question.options, *([] if question.none is None else [question.none])]
        fields["choice"] = offered[names.index(outcome.value)]
        entries: list[dict[str, Any]] = [{"value": value} for value in offered]
    else:
        mean = math.fsum(level * share for level, share in enumerate(shares))
        fields["score"] = round(mean, DECIMALS)
        entries = [{"value": level, "label": label} for level, label in enumerate(offered)]
    fields["probabilities"] = [
        {**entry, "probability": round(share, DECIMALS)} for entry, share in zip(entries, shares, strict=True)
    ]
    return fields
