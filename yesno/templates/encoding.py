"""Write data into a prompt so that it stays data.

A tag, a chat-format token or an option line that comes from data would change the structure of the
prompt. Here `<` becomes `&lt;`, control words such as `[INST]` lose their bracket, and line breaks in
what must stay on one line become visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from yesno._frozen import FrozenDict
from yesno.messages import Input, Message
from yesno.messages.plain import thawed

__all__ = ["Encoded", "encode_line", "encode_name", "encode_text", "render_input"]

_CONTROL_WORD = re.compile(r"\[(?=/?[A-Z][A-Z_]{2,}\])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\ufffe\uffff\ud800-\udfff]")
_UNSEEN = r"\x00-\x08\n-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff"
_IN_NAMES = re.compile(rf"[{_UNSEEN}]|\\+(?=[nrvfxu{_UNSEEN}])|&(?=(?:amp;)*(?:lt|quot|#91);)")
"""What a name must show, and what would look like something shown that way."""
_BREAKS = re.compile(r"\s*(?:\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029])\s*")
_VISIBLE = {
    "\n": "\\n",
    "\r": "\\r",
    "\x0b": "\\v",
    "\x0c": "\\f",
    "\x85": "\\n",
    "\u2028": "\\n",
    "\u2029": "\\n",
    "&": "&amp;",
}


class Encoded(str):
    """A text of ours whose data is encoded already, so that encoding leaves it as it is."""

    __slots__ = ()


def encode_text(text: str) -> str:
    """Encode a text of any number of lines, which stands inside a tag."""
    if isinstance(text, Encoded):
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text).replace("<", "&lt;")
    return _CONTROL_WORD.sub("&#91;", text) if "[" in text else text


# options and their descriptions come again with every input


@lru_cache(maxsize=4096)
def encode_line(text: str) -> str:
    """Encode a text that must stay on one line; line breaks become spaces."""
    return encode_text(_BREAKS.sub(" ", text).strip())


@lru_cache(maxsize=4096)
def encode_name(text: str) -> str:
    r"""Encode a name that must stay on one line; line breaks become visible as `\\n`.

    Names that differ, by more than space around them or the kind of a line break, differ once encoded.
    """
    return encode_text(_IN_NAMES.sub(_escaped, text).strip())


def _escaped(found: re.Match[str]) -> str:
    part = found.group()
    if part[0] == "\\":
        return 2 * part
    return _VISIBLE.get(part) or (f"\\x{ord(part):02x}" if ord(part) < 0x100 else f"\\u{ord(part):04x}")


def render_input(value: Input) -> str:
    """Write an input as the text that templates put between their tags.

    A text stays as it is, a mapping becomes JSON, messages become one tag each; all encoded.
    """
    if isinstance(value, str):
        return encode_text(value)
    if isinstance(value, FrozenDict):
        return value.once(_mapping_text)  # hundreds of questions may be about one conversation
    if isinstance(value, Mapping):
        return _mapping_text(value)
    return "\n".join(_message(message) for message in value)


def _mapping_text(value: Mapping[str, Any]) -> str:
    return encode_text(json.dumps(thawed(value), ensure_ascii=False))


def _message(message: Message) -> str:
    name = f' name="{_attribute(message.name)}"' if message.name else ""
    body = [encode_text(message.text)] if message.content else []
    body += [
        f'<call tool="{_attribute(call.name)}">{encode_text(call.arguments)}</call>'
        for call in message.tool_calls
    ]
    return f'<message role="{message.role}"{name}>' + "\n".join(body) + "</message>"


def _attribute(text: str) -> str:
    return encode_name(text).replace('"', "&quot;")
