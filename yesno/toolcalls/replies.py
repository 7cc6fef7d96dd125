"""The reply in which a model asks for tools, in the shapes in which others give it.

Shapes as in openai 3.57.0 (Chat Completions, Responses), anthropic 2.14.0 and langchain-core 1.8.3 (2026-11); nothing
of these is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from yesno.errors import NoToolCallsError, QuestionError, ReplyError
from yesno.messages import Message
from yesno.messages.blocks import fields_of
from yesno.toolcalls.arguments import ArgumentsProblem, read_arguments
from yesno.toolcalls.calls import ToolCall
from yesno.toolcalls.canonical import digest_of
from yesno.toolcalls.written import without_surrogates, written

__all__ = ["Reply", "Shape"]

Shape: TypeAlias = Literal["chat", "responses", "anthropic", "langchain", "message", "plain"]
"""The format that a reply came in, and that results are given in."""

_CUT = {
    *("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "incomplete"),
    *("content_filter", "refusal", "safety", "malformed_function_call", "error"),
    *("failed", "cancelled", "in_progress", "queued"),
}
"""Finish reasons and states that say that a reply ended before the model did, or goes on."""
_OTHERS = {"user", "human", "system", "developer", "tool", "function"}
"""Roles of those who ask for no calls."""
_RESPONSE_ITEMS = {"function_call", "custom_tool_call"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and the calls that it asks for.

    `raw` is the caller's own object, `items` what stands for it in a conversation of its shape. `custom` are the ids of
    calls that carry free text in place of arguments.
    """

    calls: tuple[ToolCall, ...]
    text: str = field(default="", repr=False)
    finish_reason: str | None = None
    raw: Any = field(default=None, repr=False)
    shape: Shape = "plain"
    items: tuple[Any, ...] = field(default=(), repr=False)
    custom: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, reply: Any) -> Reply:  # noqa: ANN401 - any of many shapes
        """Read a reply in any of the usual shapes.

        Takes a whole response of OpenAI (both APIs) or Anthropic, the assistant's message of one, a list of output
        items, a LangChain `AIMessage`, a `Message`, or a dict with `calls` or `tool_calls` of `id`, `name`,
        `arguments`; dicts or the SDKs' objects. Of several choices the first that calls a tool counts. Calls of tools
        that the provider runs itself are none of ours.

        Raises:
            ReplyError: It is of none of these shapes, or a call has no name.
        """
        if isinstance(reply, Reply):
            return reply
        if isinstance(reply, Message):
            return _of_message(reply)
        if _is_langchain(reply):
            return _of_langchain(reply)
        if isinstance(reply, list | tuple):
            return _of_items(reply, reply, None)
        fields = _fields(reply)
        for key, read in _BY_KEY:
            if isinstance(fields.get(key), list | tuple):
                return read(reply, fields)
        if _text_of(fields.get("type")) in _RESPONSE_ITEMS:
            return _of_items([reply], reply, None)
        if "content" in fields or "tool_calls" in fields:
            return _of_chat_message(reply, fields, reply, None)
        raise ReplyError(
            f"a reply given as {type(reply).__name__} is not known; pass the response, or the assistant's message"
        )

    @classmethod
    def from_chunks(cls, chunks: Iterable[Any]) -> Reply:
        """Put a streamed reply together; see `yesno.toolcalls.chunks`."""
        from yesno.toolcalls.chunks import whole

        return cls.parse(whole(chunks))

    def checked(self, *, allow_cut_off: bool = False) -> Reply:
        """Return the reply when its calls can be told apart and it is whole.

        Raises:
            NoToolCallsError: It asks for no calls.
            ReplyError: An id is missing or used twice, or the reply was cut off.
        """
        if not self.calls:
            raise NoToolCallsError("the reply asks for no tool; answer the user with it")
        seen: set[str] = set()
        for call in self.calls:
            if not call.id.strip():
                raise ReplyError(
                    f"call {call.index + 1} of the reply ({call.name!r}) has no id; a result needs one to refer to"
                )
            if not call.id.isprintable():
                raise ReplyError(
                    f"call {call.index + 1} of the reply has the id {call.id!r}, which no host would take"
                )
            if call.id in seen:
                raise ReplyError(f"two calls of the reply have the id {call.id!r}; each needs one of its own")
            seen.add(call.id)
        if self.is_cut_off and not allow_cut_off:
            raise ReplyError(
                f"the reply was cut off ({self.finish_reason}), so its calls may be incomplete; ask again with more "
                "room, or allow it with allow_cut_off=True"
            )
        return self

    @property
    def is_cut_off(self) -> bool:
        """Whether it ended before the model did."""
        return self.finish_reason is not None and self.finish_reason.lower() in _CUT

    @property
    def digest(self) -> str:
        """SHA-256 of what was said and asked for."""
        calls = [[call.id, call.name, call.arguments_text] for call in self.calls]
        return digest_of({"text": self.text, "calls": calls})


