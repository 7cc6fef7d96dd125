"""The options that an enum or a `Literal` names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, Flag
from typing import Any, Literal, cast, get_args, get_origin

from yesno.errors import QuestionError
from yesno.functions.hints import is_union, peeled, shown
from yesno.functions.marks import Option
from yesno.questions.base import checked_text

__all__ = ["Options", "is_options", "options_of"]


@dataclass(frozen=True, slots=True)
class Options:
    """Options as Python knows them, by the names that the model reads, in their order."""

    values: Mapping[str, Any]
    """Name -> member or text."""
    descriptions: Mapping[str, str | None]
    """Name -> description; None when the name says it all."""

    @property
    def levels(self) -> list[str]:
        """The options as the levels of a scale: `name: description`, or the name."""
        return [name if text is None else f"{name}: {text}" for name, text in self.descriptions.items()]


def is_options(hint: Any) -> bool:  # noqa: ANN401 - any hint
    """Return whether a hint names options: an enum, a `Literal`, or a union of literals."""
    hint, _ = peeled(hint)
    if is_union(hint):
        return all(
            get_origin(peeled(part)[0]) is Literal or is_union(peeled(part)[0]) for part in get_args(hint)
        )
    return get_origin(hint) is Literal or (isinstance(hint, type) and issubclass(hint, Enum))


def options_of(hint: Any, given: Mapping[Any, str] | None) -> Options:  # noqa: ANN401 - any hint
    """Return the options of a hint, described by `given` where it says something.

    Raises:
        QuestionError: An option is neither a text nor a member of an enum, there are fewer than two, or `given`
            describes something else.
    """
    values: dict[str, Any] = {}
    descriptions: dict[str, str | None] = {}
    for value, described in _pairs(hint):
        name = value.name if isinstance(value, Enum) else value
        if name in values and values[name] is not value and values[name] != value:
            raise QuestionError(f"{shown(hint)} has two options with the name {name!r}; rename one")
        values[name], descriptions[name] = value, described
    if len(values) < 2:
        only = f"only the option {next(iter(values))!r}" if values else "no option"
        raise QuestionError(
            f"{shown(hint)} has {only}, and a choice needs two; a bool is a question about one"
        )
    if given is not None and not isinstance(given, Mapping):
        raise QuestionError(f"`options` must be a mapping of options to descriptions, not {given!r}")
    for key, text in (given or {}).items():
        name = key.name if isinstance(key, Enum) else key
        if name not in values or (isinstance(key, Enum) and values[name] is not key):
            raise QuestionError(
                f"`options` describes {key!r}, which is not offered; the options are {list(values)!r}"
            )
        descriptions[name] = checked_text(f"description of {name!r}", text)
    return Options(values, descriptions)


def _pairs(hint: Any) -> Iterator[tuple[Any, str | None]]:  # noqa: ANN401 - any hint
    hint, added = peeled(hint)
    described = [mark.description for mark in added if isinstance(mark, Option)]
    if is_union(hint):
        for part in get_args(hint):
            yield from _pairs(part)
        return
    members = list(_members(hint))
    if described and len(members) > 1:
        raise QuestionError(
            f"`Option` describes one option, and {shown(hint)} has {len(members)}; describe them with `options={{…}}`"
        )
    for value in members:
        yield value, described[-1] if described else _own_description(value)


def _members(hint: Any) -> Iterator[Any]:  # noqa: ANN401 - any hint
    if isinstance(hint, type):
        if issubclass(hint, Flag):
            raise QuestionError(
                f"{hint.__name__} is a Flag, whose members combine; use an Enum, or one bool for each"
            )
        yield from cast("type[Enum]", hint)
        return
    for value in get_args(hint):
        if not isinstance(value, str | Enum) or isinstance(value, Flag):
            raise QuestionError(f"{shown(hint)} holds {value!r}; options are texts or members of an enum")
        yield value


def _own_description(value: Any) -> str | None:  # noqa: ANN401 - a member or a text
    return value.value.description if isinstance(value, Enum) and isinstance(value.value, Option) else None
