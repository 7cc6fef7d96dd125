"""Rows with probabilities from elsewhere become a run like any other, or nothing is written at all."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from yesno._rows import Row as Line
from yesno.bench.planning import now
from yesno.bench.rows import Row, RowKey, row_from
from yesno.bench.runs import ROWS, Run, RunCard, SetCard, load_run, write_card
from yesno.bench.writer import RowWriter
from yesno.errors import ConfigError
from yesno.labelled import Item, LabelledSet, kind_of, lines_of, options_of

__all__ = ["ELSEWHERE", "import_rows"]

ELSEWHERE = "elsewhere"
"""Name of the template and the strategy of rows that do not say theirs."""
ROUNDING = 0.005
"""What each of the probabilities of a row may be off, as when they were rounded to two places."""
RENORMALISED = "renormalised"
"""Flag of a row whose probabilities did not sum to 1 and were divided by their sum."""
_NUMBERS = ("label_mass", "latency_s", "cost_usd")
_COUNTS = ("requests", "cache_hits", "tokens_in", "tokens_cached", "tokens_out")


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What rows are given that do not say it themselves."""

    model: str | None
    name: str
    items: Mapping[str, Item] | None
    version: str | None


def import_rows(
    file: str | Path,
    *,
    out: str | Path,
    model: str | None = None,
    labelled: LabelledSet | None = None,
    set_name: str | None = None,
    command: str | None = None,
) -> Run:
    """Make a run of a file of rows: JSON lines, CSV or Parquet.

    A row has the `id` of its item and either what came back (`probability` of yes, or `probabilities`, a list in the
    order of the options or a mapping by name) or an `outcome` (`undecided`, `refusal` or `error`) with its `reason`.
    It has a `model` unless one is given for all, and a `label`, `options` (or `levels`) and a `type` unless the set is
    given. Further fields are those of `Row`: `template`, `strategy`, `method`, `label_mass`, `latency_s`, `tokens_in`,
    `tokens_out`, `cost_usd` and so on; rows of runs are read as they are. Probabilities that sum to 1 but for rounding
    to two places are divided by their sum and flagged `renormalised`.

    Args:
        file: The rows.
        out: Folder of the run, which must not be there yet.
        model: Name of the model, for rows that do not say it.
        labelled: The set that the rows are about; it brings groups and labels, and makes the run comparable with
            those that asked the set here. Without it the version of the data is that of ids, options and labels.
        set_name: Name of the set, for rows that do not say it; by default that of `labelled`, else of the file.
        command: The command line to report.

    Raises:
        ConfigError: The file cannot be read, a row is no row (its number is named), an item has two rows of one
            model, or the folder is there already. Nothing is written then.
    """
    place, folder = Path(file), Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(
            f"{str(out)!r} is there already; an import makes a run of its own, so take another --out"
        )
    defaults = _Defaults(
        model,
        set_name or (labelled.name if labelled else place.stem),
        None if labelled is None else {item.id: item for item in labelled.items},
        None if labelled is None else labelled.version,
    )
    rows = _versioned(_checked(lines_of(place), defaults, str(file)))
    card = RunCard(
        _sets(rows),
        commands=() if command is None else (command,),
        made=now(),
        imported=True,
        yesno=_version(),
    )
    _put(folder, card, rows)
    return load_run(folder)


def _checked(lines: Iterable[Line], defaults: _Defaults, name: str) -> list[Row]:
    rows: list[Row] = []
    numbers: dict[RowKey, int] = {}
    for line in lines:
        try:
            row = _row(line, defaults)
        except ConfigError as error:
            raise ConfigError(f"{name!r}, row {line.number}: {error}") from None
        if row.key in numbers:
            raise ConfigError(
                f"{name!r}, row {line.number}: the id {row.id!r} is that of row {numbers[row.key]} too, of the same set, "
                "model, template and strategy; an id must be there once"
            )
        numbers[row.key] = line.number
        rows.append(row)
    if not rows:
        raise ConfigError(f"{name!r} has no rows")
    return rows


def _row(line: Line, defaults: _Defaults) -> Row:
    if line.problem is not None:
        raise ConfigError(line.problem)
    if not isinstance(line.value, Mapping):
        raise ConfigError(f"it is a {type(line.value).__name__}, not an object")
    said = {key: _cell(key, value) for key, value in line.value.items() if value is not None and value != ""}
    known = {"type", "levels", "probability", *Row.__dataclass_fields__, "v"}
    unknown = sorted(said.keys() - known)
    if unknown:
        raise ConfigError(f"it has an unknown field {unknown[0]!r}")
    said["id"] = _id(said)
    said.setdefault("set", defaults.name)
    said.setdefault("model", defaults.model)
    if said["model"] is None:
        raise ConfigError("it has no `model`; give it one, or say the model of all rows")
    said.setdefault("template", ELSEWHERE)
    said.setdefault("strategy", ELSEWHERE)
    _fill_question(said, defaults)
    _fill_result(said)
    said.setdefault("group", said["id"])
    said.setdefault("data", "unknown")
    return row_from(said)


def _id(said: Mapping[str, Any]) -> str:
    found = said.get("id")
    if type(found) is int:
        return str(found)
    if not isinstance(found, str):
        raise ConfigError("it has no `id`")
    return found