def _fields(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any object
    try:
        fields = fields_of(value)
    except QuestionError as error:
        raise ReplyError(str(error)) from None
    if fields is None:
        raise ReplyError(
            f"a reply given as {type(value).__name__} is not known; pass the response, or the assistant's message"
        )
    return fields


def _of_choices(reply: Any, fields: Mapping[str, Any]) -> Reply:  # noqa: ANN401 - any object
    found = []
    for place, choice in enumerate(fields["choices"]):
        inner = _fields(choice)
        own = reply["choices"][place] if isinstance(reply, Mapping) else reply.choices[place]
        message = own.get("message") if isinstance(own, Mapping) else getattr(own, "message", None)
        found.append(_of_chat_message(message, _fields(message), reply, _text_of(inner.get("finish_reason"))))
    if not found:
        raise NoToolCallsError("the reply has no choices, so it asks for no tool")
    return next((read for read in found if read.calls), found[0])


def _of_chat_message(own: Any, fields: Mapping[str, Any], raw: Any, finish: str | None) -> Reply:  # noqa: ANN401
    content = fields.get("content")
    blocks = list(content) if isinstance(content, list | tuple) else []
    if _text_of(fields.get("role")) in _OTHERS:
        raise ReplyError(f"a message with the role {fields['role']!r} is no reply; pass what the model said")
    used = [_fields(block).get("id") for block in blocks if _kind(block) == "tool_use"]
    if used or "stop_reason" in fields:
        if any(_fields(call).get("id") not in used for call in _many(fields, "tool_calls")):
            raise ReplyError(
                "the reply has calls in `content` and others in `tool_calls`; pass it as it came, in one format"
            )
        return _of_anthropic(raw, fields)
    calls: list[ToolCall] = []
    custom: list[str] = []
    for call in _many(fields, "tool_calls"):
        inner = _fields(call)
        free = inner.get("custom") if inner.get("type") == "custom" else None
        if isinstance(free, Mapping):
            custom.append(str(inner.get("id")))
            inner = {"id": inner.get("id"), "name": free.get("name"), "arguments": _input(free)}
        calls.append(_call(inner, len(calls)))
    if fields.get("function_call") and not calls:
        raise ReplyError(
            "the reply uses `function_call`, which has no id to answer to; ask with `tools` instead"
        )
    finish = finish or _text_of(fields.get("finish_reason"))
    text = _spoken(content, blocks)
    said = own
    if isinstance(own, Mapping) and "role" not in own:
        said = {"role": "assistant", "content": text, "tool_calls": [_chat_call(call) for call in calls]}
    return Reply(tuple(calls), text, finish, raw, "chat", (said,), frozenset(custom))


def _of_anthropic(reply: Any, fields: Mapping[str, Any]) -> Reply:  # noqa: ANN401 - any object
    blocks = [] if isinstance(fields.get("content"), str) else _many(fields, "content")
    found = [block for block in blocks if _kind(block) == "tool_use"]
    calls = tuple(_call(_fields(block), place) for place, block in enumerate(found))
    own = reply["content"] if isinstance(reply, Mapping) else reply.content
    sendable = [_with_input(block) for block in own] if isinstance(own, list | tuple) else own
    if isinstance(reply, Mapping) and set(reply) <= {"role", "content"} and sendable == own:
        item: Any = reply
    else:  # a response has fields that a request must not have
        item = {"role": "assistant", "content": sendable}
    text = _spoken(fields.get("content"), blocks)
    return Reply(calls, text, _text_of(fields.get("stop_reason")), reply, "anthropic", (item,))


def _with_input(block: Any) -> Any:  # noqa: ANN401 - any block
    """Return a block whose `input` is an object: streamed text may hold none, and no request may have a text there.

    The key is the one that Anthropic suggests (its page on fine-grained tool streaming; 2026-11).
    """
    if (
        _kind(block) != "tool_use"
        or not isinstance(block, Mapping)
        or not isinstance(block.get("input"), str)
    ):
        return block
    try:
        return {**block, "input": read_arguments(block["input"])}
    except ArgumentsProblem:
        return {**block, "input": {"INVALID_JSON": without_surrogates(block["input"])}}


def _of_output(reply: Any, fields: Mapping[str, Any]) -> Reply:  # noqa: ANN401 - any object
    own = reply["output"] if isinstance(reply, Mapping) else reply.output
    details = fields.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, Mapping) else None
    status = _text_of(fields.get("status"))
    return _of_items(own, reply, _text_of(reason) or status)


