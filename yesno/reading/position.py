"""Where in a reply the answer begins."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from yesno.evidence import Completion, Position
from yesno.reading.tokens import data_of, is_mark, is_special, is_undecodable, reading_text

__all__ = ["Start", "Written", "after_marks", "aligned", "find_start", "locate", "thinks"]

_REASONING = re.compile(rb"\s*(?:<(?:think|thinking|thought|reasoning)>|\[THINK\])", re.IGNORECASE)
_REASONED = re.compile(rb"</(?:think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
ANSWER_FIELDS = ("answer", "score", "label", "choice", "value", "rating")
"""Fields that may hold the answer of a JSON reply, the first present wins."""


@dataclass(frozen=True, slots=True)
class Start:
    """The answer begins `skip` bytes into the token at `index`."""

    index: int
    skip: int = 0
    path: float = 1.0
    """Probability (0..1) of the marks that were passed on the way."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the tokens of a reply spell, and where in it the final content begins."""

    pieces: tuple[bytes, ...]
    """Bytes of each token, without the markers that end the turn."""
    offset: int

    @property
    def content(self) -> bytes:
        """All that is written from the final content on."""
        return b"".join(self.pieces)[self.offset :]


def find_start(
    completion: Completion, positions: Sequence[Position], *, answers_at: Callable[[Start], bool]
) -> Start | str:
    """Return where the answer begins, or a word for why it cannot be found.

    Args:
        completion: The reply.
        positions: Its tokens.
        answers_at: Whether most of the probability at a place is on labels; a mark that was written there
            all the same (the reply is a sample) is then not passed over.
    """
    written = aligned(completion, positions)
    if isinstance(written, str):
        return written
    pieces, offset = written.pieces, written.offset
    content = written.content.decode("utf-8", "surrogateescape")
    value = _json_value(content)
    if value is not None:
        return locate(pieces, offset + len(content[:value].encode("utf-8", "surrogateescape")))
    start = _before_space(pieces, locate(pieces, offset))
    return after_marks(positions, pieces, start, answers_at)


def aligned(completion: Completion, positions: Sequence[Position]) -> Written | str:
    """Find a reply's final content in its tokens, or return a word for why it cannot be found."""
    pieces = [data_of(position.chosen) for position in positions]
    while pieces and is_special(reading_text(pieces[-1])):
        pieces.pop()
    if any(is_undecodable(position.chosen) for position in positions):
        return "undecodable_tokens"
    offset = _content_offset(completion.text or "", b"".join(pieces))
    return offset if isinstance(offset, str) else Written(tuple(pieces), offset)


def thinks(completion: Completion) -> bool:
    """Return whether something was written before the reply that is shown: a reasoning span, marked or left out."""
    text = completion.text or ""
    if _REASONING.match(text.encode("utf-8", "surrogatepass")):
        return True
    pieces = [data_of(position.chosen) for position in completion.positions or ()]
    written = b"".join(piece for piece in pieces if not is_special(reading_text(piece)))
    offset = _content_offset(text, written)
    if isinstance(offset, str):
        unseen = offset == "empty" and completion.finish == "length" and not is_mark(reading_text(written))
        return unseen or offset == "reasoning_unfinished"
    return not is_mark(reading_text(written[:offset]))


def _content_offset(text: str, written: bytes) -> int | str:
    visible = text.strip().encode("utf-8", "surrogatepass")
    after = max((close.end() for close in _REASONED.finditer(written)), default=None)
    if after is not None:  # a chat template may have opened the span in the prompt
        return max(after, written.rfind(visible) if visible else after)
    if _REASONING.match(written):
        return "reasoning_unfinished"
    if not visible:
        return "empty"
    found = written.rfind(visible)
    if found >= 0:
        return found
    return 0 if visible.startswith(written.strip()) and written.strip() else "misaligned"


def locate(pieces: Sequence[bytes], offset: int) -> Start:
    """Return the place of a byte offset in the tokens."""
    position = 0
    for index, piece in enumerate(pieces):
        if position + len(piece) > offset:
            return Start(index, offset - position)
        position += len(piece)
    return Start(len(pieces))


def _before_space(pieces: Sequence[bytes], start: Start) -> Start:
    """Go back over blank tokens, which the final content may lack, to where the model began to answer."""
    index = start.index
    if index < len(pieces) and pieces[index][: start.skip].strip():
        return start
    while index > 0 and not pieces[index - 1].strip():
        index -= 1
    return Start(index)


def after_marks(
    positions: Sequence[Position], pieces: Sequence[bytes], start: Start, answers_at: Callable[[Start], bool]
) -> Start:
    """Return the place behind the marks at a place; for `answers_at` see `find_start`."""
    index, skip, path = start.index, start.skip, start.path
    while index < len(pieces):
        text = reading_text(pieces[index][skip:])
        if not (is_mark(text) or is_special(text)) or answers_at(Start(index, skip)):
            break
        logprob = positions[index].chosen.logprob
        if logprob is not None and -50 < logprob < 0:
            path *= math.exp(logprob)
        index, skip = index + 1, 0
    return Start(index, skip, path)


_FENCE = re.compile(r"\s*(?:```[a-zA-Z]*\s*)?(?=\{)")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*', re.DOTALL)


def _json_value(content: str) -> int | None:
    """Return where the value of the answer field begins, past its quote; None when this is no JSON object."""
    opening = _FENCE.match(content)
    if not opening or not content[opening.end() :].startswith("{"):
        return None
    values = dict(_fields(content, opening.end() + 1))
    for name in ANSWER_FIELDS:
        if name in values:
            return values[name]
    return None


def _fields(content: str, index: int) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    decoder = json.JSONDecoder()
    while True:
        key = _STRING.search(content, index)
        if key is None or content[index : key.start()].strip(" ,\n\r\t"):
            return found
        at = key.end()
        found.append((key[1], at + 1 if content[at : at + 1] == '"' else at))
        try:
            _, index = decoder.raw_decode(content, at)
        except ValueError:
            return found
