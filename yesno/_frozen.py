"""Containers that cannot be changed, compare like the ones they were made from, and pickle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

__all__ = ["FrozenDict", "FrozenList"]

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")


class FrozenDict(Mapping[K, V]):
    """A read-only, ordered, hashable mapping."""

    __slots__ = ("_data", "_made")

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        self._data: dict[K, V] = dict(items)
        self._made: Any = None

    def once(self, make: Callable[[FrozenDict[K, V]], T]) -> T:
        """Return what a function makes of this mapping; for the last function asked for, it is called once."""
        made = self._made
        if made is None or made[0] is not make:
            made = self._made = (make, make(self))
        return cast("T", made[1])

    def __getitem__(self, key: K) -> V:
        return self._data[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenDict):
            return self._data == other._data
        if isinstance(other, Mapping):
            return self._data == dict(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self._data.items()))

    def __repr__(self) -> str:
        return repr(self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenDict, (self._data,))


class FrozenList(tuple[V, ...]):
    """A tuple that also equals the list with the same items."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other)) if isinstance(other, list) else tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__
