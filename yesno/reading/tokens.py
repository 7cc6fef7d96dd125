"""From a token as a server writes it to the text that it stands for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from yesno.evidence import Candidate

__all__ = ["data_of", "fold", "has_undecodable", "is_mark", "is_special", "is_undecodable", "reading_text"]

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
REPLACED = REPLACEMENT.encode()
_MARKERS = re.compile(rb"(?:\xc4\xa0|\xc4\x8a|\xe2\x96\x81)+")
"""Byte-level BPE writes a leading space as U+0120 and a line break as U+010A, SentencePiece a space as
U+2581; some servers pass them on (lmdeploy issue 2802; 2026-11)."""
_MARKER_BEGINS = (b"\xc4", b"\xe2")
_PUNCTUATION = "\"'`*_~.,:;!?()[]{}<>|\u00a1\u00bf\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e\u2026\u3001\u3002\u300c\u300d\u300e\u300f\u0964\u060c\u061f"
_IGNORED = "\ufe0f\ufeff\u200b\u200c\u200d\u2060\u200e\u200f\u00ad"
_EDGE = _PUNCTUATION + _IGNORED
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPECIAL = re.compile(r"<\|[^|<>]*\|>|</?s>|<(?:eos|bos|pad|end_of_turn|start_of_turn|\uff5c[^<>]*\uff5c)>")


def data_of(candidate: Candidate) -> bytes:
    """Return the bytes that a token adds to the text.

    Bytes that the server sent win over the token's text, which may be escaped or garbled. Leading markers
    of space and line break become what they stand for.
    """
    data = candidate.data
    if data is None:
        byte_token = _BYTE_TOKEN.fullmatch(candidate.token) if candidate.token[:1] == "<" else None
        if byte_token:
            return bytes([int(byte_token[1], 16)])
        data = candidate.token.encode("utf-8", "surrogatepass")
    lead = _MARKERS.match(data) if data[:1] in _MARKER_BEGINS else None
    if lead is None:
        return data
    space = lead[0].replace(b"\xc4\x8a", b"\n").replace(b"\xc4\xa0", b" ").replace(b"\xe2\x96\x81", b" ")
    return space + data[lead.end() :]


def is_undecodable(candidate: Candidate) -> bool:
    """Return whether the server replaced bytes it could not decode, so that the token is unknown."""
    return has_undecodable((candidate,))


def has_undecodable(candidates: Iterable[Candidate]) -> bool:
    """Return whether one of these tokens is unknown; see `is_undecodable`."""
    for candidate in candidates:
        data = candidate.data
        if (REPLACED in data) if data is not None else (REPLACEMENT in candidate.token):
            return True
    return False


def reading_text(data: bytes) -> str:
    """Decode bytes for comparison; part of a character becomes a replacement character."""
    return data.decode("utf-8", "replace")


@lru_cache(maxsize=16384)
def fold(text: str) -> str:
    """Return a text without case, width, surrounding space, punctuation, quotes and invisible marks."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    while True:
        trimmed = folded.strip().strip(_EDGE)
        if trimmed == folded:
            return folded
        folded = trimmed


@lru_cache(maxsize=4096)
def is_mark(text: str) -> bool:
    """Return whether a text is only space, markdown, quotes or invisible characters."""
    return all(
        c.isspace()
        or c in "\"'`*_#>~\u00ab\u00bb\u201c\u201d\u201e\u2018\u2019\u300c\u300e"
        or _is_ignored(c)
        for c in text
    )


def is_special(text: str) -> bool:
    """Return whether a token is a marker of the chat format, such as the end of a turn."""
    return not text or _SPECIAL.fullmatch(text.strip()) is not None


def _is_ignored(character: str) -> bool:
    return character in _IGNORED or unicodedata.category(character) == "Cc"
