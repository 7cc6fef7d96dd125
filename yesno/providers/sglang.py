"""An SGLang server of your own."""

from __future__ import annotations

from typing import ClassVar

from yesno.errors import UnreadableReply
from yesno.evidence import Reply
from yesno.providers._host import Host
from yesno.providers.base import NativeTask, Payload, Task
from yesno.providers.profiles import SYSTEM_ONE_HOSTS
from yesno.wire.decisions import Limits
from yesno.wire.systemone import Dialect, decode_response, encode_request

__all__ = ["SGLang"]

_ROW = SYSTEM_ONE_HOSTS["sglang"]
_DIALECT = Dialect(Limits(_ROW.max_questions, _ROW.max_options, _ROW.max_levels))


class SGLang(Host):
    """An SGLang server, by default on this machine.

    Its decision endpoint (`/v1/systemone`) is asked first: it scores the exact tokens of all labels, up to 255 of
    them, in prompts of its own, and says how much of the probability fell on them. A server without it, or a model
    that it refuses, is asked by prompts and read from the most probable tokens; its log-probabilities may cover the
    reasoning span too (sgl-project/sglang issue 25055; 2026-11), so the answer is found by its text.
    SGLang documents no variable for its key (2026-11); the name is the one that several of its clients use.
    """

    name: ClassVar[str] = "sglang"
    title: ClassVar[str] = "SGLang"
    home: ClassVar[str] = "http://localhost:30000/v1"
    key_variable: ClassVar[str] = "SGLANG_API_KEY"
    needs_key: ClassVar[bool] = False
    example: ClassVar[str] = "Qwen/Qwen3-8B"

    def build(self, task: Task) -> Payload:
        """Return the body for a prompt, or for all questions of a request."""
        if isinstance(task, NativeTask):
            return encode_request(task.request, model=task.model_name, dialect=_DIALECT)
        return super().build(task)

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a body, or the answers of one."""
        if not isinstance(task, NativeTask):
            return super().parse(task, reply)
        try:
            return decode_response(task.request, reply, dialect=_DIALECT)
        except ValueError as error:
            raise UnreadableReply(
                f"the reply of {self._place} cannot be read: {error}", provider=self.name
            ) from error

    def _route(self, payload: Payload) -> str:
        return "/systemone" if "questions" in payload else self.path
