"""Worked examples out of the rows that are kept for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import zip_longest
from statistics import median
from typing import Any

from yesno.labelled import Item, answer_of, options_of
from yesno.messages.plain import thawed
from yesno.questions import Choice, Scale, YesNo
from yesno.tuner.candidates import Example

__all__ = ["draws", "sizes"]

SHORT = 240
"""Characters that no example is too long for; else it may be as long as half of them are."""
LONGEST = 6000
"""Characters of all examples together: they are read with every question."""
MOST = 16


def sizes(rows: Sequence[Item]) -> tuple[int, ...]:
    """Return how many examples to try: about one and two of each possible answer, 4 and 8 for yes and no."""
    kinds = {len(options_of(row.question)) for row in rows}
    each = max(kinds)
    if each == 2:
        return (4, 8)
    return (each, 2 * each) if 2 * each <= MOST else (min(each, MOST // 2), MOST)


def draws(rows: Sequence[Item], *, variants: int, seed: int) -> list[tuple[Example, ...]]:
    """Return so many different lists of worked examples, the possible answers balanced in each.

    Sizes and draws take turns: the first draw in each size, then the second. Rows whose input is a list of messages are
    none, and those longer than half of the rows.

    Args:
        rows: Of which nothing is asked.
        variants: Lists to make; fewer where the rows do not give as many.
        seed: Fixes the draws.
    """
    texts = {row.id: text for row in rows if (text := _text(row)) is not None}
    if not texts:
        return []
    limit = max(SHORT, median(map(len, texts.values())))
    fit = [row for row in rows if row.id in texts and len(texts[row.id]) <= limit]
    made: dict[tuple[str, ...], tuple[Example, ...]] = {}
    for number in range(4 * variants):
        draw, place = divmod(number, len(sizes(rows)))
        picked = _picked(fit, sizes(rows)[place], f"{seed}:{draw}")
        if picked and sum(len(texts[row.id]) + _asked_length(row) for row in picked) <= LONGEST:
            made.setdefault(tuple(sorted(row.id for row in picked)), tuple(map(_example, picked)))
        if len(made) == variants:
            break
    return list(made.values())


def _text(row: Item) -> str | None:
    if isinstance(row.input, str):
        return row.input
    return str(dict(row.input)) if isinstance(row.input, Mapping) else None


def _asked_length(row: Item) -> int:
    return len(row.question.text) + sum(map(len, options_of(row.question)))


def _picked(rows: Sequence[Item], size: int, salt: str) -> list[Item]:
    by_answer: dict[str, list[Item]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: _hash(salt, row.id)):
        by_answer[answer_of(row)].append(row)
    turns = zip_longest(*(by_answer[answer] for answer in sorted(by_answer)))
    picked = [row for turn in turns for row in turn if row is not None][:size]
    return sorted(picked, key=lambda row: _hash(salt + ":order", row.id))


def _hash(salt: str, name: str) -> str:
    return sha256(f"{salt}:{name}".encode()).hexdigest()


def _example(row: Item) -> Example:
    given = row.input if isinstance(row.input, str) else _json(row.input)
    fields: dict[str, Any] = {"input": given, "question": row.question.text}
    match row.question:
        case YesNo(yes_when=yes_when, no_when=no_when):
            fields |= {"yes_when": yes_when, "no_when": no_when, "answer": row.label == 0}
        case Choice(options=options, none=none):
            listed = [[name, text] if text != name else name for name, text in options.items()]
            mixed = [[name, text] for name, text in options.items()]
            fields["options"] = listed if all(isinstance(entry, str) for entry in listed) else mixed
            fields |= {"none": none, "answer": answer_of(row)}
        case Scale(levels=levels):
            fields |= {"levels": list(levels), "answer": answer_of(row)}
    return Example(row.id, {name: value for name, value in fields.items() if value is not None})


def _json(given: Any) -> str:  # noqa: ANN401 - a mapping of plain values
    import json

    return json.dumps(thawed(given), ensure_ascii=False)
