"""OpenAI's decisions endpoint, and others of its shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from yesno.errors import ConfigError
from yesno.evidence import Reply
from yesno.providers._native import DecisionSDK
from yesno.providers.profiles import profile_for
from yesno.request import DecisionRequest
from yesno.settings import Settings
from yesno.wire.openai_decisions import decode_response, encode_request

if TYPE_CHECKING:
    import httpx2

__all__ = ["OpenAIDecisions"]

KEY = "OPENAI_API_KEY"


class OpenAIDecisions(DecisionSDK):
    """`POST /v1/decisions`: all questions about an input in one request, answered with probabilities.

    Fireworks, Vercel AI Gateway and LiteLLM serve the same shape (2026-11): give their `base_url` and `api_key`.
    SGLang's `/v1/decisions` is another shape; use `systemone` with its address.

    Args:
        model: Such as `gpt-6-luna`.
        api_key: By default `OPENAI_API_KEY`.
        base_url: With the version, such as `https://api.openai.com/v1`; by default the SDK's own.
        http_client, async_http_client: Clients of your own, for proxies or tests.

    Raises:
        ConfigError: There is no key, or no model is named.
    """

    name: ClassVar[str] = "openai-decisions"
    openai_account: ClassVar[bool] = True
    path = "/decisions"

    def __init__(
        self,
        model: str = "",
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        if not model:
            raise ConfigError("name a model, such as 'openai-decisions:gpt-6-luna'")
        key = api_key or Settings.from_env().keys.get(KEY)
        if not key:
            raise ConfigError(f"there is no key for OpenAI; set {KEY} or pass api_key=...")
        super().__init__(
            model,
            api_key=key,
            base_url=base_url,
            profile=profile_for(self.name, model),
            http_client=http_client,
            async_http_client=async_http_client,
        )

    def _encoded(self, request: DecisionRequest, model: str) -> dict[str, Any]:
        return encode_request(request, model=model)

    def _decoded(self, request: DecisionRequest, body: Mapping[str, Any]) -> Reply:
        return decode_response(request, body)

    def _key_hint(self) -> str:
        return f"; check {KEY} and what the key may use"
