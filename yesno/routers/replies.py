"""What a route's answer is worth to the one who keeps the conversation: its messages, its route, its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from yesno.evidence import Usage
from yesno.messages import Message, messages_of
from yesno.messages.blocks import fields_of
from yesno.routers.routes import RouteChoice

__all__ = [
    "ATTRIBUTE",
    "RoutedResponse",
    "final_text",
    "recorded_route",
    "routed",
    "usage_of",
    "without_route",
]

ATTRIBUTE = "chat_model_route"
"""Under this name a message's `attributes` say which route it came from."""

_CHAT_ONLY = {"annotations", "parsed"}
"""Fields of a message in a Chat Completions reply that a request must not hold (openai 3.57.0; 2026-11)."""
_PARSED = {"parsed", "parsed_arguments", "parsed_output"}


@dataclass(frozen=True, slots=True)
class RoutedResponse:
    """An answer and the route that it came from."""

    response: Any = field(repr=False)
    """What the route's target returned: an SDK's object, a dict, a text."""
    choice: RouteChoice
    messages: tuple[Any, ...] = field(default=(), repr=False)
    """The answer as messages to append to the conversation: plain dicts that carry the route in their
    `attributes`, so that a tool's result goes back to it. Empty when the answer is of an unknown shape."""

    @property
    def route(self) -> str:
        """The name of the route."""
        return self.choice.route

    @property
    def probabilities(self) -> Mapping[str, float]:
        """Route -> probability (0..1); empty when nothing was asked or reported."""
        return self.choice.probabilities


def routed(response: Any, choice: RouteChoice) -> RoutedResponse:  # noqa: ANN401 - any answer
    """Put an answer and its route together, and leave a note of the route on an SDK's objects.

    The note is an attribute that serialising does not see, so a message that is appended as an object goes to any
    server unchanged.
    """
    if isinstance(response, RoutedResponse):
        response = response.response
    kept: list[Any] = []
    for message, sources in _answers(response):
        for source in sources:
            _note(source, choice.route)
        kept.append(_marked(message, choice.route))
    return RoutedResponse(response, choice, tuple(kept))


def recorded_route(messages: Sequence[Any]) -> str | None:
    """Return the route that asked for the tool whose result ends a conversation; None when that is not known."""
    if not messages or not _is_tool_result(messages[-1]):
        return None
    for message in reversed(messages):
        if _is_assistant(message):
            return _route_of(message)
    return None


def without_route(message: Any) -> Any:  # noqa: ANN401 - any shape
    """Return a message as a server takes it: a dict without the note of its route."""
    if not isinstance(message, Mapping) or not isinstance(message.get("attributes"), Mapping):
        return message
    attributes = {key: value for key, value in message["attributes"].items() if key != ATTRIBUTE}
    rest = {key: value for key, value in message.items() if key != "attributes"}
    return {**rest, "attributes": attributes} if attributes else rest


def final_text(response: Any) -> str | None:  # noqa: ANN401 - any answer
    """Return the text of an answer; None when it has none, or calls a tool and so is not final."""
    said = messages_of([message for message, _ in _answers(response)])
    text = "\n".join(message.text for message in said)
    return text if text.strip() and not any(message.tool_calls for message in said) else None


def usage_of(response: Any) -> Usage | None:  # noqa: ANN401 - any answer
    """Return the tokens that an answer says were used; None when it does not say.

    Reads the `usage` of Chat Completions, Responses and Messages (openai 3.57.0, anthropic 2.14.0; 2026-11).
    """
    usage = fields_of(_get(response, "usage"))
    if usage is None:
        return None
    given = usage.get("input_tokens", usage.get("prompt_tokens"))
    written = usage.get("output_tokens", usage.get("completion_tokens"))
    details = usage.get("input_tokens_details") or usage.get("prompt_tokens_details") or {}
    details = fields_of(details) or {}
    cached, filled = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    reused, stored = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    if not all(
        type(count) is int and count >= 0 for count in (given, written, cached, filled, reused, stored)
    ):
        return None  # whoever counts backwards or in words is not believed
    return Usage(
        given + reused + stored, written, cached + reused, requests=1, cache_written_tokens=filled + stored
    )


