"""xAI's hosted models."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from yesno.evidence import Reply
from yesno.providers._host import Host
from yesno.providers.base import Payload, Task

__all__ = ["XAI"]


class XAI(Host):
    """Models hosted by xAI; reasoning models give no log-probabilities.

    xAI counts thoughts beside `completion_tokens` and not among them (genai-prices 0.2.3, its rules for x-ai; 2026-11).
    """

    name: ClassVar[str] = "xai"
    title: ClassVar[str] = "xAI"
    home: ClassVar[str] = "https://api.x.ai/v1"
    key_variable: ClassVar[str] = "XAI_API_KEY"
    example: ClassVar[str] = "grok-4.3"

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a body, its thoughts among the output tokens."""
        found = super().parse(task, reply)
        thoughts = found.usage.reasoning_tokens
        if not thoughts:
            return found
        return replace(found, usage=replace(found.usage, output_tokens=found.usage.output_tokens + thoughts))
