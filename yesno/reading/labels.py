"""The labels that a prompt asks for, in the form in which replies are searched for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from yesno.errors import QuestionError
from yesno.reading.languages import LANGUAGES, yes_no_forms
from yesno.reading.tokens import fold

__all__ = [
    "FORMS_PER_LABEL",
    "NOTHING",
    "Label",
    "LabelSet",
    "Match",
    "code_labels",
    "column_labels",
    "letter_labels",
    "name_labels",
    "number_labels",
    "yes_no_labels",
]

FORMS_PER_LABEL = 6
"""Single-token spellings of one label: three cases, with and without a space (o200k_base; tiktoken 0.14.0; 2026-11)."""

MOST_LOOKED_UP = 4096
"""Tokens that one set of labels remembers."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Label:
    """One possible answer."""

    key: str
    """What the caller calls it: an option, a level, `"yes"`."""
    shown: str
    """What the prompt asks the model to write."""
    forms: tuple[str, ...]
    """Folded spellings that mean this label."""
    aliases: tuple[str, ...] = ()
    """Folded spellings that also count, but never make another label's spelling ambiguous."""


@dataclass(frozen=True, slots=True)
class Match:
    """How a piece of text relates to the labels."""

    exact: int | None
    """The label that the text spells in full."""
    extends: frozenset[int]
    """Labels that the text is a proper beginning of."""


NOTHING = Match(None, frozenset())
"""How most of the text there is relates to any labels."""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """All labels of one question.

    Raises:
        QuestionError: Two labels share a spelling, or one has none.
    """

    labels: tuple[Label, ...]
    _matches: Mapping[str, Match] = field(default_factory=dict, repr=False, compare=False)
    _byte_matches: Mapping[bytes, Match] = field(default_factory=dict, repr=False, compare=False)
    _looked_up: dict[bytes, Match] = field(default_factory=dict, repr=False, compare=False)
    """What `match` has found: the same tokens come back in reply after reply."""

    def __post_init__(self) -> None:
        exact = _exact_forms(self.labels)
        begins: dict[str, set[int]] = {}
        byte_begins: dict[bytes, set[int]] = {}
        for form, index in exact.items():
            data = form.encode("utf-8", "surrogatepass")
            for end in range(1, len(form)):
                begins.setdefault(form[:end].strip(), set()).add(index)
            for end in range(1, len(data)):
                byte_begins.setdefault(data[:end], set()).add(index)
        primary = {form for label in self.labels for form in label.forms}
        matches: dict[str, Match] = {}
        for text in exact.keys() | begins.keys():
            own = exact.get(text)
            others = begins.get(text, set())
            if own is not None and text in primary:
                others = {i for i in others if _extends_by_primary(self.labels[i], text)}
            matches[text] = Match(own, frozenset(others))
        object.__setattr__(self, "_matches", matches)
        object.__setattr__(
            self, "_byte_matches", {d: Match(None, frozenset(i)) for d, i in byte_begins.items()}
        )

    def __len__(self) -> int:
        return len(self.labels)

    def match(self, data: bytes) -> Match:
        """Return which labels the bytes spell or begin; `NOTHING` for none."""
        known = self._looked_up.get(data)
        if known is None:
            if len(self._looked_up) >= MOST_LOOKED_UP:
                self._looked_up.clear()
            known = self._looked_up[data] = self._match(data)
        return known

    def _match(self, data: bytes) -> Match:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return self._byte_matches.get(data.strip(), NOTHING)
        return self._matches.get(fold(text), NOTHING)

    def spells(self, text: str) -> bool:
        """Return whether a whole reply is a label."""
        match = self._matches.get(fold(text))
        return match is not None and match.exact is not None


def _exact_forms(labels: tuple[Label, ...]) -> dict[str, int]:
    exact: dict[str, int] = {}
    for index, label in enumerate(labels):
        for form in label.forms:
            if not form:
                raise QuestionError(f"answer {label.key!r} has no letter, digit or symbol to read; rename it")
            if exact.setdefault(form, index) != index:
                twin = labels[exact[form]].key
                raise QuestionError(f"answers {twin!r} and {label.key!r} cannot be told apart; rename one")
    claimed = [alias for label in labels for alias in dict.fromkeys(label.aliases)]
    for index, label in enumerate(labels):
        for alias in label.aliases:
            if alias and claimed.count(alias) == 1:
                exact.setdefault(alias, index)
    return exact


def _extends_by_primary(label: Label, text: str) -> bool:
    return any(form != text and form.startswith(text) for form in label.forms)


@lru_cache(maxsize=32)
def yes_no_labels(
    shown: tuple[str, str] = ("Yes", "No"), languages: tuple[str, ...] = tuple(LANGUAGES)
) -> LabelSet:
    """Return the labels of a yes/no question: `"yes"` first, then `"no"`.

    Args:
        shown: The words that the prompt asks for.
        languages: Codes whose words for yes and no count as well; where the prompt asks for a no that means yes, so
            does any other no.
    """
    yes, no = yes_no_forms(languages)
    if fold(shown[0]) in no or fold(shown[1]) in yes:
        yes, no = no, yes
    return LabelSet(
        (
            Label("yes", shown[0], (fold(shown[0]),), yes),
            Label("no", shown[1], (fold(shown[1]),), no),
        )
    )


def letter_labels(keys: Iterable[str]) -> LabelSet:
    """Label up to 26 keys A, B, C, …; a reply with the key itself counts as well."""
    names = tuple(keys)
    if len(names) > len(LETTERS):
        raise QuestionError(
            f"{len(names)} answers are more than there are letters; use at most {len(LETTERS)}"
        )
    pairs = zip(names, LETTERS, strict=False)
    return LabelSet(tuple(Label(key, letter, (letter.casefold(),), _names(key)) for key, letter in pairs))


def column_labels(keys: Iterable[str]) -> LabelSet:
    """Label any number of keys A to Z, AA, AB, … as spreadsheets do: for replies that are read as a whole."""
    pairs = ((key, _column(number)) for number, key in enumerate(keys))
    return LabelSet(tuple(Label(key, name, (name.casefold(),), _names(key)) for key, name in pairs))


def code_labels(keys: Iterable[str], codes: Iterable[str]) -> LabelSet:
    """Label keys by codes of the caller's; a reply with the key itself counts as well."""
    pairs = zip(keys, codes, strict=True)
    return LabelSet(tuple(Label(key, code, (code.casefold(),), _names(key)) for key, code in pairs))


def _column(number: int) -> str:
    high, low = divmod(number, len(LETTERS))
    return (_column(high - 1) if high else "") + LETTERS[low]


def number_labels(keys: Iterable[str], *, start: int) -> LabelSet:
    """Label keys by consecutive numbers from `start`; a reply with the key itself counts as well."""
    pairs = enumerate(keys, start=start)
    return LabelSet(tuple(Label(key, str(number), (str(number),), _aliases(key)) for number, key in pairs))


def name_labels(keys: Iterable[str]) -> LabelSet:
    """Label keys by themselves."""
    return LabelSet(tuple(Label(key, key, (fold(key),)) for key in keys))


def _names(key: str) -> tuple[str, ...]:
    """Return the key as a reply in place of its letter: a number or an emoji, but no letter, which may be another's."""
    folded = fold(key)
    return (folded,) if len(folded) > 1 or (folded and not (folded.isascii() and folded.isalpha())) else ()


def _aliases(key: str) -> tuple[str, ...]:
    folded = fold(key)
    return (folded,) if len(folded) > 1 and not folded.isdigit() else ()
