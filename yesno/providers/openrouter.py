"""OpenRouter, which passes requests on to many hosts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from yesno.errors import ProviderError, ProviderRejected
from yesno.providers._host import Host
from yesno.providers.base import Payload
from yesno.wire.openai_chat import without

if TYPE_CHECKING:
    import openai

__all__ = ["OpenRouter"]

NO_HOST = "can handle the requested parameters"
"""In the 404 for fields that no host of a model takes together (block/buzz issue 3018; 2026-07)."""

_SPARED = ("temperature", "response_format")
"""Fields that a request can do without."""


class OpenRouter(Host):
    """Models of many hosts behind OpenRouter.

    Hosts that cannot give log-probabilities leave them out without a word, so only hosts that take every field
    of the request are asked (`require_parameters`). Where there is none, the request is made again without the
    temperature, then without a form for the reply; a model that has none even then has no log-probabilities.
    """

    name: ClassVar[str] = "openrouter"
    title: ClassVar[str] = "OpenRouter"
    home: ClassVar[str] = "https://openrouter.ai/api/v1"
    key_variable: ClassVar[str] = "OPENROUTER_API_KEY"
    example: ClassVar[str] = "deepseek/deepseek-v3.2"

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Leave out a field that keeps every host away, else change what a 400 names."""
        if isinstance(error, ProviderRejected) and error.status == 404 and error.param in _SPARED:
            if error.param not in payload:
                return None
            self.profile = replace(self.profile, refuses=self.profile.refuses | {error.param})
            return without(payload, error.param)
        return super().adapt(payload, error)

    def _status_error(self, error: openai.APIStatusError) -> ProviderError:
        known = super()._status_error(error)
        if not isinstance(known, ProviderRejected) or known.status != 404 or NO_HOST not in str(known):
            return known
        facts = {name: getattr(known, name) for name in ("provider", "status", "request_id", "retry_after")}
        sent = json.loads(error.request.content)
        words = f"{self._place} answered 404: no host of {self.model!r} takes "
        for name in _SPARED:
            if name in sent:
                return ProviderRejected(f"{words}{name} with all the rest", param=name, **facts)
        if "logprobs" in sent:
            return ProviderRejected(f"{words}log-probabilities", code="logprobs_unsupported", **facts)
        return ProviderRejected(f"{words}what is sent", **facts)
