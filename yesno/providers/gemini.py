"""Google's Gemini API, in its own protocol."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import quote

from yesno.errors import ConfigError, ProviderError, ProviderRejected, UnreadableReply
from yesno.evidence import Reply, Usage
from yesno.providers._http import HttpProvider
from yesno.providers._replies import checked_address
from yesno.providers.base import Payload, PromptTask, Task
from yesno.providers.profiles import profile_for
from yesno.settings import Settings
from yesno.wire.completion import completion_from
from yesno.wire.gemini import (
    PARAMETERS,
    allowed_logprobs,
    generate_body,
    json_generate_body,
    named_config,
    wait_in,
)
from yesno.wire.openai_chat import without

if TYPE_CHECKING:
    import httpx2

__all__ = ["Gemini"]

KEY = "GEMINI_API_KEY"
HOME = "https://generativelanguage.googleapis.com/v1beta"


class Gemini(HttpProvider):
    """`models/…:generateContent` of the Gemini API (https://ai.google.dev/api/generate-content; 2026-11).

    Many models refuse log-probabilities with a 400; those are sampled, with a JSON schema.

    Args:
        model: Such as `gemini-2.5-flash`.
        api_key: By default `GEMINI_API_KEY`. It travels in a header, never in an address.
        base_url: By default Google's own, with the version.
        http_client, async_http_client: Clients of your own, for proxies or tests; they are not closed.

    Raises:
        ConfigError: There is no key or it cannot be one, no model is named, or the address is not one.
    """

    name: ClassVar[str] = "gemini"
    parameters: ClassVar[tuple[str, ...]] = PARAMETERS

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
            raise ConfigError("name a model, such as 'gemini:gemini-2.5-flash'")
        key = api_key or Settings.from_env().keys.get(KEY)
        if not key:
            raise ConfigError(f"there is no key for Gemini; set {KEY} or pass api_key=...")
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ConfigError(
                f"the key for Gemini holds characters that no key has, such as a line break; check {KEY}"
            )
        super().__init__(
            model,
            api_key=key,
            base_url=checked_address(base_url or HOME),
            profile=profile_for(self.name, model.removeprefix("models/")),
            http_client=http_client,
            async_http_client=async_http_client,
        )

    @property
    def address(self) -> str | None:
        """The address, when it is not Google's own."""
        return None if self._base_url == HOME else self._place

    def build(self, task: Task) -> Payload:
        """Return the body for a prompt, with the model's name that the address will hold."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("`generateContent` has no decision endpoint")
        profile = self.profile
        turns = [(turn.role, turn.content) for turn in task.turns]
        cap = max(task.max_tokens, profile.min_tokens)
        if task.schema is not None:
            return json_generate_body(
                turns,
                model=task.model_name,
                cap=cap,
                schema=task.schema,
                refuses=profile.refuses,
                extra=profile.extra,
            )
        return generate_body(
            turns,
            model=task.model_name,
            cap=cap,
            top_logprobs=profile.top_logprobs,
            temperature=profile.temperature,
            refuses=profile.refuses,
            extra=profile.extra,
        )

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a body; a blocked prompt is a filter's verdict."""
        try:
            usage = reply.get("usageMetadata") or {}
            thoughts = usage.get("thoughtsTokenCount") or 0
            return Reply(
                completion_from({k: v for k, v in reply.items() if k in ("candidates", "promptFeedback")}),
                model=reply.get("modelVersion"),
                usage=Usage(
                    input_tokens=usage.get("promptTokenCount") or 0,
                    output_tokens=(usage.get("candidatesTokenCount") or 0) + thoughts,
                    cached_tokens=usage.get("cachedContentTokenCount") or 0,
                    requests=1,
                    reasoning_tokens=thoughts,
                ),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a generateContent body ({type(error).__name__}: {error})",
                provider=self.name,
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Change or drop what a 400 is about, and remember it for this provider object."""
        config = payload.get("generationConfig") or {}
        if not isinstance(error, ProviderRejected) or error.status != 400 or error.param not in config:
            return None
        name = error.param
        if name == "logprobs":
            allowed = allowed_logprobs(str(error), config[name])
            if allowed is None:
                return None
            self.profile = replace(self.profile, top_logprobs=allowed)
            return {**payload, "generationConfig": {**config, name: allowed}}
        if name in ("thinkingConfig", "temperature", "responseJsonSchema", "responseMimeType"):
            # the type may stay without the schema, the schema not without the type
            names = {"responseMimeType", "responseJsonSchema"} if name == "responseMimeType" else {name}
            self.profile = replace(self.profile, refuses=self.profile.refuses | names)
            return {**payload, "generationConfig": without(config, *names)}
        return None

    def _outgoing(self, payload: Payload) -> tuple[str, Payload]:
        name = str(payload["model"])
        route = quote(name if "/" in name else f"models/{name}", safe="/")
        return f"/{route}:generateContent", without(payload, "model")

    def _headers(self) -> dict[str, str]:
        return {"x-goog-api-key": self._api_key}

    def _named(self, message: str, param: str | None) -> str | None:
        return named_config(message)

    def _wait(self, body: object) -> float | None:
        return wait_in(body)

    def _key_hint(self) -> str:
        return f"; check {KEY} and what the key may use"