def _cell(name: str, value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a cell of CSV means, where the field is none of texts."""
    if not isinstance(value, str):
        return value
    if value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    if name == "calibrated" and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if name == "flags":
        return [value] if value else []
    if name in (*_NUMBERS, "probability") or name in _COUNTS:
        try:
            return int(value) if name in _COUNTS else float(value)
        except ValueError:
            raise ConfigError(f"`{name}` must be a number, not {value!r}") from None
    return value


def _fill_question(said: dict[str, Any], defaults: _Defaults) -> None:
    kind = said.pop("type", said.get("kind"))
    levels = said.pop("levels", None)
    if defaults.items is not None and said["set"] == defaults.name:
        item = defaults.items.get(said["id"])
        if item is None:
            raise ConfigError(f"the set {defaults.name!r} has no item {said['id']!r}")
        options = list(options_of(item.question))
        given = said.get("label")
        said |= {
            "kind": kind_of(item.question),
            "options": options,
            "group": item.group,
            "data": defaults.version,
        }
        said["label"] = item.label if said["kind"] == "scale" else options[item.label]
        if item.shares is not None:
            said["shares"] = list(item.shares)
        if said["kind"] == "yes_no":
            given = _yes_or_no(given)
        if given is not None and given not in (said["label"], options[item.label], str(said["label"])):
            raise ConfigError(f"`label` is {given!r}, and the set says {said['label']!r}")
        return
    if kind is None:
        kind = "scale" if levels is not None else "choice" if "options" in said else "yes_no"
    said["kind"] = "yes_no" if kind == "yesno" else kind
    if levels is not None:
        said["options"] = levels
    if said["kind"] == "scale" and isinstance(said.get("label"), str) and said["label"].isdecimal():
        said["label"] = int(said["label"])
    if said["kind"] == "yes_no":
        said.setdefault("options", ["yes", "no"])
        said["label"] = _yes_or_no(said.get("label"))


def _yes_or_no(label: Any) -> Any:  # noqa: ANN401 - any JSON value
    words = {"true": "yes", "1": "yes", "false": "no", "0": "no"}
    return words.get(str(label).lower(), label.lower() if isinstance(label, str) else label)


def _fill_result(said: dict[str, Any]) -> None:
    options = said.get("options")
    probability = said.pop("probability", None)
    if probability is not None:
        if said["kind"] != "yes_no" or "probabilities" in said:
            raise ConfigError(
                "`probability` is that of yes, and for a yes/no question; else give `probabilities`"
            )
        yes = _number("probability", probability)
        said["probabilities"] = [yes, 1 - yes]
    if isinstance(said.get("probabilities"), Mapping) and isinstance(options, list):
        said["probabilities"] = _in_order(said["probabilities"], options)
    if isinstance(said.get("probabilities"), list | tuple):
        said["probabilities"], changed = _to_one(said["probabilities"])
        if changed:
            said["flags"] = [*said.get("flags", ()), RENORMALISED]
    said.setdefault("outcome", "answer")


def _in_order(shares: Mapping[str, Any], options: Sequence[str]) -> list[Any]:
    unknown = [name for name in shares if name not in options]
    if unknown:
        raise ConfigError(f"`probabilities` has {unknown[0]!r}, which is none of the options")
    missing = [name for name in options if name not in shares]
    if missing:
        raise ConfigError(f"`probabilities` has none for {missing[0]!r}; what is not known is not 0")
    return [shares[name] for name in options]


def _to_one(values: Sequence[Any]) -> tuple[list[float], bool]:
    """Return probabilities that sum to 1, and whether they had to be changed for that."""
    numbers = [_number("probabilities", value) for value in values]
    total = math.fsum(numbers)
    if abs(total - 1) > ROUNDING * len(numbers):
        raise ConfigError(f"`probabilities` sum to {total:.6g}, not to 1")
    return [number / total for number in numbers], abs(total - 1) > 1e-9


def _number(name: str, value: Any) -> float:  # noqa: ANN401 - any JSON value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"`{name}` must be a number, not {value!r}")
    if not 0 <= value <= 1:  # NaN compares false
        raise ConfigError(f"`{name}` must be from 0 to 1, not {value!r}")
    return float(value)


def _versioned(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with a version of their data, where they had none: that of ids, options and labels."""
    items: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.data == "unknown":
            first = items.setdefault(row.set, {}).setdefault(row.id, row)
            if (first.label, first.options) != (row.label, row.options):
                raise ConfigError(
                    f"item {row.id!r} of set {row.set!r} has two labels or two lists of options"
                )
    versions = {
        name: hashlib.sha256(
            json.dumps([[row.id, row.options, row.label] for _, row in sorted(found.items())]).encode()
        ).hexdigest()
        for name, found in items.items()
    }
    return [replace(row, data=versions[row.set]) if row.data == "unknown" else row for row in rows]


def _sets(rows: Sequence[Row]) -> dict[str, SetCard]:
    ids: dict[str, set[str]] = {}
    versions: dict[str, str] = {}
    for row in rows:
        ids.setdefault(row.set, set()).add(row.id)
        if versions.setdefault(row.set, row.data) != row.data:
            raise ConfigError(f"the rows of set {row.set!r} are about two versions of it")
    return {name: SetCard(versions[name], len(found)) for name, found in ids.items()}


def _put(folder: Path, card: RunCard, rows: Sequence[Row]) -> None:
    """Write the run beside its place and then move it there, so that nobody ever sees a part of it."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise ConfigError(f"{str(folder)!r} cannot be made: {error.strerror or error}") from error
    try:
        with RowWriter(part / ROWS) as writer:
            for row in rows:
                writer.write(row)
        write_card(part, card)
        part.chmod(0o755)
        part.replace(folder)
    except OSError as error:
        raise ConfigError(f"{str(folder)!r} cannot be made: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _version() -> str:
    from yesno import __version__

    return __version__
