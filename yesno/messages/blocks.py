"""Content blocks: what OpenAI, Anthropic and LangChain put into a message besides plain text.

Block types as in openai 3.57.0, anthropic 2.14.0 and LangChain's standard content blocks (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from yesno.errors import QuestionError
from yesno.messages.message import Attachment, AttachmentKind, Part, TextPart, ToolCall, json_arguments

__all__ = ["Result", "Said", "blocks_of", "fields_of", "result_parts", "said", "the_call"]

_TEXTS = {"text", "input_text", "output_text"}
_KINDS: dict[str, AttachmentKind] = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "image_file": "image",
    "computer_screenshot": "image",
    "audio": "audio",
    "input_audio": "audio",
    "audio_url": "audio",
    "video": "video",
    "input_video": "video",
    "video_url": "video",
    "file": "file",
    "input_file": "file",
    "file_url": "file",
    "document": "file",
    "text-plain": "file",
    "container_upload": "file",
}
_THOUGHTS = {"thinking", "redacted_thinking", "reasoning", "reasoning_content"}
_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "server_tool_call", "function_call"}
_UNREADABLE = ("data", "url", "file_data", "image_url", "encrypted_content", "encrypted_index")
"""Fields of a tool's own result blocks that say nothing to a reader."""


class Result:
    """The result of a call, with its parts."""

    __slots__ = ("call_id", "content")

    def __init__(self, call_id: str | None, content: tuple[Part, ...]) -> None:
        self.call_id = call_id
        self.content = content


Said: TypeAlias = Part | ToolCall | Result


def fields_of(value: Any) -> Mapping[str, Any] | None:  # noqa: ANN401 - any object
    """Return a mapping as it is, a pydantic object as one, and None for what is neither.

    Raises:
        QuestionError: A pydantic object cannot be written as plain values.
    """
    if isinstance(value, Mapping):
        return value
    dump = None if isinstance(value, type) else getattr(value, "model_dump", None)
    if not callable(dump):
        return None
    try:
        fields = dump(exclude_none=True, warnings=False)
    except (TypeError, ValueError, RecursionError):
        raise QuestionError(
            f"a {type(value).__name__} cannot be turned into plain values; pass a dict in its place"
        ) from None
    return fields if isinstance(fields, Mapping) else None


def blocks_of(content: Any, where: str) -> list[Any]:  # noqa: ANN401 - any content
    """Return a content as a list of blocks.

    Raises:
        QuestionError: It is neither a text nor a block nor a list of blocks.
    """
    if content is None or content == "":
        return []
    if isinstance(content, list | tuple):
        return list(content)
    if isinstance(content, str) or fields_of(content) is not None:
        return [content]
    raise QuestionError(
        f"{where} has a content of type {type(content).__name__}; give a text or a list of content blocks"
    )


def said(block: Any, where: str) -> Iterator[Said]:  # noqa: ANN401 - any block
    """Yield what a block says: parts, a call or a result; nothing for a thinking block.

    Raises:
        QuestionError: The block is of an unknown type.
    """
    if isinstance(block, TextPart | Attachment):
        yield block
        return
    if isinstance(block, str):
        yield TextPart(block)
        return
    fields = fields_of(block)
    kind = fields.get("type") if fields is not None else type(block).__name__
    if fields is None or not isinstance(kind, str):
        raise _unknown(kind, where)
    if kind in _CALLS:
        yield the_call(fields, where)
    elif kind.endswith("tool_result"):
        yield _result(fields, where)
    elif kind not in _THOUGHTS:
        yield _part(fields, kind, where)


def the_call(fields: Mapping[str, Any], where: str) -> ToolCall:
    """Return a call of a tool in any of its shapes.

    Raises:
        QuestionError: It names no tool, or its arguments cannot be written as JSON.
    """
    inner = fields.get("function")
    inside = inner if isinstance(inner, Mapping) else fields
    name = inside.get("name")
    if not isinstance(name, str) or not name:
        raise QuestionError(f"{where} has a tool call without a name; give `name`")
    given: Any = next(
        (inside[key] for key in ("arguments", "args", "input") if inside.get(key) is not None), {}
    )
    number = fields.get("call_id") or fields.get("id")
    return ToolCall(name, json_arguments(given, name), number if isinstance(number, str) else None)


def _part(fields: Mapping[str, Any], kind: str, where: str) -> Part:
    text = fields.get("text")
    if kind in _TEXTS and isinstance(text, str):
        return TextPart(text)
    if kind == "refusal" and isinstance(fields.get("refusal"), str):
        return TextPart(fields["refusal"])
    if kind == "attachment":
        return Attachment(fields.get("kind"))  # type: ignore[arg-type]  # checked by Attachment
    if kind == "search_result":
        return TextPart("\n".join(_lines(fields, where)))
    if kind in _KINDS:
        return Attachment("pdf" if _KINDS[kind] == "file" and _is_pdf(fields) else _KINDS[kind])
    raise _unknown(kind, where)


def _lines(fields: Mapping[str, Any], where: str) -> Iterator[str]:
    if isinstance(fields.get("title"), str):
        yield fields["title"]
    for block in blocks_of(fields.get("content"), where):
        inner = block if isinstance(block, Mapping) else {"text": block}
        yield inner["text"] if isinstance(inner.get("text"), str) else f"[{inner.get('type', 'unknown')}]"


def _is_pdf(fields: Mapping[str, Any]) -> bool:
    inner = [fields, *(value for value in fields.values() if isinstance(value, Mapping))]
    for known in inner:
        for key in (
            "media_type",
            "mime_type",
            "filename",
            "file_name",
            "title",
            "file_data",
            "file_url",
            "url",
        ):
            value = known.get(key)
            if isinstance(value, str):
                start, end = value[:40].lower(), value[-4:].lower()
                if start.startswith(("application/pdf", "data:application/pdf")) or end == ".pdf":
                    return True
    return False


def _result(fields: Mapping[str, Any], where: str) -> Result:
    number = next(
        (
            fields[key]
            for key in ("tool_use_id", "tool_call_id", "call_id")
            if isinstance(fields.get(key), str)
        ),
        None,
    )
    content = fields.get("content", fields.get("output"))
    return Result(number, tuple(result_parts(content, where)))


def result_parts(content: Any, where: str) -> Iterator[Part]:  # noqa: ANN401 - any content
    """Yield the parts of a tool's result; blocks of a vendor's own tools become their title or their JSON.

    Raises:
        QuestionError: The content is of another type, or is a call.
    """
    for block in blocks_of(content, where):
        fields = None if isinstance(block, str | TextPart | Attachment) else fields_of(block)
        kind = fields.get("type") if fields is not None else None
        if (
            fields is None
            or kind in _TEXTS
            or kind in _KINDS
            or kind in ("refusal", "search_result", "attachment")
        ):
            for part in said(block, where):
                if not isinstance(part, TextPart | Attachment):
                    raise QuestionError(
                        f"{where} has a call inside of a tool's result; give text or attachments"
                    )
                yield part
        else:
            yield TextPart(_told(fields))


def _told(fields: Mapping[str, Any]) -> str:
    title = fields.get("title", fields.get("tool_name"))
    if isinstance(title, str):
        return title
    kept = {key: value for key, value in fields.items() if key not in _UNREADABLE}
    return json_arguments(kept, str(fields.get("type", "a tool")))


def _unknown(kind: Any, where: str) -> QuestionError:  # noqa: ANN401 - any value
    return QuestionError(
        f"{where} has a content block of type {json.dumps(kind) if isinstance(kind, str) else kind!r}, which is not "
        "known; leave it out, or give its text"
    )
