"""Put together what a stream brings, so that the conversation can go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Chunks"]

_ENDS = ("response.completed", "response.incomplete", "response.failed")


class Chunks:
    """Collects the chunks of one answer: texts, Chat Completions chunks, or events that end with the whole.

    The events are those of the Responses API, and of anthropic's `messages.stream` (openai 3.57.0, anthropic
    2.14.0; 2026-11). Anything else is passed over.

    Args:
        keep: Whether to keep the chunks themselves for `everything`.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self._texts: list[str] = []
        self._whole: Any = None
        self._all: list[Any] | None = [] if keep else None
        self._role = "assistant"
        self._fields: dict[str, list[str]] = {}
        self._calls: dict[int, dict[str, Any]] = {}

    def add(self, chunk: Any) -> None:  # noqa: ANN401 - any chunk
        """Take the next chunk."""
        if self._all is not None:
            self._all.append(chunk)
        if isinstance(chunk, str):
            self._texts.append(chunk)
            return
        choices = _get(chunk, "choices")
        if choices:
            delta = _get(choices[0], "delta")
            if delta is None:
                self._whole = chunk
            elif not _get(choices[0], "index"):
                self._add_delta(delta)
            return
        kind = _get(chunk, "type")
        if kind in _ENDS:
            self._whole = _get(chunk, "response")
        elif kind == "message_stop":
            self._whole = _get(chunk, "message")
        elif _get(chunk, "role") == "assistant" or _get(chunk, "object") == "response" or kind == "ai":
            self._whole = chunk

    def response(self) -> Any:  # noqa: ANN401 - any answer
        """Return the answer that the chunks make up; None when that cannot be known."""
        if self._fields or self._calls:
            said = {name: "".join(parts) for name, parts in self._fields.items()}
            message: dict[str, Any] = {"role": self._role, "content": said.pop("content", None), **said}
            if self._calls:
                message["tool_calls"] = [self._calls[place] for place in sorted(self._calls)]
            return message
        if self._texts:
            return "".join(self._texts)
        return self._whole

    def everything(self) -> Any:  # noqa: ANN401 - any answer
        """Return the answer that the chunks make up, or a tuple of those kept when that cannot be known."""
        whole = self.response()
        return tuple(self._all or ()) if whole is None else whole

    def _add_delta(self, delta: Any) -> None:  # noqa: ANN401 - an SDK's object or a dict
        for name in ("content", "refusal", "reasoning_content"):
            text = _get(delta, name)
            if isinstance(text, str):
                self._fields.setdefault(name, []).append(text)
        for part in _get(delta, "tool_calls") or ():
            call = self._calls.setdefault(
                _get(part, "index") or 0,
                {"id": None, "type": "function", "function": {"name": "", "arguments": ""}},
            )
            call["id"] = _get(part, "id") or call["id"]
            function = _get(part, "function")
            for name in ("name", "arguments"):
                call["function"][name] += _get(function, name) or ""


def _get(value: Any, name: str) -> Any:  # noqa: ANN401 - any object
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
