"""A vLLM server of your own."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from yesno.errors import ProviderError, ProviderRejected, UnreadableReply
from yesno.evidence import Completion, Reply, TokenIds, Usage
from yesno.providers._host import Host
from yesno.providers.base import Payload, PromptTask, Task, TokenTask
from yesno.wire.openai_chat import PARAMETERS, without
from yesno.wire.vllm import TOKEN_IDS, is_tokenizing, token_ids_in, tokenize_body, with_exactness

__all__ = ["VLLM"]


class VLLM(Host):
    """A vLLM server, by default on this machine.

    Where the server takes `logprob_token_ids`, the labels' own tokens are read instead of the most probable ones, so
    that up to 255 options need no tournament; their numbers come from its route `/tokenize`, once per set of labels.
    """

    name: ClassVar[str] = "vllm"
    title: ClassVar[str] = "vLLM"
    home: ClassVar[str] = "http://localhost:8000/v1"
    key_variable: ClassVar[str] = "VLLM_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "Qwen/Qwen3-8B"
    parameters: ClassVar[tuple[str, ...]] = (*PARAMETERS, TOKEN_IDS)

    def build(self, task: Task) -> Payload:
        """Return the body for a prompt, with the tokens to list, or for texts to be numbered."""
        if isinstance(task, TokenTask):
            return tokenize_body(task.texts, model=task.model_name)
        body = super().build(task)
        if not isinstance(task, PromptTask) or not task.tokens or not self.profile.exact_labels:
            return body
        return {**body, TOKEN_IDS: [*task.tokens.values()], "return_tokens_as_token_ids": False}

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a body, or the numbers of texts."""
        if not isinstance(task, TokenTask):
            found = super().parse(task, reply)
            if isinstance(task, PromptTask) and isinstance(found.evidence, Completion):
                return replace(found, evidence=with_exactness(found.evidence, task.tokens))
            return found
        try:
            return Reply(TokenIds(token_ids_in(reply, task.texts)), usage=Usage(requests=1))
        except (KeyError, TypeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not one of /tokenize ({type(error).__name__})",
                provider=self.name,
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Do without exact labels when the server refuses them, and remember it for this provider object."""
        if isinstance(error, ProviderRejected) and error.param == TOKEN_IDS and TOKEN_IDS in payload:
            self.profile = replace(self.profile, exact_labels=0)
            return without(payload, TOKEN_IDS, "return_tokens_as_token_ids")
        return super().adapt(payload, error)

    def _route(self, payload: Payload) -> str:
        if not is_tokenizing(payload):
            return self.path
        return f"{(self._base_url or self.home).removesuffix('/v1')}/tokenize"

    def _named(self, message: str, param: str | None) -> str | None:
        if TOKEN_IDS in (param or "") or TOKEN_IDS in message:
            return TOKEN_IDS
        return super()._named(message, param)