def _of_items(items: Sequence[Any], raw: Any, finish: str | None) -> Reply:  # noqa: ANN401 - any object
    calls: list[ToolCall] = []
    said: list[str] = []
    custom: list[str] = []
    for item in items:
        fields = _fields(item)
        kind = _text_of(fields.get("type"))
        if kind in _RESPONSE_ITEMS:
            if kind == "custom_tool_call":
                custom.append(str(fields.get("call_id")))
                fields = {**fields, "arguments": _input(fields)}
            calls.append(_call({**fields, "id": fields.get("call_id")}, len(calls)))
            if fields.get("status") in ("incomplete", "in_progress"):
                finish = "incomplete"
        elif kind == "message":
            said.append(_spoken(fields.get("content"), _many(fields, "content")))
        elif kind is None or kind == "tool_use":
            raise ReplyError(
                "a reply given as a list holds output items of the Responses API; pass the message itself"
            )
    return Reply(tuple(calls), "\n".join(said), finish, raw, "responses", tuple(items), frozenset(custom))


def _of_plain(reply: Any, fields: Mapping[str, Any]) -> Reply:  # noqa: ANN401 - any object
    calls = tuple(_call(_fields(call), place) for place, call in enumerate(fields["calls"]))
    text = fields.get("text")
    said = {"role": "assistant", "content": text or "", "tool_calls": [_chat_call(call) for call in calls]}
    finish = _text_of(fields.get("finish_reason"))
    return Reply(calls, text if isinstance(text, str) else "", finish, reply, "plain", (said,))


def _of_message(reply: Message) -> Reply:
    calls = tuple(
        ToolCall(call.id or "", call.name, call.arguments, place)
        for place, call in enumerate(reply.tool_calls)
    )
    return Reply(calls, reply.text, None, reply, "message", (reply,))


def _of_langchain(reply: Any) -> Reply:  # noqa: ANN401 - duck-typed
    whole = [
        item
        for key in ("tool_calls", "invalid_tool_calls")
        for item in _many({key: getattr(reply, key, None)}, key)
    ]
    calls = tuple(_call(_fields(call), place) for place, call in enumerate(whole))
    told = getattr(reply, "response_metadata", None)
    metadata = told if isinstance(told, Mapping) else {}
    finish = next((metadata[key] for key in ("finish_reason", "stop_reason") if metadata.get(key)), None)
    content = reply.content
    blocks = content if isinstance(content, list) else []
    return Reply(calls, _spoken(content, blocks), _text_of(finish), reply, "langchain", (reply,))


_BY_KEY = (("choices", _of_choices), ("output", _of_output), ("calls", _of_plain))


def _is_langchain(reply: Any) -> bool:  # noqa: ANN401 - any object
    kind = getattr(reply, "type", None)
    return (
        not isinstance(reply, Mapping)
        and isinstance(kind, str)
        and kind.removesuffix("MessageChunk").lower() == "ai"
        and hasattr(reply, "tool_calls")
    )


def _call(fields: Mapping[str, Any], index: int) -> ToolCall:
    inner = fields.get("function")
    inside = inner if isinstance(inner, Mapping) else fields
    name = inside.get("name")
    if not isinstance(name, str):
        raise ReplyError(f"call {index + 1} of the reply has no name; a call needs one")
    given = next((inside[key] for key in ("arguments", "args", "input") if inside.get(key) is not None), None)
    number = fields.get("id")
    return ToolCall(number if isinstance(number, str) else "", name, _as_text(given), index)


def _as_text(given: Any) -> str:  # noqa: ANN401 - arguments in any form
    """Return arguments as text: a text as it is, values as `written` writes them."""
    if given is None:
        return ""
    if isinstance(given, str):
        return given
    try:
        return written(given)
    except (TypeError, ValueError, RecursionError):
        raise ReplyError("the arguments of a call are no JSON values; pass the reply as it came") from None


def _input(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"input": fields.get("input")}


def _chat_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments_text},
    }


def _spoken(content: Any, blocks: Iterable[Any]) -> str:  # noqa: ANN401 - any content
    if isinstance(content, str):
        return content
    return "\n".join(_texts(blocks))


def _texts(blocks: Iterable[Any]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, str):
            yield block
            continue
        fields = _fields(block)
        if _text_of(fields.get("type")) in ("text", "output_text") and isinstance(fields.get("text"), str):
            yield fields["text"]


def _many(fields: Mapping[str, Any], key: str) -> Sequence[Any]:
    """Return the list under a key, empty where there is none."""
    value = fields.get(key)
    if value is None or isinstance(value, list | tuple):
        return value or ()
    if key == "content":  # a text is read as one
        return () if isinstance(value, str) else (value,)
    raise ReplyError(
        f"`{key}` of the reply is a {type(value).__name__}, not a list; pass the reply as it came"
    )


def _kind(block: Any) -> Any:  # noqa: ANN401 - any block
    return block.get("type") if isinstance(block, Mapping) else getattr(block, "type", None)


def _text_of(value: Any) -> str | None:  # noqa: ANN401 - any value
    return value if isinstance(value, str) else None
