"""An SGLang server of your own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from yesno.errors import ProviderError, ProviderRejected, UnreadableReply
from yesno.evidence import Reply, TokenIds, Usage
from yesno.providers._host import Host
from yesno.providers.base import NativeTask, Payload, PromptTask, Task, TokenTask
from yesno.providers.profiles import SYSTEM_ONE_HOSTS
from yesno.wire.decisions import Limits
from yesno.wire.openai_chat import without
from yesno.wire.sglang import (
    LABEL_IDS,
    completion_of_scores,
    numbers_body,
    numbers_in,
    prompt_body,
    prompt_numbers_in,
    score_body,
)
from yesno.wire.systemone import Dialect, decode_response, encode_request

__all__ = ["SGLang"]

TOKENIZE = "/tokenize"
SCORE = "/score"
NOT_SCORED = frozenset({400, 404, 405, 422})
"""How a server says that it has no such route, or that it scores no such tokens or model."""
_ROW = SYSTEM_ONE_HOSTS["sglang"]
_DIALECT = Dialect(Limits(_ROW.max_questions, _ROW.max_options, _ROW.max_levels))


class SGLang(Host):
    """An SGLang server, by default on this machine.

    Its decision endpoint (`/v1/systemone`) is asked first: it scores the exact tokens of all labels, up to 255 of
    them, in prompts of its own, and says how much of the probability fell on them. A server without it, a model
    that it refuses and a question with a template of the caller's are asked by prompts: their labels' own tokens are
    scored on the route `/v1/score`, for which `/v1/tokenize` is asked first and not counted as a request. An older
    server is read from the most probable tokens; its log-probabilities may cover the reasoning span too
    (sgl-project/sglang issue 25055; 2026-11), so the answer is found by its text.
    SGLang documents no variable for its key (2026-11); the name is the one that several of its clients use.
    """

    name: ClassVar[str] = "sglang"
    title: ClassVar[str] = "SGLang"
    home: ClassVar[str] = "http://localhost:30000/v1"
    key_variable: ClassVar[str] = "SGLANG_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "Qwen/Qwen3-8B"

    def build(self, task: Task) -> Payload:
        """Return the body for a prompt, or for all questions of a request."""
        if isinstance(task, NativeTask):
            return encode_request(task.request, model=task.model_name, dialect=_DIALECT)
        if isinstance(task, TokenTask):
            return numbers_body(task.texts, model=task.model_name)
        body = super().build(task)
        if not isinstance(task, PromptTask) or not task.tokens or not self.profile.exact_labels:
            return body
        return {**body, LABEL_IDS: [*task.tokens.values()]}

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Post one body; one with tokens to score is shown as numbers first."""
        if LABEL_IDS not in payload:
            return super().send(payload, timeout_s=timeout_s)
        began = time.monotonic()
        numbers = self._prompt_numbers(self._post(prompt_body(payload), TOKENIZE, timeout_s))
        left = None if timeout_s is None else max(0.001, timeout_s - (time.monotonic() - began))
        return self._post(score_body(payload, numbers), SCORE, left)

    async def asend(self, payload: Payload) -> Payload:
        """Do what `send` does, awaited."""
        if LABEL_IDS not in payload:
            return await super().asend(payload)
        numbers = self._prompt_numbers(await self._apost(prompt_body(payload), TOKENIZE))
        return await self._apost(score_body(payload, numbers), SCORE)

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a body, the numbers of texts, or the answers of a body."""
        if isinstance(task, TokenTask):
            with self._readable(TOKENIZE):
                return Reply(TokenIds(numbers_in(reply, task.texts)), usage=Usage(requests=1))
        if isinstance(task, PromptTask) and task.tokens and "scores" in reply:
            with self._readable(SCORE):
                spent = (reply.get("usage") or {}).get("prompt_tokens") or 0
                evidence = completion_of_scores(reply, task.tokens)
                return Reply(evidence, reply.get("model"), Usage(input_tokens=spent, requests=1))
        if not isinstance(task, NativeTask):
            return super().parse(task, reply)
        try:
            return decode_response(task.request, reply, dialect=_DIALECT)
        except ValueError as error:
            raise UnreadableReply(
                f"the reply of {self._place} cannot be read: {error}", provider=self.name
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Do without scores when the server refuses them, and remember it for this provider object."""
        if isinstance(error, ProviderRejected) and error.status in NOT_SCORED and LABEL_IDS in payload:
            self.profile = replace(self.profile, exact_labels=0)
            return without(payload, LABEL_IDS)
        return super().adapt(payload, error)

    def _route(self, payload: Payload) -> str:
        if "prompt" in payload:
            return TOKENIZE
        return "/systemone" if "questions" in payload else self.path

    def _prompt_numbers(self, reply: Payload) -> list[int]:
        with self._readable(TOKENIZE):
            return prompt_numbers_in(reply)

    @contextmanager
    def _readable(self, route: str) -> Iterator[None]:
        try:
            yield
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not one of {route} ({type(error).__name__})",
                provider=self.name,
            ) from error
