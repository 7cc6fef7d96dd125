"""Fields of a JSON object, each checked as it is taken, with errors that name place and value."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, overload

from yesno.errors import ConfigError

__all__ = ["Fields"]

_Yes = Literal[True]


@dataclass(frozen=True, slots=True)
class Fields:
    """One JSON object of a card."""

    values: Mapping[str, Any]
    where: str
    """Such as `card 'spam.json'`."""
    path: str = ""
    """Where in the card the object stands, such as `evidence.`."""

    def only(self, needed: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Refuse an object that lacks one of the needed fields or has one that is neither."""
        missing = [name for name in needed if name not in self.values]
        if missing:
            raise ConfigError(f"{self.where} lacks `{self.path}{missing[0]}`")
        unknown = [name for name in self.values if name not in (*needed, *optional)]
        if unknown:
            raise ConfigError(f"{self.where} has `{self.path}{unknown[0]}`, which no card has")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Name the card in errors that know only a value of it."""
        try:
            yield
        except ConfigError as error:
            if str(error).startswith(self.where):
                raise
            raise ConfigError(f"{self.where}: {error}") from None

    @overload
    def text(self, name: str) -> str: ...
    @overload
    def text(self, name: str, *, optional: _Yes) -> str | None: ...
    def text(self, name: str, *, optional: bool = False) -> str | None:
        """Return a text that is not blank."""
        value = self.values.get(name)
        if optional and value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(name, "a text", value)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts; none when it is left out."""
        values = self.values.get(name, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self._wrong(name, "a list of texts", values)
        return tuple(values)

    def word(self, name: str, known: Sequence[str]) -> str:
        """Return one of the known words."""
        value = self.values.get(name)
        if value not in known:
            raise self._wrong(name, f"one of {', '.join(known)}", value)
        return str(value)

    def day(self, name: str) -> str:
        """Return a day such as `2026-11-30`."""
        value = self.text(name)
        try:
            date.fromisoformat(value)
        except ValueError:
            raise self._wrong(name, "a day such as 2026-11-30", value) from None
        return value

    @overload
    def number(self, name: str) -> float: ...
    @overload
    def number(self, name: str, *, optional: _Yes) -> float | None: ...
    def number(self, name: str, *, optional: bool = False) -> float | None:
        """Return a finite number."""
        value = self.values.get(name)
        if optional and value is None:
            return None
        if type(value) not in (int, float) or not math.isfinite(value):  # type: ignore[arg-type]  # a number then
            raise self._wrong(name, "a finite number", value)
        return float(value)  # type: ignore[arg-type]  # a number

    @overload
    def count(self, name: str) -> int: ...
    @overload
    def count(self, name: str, *, optional: _Yes) -> int | None: ...
    def count(self, name: str, *, optional: bool = False) -> int | None:
        """Return a whole number of at least 1."""
        value = self.values.get(name)
        if optional and value is None:
            return None
        if type(value) is not int or value < 1:
            raise self._wrong(name, "a whole number of at least 1", value)
        return value

    def flag(self, name: str, *, optional: bool = False) -> bool | None:
        """Return true or false."""
        value = self.values.get(name)
        if optional and value is None:
            return None
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false", value)
        return value

    @overload
    def inner(self, name: str) -> Fields: ...
    @overload
    def inner(self, name: str, *, optional: _Yes) -> Fields | None: ...
    def inner(self, name: str, *, optional: bool = False) -> Fields | None:
        """Return an object inside this one."""
        value = self.values.get(name)
        if optional and value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(name, "an object", value)
        return Fields(value, self.where, f"{self.path}{name}.")

    def many(self, name: str) -> list[Fields]:
        """Return a list of objects; none when it is left out."""
        values = self.values.get(name, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self._wrong(name, "a list of objects", values)
        return [Fields(v, self.where, f"{self.path}{name}[{i}].") for i, v in enumerate(values)]

    def _wrong(self, name: str, wanted: str, value: Any) -> ConfigError:  # noqa: ANN401 - anything but what is wanted
        return ConfigError(f"{self.where}: `{self.path}{name}` must be {wanted}, not {value!r}")
