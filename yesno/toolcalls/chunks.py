"""Put a streamed reply together, so that its calls are the same as unstreamed.

Chunks and events as in openai 3.57.0 (Chat Completions, Responses) and anthropic 2.14.0 (2026-11). LangChain's chunks
add up by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from yesno.errors import ReplyError
from yesno.messages.blocks import fields_of

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
    kinds = {item.get("type") for item in items}
    if any(isinstance(kind, str) and kind.startswith("response.") for kind in kinds):
        return _of_responses(items)
    if "message_start" in kinds:
        return _of_anthropic(items)
    if any("choices" in item for item in items):
        deltas = [choice for item in items for choice in _first(item.get("choices"))]
        return _of_deltas(
            [(_fields(choice.get("delta") or {}), choice.get("finish_reason")) for choice in deltas]
        )
    return _of_deltas([(_plain(item), item.get("finish_reason")) for item in items])


def _fields(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any object
    fields = fields_of(value)
    if fields is None:
        raise ReplyError(
            f"a chunk given as {type(value).__name__} is not known; pass the chunks as they came"
        )
    return fields


def _first(choices: Any) -> list[Mapping[str, Any]]:  # noqa: ANN401 - JSON values
    found = [_fields(choice) for choice in choices or ()]
    return [choice for choice in found if choice.get("index", 0) == 0]


def _plain(item: Mapping[str, Any]) -> Mapping[str, Any]:
    if "index" not in item:
        return {"content": item.get("text")}
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"tool_calls": [{"index": item["index"], "id": item.get("id"), "function": function}]}


def _of_deltas(deltas: list[tuple[Mapping[str, Any], Any]]) -> dict[str, Any]:
    calls: dict[Any, dict[str, str]] = {}
    said: list[str] = []
    finish = None
    for delta, reason in deltas:
        finish = reason or finish
        if isinstance(delta.get("content"), str):
            said.append(delta["content"])
        for part in delta.get("tool_calls") or ():
            _add(calls, _fields(part))
    if finish is None:
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


def _add(calls: dict[Any, dict[str, str]], part: Mapping[str, Any]) -> None:
    call = calls.setdefault(part.get("index", 0), {"id": "", "name": "", "arguments": ""})
    function = part.get("function") or {}
    call["id"] = call["id"] or part.get("id") or ""  # some hosts repeat id and name in every chunk
    call["name"] = call["name"] or function.get("name") or ""
    call["arguments"] += function.get("arguments") or ""


def _of_responses(events: list[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - JSON values
    for event in events:
        if event.get("type") in _DONE and event.get("response") is not None:
            return event["response"]
    raise ReplyError("the stream ended before the response was complete; ask again")


def _of_anthropic(events: list[Mapping[str, Any]]) -> dict[str, Any]:
    blocks: dict[Any, dict[str, Any]] = {}
    written: dict[Any, str] = {}
    reply: dict[str, Any] = {"role": "assistant"}
    stop = None
    for event in events:
        kind, place = event.get("type"), event.get("index")
        delta = event.get("delta") or {}
        if kind == "message_start":
            reply = {**(event.get("message") or {}), "role": "assistant"}
        elif kind == "content_block_start":
            blocks[place] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta" and place in blocks:
            _grow(blocks[place], written, place, delta)
        elif kind == "message_delta":
            stop = delta.get("stop_reason") or stop
    if stop is None:
        raise ReplyError("the stream ended without a stop reason, so its calls may be incomplete; ask again")
    for place, text in written.items():
        blocks[place]["input"] = _values(text)
    return {**reply, "content": list(blocks.values()), "stop_reason": stop}


def _grow(block: dict[str, Any], written: dict[Any, str], place: Any, delta: Mapping[str, Any]) -> None:  # noqa: ANN401
    if delta.get("type") == "input_json_delta":
        written[place] = written.get(place, "") + (delta.get("partial_json") or "")
    for key in ("text", "thinking", "signature"):
        if isinstance(delta.get(key), str):
            block[key] = (block.get(key) or "") + delta[key]


def _values(text: str) -> Any:  # noqa: ANN401 - JSON values, or the text that holds none
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text  # it becomes a result for the model, not an error here
