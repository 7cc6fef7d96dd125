"""OpenAI's Responses API."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.evidence import Reply, Usage
from yesno.providers._openai_account import OpenAIAccount
from yesno.providers.base import Payload, PromptTask, Task
from yesno.wire.openai_chat import allowed_top_logprobs, without
from yesno.wire.openai_responses import (
    PARAMETERS,
    completion_from_items,
    json_responses_body,
    least_cap,
    named_field,
    responses_body,
)

__all__ = ["OpenAIResponses"]

_PASSING = {"server_error", "rate_limit_exceeded", "vector_store_timeout"}
"""Codes of a failed response that may be gone at the next try (openai 3.57.0, `ResponseError`; 2026-11)."""

_DECLINED = {"bio_policy", "misalignment_policy_violation"}
"""Codes of a failed response whose content was declined (same source)."""


class OpenAIResponses(OpenAIAccount):
    """OpenAI's hosted models through the Responses API, such as `gpt-5.4-mini`; nothing is stored on the server."""

    name: ClassVar[str] = "openai-responses"
    path: str = "/responses"
    parameters: ClassVar[tuple[str, ...]] = PARAMETERS

    def build(self, task: Task) -> Payload:
        """Return the Responses body for a prompt."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("the Responses API has no decision endpoint")
        profile = self.profile
        if task.schema is not None:
            return json_responses_body(
                [(turn.role, turn.content) for turn in task.turns],
                model=task.model_name,
                cap=max(task.max_tokens, profile.min_tokens),
                schema=task.schema,
                structured=profile.structured,
                effort=profile.effort,
                refuses=profile.refuses,
            )
        return responses_body(
            [(turn.role, turn.content) for turn in task.turns],
            model=task.model_name,
            cap=max(task.max_tokens, profile.min_tokens),
            top_logprobs=profile.top_logprobs,
            temperature=profile.temperature,
            effort=profile.effort,
            refuses=profile.refuses,
        )

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a Responses body."""
        try:
            usage = reply.get("usage") or {}
            cached = usage.get("input_tokens_details") or {}
            spent = usage.get("output_tokens_details") or {}
            return Reply(
                completion_from_items(reply),
                model=reply.get("model"),
                usage=Usage(
                    input_tokens=usage.get("input_tokens") or 0,
                    output_tokens=usage.get("output_tokens") or 0,
                    cached_tokens=cached.get("cached_tokens") or 0,
                    requests=1,
                    reasoning_tokens=spent.get("reasoning_tokens") or 0,
                    cache_written_tokens=cached.get("cache_write_tokens") or 0,
                ),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a Responses body ({type(error).__name__}: {error})",
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
        match error.param:
            case "top_logprobs":
                allowed = allowed_top_logprobs(str(error), payload[error.param])
                if allowed is None:
                    return None
                self.profile = replace(self.profile, top_logprobs=allowed)
                return {**payload, error.param: allowed}
            case "max_output_tokens":
                least = least_cap(str(error), payload[error.param])
                if least is None:
                    return None
                self.profile = replace(self.profile, min_tokens=least)
                return {**payload, error.param: least}
            case "temperature" | "reasoning" | "text":
                self.profile = replace(self.profile, refuses=self.profile.refuses | {error.param})
                return without(payload, error.param)
            case _:
                return None

    def _json(self, status: int, content: bytes) -> Payload:
        """Return the body; a response that failed comes with status 200 and is an error all the same."""
        body = super()._json(status, content)
        if body.get("status") != "failed":
            return body
        failure = body.get("error")
        code = str(failure.get("code")) if isinstance(failure, dict) else ""
        shown = code if re.fullmatch(r"[a-z_]{1,60}", code) else "it gives no code"
        words = f"{self._place} could not make the response: {shown}"
        if code in _PASSING:
            raise ProviderUnavailable(words, provider=self.name, status=status)
        reason = "content_filter" if code in _DECLINED else shown
        raise ProviderRejected(words, code=reason, provider=self.name, status=status)

    def _named(self, message: str, param: str | None) -> str | None:
        return named_field(message, param)