def _answers(response: Any) -> list[tuple[Any, list[Any]]]:  # noqa: ANN401 - any answer
    """Return the messages of an answer in a form to append, each with the objects that it was made from."""
    if isinstance(response, str):
        return [({"role": "assistant", "content": response}, [])]
    if isinstance(response, Message):
        return [(response, [])]
    choices = _get(response, "choices")
    if isinstance(choices, list | tuple) and choices:
        message = _get(choices[0], "message")
        fields = fields_of(message)
        if fields is None:
            return []
        return [(_chat_message(fields), [message])]
    output = _get(response, "output")
    if isinstance(output, list | tuple) and _get(response, "object") == "response":
        return [(_sendable(fields), [item]) for item in output if (fields := fields_of(item)) is not None]
    if _get(response, "role") == "assistant":
        content = _get(response, "content")
        blocks = list(content) if isinstance(content, list | tuple) else []
        if _get(response, "type") == "message" and blocks:  # of a reply, only these two go into a request
            kept = [_sendable(fields) for block in blocks if (fields := fields_of(block)) is not None]
            return [({"role": "assistant", "content": kept}, [response, *blocks])]
        fields = fields_of(response)
        return [] if fields is None else [(_chat_message(fields), [response])]
    if _get(response, "type") == "ai" and not isinstance(response, Mapping):
        return [(response, [])]
    return []


def _marked(message: Any, route: str) -> Any:  # noqa: ANN401 - a message in any of the forms above
    if isinstance(message, Message):
        return message.with_attributes(**{ATTRIBUTE: route})
    if isinstance(message, Mapping):
        return {**message, "attributes": {**(message.get("attributes") or {}), ATTRIBUTE: route}}
    extra = dict(getattr(message, "additional_kwargs", None) or {})
    extra["attributes"] = {**(extra.get("attributes") or {}), ATTRIBUTE: route}
    copy = getattr(message, "model_copy", None)
    if callable(copy):
        return copy(update={"additional_kwargs": extra})
    _note(message, route)
    return message


def _note(source: Any, route: str) -> None:  # noqa: ANN401 - somebody else's object
    if not isinstance(source, Mapping):
        try:
            object.__setattr__(source, ATTRIBUTE, route)
        except (AttributeError, TypeError):
            return  # an object with fixed fields: the note is on the dict in `messages` alone


def _route_of(message: Any) -> str | None:  # noqa: ANN401 - any shape
    if isinstance(message, Message):
        places: list[Any] = [message.attributes]
    else:
        data = _get(message, "data")
        owners = [message, data] if isinstance(data, Mapping) else [message]
        places = [_get(owner, "attributes") for owner in owners]
        places += [_get(_get(owner, "additional_kwargs"), "attributes") for owner in owners]
        content = _get(message, "content")
        places += [message, *(content if isinstance(content, list | tuple) else ())]
    for place in places:
        route = _get(place, ATTRIBUTE)
        if isinstance(route, str):
            return route
    return None


def _is_tool_result(message: Any) -> bool:  # noqa: ANN401 - any shape
    role, kind = _get(message, "role"), _get(message, "type")
    if role in ("tool", "function") or kind in ("tool", "function"):
        return True
    if isinstance(kind, str) and kind.endswith("_output"):
        return True
    content = _get(message, "content")
    if role == "assistant":  # a vendor's own tools put their results there
        return False
    return isinstance(content, list | tuple) and any(
        str(_get(block, "type")).endswith("tool_result") for block in content
    )


def _is_assistant(message: Any) -> bool:  # noqa: ANN401 - any shape
    kind = _get(message, "type")
    if _get(message, "role") in ("assistant", "ai") or kind in ("ai", "AIMessageChunk", "reasoning"):
        return True
    return isinstance(kind, str) and kind.endswith("_call")


def _get(value: Any, name: str) -> Any:  # noqa: ANN401 - any object
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _chat_message(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Chat Completions message, or one like it, as a request takes it."""
    kept = {key: value for key, value in _sendable(fields).items() if key not in _CHAT_ONLY}
    if isinstance(kept.get("audio"), Mapping):
        kept["audio"] = {"id": kept["audio"].get("id")}
    return kept


def _sendable(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message, an item or a block without what a parsing SDK added to it; data inside stays as it is."""
    kept = {key: value for key, value in fields.items() if key not in _PARSED}
    for key in ("content", "tool_calls"):
        if isinstance(kept.get(key), list):
            kept[key] = [_sendable(part) if isinstance(part, Mapping) else part for part in kept[key]]
    if isinstance(kept.get("function"), Mapping):
        kept["function"] = {k: v for k, v in kept["function"].items() if k not in _PARSED}
    return kept
