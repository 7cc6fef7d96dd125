"""Cohere's hosted models."""

from __future__ import annotations

from typing import ClassVar

from yesno.errors import UnreadableReply
from yesno.evidence import Reply, Usage
from yesno.providers._host import Host
from yesno.providers.base import Payload, PromptTask, Task
from yesno.wire.cohere import chat_v2_body, completion_from_chat

__all__ = ["Cohere"]


class Cohere(Host):
    """Models hosted by Cohere through `/v2/chat`, which lists no alternatives: answers are sampled.

    Address, key variable and fields as in cohere-python (`base_client.py`, `v2/client.py`; 2026-11).
    """

    name: ClassVar[str] = "cohere"
    title: ClassVar[str] = "Cohere"
    home: ClassVar[str] = "https://api.cohere.com/v2"
    key_variable: ClassVar[str] = "CO_API_KEY"
    example: ClassVar[str] = "command-a-03-2025"
    path: str = "/chat"

    def build(self, task: Task) -> Payload:
        """Return the body for a prompt."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("Cohere's chat has no decision endpoint")
        profile = self.profile
        return chat_v2_body(
            [(turn.role, turn.content) for turn in task.turns],
            model=task.model_name,
            cap=max(task.max_tokens, profile.min_tokens),
            schema=task.schema if profile.structured == "json_schema" else None,
            temperature=profile.temperature,
            refuses=profile.refuses,
        )

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text of a body."""
        try:
            tokens = (reply.get("usage") or {}).get("tokens") or {}
            # the reply does not name the model (cohere-python types/chat_response; 2026-11)
            return Reply(
                completion_from_chat(reply),
                model=task.model_name or self.model,
                usage=Usage(
                    input_tokens=int(tokens.get("input_tokens") or 0),
                    output_tokens=int(tokens.get("output_tokens") or 0),
                    requests=1,
                ),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a Chat v2 body ({type(error).__name__})",
                provider=self.name,
            ) from error

    def _named(self, message: str, param: str | None) -> str | None:
        return super()._named(message, param) or ("response_format" if "schema" in message else None)
