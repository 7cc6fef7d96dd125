"""What SGLang adds to Chat Completions: a route that scores tokens of the caller's choice.

`/v1/score` takes a prompt and candidates as numbers of tokens, and gives the probability that the model writes each
one next, of the whole vocabulary as long as `apply_softmax` is off. `/v1/tokenize` tells the numbers, of texts and of
messages as a chat completion would show them (sglang 0.5.23, `entrypoints/openai/protocol.py`, `serving_tokenize.py`,
`serving_score.py` and `managers/tokenizer_manager_score_mixin.py`; 2026-11). Older servers take no messages there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from yesno.evidence import Candidate, Completion, Position

__all__ = [
    "LABEL_IDS",
    "completion_of_scores",
    "numbers_body",
    "numbers_in",
    "prompt_body",
    "prompt_numbers_in",
    "score_body",
]

LABEL_IDS = "label_token_ids"
_SHOWN = ("model", "messages", "chat_template_kwargs", "reasoning_effort", "continue_final_message")
"""Fields of a chat that change how the messages are shown to the model."""
_LINE = "\n"
"""Stands before each text: at the beginning of a prompt some tokenizers add a space."""


def numbers_body(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """Return the body for `/v1/tokenize` that asks for the numbers of texts."""
    prompts = [_LINE, *(_LINE + text for text in texts)]
    return {"model": model, "prompt": prompts, "add_special_tokens": False}


def numbers_in(reply: Mapping[str, Any], texts: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those texts that are exactly one token.

    Raises:
        KeyError, TypeError: The reply has another shape.
    """
    rows = reply["tokens"]
    if not isinstance(rows, list) or len(rows) != len(texts) + 1 or not all(map(_are_numbers, rows)):
        raise TypeError("`tokens` is no list of numbers for each text")
    line = rows[0]
    return {
        text: row[-1]
        for text, row in zip(texts, rows[1:], strict=True)
        if len(row) == len(line) + 1 and row[:-1] == line
    }


def prompt_body(chat: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body for `/v1/tokenize` that asks for the numbers of a chat's prompt."""
    return {name: chat[name] for name in _SHOWN if name in chat}


def prompt_numbers_in(reply: Mapping[str, Any]) -> list[int]:
    """Return the numbers of a prompt.

    Raises:
        KeyError, TypeError: The reply has another shape.
    """
    numbers = reply["tokens"]
    if not _are_numbers(numbers) or not numbers:
        raise TypeError("`tokens` is no list of numbers")
    return list(numbers)


def score_body(chat: Mapping[str, Any], prompt: Sequence[int]) -> dict[str, Any]:
    """Return the body for `/v1/score`: what comes after the prompt, of the candidates that a chat names."""
    return {
        "model": chat["model"],
        "query": [*prompt[:-1]],
        "items": [[prompt[-1]]],
        LABEL_IDS: [*chat[LABEL_IDS]],
        "apply_softmax": False,
        "return_token_logprobs": True,
    }


def completion_of_scores(reply: Mapping[str, Any], tokens: Mapping[str, int]) -> Completion:
    """Return scores as a reply of one token, the most probable of those asked for.

    Args:
        reply: A body of `/v1/score` for one item.
        tokens: Text -> number, in the order of the candidates.

    Raises:
        KeyError, IndexError, TypeError, ValueError: The reply has another shape.
    """
    rows = reply.get("token_logprobs")
    values = rows[0] if rows else [math.log(p) if p > 0 else -math.inf for p in reply["scores"][0]]
    if len(values) != len(tokens):
        raise ValueError(f"{len(values)} scores for {len(tokens)} candidates")
    top = [
        Candidate(text, None if value is None else float(value), text.encode(), number)
        for (text, number), value in zip(tokens.items(), values, strict=True)
    ]
    top.sort(
        key=lambda candidate: -math.inf if candidate.logprob is None else candidate.logprob, reverse=True
    )
    return Completion(top[0].token, (Position(top[0], tuple(top), exact=True),), exact=True)


def _are_numbers(value: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(value, list) and all(type(number) is int for number in value)
