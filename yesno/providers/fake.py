"""A scripted provider for tests, examples and offline work. It sends nothing anywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, ClassVar, TypeAlias

from yesno.errors import ConfigError, UnreadableReply
from yesno.evidence import NativeAnswers, Reply, Usage
from yesno.providers.base import NativeTask, Payload, PromptTask, Provider, Task, TokenTask
from yesno.providers.profiles import Profile, Strategy
from yesno.questions import (
    Answer,
    Choice,
    ChoiceAnswer,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    YesNoAnswer,
)
from yesno.wire.completion import completion_from

__all__ = ["FakeProvider", "Script"]

Tokens: TypeAlias = Mapping[str, float]
"""Token -> probability (0..1) at the answer position."""
Script: TypeAlias = Tokens | Sequence[Tokens] | Mapping[str, Answer | Refusal] | Exception
"""What one request brings back: token probabilities (of one position, or of each in a list), ready answers by question
name, or an error."""

_ROWS = re.compile(r"^(\w{1,3})\. ", re.MULTILINE)
"""Options as the default templates show them: a letter or a number, a point, a name."""
_FINISHES = {"refusal", "content_filter", "tool_calls", "length"}


class FakeProvider(Provider):
    """Answers from a script, in the shapes that real providers use.

    Args:
        script: One reply for all requests; a sequence of replies, repeated from its start; or a function
            from the last user message (or the request, for ready answers) to a reply.
        model: The model name to report.
        native: Replies are ready answers, as a decision endpoint gives.
        strategies: Ways to a probability that it has, best first.
        keep: Most payloads that `requests` holds, the newest; None for all.

    Without a script yes has 0.8 and no 0.2, and of the options or levels each half of what the one before has.

    Token probabilities become a Chat Completions reply and are read like a real one: what is missing to 1
    is unseen, and the first token of a position is the one that was written.
    """

    name: ClassVar[str] = "fake"
    merges = False

    def __init__(
        self,
        script: Script | Sequence[Script] | Callable[[Any], Script] | None = None,
        *,
        model: str = "fake",
        native: bool = False,
        strategies: Sequence[Strategy] = ("logprobs",),
        keep: int | None = None,
    ) -> None:
        self.model = model
        self.profile = Profile(strategies=("native",) if native else tuple(strategies), source="scripted")
        self.requests: list[Payload] = []
        """The payloads sent so far."""
        self._keep = keep
        self._script = _player(_unscripted if script is None else script)

    def build(self, task: Task) -> Payload:
        """Return the messages, or the named questions, as a JSON body."""
        match task:
            case PromptTask():
                messages = [{"role": turn.role, "content": turn.content} for turn in task.turns]
                return {"model": task.model_name, "messages": messages, "max_tokens": task.max_tokens}
            case NativeTask():
                return {"model": task.model_name, "questions": list(task.request.questions)}
            case TokenTask():
                raise NotImplementedError("a script has no vocabulary")

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Play the next reply of the script, or raise the next error."""
        self.requests.append(payload)
        if self._keep is not None:
            del self.requests[: -self._keep or None]
        messages = payload.get("messages")
        reply = self._script(messages[-1]["content"] if messages else payload)
        if isinstance(reply, Exception):
            raise reply
        if "questions" in payload:
            return {"answers": reply, "model": payload["model"]}
        return reply if "choices" in reply else chat_reply(reply, model=payload["model"])

    async def asend(self, payload: Payload) -> Payload:
        """Do what `send` does, awaited."""
        return self.send(payload)

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Read the scripted reply."""
        if isinstance(task, NativeTask):
            answers = reply["answers"]
            if answers is _UNSCRIPTED:
                answers = {name: _ready(question) for name, question in task.request.questions.items()}
            return Reply(NativeAnswers(answers), model=reply["model"], usage=Usage(requests=1))
        try:
            usage = reply.get("usage") or {}
            return Reply(
                completion_from(reply),
                model=reply.get("model"),
                usage=Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), requests=1),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the scripted reply has no readable shape: {error!r}", provider=self.name
            ) from error


def chat_reply(tokens: Tokens | Sequence[Tokens], *, model: str = "fake") -> dict[str, Any]:
    """Return a Chat Completions reply whose answer position, or each of several, lists these token probabilities.

    A key of the form `<refusal>`, `<content_filter>`, `<tool_calls>` or `<length>` makes the reply end
    that way instead.
    """
    places = [tokens] if isinstance(tokens, Mapping) else tokens
    for token in (token for place in places for token in place):
        finish = token.strip("<>")
        if token.startswith("<") and finish in _FINISHES:
            return _ended(finish, model)
    entries = [_position(place) for place in places]
    written = "".join(entry["token"] for entry in entries)
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": written, "refusal": None},
                "logprobs": {"content": entries},
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": len(entries), "total_tokens": len(entries)},
    }


def _position(tokens: Tokens) -> dict[str, Any]:
    entries = [
        {"token": token, "bytes": list(token.encode()), "logprob": math.log(p) if p > 0 else -9999.0}
        for token, p in tokens.items()
    ]
    return {**entries[0], "top_logprobs": entries}


def _ended(finish: str, model: str) -> dict[str, Any]:
    refusal = "I can't help with that." if finish == "refusal" else None
    return {
        "object": "chat.completion",
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop" if finish == "refusal" else finish,
                "message": {"role": "assistant", "content": None, "refusal": refusal},
                "logprobs": None,
            }
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


_UNSCRIPTED: Mapping[str, Answer | Refusal] = {}
"""Stands for ready answers that are made when it is known what was asked."""


def _unscripted(prompt: str | Payload) -> Script:
    if not isinstance(prompt, str):
        return _UNSCRIPTED
    labels = _ROWS.findall(prompt.rpartition("</input>")[2])
    return dict(zip(labels, _halving(len(labels)), strict=True)) if labels else {"Yes": 0.8, "No": 0.2}


def _ready(question: Question[Any]) -> Answer:
    match question:
        case Choice():
            options = tuple(question.options)
            shares = _halving(len(options) + (question.none is not None))
            rest = None if question.none is None else shares[-1]
            shown = dict(zip(options, shares, strict=False))
            return ChoiceAnswer(options[0], shown, options=options, none_probability=rest)
        case Scale():
            shares = _halving(len(question.levels))
            return ScaleAnswer(sum(level * p for level, p in enumerate(shares)), tuple(shares))
    return YesNoAnswer(0.8)


def _halving(count: int) -> list[float]:
    weights = [2.0**-place for place in range(count)]
    total = sum(weights)
    return [weight / total for weight in weights]


def _player(script: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - any of the forms of a script
    if callable(script):
        return script  # type: ignore[no-any-return]  # checked when it is played
    if isinstance(script, Mapping | Exception):
        return lambda _: script
    replies: Iterator[Any] = cycle(script)
    try:
        first = next(replies)
    except StopIteration:
        raise ConfigError("the script of a fake provider is empty; give it at least one reply") from None
    rest = iter([first])
    return lambda _: next(rest, None) or next(replies)
