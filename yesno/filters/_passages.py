"""The text of whatever callers call a document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from yesno.errors import QuestionError

__all__ = ["TextOf", "text_of"]

TextOf: TypeAlias = str | Callable[[Any], str]
"""The name of a key or an attribute that holds a document's text, or a function that returns it."""
NAMES = ("text", "page_content", "content")
"""Where a text is looked for: our own and LlamaIndex's name, LangChain's and Haystack's (2026-11)."""


def text_of(document: Any, number: int, where: TextOf | None = None) -> str:  # noqa: ANN401 - any object
    """Return a document's text.

    Args:
        document: A text, a mapping or an object that holds one under `text`, `page_content` or `content`.
        number: Which document it is, for errors, from 1.
        where: Another name of the key or attribute, or a function of the document.

    Raises:
        QuestionError: There is no text, or it is blank.
    """
    text = where(document) if callable(where) else _found(document, where)
    if not isinstance(text, str):
        looked = where if isinstance(where, str) else "`, `".join(NAMES)
        hint = (
            f"the function `text` returned a {type(text).__name__}"
            if callable(where)
            else f"it is a {type(document).__name__} without a text under `{looked}`; pass `text=` to say where it is"
        )
        raise QuestionError(f"document {number} has no text: {hint}")
    if not text.strip():
        raise QuestionError(f"document {number} is blank; leave it out")
    return text


def _found(document: Any, where: str | None) -> Any:  # noqa: ANN401 - any object
    if isinstance(document, str) and where is None:
        return document
    for name in NAMES if where is None else (where,):
        in_mapping = isinstance(document, Mapping)
        value = document.get(name) if in_mapping else getattr(document, name, None)
        if isinstance(value, str):
            return value
    return None
