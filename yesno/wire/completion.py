"""Text replies with log-probabilities, in the shapes that servers use, as one `Completion`.

Shapes (each read in the source or documentation of the server named; 2026-11):

- OpenAI chat: `choices[0].logprobs.content[]`, entries with `token`, `bytes`, `logprob`, `top_logprobs`.
- Completions arrays, also inside chat choices (Together): `tokens`, `token_logprobs`, `top_logprobs` as
  one table text -> log-probability per token.
- llama.cpp native: `completion_probabilities[]`, entries as in chat, with `id`.
- Ollama native: `message.content`, `logprobs[]`, entries as in chat.
- Gemini native: `candidates[0].logprobsResult` with `chosenCandidates` and `topCandidates`; no candidates but
  `promptFeedback` when the prompt was blocked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yesno.evidence import Candidate, Completion, Finish, Position

__all__ = ["chat_position", "completion_from", "finish_of"]

_FINISH: Mapping[str, Finish] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("length", "max_tokens"), "length"),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "guardrail_intervened", "safety", "sensitive"),
        "content_filter",
    ),
    "refusal": "refusal",
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
}
"""OpenAI's reasons and what gateways pass through of others': Anthropic's, Bedrock's `content_filtered` and
`guardrail_intervened`, Zhipu's `sensitive`, Gemini's `SAFETY`; 2026-11."""

_GEMINI_FINISH: Mapping[str, Finish] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "IMAGE_SAFETY"),
        "content_filter",
    ),
}
"""`FinishReason` of python-genai `types.py` (2026-11); others, such as LANGUAGE, are "other"."""

_INTERVENED = ("amazon-bedrock-guardrailAction", "INTERVENED")
"""Field and value by which Bedrock says that its guardrail wrote the text in the model's place (InvokeModel;
https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-invoke-api.html; 2026-11)."""

_NUMBERS = (float, int, type(None))
"""What `json` makes of a log-probability; a boolean is none."""
_BYTES = (list, type(None))


def finish_of(reason: Any) -> Finish:  # noqa: ANN401 - JSON
    """Return what a reason to finish means; one with a colon, as Gemini's route writes, by what is before it."""
    word = str(reason)
    found = _FINISH.get(word.lower().partition(":")[0].strip())
    return found or _GEMINI_FINISH.get(word.upper(), "other")


def completion_from(reply: Mapping[str, Any]) -> Completion:
    """Return the text and the token probabilities of a reply in any of the shapes above.

    Raises:
        KeyError, IndexError, TypeError, ValueError: The reply has none of these shapes.
    """
    try:
        return _completion(reply)
    except AttributeError as error:
        raise TypeError(f"the reply has another shape: {error}") from error


def _completion(reply: Mapping[str, Any]) -> Completion:
    if reply.get(_INTERVENED[0]) == _INTERVENED[1]:
        return Completion(None, finish="content_filter")
    if "choices" in reply:
        return _from_choice(reply["choices"][0])
    if "completion_probabilities" in reply:
        return _from_llamacpp(reply)
    if "promptFeedback" in reply and not reply.get("candidates"):
        return Completion(None, finish="content_filter")
    if "candidates" in reply:
        return _from_gemini(reply["candidates"][0])
    if "message" in reply:
        return _from_ollama(reply)
    raise KeyError("choices")


def _from_choice(choice: Mapping[str, Any]) -> Completion:
    message = choice.get("message") or {}
    text = message["content"] if message.get("content") is not None else choice.get("text")
    logprobs = choice.get("logprobs") or {}
    positions, lossy = _positions(logprobs)
    finish = finish_of(choice.get("finish_reason"))
    if finish in ("stop", "other") and not text and message.get("tool_calls"):
        finish = "tool_calls"
    if not isinstance(message, Mapping) or not (message or "text" in choice or finish != "other"):
        raise KeyError("message")
    return Completion(
        text=_text(text),
        positions=positions,
        finish=finish,
        refusal=message.get("refusal") or None,
        lossy=lossy,
    )


def _text(content: Any) -> str | None:  # noqa: ANN401 - JSON
    if content is None or isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _positions(logprobs: Mapping[str, Any]) -> tuple[tuple[Position, ...] | None, bool]:
    if logprobs.get("content"):
        return tuple(chat_position(entry) for entry in logprobs["content"]), False
    if logprobs.get("tokens") and logprobs.get("token_logprobs"):
        return _from_arrays(logprobs), bool(logprobs.get("top_logprobs"))
    return None, False


def chat_position(entry: Mapping[str, Any]) -> Position:
    """Return one token with its alternatives, in the shape of OpenAI's lists."""
    top = entry.get("top_logprobs") or ()
    return Position(_candidate(entry), tuple(map(_candidate, top)))


def _candidate(entry: Mapping[str, Any]) -> Candidate:
    return _token(entry["token"], entry.get("logprob"), entry.get("bytes"), entry.get("id"))


def _token(token: Any, logprob: Any, data: Any = None, number: Any = None) -> Candidate:  # noqa: ANN401 - JSON
    if type(token) is not str or type(logprob) not in _NUMBERS or type(data) not in _BYTES:
        raise TypeError("a token needs a text, a log-probability that is a number, and bytes that are a list")
    if type(logprob) is int:
        logprob = _as_float(logprob)
    return Candidate(
        token, logprob, None if data is None else bytes(data), number if type(number) is int else None
    )


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        raise ValueError("a log-probability is too large") from None


def _from_arrays(logprobs: Mapping[str, Any]) -> tuple[Position, ...]:
    tables: Sequence[Mapping[str, float] | None] = logprobs.get("top_logprobs") or ()
    positions = []
    for index, (token, logprob) in enumerate(
        zip(logprobs["tokens"], logprobs["token_logprobs"], strict=True)
    ):
        table = tables[index] if index < len(tables) else None
        top = tuple(_token(text, value) for text, value in (table or {}).items())
        positions.append(Position(_token(token, logprob), top))
    return tuple(positions)


def _from_llamacpp(reply: Mapping[str, Any]) -> Completion:
    positions = tuple(chat_position(entry) for entry in reply["completion_probabilities"])
    text = _text(reply.get("content"))
    if text is None:
        text = "".join(position.chosen.token for position in positions)
    return Completion(
        text=text, positions=positions, finish="length" if reply.get("stop_type") == "limit" else "stop"
    )


def _from_ollama(reply: Mapping[str, Any]) -> Completion:
    entries = reply.get("logprobs")
    return Completion(
        text=_text(reply["message"].get("content")),
        positions=tuple(chat_position(entry) for entry in entries) if entries else None,
        finish=finish_of(reply.get("done_reason") or "stop"),
    )


def _from_gemini(candidate: Mapping[str, Any]) -> Completion:
    parts = (candidate.get("content") or {}).get("parts") or ()
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    result = candidate.get("logprobsResult") or {}
    tops = result.get("topCandidates") or ()
    positions = tuple(
        Position(
            _gemini_token(chosen),
            tuple(map(_gemini_token, tops[i].get("candidates") or ())) if i < len(tops) else (),
        )
        for i, chosen in enumerate(result.get("chosenCandidates") or ())
    )
    if "content" not in candidate and "finishReason" not in candidate:
        raise KeyError("content")
    finish = _GEMINI_FINISH.get(str(candidate.get("finishReason")), "other")
    return Completion(text=text or None, positions=positions or None, finish=finish)


def _gemini_token(entry: Mapping[str, Any]) -> Candidate:
    return _token(entry["token"], entry.get("logProbability"), None, entry.get("tokenId"))
