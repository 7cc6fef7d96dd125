"""Leave out the tools that share no words with the request, before anything is asked.

Needs `bm25s` (extra `search`; it brings numpy and nothing else).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from yesno.errors import ConfigError
from yesno.tools import Tool

if TYPE_CHECKING:
    from regex import Pattern

__all__ = ["Shortlist", "bm25", "terms"]

_STEM = 4
"""Letters that longer words are cut to, beside the whole word: a stemmer for many languages. See `benchmarks/filters`
for what it finds."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The `count` tools whose name, description and arguments fit a query best by BM25.

    Raises:
        ConfigError: `bm25s` is not installed.
    """

    count: int

    def __post_init__(self) -> None:
        _bm25s()

    def pick(self, query: str, tools: Sequence[Tool]) -> list[int]:
        """Return the places of the tools to ask about, in their order.

        That is all of them when no word of the query is in any tool, such as in another language: then nothing is
        known against any.
        """
        everything = list(range(len(tools)))
        if len(tools) <= self.count:
            return everything
        scores = bm25(query, [tool.words for tool in tools])
        if scores is None:
            return everything
        return sorted(sorted(everything, key=lambda place: -scores[place])[: self.count])


def bm25(query: str, texts: Sequence[str]) -> list[float] | None:
    """Return how well each text fits a query, from 0 on; None when no word of the query is in any of them.

    Raises:
        ConfigError: `bm25s` is not installed.
    """
    index = _index(tuple(texts))
    wanted = [] if index is None else [term for term in terms(query) if term in index.vocab_dict]
    if index is None or not wanted:
        return None
    return [float(score) for score in index.get_scores(wanted)]


def terms(text: str) -> Iterator[str]:
    """Yield what a text is found by: its words, in lower case, also inside of identifiers, and their beginnings.

    `getUserName` and `get_user_name` are three words each. Scripts without spaces give pairs of letters.
    """
    words, unspaced = _patterns()
    for found in words.finditer(unicodedata.normalize("NFKC", text)):
        word = found.group().casefold()
        if unspaced.fullmatch(word):
            yield from (word[i : i + 2] for i in range(max(len(word) - 1, 1)))
            continue
        yield word
        if len(word) > _STEM:
            yield word[:_STEM] + "*"


@cache
def _patterns() -> tuple[Pattern[str], Pattern[str]]:
    import regex

    unspaced = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー]"
    cased = r"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}[\p{Ll}\p{M}]*"
    words = regex.compile(
        rf"{unspaced}+|{cased}|(?:(?!{unspaced})[\p{{Lo}}\p{{Lm}}\p{{M}}])+|\p{{Lt}}|\p{{N}}+"
    )
    return words, regex.compile(f"{unspaced}+")


@lru_cache(maxsize=8)  # the same tools come with every message
def _index(texts: tuple[str, ...]) -> Any:  # noqa: ANN401 - a bm25s.BM25; None when no tool has a word
    corpus = [list(terms(text)) for text in texts]
    if not any(corpus):
        return None
    index = _bm25s().BM25()
    index.index(corpus, show_progress=False)
    return index


def _bm25s() -> Any:  # noqa: ANN401 - a module without types
    try:
        import bm25s
    except ImportError:
        raise ConfigError("`shortlist` needs bm25s; install it with: pip install 'yesno[search]'") from None
    return bm25s
