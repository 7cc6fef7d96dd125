"""What every provider of a decision endpoint has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from yesno.errors import ProviderError, UnreadableReply
from yesno.evidence import Reply
from yesno.providers._openai_sdk import OpenAISDK
from yesno.providers.base import NativeTask, Payload, Task
from yesno.request import DecisionRequest

__all__ = ["DecisionSDK"]


class DecisionSDK(OpenAISDK):
    """A decision endpoint behind the SDK's transport; subclasses give the codec."""

    parameters: ClassVar[tuple[str, ...]] = ()

    def build(self, task: Task) -> Payload:
        """Return the body that asks all questions of a request at once."""
        if not isinstance(task, NativeTask):
            raise NotImplementedError("a decision endpoint takes questions, not prompts")
        return self._encoded(task.request, task.model_name)

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the answers of a body."""
        if not isinstance(task, NativeTask):
            raise NotImplementedError("a decision endpoint answers questions, not prompts")
        try:
            return self._decoded(task.request, reply)
        except ValueError as error:
            raise UnreadableReply(
                f"the reply of {self._place} cannot be read: {error}", provider=self.name
            ) from error

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Return None: a decision endpoint has no parameter to do without."""
        return None

    def _named(self, message: str, param: str | None) -> str | None:
        return param

    def _encoded(self, request: DecisionRequest, model: str) -> dict[str, Any]:
        raise NotImplementedError

    def _decoded(self, request: DecisionRequest, body: Mapping[str, Any]) -> Reply:
        raise NotImplementedError
