"""Find the answer in a reply that was asked for as JSON, however it is wrapped."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from yesno.reading.labels import LabelSet

__all__ = ["Stated", "stated_by_number", "stated_in"]

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_TRAILING = re.compile(r",(\s*[}\]])")
_MEMBER = re.compile(
    r'"(?P<key>[^"\\]+)"\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"|true\b|false\b|-?\d+(?:\.\d+)?(?=\s*[,}\s]))'
)
_Pairs: TypeAlias = Sequence[tuple[str, Any]]
_ANNOUNCED = re.compile(r"\A[\s*_#]*(?:the )?(?:final )?answer(?: is)?[\s*_]*[:=]?[\s*_]*", re.IGNORECASE)
"""Words before an answer that is no JSON."""
_NUMBER = re.compile(r"(?:100|\d{1,2})(?:\.\d{1,9})?\s*%?")
_ANSWER = ("answer", "label", "choice", "decision", "result")
"""Keys under which models put their answer, the one asked for first."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a reply says."""

    label: int
    confidence: float | None = None
    """The model's own word for how sure it is (0..1); not a probability that anyone measured."""


def stated_in(text: str, labels: LabelSet) -> Stated | None:
    """Return the answer of a reply; None when it names no label, or more than one.

    Takes an object alone, in a code fence or in prose, with trailing commas, or cut off behind its answer;
    also a reply that is nothing but a label. A reasoning span is not looked at.
    """
    visible = _THINKING.sub("", text)
    found = [stated for stated in (_read(entry, labels) for entry in _objects(visible)) if stated is not None]
    if not found:
        label = _label(_ANNOUNCED.sub("", visible.strip()), labels)
        return None if label is None else Stated(label)
    return found[-1] if len({stated.label for stated in found}) == 1 else None


def stated_by_number(text: str, labels: LabelSet, count: int) -> list[int | None]:
    """Return the answer that a reply gives to each number from 1 to `count`; None where it gives none.

    A number that comes twice is given none, unless whole objects repeat each other. When the reply counts
    differently (from 0, or beyond the end of a list that is not whole) none of it is taken.
    """
    entries = list(_objects(_THINKING.sub("", text), _once))
    wanted = [str(number) for number in range(1, count + 1)]
    numbers = {key for entry in entries for key in entry if key.isascii() and key.isdigit()}
    foreign = numbers.difference(wanted)
    if foreign and (not numbers.issuperset(wanted) or any(int(key) <= count for key in foreign)):
        return [None] * count
    found: list[int | None] = []
    for key in wanted:
        said = {_numbered_label(entry[key], labels) for entry in entries if key in entry}
        found.append(said.pop() if len(said) == 1 else None)
    return found


def _once(pairs: _Pairs) -> dict[str, Any]:
    """Return an object whose repeated names have no value."""
    names = [name.strip() for name, _ in pairs]
    return {
        name: value if names.count(name) == 1 else None for name, (_, value) in zip(names, pairs, strict=True)
    }


def _numbered_label(value: Any, labels: LabelSet) -> int | None:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        stated = _read(value, labels)
        return None if stated is None else stated.label
    return _label(value, labels)


def _objects(text: str, made_of: Callable[[_Pairs], dict[str, Any]] = dict) -> Iterator[Mapping[str, Any]]:
    # models write line breaks into texts
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=made_of)
    place = text.find("{")
    while place >= 0:
        end = place + 1
        for candidate in (text[place:], _TRAILING.sub(r"\1", text[place:])):
            try:
                value, length = decoder.raw_decode(candidate)
            except (ValueError, RecursionError):
                continue
            yield value
            end = place + length
            break
        else:
            cut = text.find("}", place)
            members = text[place : cut + 1 if cut >= 0 else len(text)]
            if '"' not in members:  # a dictionary as Python writes it
                members = members.replace("'", '"')
            yield made_of(list(_members(members, decoder)))
            end = cut if cut >= 0 else len(text)
        place = text.find("{", end)


def _members(text: str, decoder: json.JSONDecoder) -> Iterator[tuple[str, Any]]:
    """Yield the members of a broken object whose values are whole."""
    for match in _MEMBER.finditer(text):
        try:
            yield match["key"], decoder.decode(match["value"])
        except ValueError:  # an escape that JSON does not know
            continue


def _read(entry: Mapping[str, Any], labels: LabelSet, *, inside: bool = False) -> Stated | None:
    members = {key.strip().casefold(): value for key, value in entry.items()}
    for key in _ANSWER:
        if key in members:
            if isinstance(members[key], Mapping):  # such as {"result": {"answer": "yes"}}
                return None if inside else _read(members[key], labels, inside=True)
            label = _label(members[key], labels)
            return None if label is None else Stated(label, _confidence(members.get("confidence")))
    return None


def _label(value: Any, labels: LabelSet) -> int | None:  # noqa: ANN401 - any JSON value
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        return None
    return labels.match(value.strip().encode("utf-8", "surrogatepass")).exact


def _confidence(value: Any) -> float | None:  # noqa: ANN401 - any JSON value
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number = value.strip().removesuffix("%").strip()
        percent = "%" in value or "." not in number
        value = float(number) if not percent else float(number) / 100
        return value if value <= 1 else _confidence(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return float(value) if value <= 1 and not isinstance(value, int) else value / 100
