"""Refusals that arrive as ordinary text."""

from __future__ import annotations

import re

__all__ = ["is_refusal"]

_OPENINGS = (
    r"i(?:'m| am) (?:so |very |really )?sorry\b",
    r"(?:i(?:'m| am) )?sorry,? (?:but )?i\b",
    r"sorry, (?:but|i|that)\b",
    r"i (?:can(?:'t|not)|won't|will not|am unable|'m unable|am not able|'m not able|must decline)\b",
    r"i(?:'m| am) (?:unable|not able)\b",
    r"(?:unfortunately|apologies|my apologies|i apologi[sz]e)\b,? ?(?:but )?(?:i\b|for\b|that\b|$)",
    r"as an ai\b",
    r"es tut mir leid|tut mir leid",
    r"je suis désolée?\b|désolée?, je",
    r"lo siento\b",
    r"(?:sinto muito|desculpe)\b",
    r"mi dispiace\b",
    r"抱歉|对不起|很抱歉",
    r"申し訳|すみません",
    r"죄송",
)
_REFUSAL = re.compile(r"[\s\"'*_#>]*(?:" + "|".join(_OPENINGS) + ")", re.IGNORECASE)


def is_refusal(text: str) -> bool:
    """Return whether a reply opens like a refusal, in one of nine languages."""
    return _REFUSAL.match(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None
