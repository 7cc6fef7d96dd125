"""What vLLM adds to Chat Completions: the log-probabilities of tokens of the caller's choice.

`logprob_token_ids` (at most 128) takes the place of the most probable tokens at every generated place; the written
token is listed too, and the values are those of the whole vocabulary (vllm `chat_completion/protocol.py` and
`serving.py`, pull request 43463; 2026-11). An older server ignores the field. `/tokenize`, which lies beside `/v1`,
tells the numbers (vllm `serve/tokenize/protocol.py`; 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from yesno.evidence import Completion

__all__ = ["TOKEN_IDS", "is_tokenizing", "token_ids_in", "tokenize_body", "with_exactness"]

TOKEN_IDS = "logprob_token_ids"  # noqa: S105 - a field, no secret
_BREAKS = ("\n", "\u010a", "<0x0A>")
"""A line break as vocabularies write it: as it is, byte-level BPE, SentencePiece."""
_SPACES = str.maketrans({"\u0120": " ", "\u2581": " "})


def tokenize_body(texts: Sequence[str], *, model: str) -> dict[str, Any]:
    """Return the body that asks for the tokens of texts, each on a line of its own so that none begins the prompt."""
    prompt = "".join(f"\n{text}" for text in texts)
    return {"model": model, "prompt": prompt, "add_special_tokens": False, "return_token_strs": True}


def is_tokenizing(body: Mapping[str, Any]) -> bool:
    """Return whether a body is one of `tokenize_body`."""
    return "return_token_strs" in body


def token_ids_in(reply: Mapping[str, Any], texts: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those texts that are exactly one token; none when the lines cannot be told apart.

    Raises:
        KeyError, TypeError: The reply has another shape.
    """
    numbers, written = reply["tokens"], reply.get("token_strs")
    if not isinstance(numbers, list) or not all(type(number) is int for number in numbers):
        raise TypeError("`tokens` is no list of numbers")
    if not isinstance(written, list) or len(written) != len(numbers):
        return {}
    lines: list[list[tuple[int, str]]] = [[]]
    for number, token in zip(numbers, written, strict=True):
        if token in _BREAKS:
            lines.append([])
        else:
            lines[-1].append((number, str(token).translate(_SPACES)))
    if len(lines) != len(texts) + 1:
        return {}
    return {
        text: line[0][0]
        for text, line in zip(texts, lines[1:], strict=True)
        if len(line) == 1 and line[0][1] == text
    }


def with_exactness(completion: Completion, tokens: Mapping[str, int]) -> Completion:
    """Return a completion that says whether the tokens asked for, and little else, are what it lists."""
    positions = completion.positions
    if not tokens or not positions:
        return completion
    first = positions[0]
    listed = {candidate.token for candidate in (first.chosen, *first.top)}
    if not listed >= tokens.keys() or len(first.top) > len(tokens) + 1:
        return completion
    exact = tuple(replace(position, exact=True) for position in positions)
    return replace(completion, positions=exact, exact=True)
