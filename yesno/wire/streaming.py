"""Chat Completions that came as a stream although a whole body was asked for.

Gateways that force streaming answer with `text/event-stream`: lines of `data:` with a chunk each, comments that begin
with a colon, and `[DONE]` at the end. Azure's filter sends chunks without a `delta` or without choices
(uezo/aiavatarkit pull request 124; 2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["body_of_chunks", "is_stream", "stream_body"]

_DONE = "[DONE]"
_LAST = ("completed", "incomplete", "failed")
"""Events of OpenAI's Responses API that hold the whole response (openai 3.57.0, `types/responses`; 2026-11)."""
_FIELDS = ("data:", "event:", "id:", "retry:", ":")


def is_stream(content: bytes) -> bool:
    """Return whether a body is a stream of events."""
    return content.lstrip()[:6].decode("latin-1").startswith(_FIELDS)


def stream_body(content: bytes) -> dict[str, Any]:
    """Return the body that a stream spells in pieces; see `body_of_chunks`.

    Raises:
        ValueError: A chunk is no JSON object, or none has a choice.
    """
    ended = False

    def chunks() -> Iterator[Mapping[str, Any]]:
        nonlocal ended
        for data in _events(content.decode("utf-8", "replace")):
            ended = ended or data == _DONE
            if data and data != _DONE:
                chunk = json.loads(data)
                if not isinstance(chunk, dict):
                    raise ValueError("a chunk of the stream is no object")
                yield chunk

    return body_of_chunks(chunks(), ended=lambda: ended)


def _events(text: str) -> Iterator[str]:
    """Yield the data of each event; what a stream breaks off in the middle of is none."""
    data: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data and data[-1].rstrip().endswith(("}", _DONE)):
        yield "\n".join(data).strip()


def body_of_chunks(chunks: Iterable[Mapping[str, Any]], *, ended: Any = lambda: False) -> dict[str, Any]:  # noqa: ANN401
    """Return the whole body of chunks in their order.

    Chunks without choices or without a `delta` add nothing but usage and a reason to finish. Without such a reason
    and without an end the reply was cut off, and says so: its reason is `length`.

    Args:
        chunks: The chunks; an `error` among them takes the place of all.
        ended: Returns, after the last chunk, whether the stream said that it was the last.

    Raises:
        ValueError: No chunk has a choice.
    """
    body: dict[str, Any] = {}
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    logprobs: dict[str, list[Any]] = {}
    finish, begun = None, False
    for chunk in chunks:
        if chunk.get("error"):
            return {"error": chunk["error"]}
        if str(chunk.get("type")).startswith("response.") and str(chunk["type"])[9:] in _LAST:
            return dict(chunk["response"])
        body.update({name: chunk[name] for name in ("id", "model", "usage") if chunk.get(name)})
        for choice in chunk.get("choices") or ():
            if choice.get("index") or 0:
                continue  # another answer to the same prompt
            begun = True
            finish = choice.get("finish_reason") or finish
            _add(message, choice.get("delta") or choice.get("message") or {})
            for name, entries in (choice.get("logprobs") or {}).items():
                if isinstance(entries, list):
                    logprobs.setdefault(name, []).extend(entries)
    if not begun:
        raise ValueError("no chunk of the stream has a choice")
    finish = finish or ("stop" if ended() else "length")
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": logprobs or None}
    return {"object": "chat.completion", **body, "choices": [choice]}


def _add(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name in ("content", "refusal", "reasoning_content", "reasoning"):
        if isinstance(delta.get(name), str):
            message[name] = (message.get(name) or "") + delta[name]
    if delta.get("tool_calls"):
        message["tool_calls"] = [*message.get("tool_calls", ()), *delta["tool_calls"]]
