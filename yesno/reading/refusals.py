"""Refusals that arrive as ordinary text."""

from __future__ import annotations

import re

__all__ = ["is_refusal", "refuses_with_no"]

_OPENINGS = (
    r"i(?:'m| am) (?:so |very |really )?sorry\b",
    r"(?:i(?:'m| am) )?sorry,? (?:but )?i\b",
    r"sorry, (?:but|i|that)\b",
    r"i (?:can(?:'t|not)|won't|will not|am unable|'m unable|am not able|'m not able|must decline)\b",
    r"i(?:'m| am) (?:unable|not able)\b",
    r"(?:unfortunately|apologies|my apologies|i apologi[sz]e)\b,? ?(?:but )?(?:i\b|for\b|that\b|$)",
    r"i (?:do not|don't|am not|'m not) (?:feel )?comfortable\b|i(?:'m| am) not comfortable\b",
    r"i (?:must|have to) (?:respectfully |politely )?(?:decline|refuse)\b",
    r"as an? (?:ai|(?:large )?language model)\b",
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


_WITH_NO = re.compile(
    r"[\s\"'*_#>]*(?:no (?:puedo|podemos|me es posible)|n[ãa]o (?:posso|podemos|consigo)|non (?:posso|possiamo))\b",
    re.IGNORECASE,
)
"""Spanish, Portuguese and Italian for "I cannot", which begin with a word for no."""


def refuses_with_no(text: str) -> bool:
    """Return whether a reply opens like a refusal whose first word alone would be the answer no."""
    return _WITH_NO.match(text) is not None


def is_refusal(text: str) -> bool:
    """Return whether a reply opens like a refusal, in one of nine languages."""
    return refuses_with_no(text) or (
        _REFUSAL.match(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None
    )
