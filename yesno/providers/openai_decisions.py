"""OpenAI's decisions endpoint, and others of its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from yesno.evidence import Reply
from yesno.providers._native import DecisionSDK
from yesno.providers._openai_account import OpenAIAccount
from yesno.request import DecisionRequest
from yesno.wire.openai_decisions import decode_response, encode_request

__all__ = ["OpenAIDecisions"]


class OpenAIDecisions(OpenAIAccount, DecisionSDK):
    """`POST /v1/decisions`: all questions about an input in one request, answered with probabilities.

    Fireworks, Vercel AI Gateway and LiteLLM serve the same shape (2026-11): give their `base_url` and `api_key`.
    SGLang's `/v1/decisions` is another shape; use `systemone` with its address.
    A `base_url` has the version in it, such as `https://api.openai.com/v1`.
    """

    name: ClassVar[str] = "openai-decisions"
    example: ClassVar[str] = "gpt-6-luna"
    path = "/decisions"

    def _encoded(self, request: DecisionRequest, model: str) -> dict[str, Any]:
        return encode_request(request, model=model)

    def _decoded(self, request: DecisionRequest, body: Mapping[str, Any]) -> Reply:
        return decode_response(request, body)
