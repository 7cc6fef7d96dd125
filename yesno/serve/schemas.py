"""The schemas of both protocols, as this server takes and gives them (JSON Schema 2020-12, as OpenAPI 3.1 has it).

They say what is checked and no more: further fields are ignored in requests, and those of responses begin with `x_`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SCHEMAS", "requests_of"]

Schema = Mapping[str, Any]


def _one(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def _list(items: Schema, least: int = 1, most: int | None = None) -> Schema:
    return {
        "type": "array",
        "items": items,
        "minItems": least,
        **({} if most is None else {"maxItems": most}),
    }


def _object(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


STRING: Schema = {"type": "string"}
WORDS: Schema = {"type": "string", "pattern": r"\S", "description": "A text that is not blank."}
MAYBE: Schema = {"type": ["string", "null"]}
NULL: Schema = {"type": "null"}
OBJECT: Schema = {"type": "object"}
ARRAY: Schema = {"type": "array"}
COUNT: Schema = {"type": "integer", "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TOLD: Schema = _one(STRING, OBJECT, ARRAY, NULL)
ASKED: Schema = _one(WORDS, OBJECT, ARRAY)

MARKS: Mapping[str, Schema] = {
    "x_method": {"enum": ["logprobs", "native", "sampled"], "description": "How the answer was read."},
    "x_label_mass": {**SHARE, "description": "Share of the model's probability on the answers offered."},
    "x_low": {
        "type": "number",
        "description": "Least value of the answer's number that the evidence allows.",
    },
    "x_high": {"type": "number", "description": "Greatest such value."},
    "x_calibrated": {"type": "boolean", "description": "Whether a calibration was applied."},
}


def _kind(name: str) -> Schema:
    return {"const": name, "type": "string"}


def _part(kind: str, field: str, value: Schema) -> Schema:
    return _object({"type": _kind(kind), field: value})


PARTS = (
    _part("input_text", "text", STRING),
    _part("input_json", "data", _one(OBJECT, {"type": "array", "items": OBJECT})),
)
CONTENT = _one(
    STRING,
    {
        "type": "array",
        "items": _one(*PARTS, _part("output_text", "text", STRING), _part("refusal", "refusal", STRING)),
    },
)
_UNASKED: Schema = {
    **_one(STRING, _list(_one(*PARTS), 0), NULL),
    "description": "Blank or left out where options or levels say it all.",
}

_OPENAI: dict[str, Schema] = {
    "Message": _object(
        {"role": {"enum": ["user", "developer", "system", "assistant"]}, "content": CONTENT},
        {"type": _kind("message")},
    ),
    "ToolCall": _one(
        _object({"type": _kind("function_call"), "call_id": STRING, "name": STRING, "arguments": STRING}),
        _object({"type": _kind("custom_tool_call"), "call_id": STRING, "name": STRING, "input": STRING}),
    ),
    "ToolOutput": {
        **_object(
            {
                "type": {"enum": ["function_call_output", "custom_tool_call_output"]},
                "call_id": {**STRING, "description": "That of a call before it."},
                "output": CONTENT,
            }
        )
    },
    "Instructions": _one(
        WORDS,
        {
            **_list(_one(*PARTS)),
            "contains": _one(_part("input_text", "text", WORDS), PARTS[1]),
        },
    ),
    "Predicate": _object({"type": _kind("predicate"), "instructions": _ref("Instructions")}, {"name": MAYBE}),
    "Choice": _object(
        {
            "type": _kind("choice"),
            "choices": {
                **_list(_object({"value": {"type": ["string", "boolean"]}}, {"description": MAYBE}), 2, 255),
                "uniqueItems": True,
                "description": 'Values are distinct; the text "true" and the boolean are two.',
            },
        },
        {"name": MAYBE, "instructions": _UNASKED},
    ),
    "Score": _object(
        {
            "type": _kind("score"),
            "levels": _list(_object({"label": WORDS}, {"description": MAYBE}), 2, 10),
        },
        {"name": MAYBE, "instructions": _UNASKED},
    ),
    "PredicateAnswer": _object({"type": _kind("predicate"), "name": MAYBE, "probability": SHARE}, MARKS),
    "ChoiceAnswer": _object(
        {
            "type": _kind("choice"),
            "name": MAYBE,
            "choice": {"type": ["string", "boolean"]},
            "confidence": SHARE,
            "probabilities": _list(
                _object({"value": {"type": ["string", "boolean"]}, "probability": SHARE}), 2, 255
            ),
        },
        MARKS,
    ),
    "ScoreAnswer": _object(
        {
            "type": _kind("score"),
            "name": MAYBE,
            "score": {"type": "number", "minimum": 0, "maximum": 9},
            "confidence": SHARE,
            "probabilities": _list(_object({"value": COUNT, "label": STRING, "probability": SHARE}), 2, 10),
        },
        MARKS,
    ),
    "RefusalAnswer": {
        **_object(
            {"type": _kind("refusal"), "name": MAYBE},
            {"x_undecided": {**STRING, "description": "Why the evidence did not suffice for an answer."}},
        ),
        "description": "The model declined the question; with `x_undecided`, its reply says too little for an answer.",
    },
    "DecisionsResponse": _object(
        {
            "model": STRING,
            "answers": {
                **_list(
                    _one(*map(_ref, ("PredicateAnswer", "ChoiceAnswer", "ScoreAnswer", "RefusalAnswer")))
                ),
                "description": "In the order of the questions.",
            },
            "usage": _object(
                {
                    "input_tokens": COUNT,
                    "input_tokens_details": _object({"cached_tokens": COUNT, "cache_write_tokens": COUNT}),
                    "output_tokens": COUNT,
                    "output_tokens_details": _object({"reasoning_tokens": COUNT}),
                    "total_tokens": COUNT,
                }
            ),
        }
    ),
    "DecisionsError": _object(
        {"error": _object({"message": STRING, "type": STRING, "param": MAYBE, "code": MAYBE})}
    ),
}

_DESCRIBED = _one(
    _object({"true": _one(WORDS, OBJECT, ARRAY)}),
    _object({"false": _one(WORDS, OBJECT, ARRAY)}),
)
_CRITERIA: Schema = {"type": ["object", "null"], "properties": {"true": TOLD, "false": TOLD}}

_SYSTEMONE: dict[str, Schema] = {
    "Noul": _one(
        _object({"type": _kind("noul"), "instructions": ASKED}, {"criteria": _CRITERIA}),
        _object(
            {"type": _kind("noul"), "criteria": {"allOf": [_CRITERIA, _DESCRIBED]}},
            {"instructions": TOLD},
        ),
    ),
    "SystemOneChoice": _object(
        {
            "type": _kind("choice"),
            "criteria": {
                "type": "object",
                "additionalProperties": TOLD,
                "minProperties": 2,
                "maxProperties": 255,
                "description": "Option -> what it means, or null.",
            },
        },
        {"instructions": TOLD},
    ),
    "SystemOneScore": _object(
        {
            "type": _kind("score"),
            "criteria": {**_list(ASKED, 2, 10), "description": "Levels, lowest first."},
        },
        {"instructions": TOLD},
    ),
    "NoulAnswer": _object({"type": _kind("noul"), "noul": SHARE}, MARKS),
    "SystemOneChoiceAnswer": _object(
        {
            "type": _kind("choice"),
            "choice": STRING,
            "confidence": SHARE,
            "probabilities": {"type": "object", "additionalProperties": SHARE},
        },
        MARKS,
    ),
    "SystemOneScoreAnswer": _object(
        {
            "type": _kind("score"),
            "score": {"type": "number", "minimum": 0, "maximum": 9},
            "confidence": SHARE,
            "legend": {"type": "object", "additionalProperties": _one(STRING, OBJECT, ARRAY)},
            "probabilities": {"type": "object", "additionalProperties": SHARE},
        },
        MARKS,
    ),
    "SystemOneResponse": _object(
        {
            "model": STRING,
            "answers": {
                "type": "object",
                "additionalProperties": _one(
                    *map(_ref, ("NoulAnswer", "SystemOneChoiceAnswer", "SystemOneScoreAnswer"))
                ),
            },
            "usage": _object({"input_tokens": COUNT, "output_tokens": COUNT}),
        }
    ),
    "SystemOneInvalid": _object(
        {
            "detail": _list(
                _object(
                    {
                        "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
                        "msg": STRING,
                        "type": STRING,
                    }
                )
            )
        }
    ),
    "SystemOneError": _object(
        {
            "detail": _object(
                {"error_type": STRING, "message": STRING},
                {"x_refused": OBJECT, "x_undecided": OBJECT, "x_answers": OBJECT},
            )
        }
    ),
}

SCHEMAS: Mapping[str, Schema] = {
    **_OPENAI,
    **_SYSTEMONE,
    "Models": _object(
        {
            "object": _kind("list"),
            "data": _list(
                _object(
                    {
                        "id": STRING,
                        "object": _kind("model"),
                        "created": {"type": "integer"},
                        "owned_by": STRING,
                    }
                ),
                0,
            ),
            "models": _list(_object({"name": STRING, "description": STRING, "release_date": STRING}), 0),
        }
    ),
    "Status": _object({"status": STRING}),
}
"""Name -> schema of everything but the two requests, which depend on the server."""


def requests_of(names: Sequence[str], max_questions: int) -> dict[str, Schema]:
    """Return the schemas of the two requests.

    Args:
        names: What `model` may be.
        max_questions: Most questions of one request.
    """
    model: Schema = {"type": "string", "enum": list(names)}
    items = _one(*map(_ref, ("Message", "ToolCall", "ToolOutput")))
    questions = _one(*map(_ref, ("Predicate", "Choice", "Score")))
    by_name = _one(*map(_ref, ("Noul", "SystemOneChoice", "SystemOneScore")))
    return {
        "DecisionsRequest": _object(
            {
                "model": model,
                "input": _one(WORDS, _list(items)),
                "questions": _list(questions, 1, max_questions),
            }
        ),
        "SystemOneRequest": _object(
            {
                "model": model,
                "state": _one(STRING, OBJECT, ARRAY),
                "questions": {
                    "type": "object",
                    "additionalProperties": by_name,
                    "propertyNames": {"minLength": 1},
                    "minProperties": 1,
                    "maxProperties": max_questions,
                },
            },
            {"assets": {**NULL, "description": "Images, which this server does not take."}},
        ),
    }
