"""The rows of a run: one per item and way of asking, kept as JSON lines that outlive a killed process."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from yesno._rows import json_rows
from yesno.errors import ConfigError
from yesno.labelled.item import Kind, label_index
from yesno.questions.base import TOLERANCE

__all__ = [
    "SCHEMA",
    "Result",
    "Row",
    "RowKey",
    "Way",
    "collected",
    "read_rows",
    "row_from",
]

SCHEMA = 1
"""Version of the row; a row of a newer one is refused."""

Result: TypeAlias = Literal["answer", "undecided", "refusal", "error"]
KINDS: tuple[Kind, ...] = ("yes_no", "choice", "scale")
RESULTS: tuple[Result, ...] = ("answer", "undecided", "refusal", "error")


class Way(NamedTuple):
    """What is compared with what: a model, asked with a template set and a strategy."""

    model: str
    template: str
    strategy: str


class RowKey(NamedTuple):
    """What tells a row from the others of a run."""

    set: str
    id: str
    way: Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one item that was asked about in one way.

    Raises:
        ConfigError: Its fields contradict each other, or a number is none that they can have.
    """

    set: str
    """Name of the set."""
    id: str
    """Name of the item, once per set."""
    group: str
    """Items of one group, such as paraphrases, stay together when they are split or resampled."""
    data: str
    """Version of the set: SHA-256 of its items, as `LabelledSet.version`."""
    model: str
    """As it was named, such as `openai:gpt-5.4-mini`."""
    template: str
    """Name of the template set."""
    template_hash: str | None = None
    """Digest of the template of this type of question; None when no template of ours was rendered."""
    strategy: str = "auto"
    """What was asked for; `method` says what was done."""
    kind: Kind
    options: tuple[str, ...]
    """Names of what could be answered: `("yes", "no")`, the options with a way out behind them, or the levels from
    the lowest."""
    label: int
    """Index of the right answer among `options`."""
    asked: str | None = None
    """Digest of the question, as `yesno.calibration.subjects.question_digest`; None when nobody knows."""
    shares: tuple[float, ...] | None = None
    """Share (0..1) of the people who labelled it that gave each option; sums to 1."""
    outcome: Result
    reason: str | None = None
    """Why there is no answer: the reason of an `Undecided`, the category of a `Refusal`, the type of an error."""
    probabilities: tuple[float, ...] | None = None
    """Probability (0..1) of each option; sums to 1. None unless `outcome` is `"answer"`."""
    raw: tuple[float, ...] | None = None
    """The same as read, before a calibration and before a prior was taken out; None when it is the same."""
    calibrated: bool = False
    label_mass: float | None = None
    """Share (0..1) of the model's probability that fell on an option at all."""
    method: str | None = None
    """`"logprobs"`, `"native"` or `"sampled"`."""
    flags: tuple[str, ...] = ()
    latency_s: float | None = None
    """Seconds from the question to its outcome; None when a part of it came from a cache, or nobody knows."""
    requests: int = 0
    cache_hits: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    """Part of `tokens_in` that the prompt cache of a provider served."""
    tokens_out: int = 0
    cost_usd: float | None = None
    """None when unknown."""
    at: str | None = None
    """When it was asked, ISO 8601 in UTC."""

    def __post_init__(self) -> None:
        _check_options(self)
        if not 0 <= self.label < len(self.options):
            raise ConfigError(
                f"`label` is {self.label}, and the options are numbered from 0 to {_last(self)}"
            )
        if self.outcome == "answer" and self.probabilities is None:
            raise ConfigError("an answer needs `probabilities`; without them it is no answer")
        if self.outcome != "answer" and self.probabilities is not None:
            raise ConfigError(f"the outcome {self.outcome!r} has no `probabilities`")
        for name in ("probabilities", "raw", "shares"):
            _check_distribution(name, getattr(self, name), len(self.options))
        _check_number("label_mass", self.label_mass, most=1 + TOLERANCE)
        for name in (
            "latency_s",
            "cost_usd",
            "requests",
            "cache_hits",
            "tokens_in",
            "tokens_cached",
            "tokens_out",
        ):
            _check_number(name, getattr(self, name))

    @property
    def way(self) -> Way:
        """The model, template set and strategy."""
        return Way(self.model, self.template, self.strategy)

    @property
    def key(self) -> RowKey:
        """What tells it from the others of its run."""
        return RowKey(self.set, self.id, self.way)

    def document(self) -> dict[str, Any]:
        """Return the row as plain JSON values; what is None or empty is left out, the label is a name.

        The label of a scale is the number of its level, from 0.
        """
        shown: dict[str, Any] = {"v": SCHEMA}
        for name in _FIELDS:
            value = getattr(self, name)
            if value is not None and value != () and value is not False:
                shown[name] = list(value) if isinstance(value, tuple) else value
        shown["label"] = self.label if self.kind == "scale" else self.options[self.label]
        return shown


_FIELDS = tuple(field.name for field in fields(Row))
_TEXTS = ("set", "id", "group", "data", "model", "template", "strategy", "kind", "outcome")
_MAYBE_TEXTS = ("template_hash", "asked", "reason", "method", "at")
_COUNTS = ("requests", "cache_hits", "tokens_in", "tokens_cached", "tokens_out")


