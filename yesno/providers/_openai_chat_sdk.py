"""Chat Completions through the official SDK, for OpenAI and the hosts that speak like it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, cast

from yesno.errors import ProviderError, ProviderRejected, UnreadableReply
from yesno.evidence import Reply, Usage
from yesno.providers._openai_sdk import OpenAISDK
from yesno.providers.base import Payload, PromptTask, Task
from yesno.wire.completion import completion_from
from yesno.wire.openai_chat import (
    CAP_NAMES,
    PARAMETERS,
    allowed_top_logprobs,
    chat_body,
    json_body,
    named_parameter,
    without,
)

__all__ = ["ChatSDK"]


class ChatSDK(OpenAISDK):
    """Chat Completions, read from `top_logprobs`."""

    path: str = "/chat/completions"
    parameters: ClassVar[tuple[str, ...]] = PARAMETERS

    def build(self, task: Task) -> Payload:
        """Return the Chat Completions body for a prompt."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("Chat Completions has no decision endpoint")
        profile = self.profile
        if task.schema is not None:
            return json_body(
                [(turn.role, turn.content) for turn in task.turns],
                model=task.model_name,
                cap_name=profile.cap_name,
                cap=max(task.max_tokens, profile.min_tokens),
                schema=task.schema,
                structured=profile.structured,
                effort=profile.effort,
                refuses=profile.refuses,
                extra=profile.extra,
            )
        return chat_body(
            [(turn.role, turn.content) for turn in task.turns],
            model=task.model_name,
            cap_name=profile.cap_name,
            cap=max(task.max_tokens, profile.min_tokens),
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
                    cached_tokens=details.get("cached_tokens") or 0,
                    requests=1,
                    reasoning_tokens=spent.get("reasoning_tokens") or 0,
                ),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a Chat Completions body ({type(error).__name__}: {error})",
                provider=self.name,
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Change or drop what a 400 names, and remember it for this provider object."""
        if (
            not isinstance(error, ProviderRejected)
            or error.status not in (400, 422)
            or error.param not in payload
        ):
            return None
        name = cast("str", error.param)
        if name == self.profile.count_name:
            allowed = allowed_top_logprobs(str(error), payload[name])
            if allowed is None:
                return None
            self.profile = replace(self.profile, top_logprobs=allowed)
            return {**payload, name: allowed}
        if name in CAP_NAMES:
            other: Any = CAP_NAMES[1 - CAP_NAMES.index(name)]
            if other not in str(error):
                return None
            self.profile = replace(self.profile, cap_name=other)
            return {**without(payload, name), other: payload[name]}
        if name in ("temperature", "reasoning_effort", "response_format"):
            self.profile = replace(self.profile, refuses=self.profile.refuses | {name})
            return without(payload, name)
        return None

    def _named(self, message: str, param: str | None) -> str | None:
        return named_parameter(message, param)
