"""Anthropic's Messages API: no log-probabilities, so answers are sampled as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from yesno.errors import ConfigError, ProviderError, ProviderRejected, UnreadableReply
from yesno.evidence import Reply
from yesno.providers._openai_sdk import NO_KEY, OpenAISDK
from yesno.providers._replies import checked_address
from yesno.providers.base import Payload, PromptTask, Task
from yesno.providers.profiles import profile_for
from yesno.settings import Settings
from yesno.wire.anthropic_messages import PARAMETERS, completion_of, messages_body, named_field, usage_of

if TYPE_CHECKING:
    import httpx2

    from yesno.providers._aio import AioPoster

__all__ = ["AnthropicMessages"]

KEY = "ANTHROPIC_API_KEY"
THINKING_CAP = 4096
"""Least output tokens for a model that cannot be kept from thinking, which shares the cap."""


class AnthropicMessages(OpenAISDK):
    """Anthropic's hosted models, or a server that speaks their Messages API, through the official SDK.

    The answer comes as structured output; where a model refuses that, as the input of a forced tool; where it
    refuses that too, as JSON that the prompt asks for. Thinking is turned off unless the model refuses to.

    Args:
        model: Such as `claude-haiku-4-5`.
        api_key: By default `ANTHROPIC_API_KEY`; with `base_url` a placeholder unless given.
        base_url: By default the SDK's own.
        http_client, async_http_client: Clients of your own, for proxies or tests.

    Raises:
        ConfigError: There is no key, or no model is named, or the address is not one.
    """

    name: ClassVar[str] = "anthropic"
    path: str = "/v1/messages"
    parameters: ClassVar[tuple[str, ...]] = PARAMETERS
    vendor_host: ClassVar[str] = "api.anthropic.com"

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
            raise ConfigError("name a model, such as 'anthropic:claude-haiku-4-5'")
        key = api_key or (NO_KEY if base_url else Settings.from_env().keys.get(KEY))
        if not key:
            raise ConfigError(f"there is no key for Anthropic; set {KEY} or pass api_key=...")
        super().__init__(
            model,
            api_key=key,
            base_url=None if base_url is None else checked_address(base_url),
            profile=profile_for(self.name, model),
            http_client=http_client,
            async_http_client=async_http_client,
        )

    def build(self, task: Task) -> Payload:
        """Return the Messages body for a prompt."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("the Messages API has no decision endpoint")
        return messages_body(
            [(turn.role, turn.content) for turn in task.turns],
            model=task.model_name,
            cap=max(task.max_tokens, self.profile.min_tokens),
            schema=task.schema,
            structured=self.profile.structured,
            refuses=self.profile.refuses,
        )

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text of a Messages body."""
        try:
            model = reply.get("model")
            return Reply(completion_of(reply), None if model is None else str(model), usage_of(reply))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a Messages body ({type(error).__name__})",
                provider=self.name,
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Ask in the next best way for what a 400 refuses, and remember it for this provider object."""
        if not isinstance(error, ProviderRejected) or error.status not in (400, 422):
            return None
        if error.param == "output_config" and "output_config" in payload:
            schema = payload["output_config"]["format"]["schema"]
            if self.profile.structured == "json_schema":  # another request may have learned more already
                self.profile = replace(self.profile, structured="tool")
        elif error.param == "tool_choice" and "tool_choice" in payload:
            schema = None
            self.profile = replace(self.profile, structured="none")
        elif error.param == "thinking" and "thinking" in payload:
            cap = max(payload["max_tokens"], THINKING_CAP)
            self.profile = replace(
                self.profile, refuses=self.profile.refuses | {"thinking"}, min_tokens=THINKING_CAP
            )
            return {**{k: v for k, v in payload.items() if k != "thinking"}, "max_tokens": cap}
        else:
            return None
        turns: list[tuple[str, Any]] = [(turn["role"], turn["content"]) for turn in payload["messages"]]
        if "system" in payload:
            turns.insert(0, ("system", payload["system"]))
        return messages_body(
            turns,
            model=payload["model"],
            cap=payload["max_tokens"],
            schema=schema,
            structured=self.profile.structured,
            refuses=self.profile.refuses,
        )

    def _sdk(self) -> Any:  # noqa: ANN401 - a module
        import anthropic

        return anthropic

    def _new_client(self, http: httpx2.Client) -> Any:  # noqa: ANN401 - the SDK's own
        return self._sdk().Anthropic(**self._settings(), http_client=http)

    def _new_async_client(self) -> Any:  # noqa: ANN401 - the SDK's own
        return self._sdk().AsyncAnthropic(**self._settings(), http_client=self._async_http_client)

    def _settings(self) -> dict[str, Any]:
        return {
            "api_key": self._api_key,
            "base_url": self._base_url,
            "max_retries": 0,
            "open_telemetry": False,
        }

    def _new_poster(self, client: Any) -> AioPoster | None:  # noqa: ANN401 - the SDK's own
        return None

    def _own(self, client: Any) -> Any:  # noqa: ANN401 - the SDK's own
        """Take out what the SDK found in Anthropic's variables, where the host is another one."""
        if self._base_url is not None:
            client.auth_token = None
            client._custom_headers = {}
        return client

    def _named(self, message: str, param: str | None) -> str | None:
        return named_field(message, param)

    def _key_hint(self) -> str:
        return f"; check {KEY} and what the key may use"
