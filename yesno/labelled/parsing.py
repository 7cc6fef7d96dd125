"""From the fields of a row to a labelled item; a row that is none says why."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from yesno._rows import Row
from yesno.errors import ConfigError
from yesno.labelled.item import Asked, Item, label_index, options_of
from yesno.messages import freeze_input
from yesno.questions import Choice, Scale, YesNo

__all__ = ["item_from"]


def item_from(row: Row, default: Asked | None) -> Item:
    """Return the item of a row.

    Args:
        row: As read.
        default: What is asked when the row has no question of its own.

    Raises:
        ConfigError, QuestionError: It is no labelled item.
    """
    if row.problem is not None:
        raise ConfigError(row.problem)
    value = row.value
    if not isinstance(value, Mapping):
        raise ConfigError(f"it is a {type(value).__name__}, not an object with `input` and `label`")
    filled = {name: part for name, part in value.items() if part not in (None, "")}
    jev = "state" in filled and "expected" in filled
    asked = _jev_question(filled) if jev else _question(filled, default)
    label = _label(filled.get("expected" if jev else "label"), asked)
    id = _name(filled, "id") or f"row-{row.number}"
    given = filled.get("state") if jev else filled.get("input", _parsed(filled.get("messages")))
    if given is None:
        raise ConfigError("it has no `input`")
    return Item(
        id,
        freeze_input(given),
        asked,
        label,
        _name(filled, "group") or id,
        _shares(filled, asked),
        _name(filled, "split"),
        row.number,
    )


def _name(value: Mapping[str, Any], field: str) -> str | None:
    found = value.get(field)
    if found is None or isinstance(found, str):
        return found
    if type(found) is int:
        return str(found)
    raise ConfigError(f"`{field}` must be a text, not {type(found).__name__}")


def _question(row: Mapping[str, Any], default: Asked | None) -> Asked:
    asked = _parsed(row.get("question"))
    if asked is None:
        if default is None:
            raise ConfigError("it has no `question`; give it one, or say what to ask of all rows")
        return default
    if isinstance(asked, str):
        spread = ("type", "options", "levels", "none", "yes_when", "no_when")
        asked = {"text": asked, **{name: _parsed(row[name]) for name in spread if name in row}}
    if not isinstance(asked, Mapping):
        raise ConfigError(f"`question` must be a text or an object, not {type(asked).__name__}")
    text: Any = asked.get("text")
    kind = asked.get("type") or (
        "choice" if "options" in asked else "scale" if "levels" in asked else "yesno"
    )
    match str(kind).replace("_", ""):
        case "yesno":
            return YesNo(text, yes_when=asked.get("yes_when"), no_when=asked.get("no_when"))
        case "choice":
            return Choice(text, _options(asked), none=asked.get("none"))
        case "scale":
            return Scale(text, _levels(asked))
    raise ConfigError(f"the type of its question is {kind!r}; known are yesno, choice and scale")


def _options(asked: Mapping[str, Any]) -> list[Any]:
    options = asked.get("options")
    if isinstance(options, Mapping):
        return [*options.items()]
    return [
        (part.get("name"), part.get("description")) if isinstance(part, Mapping) else (part, None)
        for part in _listed("options", options)
    ]


def _levels(asked: Mapping[str, Any]) -> list[str]:
    names = []
    for number, part in enumerate(_listed("levels", asked.get("levels"))):
        named = isinstance(part, Mapping)
        if named and part.get("value", number) != number:
            raise ConfigError(
                f"level {number + 1} has the value {part['value']!r}; levels are numbered from 0"
            )
        names.append(part.get("name") if named else part)
    return names


def _listed(name: str, value: Any) -> Sequence[Any]:  # noqa: ANN401 - any JSON value
    if not isinstance(value, list | tuple):
        raise ConfigError(f"its question has no list of `{name}`")
    return value


def _jev_question(row: Mapping[str, Any]) -> Asked:
    """Return the question of a JevBench row: its items of 2026-09 have the types choice, noul and score."""
    asked = row.get("question")
    if not isinstance(asked, Mapping):
        raise ConfigError("it has a `state`, as JevBench's rows, but no `question` object")
    text: Any = asked.get("instructions")
    criteria = asked.get("criteria")
    said = criteria if isinstance(criteria, Mapping) else {}
    match asked.get("type"):
        case "noul" | "bool":
            return YesNo(text, yes_when=said.get("true"), no_when=said.get("false"))
        case "choice":
            names = _listed("labels", row.get("labels", [*said] or criteria))
            return Choice(text, [(name, said.get(name)) for name in names])
        case "score":
            return Scale(text, _listed("criteria", criteria))
    raise ConfigError(
        f"the type of its question is {asked.get('type')!r}; JevBench has choice, noul and score"
    )


def _label(label: Any, question: Asked) -> int:  # noqa: ANN401 - any JSON value
    options, scale = options_of(question), isinstance(question, Scale)
    if isinstance(label, str) and label not in options:
        if isinstance(question, YesNo) and label.strip().lower() in _YES_NO:
            return _YES_NO[label.strip().lower()]
        if scale and label.isdecimal():
            label = int(label)
    if isinstance(question, YesNo) and type(label) is int and label in (0, 1):
        return 1 - label
    return label_index(label, options, scale=scale)


_YES_NO = {"yes": 0, "true": 0, "1": 0, "no": 1, "false": 1, "0": 1}


def _shares(row: Mapping[str, Any], question: Asked) -> tuple[float, ...] | None:
    shares = _parsed(row.get("label_dist"))
    if shares is None:
        return None
    size = len(options_of(question))
    if not isinstance(shares, list | tuple) or len(shares) != size:
        raise ConfigError(f"`label_dist` must be a list of {size} shares, one for each option")
    if not all(type(part) in (int, float) and 0 <= part <= 1 for part in shares):
        raise ConfigError("`label_dist` must hold shares from 0 to 1")
    total = sum(shares)
    if abs(total - 1) > 0.005 * size:  # as far as shares that are rounded to two places can be off
        raise ConfigError(f"`label_dist` sums to {total:.6g}, not to 1")
    return tuple(part / total for part in shares)


def _parsed(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return what a cell holds as JSON, or the cell."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
