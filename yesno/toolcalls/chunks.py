"""Put a streamed reply together, so that its calls are the same as unstreamed.

Chunks and events as in openai 3.57.0 (Chat Completions, Responses) and anthropic 2.14.0 (2026-11). LangChain's chunks
add up by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from yesno.errors import ReplyError
from yesno.messages.blocks import fields_of
from yesno.toolcalls.arguments import ArgumentsProblem, read_arguments

__all__ = ["whole"]

_DONE = ("response.completed", "response.incomplete")


def whole(chunks: Iterable[Any]) -> Any:  # noqa: ANN401 - a reply in one of many shapes
    """Return the reply that chunks add up to, in the shape that its host gives when it does not stream.

    Takes the chunks of OpenAI's Chat Completions, the events of its Responses API and of Anthropic, and plain parts of
    calls (`index`, `id`, `name`, `arguments`, and a last one with `finish_reason`); dicts or the SDKs' objects.

    Raises:
        ReplyError: A chunk is of none of these shapes, or the stream ended before the reply did.
    """
    items = [_fields(chunk) for chunk in chunks]
    if not items:
        raise ReplyError("the stream held no chunk; ask again")
    kinds = {_text(item, "type") for item in items}
    if any(kind.startswith("response.") for kind in kinds):
        return _of_responses(items)
    if "message_start" in kinds:
        return _of_anthropic(items)
    if any("choices" in item for item in items):
        deltas = [choice for item in items for choice in _first(item.get("choices"))]
        return _of_deltas([(_inside(choice, "delta"), _text(choice, "finish_reason")) for choice in deltas])
    return _of_deltas([(_plain(item), _text(item, "finish_reason")) for item in items])


def _fields(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any object
    fields = fields_of(value)
    if fields is None:
        raise ReplyError(
            f"a chunk given as {type(value).__name__} is not known; pass the chunks as they came"
        )
    return fields


def _inside(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = fields.get(key)
    return {} if value is None else _fields(value)


def _text(fields: Mapping[str, Any], key: str) -> str:
    """Return a text of a chunk, empty where there is none."""
    value = fields.get(key)
    if not isinstance(value, str | None):
        raise _odd(key, value)
    return value or ""


def _place(fields: Mapping[str, Any]) -> int:
    value = fields.get("index", 0)
    if not isinstance(value, int):
        raise _odd("index", value)
    return value


def _many(value: Any, key: str) -> Sequence[Any]:  # noqa: ANN401 - JSON values
    if not isinstance(value, list | tuple | None):
        raise _odd(key, value)
    return value or ()


def _odd(key: str, value: object) -> ReplyError:
    return ReplyError(
        f"`{key}` of a chunk is of type {type(value).__name__}, which no host gives; pass the chunks as they came"
    )


def _first(choices: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - JSON values
    found = [_fields(choice) for choice in _many(choices, "choices")]
    return [choice for choice in found if choice.get("index", 0) == 0]


def _plain(item: Mapping[str, Any]) -> Mapping[str, Any]:
    if "index" not in item:
        return {"content": item.get("text")}
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"tool_calls": [{"index": item["index"], "id": item.get("id"), "function": function}]}


def _of_deltas(deltas: list[tuple[Mapping[str, Any], str]]) -> dict[str, Any]:
    calls: dict[int, dict[str, str]] = {}
    said: list[str] = []
    finish = ""
    for delta, reason in deltas:
        finish = reason or finish
        said.append(_text(delta, "content"))
        for part in _many(delta.get("tool_calls"), "tool_calls"):
            _add(calls, _fields(part))
    if not finish:
        raise ReplyError(
            "the stream ended without a finish reason, so its calls may be incomplete; ask again"
        )
    message: dict[str, Any] = {"role": "assistant", "content": "".join(said) or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls.values()
        ]
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _add(calls: dict[int, dict[str, str]], part: Mapping[str, Any]) -> None:
    call = calls.setdefault(_place(part), {"id": "", "name": "", "arguments": ""})
    function = _inside(part, "function")
    call["id"] = call["id"] or _text(part, "id")  # some hosts repeat id and name in every chunk
    call["name"] = call["name"] or _text(function, "name")
    call["arguments"] += _text(function, "arguments")


def _of_responses(events: list[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - JSON values
    for event in events:
        if event.get("type") in _DONE and event.get("response") is not None:
            return event["response"]
    raise ReplyError("the stream ended before the response was complete; ask again")


def _of_anthropic(events: list[Mapping[str, Any]]) -> dict[str, Any]:
    blocks: dict[int, dict[str, Any]] = {}
    written: dict[int, str] = {}
    reply: dict[str, Any] = {"role": "assistant"}
    stop = ""
    for event in events:
        kind, place = event.get("type"), _place(event)
        delta = _inside(event, "delta")
        if kind == "message_start":
            reply = {**_inside(event, "message"), "role": "assistant"}
        elif kind == "content_block_start":
            blocks[place] = dict(_inside(event, "content_block"))
        elif kind == "content_block_delta" and place in blocks:
            _grow(blocks[place], written, place, delta)
        elif kind == "message_delta":
            stop = _text(delta, "stop_reason") or stop
    if not stop:
        raise ReplyError("the stream ended without a stop reason, so its calls may be incomplete; ask again")
    for place, text in written.items():
        blocks[place]["input"] = _values(text)
    return {**reply, "content": list(blocks.values()), "stop_reason": stop}


def _grow(block: dict[str, Any], written: dict[int, str], place: int, delta: Mapping[str, Any]) -> None:
    if delta.get("type") == "input_json_delta":
        written[place] = written.get(place, "") + _text(delta, "partial_json")
    for key in ("text", "thinking", "signature"):
        if _text(delta, key):
            block[key] = _text(block, key) + delta[key]


def _values(text: str) -> dict[str, Any] | str:
    """Return arguments, or the text that holds none, or holds a key twice: it becomes a result for the model."""
    try:
        return read_arguments(text)
    except ArgumentsProblem:
        return text
