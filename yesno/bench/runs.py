"""A run on disk: `run.json` says what is measured, `rows.jsonl` holds what came back, reports stand beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from yesno.bench.rows import SCHEMA, Row, Way, collected, read_rows
from yesno.calibration.files import write_whole
from yesno.errors import ConfigError
from yesno.labelled import LabelledSet

__all__ = [
    "CARD",
    "ROWS",
    "Run",
    "RunCard",
    "SetCard",
    "load_run",
    "merged",
    "read_card",
    "write_card",
]

CARD = "run.json"
ROWS = "rows.jsonl"


@dataclass(frozen=True, slots=True)
class SetCard:
    """Which items of a set a run is about."""

    version: str
    """As `LabelledSet.version`."""
    items: int
    """How many are to be asked about."""
    path: str | None = None
    """Where the file was, as it was named; None when it was no file."""
    split: str | None = None
    ways: tuple[Way, ...] = ()
    """How these items are to be asked about."""


@dataclass(frozen=True, slots=True)
class RunCard:
    """What a run measures; what does not agree with it is never added to it."""

    sets: Mapping[str, SetCard]
    """Name -> what is asked about of it."""
    templates: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Template set -> type of question -> digest of its template."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Name of a model in the rows -> `provider:model` as it was asked for."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the models that can change an answer, such as `orders`, as plain JSON values."""
    commands: tuple[str, ...] = ()
    """The command lines that made it, in order."""
    made: str = ""
    """When it was begun, ISO 8601 in UTC."""
    yesno: str = ""
    """Version of yesno that began it."""
    imported: bool = False
    """Whether its rows come from elsewhere."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it is on disk."""

    folder: Path
    card: RunCard
    rows: tuple[Row, ...] = field(repr=False)
    """One for each item and way of asking, in the order they came."""
    stopped: tuple[str, ...] = ()
    """Why what was planned was not asked to its end, if it was not; known only to who has just run it."""
    sets: Mapping[str, LabelledSet] = field(default_factory=dict, repr=False)
    """Name -> the items themselves; known only to who has just run it."""

    @property
    def name(self) -> str:
        """Name of its folder."""
        return self.folder.resolve().name

    @property
    def planned(self) -> int:
        """How many rows there are to be: each item in each way that its set is asked."""
        here: dict[str, set[Way]] = {name: set(held.ways) for name, held in self.card.sets.items()}
        for row in self.rows:
            here[row.set].add(row.way)
        return sum(held.items * len(here[name]) for name, held in self.card.sets.items())


def load_run(folder: str | Path) -> Run:
    """Read a run.

    Raises:
        ConfigError: There is none in this folder, or it cannot be read; a bad row is named by its number.
    """
    place = Path(folder)
    card = read_card(place)
    if card is None:
        raise ConfigError(f"{str(folder)!r} holds no run; `yesno bench` and `yesno bench import` make one")
    rows = place / ROWS
    try:
        found = tuple(collected(read_rows(rows)).values()) if rows.exists() else ()
    except ConfigError as error:
        raise ConfigError(f"the run {str(folder)!r} cannot be used: {error}") from None
    for row in found:
        held = card.sets.get(row.set)
        if held is None or held.version != row.data:
            raise ConfigError(
                f"the run {str(folder)!r} has rows of set {row.set!r} that {CARD} does not speak of"
            )
    return Run(place, card, found)


def read_card(folder: Path) -> RunCard | None:
    """Return what `run.json` says; None when there is none.

    Raises:
        ConfigError: It cannot be read, or is of another version.
    """
    file = folder / CARD
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(f"{str(file)!r} cannot be read: {type(error).__name__}") from error
    if not isinstance(said, dict) or said.pop("v", None) != SCHEMA:
        raise ConfigError(f"{str(file)!r} is of another version; this yesno reads version {SCHEMA}")
    try:
        sets = {name: _set_card(held) for name, held in said.pop("sets").items()}
        return RunCard(sets=sets, **{**said, "commands": tuple(said.get("commands", ()))})
    except (TypeError, KeyError, AttributeError) as error:
        raise ConfigError(f"{str(file)!r} is no card of a run") from error


def _set_card(said: Mapping[str, Any]) -> SetCard:
    return SetCard(**{**said, "ways": tuple(Way(*way) for way in said.get("ways", ()))})


def write_card(folder: Path, card: RunCard) -> None:
    """Write `run.json` whole or not at all.

    Raises:
        ConfigError: It cannot be written.
    """
    said = {"v": SCHEMA, **asdict(card)}
    write_whole(folder / CARD, json.dumps(said, indent=2) + "\n")


def merged(old: RunCard | None, new: RunCard) -> RunCard:
    """Return the card of a run that goes on: more sets, templates and items may come, and nothing may change.

    Raises:
        ConfigError: A set, a template or a setting is another one than before.
    """
    if old is None:
        return new
    if old.imported != new.imported:
        raise ConfigError(
            "rows from elsewhere and rows of models asked here do not go into one run; take another --out"
        )
    for name, held in new.sets.items():
        if name in old.sets and old.sets[name].version != held.version:
            raise ConfigError(
                f"set {name!r} is not the one that this run is about: its items or labels have changed; take another --out"
            )
    for name, digests in new.templates.items():
        if old.templates.get(name, digests) != digests:
            raise ConfigError(
                f"template set {name!r} has changed since this run was begun; take another --out"
            )
    if old.settings != new.settings:
        changed = sorted(
            k for k in {*old.settings, *new.settings} if old.settings.get(k) != new.settings.get(k)
        )
        raise ConfigError(f"this run was begun with another `{changed[0]}`; take another --out")
    sets = dict(old.sets)
    for name, held in new.sets.items():
        before = sets.get(name, held)
        ways = tuple(dict.fromkeys((*before.ways, *held.ways)))
        sets[name] = replace(held, items=max(held.items, before.items), ways=ways)
    return replace(
        old,
        sets=sets,
        templates={**old.templates, **new.templates},
        models={**old.models, **new.models},
        commands=tuple(dict.fromkeys((*old.commands, *new.commands))),
    )
