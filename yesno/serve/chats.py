"""What a request for a chat completion says, and what is sent on in its place; no I/O."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from yesno.errors import RequestProblem
from yesno.messages import messages_of

__all__ = [
    "ChatRequest",
    "Tools",
    "count_left",
    "offered_tools",
    "read_chat",
    "sent_on",
    "tools_of_request",
    "turn_key",
    "turn_of",
]

_TOOL_FIELDS = ("tools", "tool_choice", "parallel_tool_calls")
_LIMITS = ("max_completion_tokens", "max_tokens")
MOST = 2**31 - 1
"""No model writes as many tokens or choices, and a price of a number of 4,000 digits cannot be computed."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The body of `POST /v1/chat/completions`, as far as it has to be understood."""

    body: Mapping[str, Any] = field(repr=False)
    model: str
    messages: Sequence[Any] = field(repr=False)
    stream: bool

    @property
    def output_tokens(self) -> int | None:
        """The most tokens that may be written, over all its choices; None where the request sets no limit."""
        limits = [value for name in _LIMITS if type(value := self.body.get(name)) is int and value > 0]
        several = self.body.get("n")
        return max(limits) * (several if type(several) is int and several > 0 else 1) if limits else None


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of a request: those that a filter may drop, and those that it may not."""

    offered: tuple[Any, ...] = field(default=(), repr=False)
    """As they came."""
    judged: tuple[Any, ...] = field(default=(), repr=False)
    """Functions and custom tools with names; all others are kept unasked."""
    forced: frozenset[str] = frozenset()
    """Names that the request itself asks for, or that its conversation calls."""
    must_call: bool = False
    """A tool has to be called, so one has to be left."""


def read_chat(body: Any) -> ChatRequest:  # noqa: ANN401 - JSON
    """Read a body; what only the upstream has to understand is not looked at.

    Raises:
        RequestProblem: It is no object, or `model`, `messages` or `stream` is missing or of another type.
    """
    if not isinstance(body, dict):
        raise RequestProblem("the body must be a JSON object", code="invalid_type")
    model, messages, stream = body.get("model"), body.get("messages"), body.get("stream")
    if not isinstance(model, str) or not model:
        raise RequestProblem(
            "`model` must be a text that names a model", code="invalid_type", where=("model",)
        )
    if not isinstance(messages, list) or not messages:
        raise RequestProblem(
            "`messages` must be a list with at least one message", code="invalid_type", where=("messages",)
        )
    if stream is not None and not isinstance(stream, bool):
        raise RequestProblem("`stream` must be true or false", code="invalid_type", where=("stream",))
    for name in (*_LIMITS, "n"):
        if type(count := body.get(name)) is int and count > MOST:
            raise RequestProblem(f"`{name}` is more than {MOST:,}", code="invalid_value", where=(name,))
    return ChatRequest(body, model, messages, bool(stream))


def turn_of(messages: Sequence[Any]) -> list[Any]:
    """Return a conversation up to its newest message of the user.

    What a model calls after it, and what tools return, is the same turn: it keeps its route and its tools.
    """
    for number in range(len(messages) - 1, -1, -1):
        message = messages[number]
        if isinstance(message, Mapping) and message.get("role") == "user":
            return list(messages[: number + 1])
    return list(messages)


def turn_key(*parts: Any) -> bytes:
    """Return a digest that equal turns have in common."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).digest()


def offered_tools(chat: ChatRequest) -> Tools | None:
    """Return the tools of a request that a filter may choose among; None where there is nothing to choose."""
    tools, choice = chat.body.get("tools"), chat.body.get("tool_choice")
    if not isinstance(tools, list) or choice == "none":
        return None
    judged = tuple(tool for tool in tools if _name_of(tool) is not None)
    if not judged:
        return None
    return Tools(tuple(tools), judged, frozenset(_chosen(choice)), choice == "required")


def tools_of_request(chat: ChatRequest) -> Tools | None:
    """Return the same, with those that the conversation calls among the ones that may not be dropped.

    Raises:
        QuestionError: A message is of an unknown shape.
    """
    offered = offered_tools(chat)
    if offered is None:
        return None
    called = {call.name for message in messages_of(chat.messages) for call in message.tool_calls}
    return replace(offered, forced=offered.forced | called)


def sent_on(chat: ChatRequest, model: str, tools: Tools | None = None, kept: Collection[str] = ()) -> bytes:
    """Return the body that an upstream gets: its own model's name, and of the tools those that are kept.

    Args:
        chat: The caller's request.
        model: The model's name at the upstream.
        tools: What a filter chose among; None leaves the tools alone.
        kept: Names of the tools that help.
    """
    body = {**chat.body, "model": model}
    if tools is not None:
        left = [tool for tool in tools.offered if _stays(tool, tools, kept)]
        if left:
            body["tools"] = left
        elif not tools.must_call:  # an empty list is refused, and so is a choice among no tools
            body = {name: value for name, value in body.items() if name not in _TOOL_FIELDS}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def count_left(tools: Tools, kept: Collection[str]) -> int:
    """Return how many tools are sent on."""
    left = sum(_stays(tool, tools, kept) for tool in tools.offered)
    return len(tools.offered) if not left and tools.must_call else left


def _stays(tool: Any, tools: Tools, kept: Collection[str]) -> bool:  # noqa: ANN401 - JSON
    name = _name_of(tool)
    return name is None or name in kept or name in tools.forced


def _name_of(tool: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return the name of a function or a custom tool; None for what the upstream brings itself."""
    kind = tool.get("type") if isinstance(tool, Mapping) else None
    if kind not in ("function", "custom"):
        return None
    inner = tool.get(kind)
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return name if isinstance(name, str) and name.strip() else None


def _chosen(choice: Any) -> set[str]:  # noqa: ANN401 - JSON
    """Return the tools that `tool_choice` names: one, or those of `allowed_tools`."""
    if not isinstance(choice, Mapping):
        return set()
    allowed = choice.get("allowed_tools")
    several = allowed.get("tools") if isinstance(allowed, Mapping) else None
    named = [_name_of(entry) for entry in (choice, *(several if isinstance(several, list) else ()))]
    return {name for name in named if name is not None}
