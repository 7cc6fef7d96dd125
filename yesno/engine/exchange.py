"""Turn one task into requests and their replies into evidence; learn from refusals what a host can do."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import Any

from yesno.engine.exact import NO_NUMBERS
from yesno.engine.ladder import NO_ENDPOINT, NO_LOGPROBS, Ladder
from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable, QuestionError, UnreadableReply
from yesno.evidence import Completion, Evidence, NoEvidence, Reply, Usage
from yesno.providers.base import NativeTask, Payload, PromptTask, Provider, Task, TokenTask

__all__ = ["Exchange"]

MAX_ADAPTATIONS = 4
"""Most changes to one request that 400s may ask for."""


class Exchange:
    """What is said to a provider about one task, and what its answers mean."""

    def __init__(self, provider: Provider, ladder: Ladder, warn: Callable[[str, str], None]) -> None:
        self._provider = provider
        self._ladder = ladder
        self._warn = warn

    def begin(self, task: Task, fields: Mapping[str, Any] | None = None) -> Generator[Payload, Reply, Reply]:
        """Yield the body to send for a task, again as often as a 400 asks for another, and return the reply.

        It is sent the reply as read, or thrown the error in its place. The body has these `fields` in place of
        its own; a 400 about one of them is raised.

        What the provider says about itself or the prompt in an error is evidence too: it has no
        log-probabilities for this model, which is remembered, or it filters this content.
        """
        for_logprobs = isinstance(task, PromptTask) and task.schema is None
        payload = self._built(task, for_logprobs=for_logprobs)
        if isinstance(payload, Reply):
            return payload
        payload = {**payload, **fields} if fields else payload
        changes, in_vain = 0, None
        while True:
            try:
                reply = yield payload
            except (UnreadableReply, ProviderUnavailable) as error:
                return self._passed_over(task, error)
            except ProviderRejected as error:
                if self._is_passable(task, error):
                    return self._passed_over(task, error)
                if fields and error.param in (*fields, None):
                    raise
                in_vain = _sum(in_vain, error.usage)
                adapted = None if changes >= MAX_ADAPTATIONS else self._provider.adapt(payload, error)
                if adapted is None:
                    evidence = self._evidence_in(error, task.model_name, for_logprobs=for_logprobs)
                    if evidence is None:
                        raise
                    return Reply(evidence, usage=in_vain or Usage())
                self._warn("request_adapted", str(error.param))
                payload, changes = adapted, changes + 1
            else:
                return reply if in_vain is None else replace(reply, usage=reply.usage + in_vain)

    def _built(self, task: Task, *, for_logprobs: bool) -> Payload | Reply:
        """Return the body for a task, or the reply to one that need not be sent."""
        if for_logprobs and self._ladder.refuses_logprobs(task.model_name):
            return Reply(NoEvidence(NO_LOGPROBS))
        try:
            return self._provider.build(task)
        except QuestionError:
            if isinstance(task, NativeTask) and self._ladder.goes_on:
                return Reply(NoEvidence(NO_ENDPOINT))
            raise

    def _is_passable(self, task: Task, error: ProviderError) -> bool:
        """Return whether there is another way than the one that ended in an error."""
        if isinstance(task, TokenTask):
            return True
        return isinstance(task, NativeTask) and self._ladder.goes_on and _is_refused(error)

    def _passed_over(self, task: Task, error: ProviderError) -> Reply:
        """Return what an error says about a way that is not the only one.

        Raises:
            ProviderError: It is the only one.
        """
        if not self._is_passable(task, error):
            raise error
        usage = error.usage or Usage()
        if isinstance(error, ProviderUnavailable):
            return Reply(NoEvidence("unavailable"), usage=usage)
        if isinstance(task, TokenTask):
            return Reply(NoEvidence(NO_NUMBERS), usage=usage)
        self._warn(NO_ENDPOINT, task.model_name)
        # a refusal that speaks of the route is about the server and its model, another one about this request
        if error.status in (404, 405, 501) or re.search(r"/v1/\w", str(error)):
            self._ladder.note_no_endpoint(task.model_name)
        return Reply(NoEvidence(NO_ENDPOINT), usage=usage)

    def _evidence_in(
        self, error: ProviderRejected, model_name: str, *, for_logprobs: bool
    ) -> Evidence | None:
        if error.code == "content_filter":
            return Completion(None, finish="content_filter")
        about_logprobs = error.status in (400, 403, 422, 501) and error.param in ("logprobs", "top_logprobs")
        if for_logprobs and (about_logprobs or error.code == NO_LOGPROBS):
            self._ladder.note_blind(model_name, NO_LOGPROBS)
            self._warn(NO_LOGPROBS, model_name)
            return NoEvidence(NO_LOGPROBS)
        return None


def _is_refused(error: ProviderError) -> bool:
    """Return whether a decision endpoint does not take a request that may well be asked in another way."""
    if isinstance(error, ProviderRejected):
        return error.status in (400, 404, 405, 422, 501) and error.code != "content_filter"
    return isinstance(error, UnreadableReply)


def _sum(known: Usage | None, more: Usage | None) -> Usage | None:
    return more if known is None else known if more is None else known + more
