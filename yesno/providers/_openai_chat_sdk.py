"""Chat Completions through the official SDK, for OpenAI and the hosts that speak like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from yesno.errors import ProviderError, ProviderRejected, UnreadableReply
from yesno.evidence import Reply, Usage
from yesno.providers._openai_sdk import OpenAISDK
from yesno.providers._status import error_in_body
from yesno.providers.base import Payload, PromptTask, Task
from yesno.wire.completion import completion_from
from yesno.wire.openai_chat import (
    CAP_NAMES,
    PARAMETERS,
    SYSTEM,
    allowed_top_logprobs,
    chat_body,
    json_body,
    least_cap,
    named_parameter,
    names_field,
    next_effort,
    refuses_system,
    without,
    without_system,
)

__all__ = ["ChatSDK"]

ROOM = 2048
"""Output tokens for a model whose thoughts used up a smaller cap; the largest that an error makes us ask for."""


class ChatSDK(OpenAISDK):
    """Chat Completions, read from `top_logprobs`."""

    path: str = "/chat/completions"
    parameters: ClassVar[tuple[str, ...]] = PARAMETERS

    def build(self, task: Task) -> Payload:
        """Return the Chat Completions body for a prompt."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("Chat Completions has no decision endpoint")
        profile = self.profile
        turns: list[tuple[str, str]] = [(turn.role, turn.content) for turn in task.turns]
        if SYSTEM in profile.refuses:
            turns = without_system(turns)
        cap = max(task.max_tokens, profile.min_tokens)
        cap = cap if profile.most_tokens is None else min(cap, profile.most_tokens)
        if task.schema is not None:
            return json_body(
                turns,
                model=task.model_name,
                cap_name=profile.cap_name,
                cap=cap,
                schema=task.schema,
                structured=profile.structured,
                effort=profile.effort,
                refuses=profile.refuses,
                extra=profile.extra,
            )
        return chat_body(
            turns,
            model=task.model_name,
            cap_name=profile.cap_name,
            cap=cap,
            temperature=profile.temperature,
            top_logprobs=profile.top_logprobs,
            effort=profile.effort,
            refuses=profile.refuses,
            count_name=profile.count_name,
            extra=profile.extra,
        )

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a Chat Completions body."""
        try:
            usage = reply.get("usage") or {}
            details = usage.get("prompt_tokens_details") or {}
            spent = usage.get("completion_tokens_details") or {}
            return Reply(
                completion_from(reply),
                model=reply.get("model"),
                usage=Usage(
                    input_tokens=usage.get("prompt_tokens") or 0,
                    output_tokens=usage.get("completion_tokens") or 0,
                    cached_tokens=details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0,
                    requests=1,
                    reasoning_tokens=spent.get("reasoning_tokens") or 0,
                    cache_written_tokens=details.get("cache_write_tokens") or 0,
                ),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a Chat Completions body ({type(error).__name__}: {error})",
                provider=self.name,
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Change or drop what a 400 names, and remember it for this provider object."""
        if not isinstance(error, ProviderRejected) or error.status not in (400, 422):
            return None
        if refuses_system(str(error), error.param) and SYSTEM not in self.profile.refuses:
            self.profile = replace(self.profile, refuses=self.profile.refuses | {SYSTEM})
            turns = [(turn["role"], turn["content"]) for turn in payload["messages"]]
            messages = [{"role": role, "content": content} for role, content in without_system(turns)]
            return {**payload, "messages": messages}
        name = error.param
        if name in CAP_NAMES and name not in payload:  # a router's upstream calls it by its own name
            name = next((cap for cap in CAP_NAMES if cap in payload), None)
        if name is None or name not in payload:
            return None
        if name == self.profile.count_name:
            allowed = allowed_top_logprobs(str(error), payload[name])
            return None if allowed is None else self._set(payload, name, allowed, top_logprobs=allowed)
        if name in CAP_NAMES:
            return self._other_cap(payload, name, str(error))
        refuses = self.profile.refuses | {name}
        if name == "reasoning_effort":
            effort = next_effort(str(error), payload[name])
            if effort is not None:
                return self._set(payload, name, effort, effort=effort)
        elif name not in ("temperature", "response_format", *self.profile.extra):
            return None
        self.profile = replace(self.profile, refuses=refuses)
        return without(payload, name)

    def _set(self, payload: Payload, name: str, value: Any, **facts: Any) -> Payload:  # noqa: ANN401 - JSON
        self.profile = replace(self.profile, **facts)
        return {**payload, name: value}

    def _other_cap(self, payload: Payload, name: str, message: str) -> Payload | None:
        """Use the other name of the output cap, or a larger cap."""
        other: Any = CAP_NAMES[1 - CAP_NAMES.index(name)]
        least = least_cap(message, payload[name], room=ROOM)
        if least is not None:
            return self._set(payload, name, least, min_tokens=max(least, self.profile.min_tokens))
        most = allowed_top_logprobs(message, payload[name])
        if most is not None:
            return self._set(payload, name, most, most_tokens=most)
        if other not in message:
            return None
        self.profile = replace(self.profile, cap_name=other)
        return {**without(payload, name), other: payload[name]}

    def _json(self, status: int, content: bytes) -> Payload:
        body = super()._json(status, content)
        if isinstance(body.get("error"), Mapping) and not body.get("choices"):
            raise error_in_body(body, provider=self.name, place=self._place)
        return body

    def _named(self, message: str, param: str | None) -> str | None:
        own = (name for name in self.profile.extra if names_field(message, param, name))
        return next(own, None) or named_parameter(message, param)
