"""Which rows are for what, fixed by a seed; rows of one group stay together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest

from yesno.labelled import Item, answer_of

__all__ = ["Split", "split"]

TRAIN, SELECT = 0.2, 0.5
"""Shares of the rows that worked examples are picked from, and that candidates are compared on; the rest is held out."""


@dataclass(frozen=True, slots=True)
class Split:
    """The three parts, each with its answers in turns, so that a beginning of it has some of each."""

    train: tuple[Item, ...]
    select: tuple[Item, ...]
    held_out: tuple[Item, ...]


def split(
    rows: Sequence[Item], *, seed: int, train: float = TRAIN, select: float = SELECT, held_out: float = 1.0
) -> Split:
    """Return three parts of the rows; the same rows and seed give the same parts, in whatever order they come.

    Groups go to the parts label by label (a group's label is the one most of its rows have), in the order of a hash of
    seed and group.

    Args:
        rows: All of them.
        seed: Fixes what goes where.
        train: Share (0..1) of the rows for worked examples.
        select: Share of the rows to compare on.
        held_out: Share of the rows to hold out, as far as there are any left; others are not used.
    """
    groups: dict[str, list[Item]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.id):
        groups[row.group].append(row)
    by_label: dict[str, list[list[Item]]] = defaultdict(list)
    for members in groups.values():
        labels = [answer_of(row) for row in members]
        by_label[max(sorted(set(labels)), key=labels.count)].append(members)
    parts: tuple[list[Item], list[Item], list[Item]] = ([], [], [])
    ends = (train, train + select, train + select + held_out)
    for label in sorted(by_label):
        ordered = sorted(by_label[label], key=lambda members: _hash(seed, members[0].group))
        total, done = sum(map(len, ordered)), 0
        for members in ordered:
            share = (done + len(members) / 2) / total
            place = sum(share >= end for end in ends)
            if place < len(parts):
                parts[place].extend(members)
            done += len(members)
    return Split(*(tuple(_in_turns(part, seed)) for part in parts))


def _in_turns(rows: Iterable[Item], seed: int) -> list[Item]:
    by_label: dict[str, list[Item]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: _hash(seed, row.id)):
        by_label[answer_of(row)].append(row)
    turns = zip_longest(*(by_label[label] for label in sorted(by_label)))
    return [row for turn in turns for row in turn if row is not None]


def _hash(seed: int, name: str) -> str:
    return sha256(f"{seed}:{name}".encode()).hexdigest()