def row_from(document: Any) -> Row:  # noqa: ANN401 - any JSON value
    """Return the row of a JSON value that `Row.document` gave.

    Raises:
        ConfigError: It is none, or of a newer version.
    """
    if not isinstance(document, Mapping):
        raise ConfigError(f"it is a {type(document).__name__}, not an object")
    if document.get("v", SCHEMA) != SCHEMA:
        raise ConfigError(f"it has version {document['v']!r}, and this yesno reads version {SCHEMA}")
    unknown = sorted(document.keys() - {"v", *_FIELDS})
    if unknown:
        raise ConfigError(f"it has an unknown field {unknown[0]!r}")
    values: dict[str, Any] = {name: document[name] for name in _FIELDS if name in document}
    for name in (*_TEXTS, *_MAYBE_TEXTS):
        values[name] = _text(document, name, needed=name in _TEXTS)
    values["options"] = _options(document)
    for name in ("probabilities", "raw", "shares"):
        if values.get(name) is not None:
            values[name] = _numbers(name, values[name])
    if not isinstance(document.get("calibrated", False), bool):
        raise ConfigError(f"`calibrated` must be true or false, not {document['calibrated']!r}")
    values["flags"] = _names("flags", document.get("flags", ()))
    for name in _COUNTS:
        if type(document.get(name, 0)) is not int:
            raise ConfigError(f"`{name}` must be a whole number, not {document[name]!r}")
    values["label"] = label_index(document.get("label"), values["options"], scale=values["kind"] == "scale")
    return Row(**values)


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; what a killed process left of a last line is passed over.

    Raises:
        ConfigError: The file cannot be read, or a row of it; the message names the row, from 1.
    """
    try:
        file = path.open(encoding="utf-8", errors="surrogateescape", newline="\n")
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    with file:
        for found in json_rows(line for line in file if line.endswith("\n")):
            if found.problem is not None:
                raise ConfigError(f"{str(path)!r}, row {found.number}: {found.problem}")
            try:
                yield row_from(found.value)
            except ConfigError as error:
                raise ConfigError(f"{str(path)!r}, row {found.number}: {error}") from None


def collected(rows: Iterable[Row]) -> dict[RowKey, Row]:
    """Return rows by their keys; a row takes the place of an earlier one that failed.

    Raises:
        ConfigError: An item has two rows of one way, and the first did not fail.
    """
    found: dict[RowKey, Row] = {}
    for number, row in enumerate(rows, start=1):
        key = row.key
        earlier = found.get(key)
        if earlier is not None and earlier.outcome != "error":
            raise ConfigError(
                f"row {number}: item {row.id!r} of set {row.set!r} has a row of {' · '.join(row.way)} already; "
                "an id must be there once"
            )
        found[key] = row
    return found


def _last(row: Row) -> int:
    return len(row.options) - 1


def _check_options(row: Row) -> None:
    if row.kind not in KINDS:
        raise ConfigError(f"`kind` is {row.kind!r}; known are {', '.join(KINDS)}")
    if row.outcome not in RESULTS:
        raise ConfigError(f"`outcome` is {row.outcome!r}; known are {', '.join(RESULTS)}")
    if len(row.options) < 2:
        raise ConfigError(f"`options` must be two or more, not {len(row.options)}")
    if row.kind == "yes_no" and row.options != ("yes", "no"):
        raise ConfigError(f"the options of a yes/no question are 'yes' and 'no', not {list(row.options)!r}")
    if row.kind == "choice" and len(set(row.options)) < len(row.options):
        raise ConfigError("`options` has a name twice")


def _check_distribution(name: str, values: tuple[float, ...] | None, size: int) -> None:
    if values is None:
        return
    if len(values) != size:
        raise ConfigError(f"`{name}` has {len(values)} numbers for {size} options")
    for value in values:
        if not -TOLERANCE <= value <= 1 + TOLERANCE:  # NaN compares false
            raise ConfigError(f"`{name}` must be from 0 to 1, not {value!r}")
    total = math.fsum(values)
    if abs(total - 1) > size * TOLERANCE:
        raise ConfigError(f"`{name}` sum to {total:.6g}, not to 1")


def _check_number(name: str, value: float | None, *, most: float = math.inf) -> None:
    if value is None:
        return
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not 0 <= value <= most
        or value == math.inf
    ):
        end = " or more" if most == math.inf else " to 1"
        raise ConfigError(f"`{name}` must be a number of 0{end}, not {value!r}")


def _text(document: Mapping[str, Any], name: str, *, needed: bool) -> str | None:
    value = document.get(name, "auto" if name == "strategy" else None)
    if value is None and not needed:
        return None
    if value is None:
        raise ConfigError(f"it has no `{name}`")
    if not isinstance(value, str) or not value:
        raise ConfigError(f"`{name}` must be a text, not {value!r}")
    return value if name in ("id", "group") else sys.intern(value)


def _options(document: Mapping[str, Any]) -> tuple[str, ...]:
    return _same(
        _names(
            "options", document.get("options", ("yes", "no") if document.get("kind") == "yes_no" else None)
        )
    )


@lru_cache(maxsize=4096)
def _same(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return one object for equal options: a run has them in each of its rows."""
    return options


def _names(name: str, value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON value
    if value is None:
        raise ConfigError(f"it has no `{name}`")
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) and part for part in value):
        raise ConfigError(f"`{name}` must be a list of texts")
    return tuple(value)


def _numbers(name: str, value: Any) -> tuple[float, ...]:  # noqa: ANN401 - any JSON value
    if not isinstance(value, list | tuple):
        raise ConfigError(f"`{name}` must be a list of numbers, not {type(value).__name__}")
    for part in value:
        if isinstance(part, bool) or not isinstance(part, int | float):
            raise ConfigError(f"`{name}` must hold numbers, not {part!r}")
    return tuple(map(float, value))
