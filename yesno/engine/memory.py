"""What was learned about a model, kept for other runs: how its host behaves, and priors of questions.

Everything is kept under hashes of where it holds: the provider, its address without credentials, the model, for a
prior also the template and the whole question. No text of a question, an input or a prompt is kept, and no key.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from hashlib import blake2b
from threading import Lock
from typing import Any, Protocol, TypeGuard, get_args, get_type_hints, runtime_checkable

from yesno.errors import ConfigError
from yesno.providers.base import Provider
from yesno.providers.profiles import Profile
from yesno.reading.priors import Prior

__all__ = ["KEPT_S", "Facts", "Keeper", "Memory", "checked_memory"]

VERSION = 1
"""Part of every key: to be raised when the same value means something else."""
KEPT_S = 30 * 86_400
"""Seconds after which what was learned is learned anew: hosted models and servers change under their names."""
MOST_PRIORS = 1024
"""Most priors of one model that are kept; the oldest go first."""
_LEARNED = (
    "top_logprobs",
    "exact_labels",
    "temperature",
    "cap_name",
    "min_tokens",
    "most_tokens",
    "refuses",
    "effort",
    "structured",
)
"""Fields of a `Profile` that replies teach."""


@runtime_checkable
class Memory(Protocol):
    """Keeps small values: any object with these two methods that do not raise, such as a `FolderMemory` or a cache."""

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key (40 hexadecimal digits), or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep a value (a JSON object) under a key."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a check of a host has shown."""

    profile: Profile
    blind: str | None = None
    """Why the model shows no log-probabilities, if so."""


@dataclass(slots=True)
class Keeper:
    """What is remembered for one provider, its model and templates; without a memory it remembers nothing."""

    memory: Memory | None
    provider: Provider
    clock: Callable[[], float] = time.time
    _row: Profile = field(init=False)
    _priors: dict[str, tuple[tuple[float, ...], float]] = field(init=False)
    _new: dict[str, tuple[tuple[float, ...], float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._row = self.provider.profile
        self._priors = self._kept_priors()

    @property
    def row(self) -> Profile:
        """The facts that the provider began with."""
        return self._row

    def facts(self) -> Facts | None:
        """Return what an earlier check of this model has shown; None without one that still counts."""
        kept = self._get(self._facts_key)
        if not self._is_fresh(kept.get("at")) or not isinstance(kept.get("learned"), Mapping):
            return None
        learned = {name: _value(name, value) for name, value in kept["learned"].items() if name in _LEARNED}
        if any(value is _WRONG for value in learned.values()) or not isinstance(
            kept.get("blind"), str | None
        ):
            return None
        return Facts(replace(self._row, **learned), kept.get("blind"))

    def keep_facts(self, facts: Facts) -> None:
        """Keep what a check has shown, in place of an earlier one."""
        now, row = _plain(facts.profile), _plain(self._row)
        changed = {name: now[name] for name in _LEARNED if now[name] != row[name]}
        self._put(self._facts_key, {"at": self.clock(), "learned": changed, "blind": facts.blind})

    def prior(self, name: str, size: int) -> Prior | None:
        """Return the prior that was measured under a name for so many labels; None for none that still counts."""
        kept = self._priors.get(_hash(name))
        return Prior(kept[0]) if kept is not None and len(kept[0]) == size else None

    def note_prior(self, name: str, prior: Prior) -> None:
        """Note a prior that was measured; `flush` keeps it."""
        if self.memory is not None:
            with self._lock:
                self._new[_hash(name)] = (prior.shares, self.clock())

    @property
    def is_behind(self) -> bool:
        """Whether something was noted that is not kept yet."""
        return bool(self._new)

    def flush(self) -> None:
        """Keep what was noted, beside what other processes have kept meanwhile."""
        with self._lock:
            new, self._new = self._new, {}
            if not new:
                return
            self._priors = {**self._kept_priors(), **new}
            latest = sorted(self._priors.items(), key=lambda item: item[1][1])[-MOST_PRIORS:]
            self._put(self._priors_key, {"priors": {name: [*shares, at] for name, (shares, at) in latest}})

    def _kept_priors(self) -> dict[str, tuple[tuple[float, ...], float]]:
        kept = self._get(self._priors_key).get("priors")
        found = {}
        for name, numbers in kept.items() if isinstance(kept, Mapping) else ():
            if not isinstance(numbers, list) or not all(map(_is_number, numbers)) or len(numbers) < 3:
                continue
            *shares, at = numbers
            if self._is_fresh(at) and all(share > 0 for share in shares):
                found[name] = (tuple(map(float, shares)), float(at))
        return found

    def _is_fresh(self, at: object) -> bool:
        return _is_number(at) and -KEPT_S < self.clock() - at < KEPT_S

    @property
    def _facts_key(self) -> str:
        return _hash(["facts", *self._place, _plain(self._row)])

    @property
    def _priors_key(self) -> str:
        return _hash(["priors", *self._place])

    @property
    def _place(self) -> list[Any]:
        provider = self.provider
        return [VERSION, provider.name, provider.address, provider.identity, provider.model]

    def _get(self, key: str) -> Mapping[str, Any]:
        value = None if self.memory is None else self.memory.get(key)
        try:
            kept = json.loads(value) if isinstance(value, bytes) else None
        except (ValueError, RecursionError):
            return {}
        return kept if isinstance(kept, dict) else {}

    def _put(self, key: str, value: Mapping[str, Any]) -> None:
        if self.memory is not None:
            self.memory.put(key, json.dumps(value, separators=(",", ":"), allow_nan=False).encode())


def checked_memory(value: Any) -> Memory | None:  # noqa: ANN401 - the check is the point
    """Return a memory unchanged, else raise `ConfigError`."""
    if value is not None and not isinstance(value, Memory):
        raise ConfigError(f"`memory` must have the methods `get` and `put`, unlike {type(value).__name__}")
    return value


def _plain(profile: Profile) -> dict[str, Any]:
    """Return the fields that can be learned as JSON values that are equal for equal profiles."""
    values = {f.name: getattr(profile, f.name) for f in fields(profile) if f.name in _LEARNED}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in values.items()}


_WRONG = object()


def _value(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a field's value as a profile has it; `_WRONG` for one that it cannot have."""
    match name:
        case "refuses":
            fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
            return frozenset(value) if fits else _WRONG
        case "cap_name" | "structured":
            return value if value in get_args(get_type_hints(Profile)[name]) else _WRONG
        case "effort":
            return value if isinstance(value, str | None) else _WRONG
        case "temperature":
            return float(value) if _is_number(value) and 0 <= value <= 2 else _WRONG
        case _:
            whole = type(value) is int and 0 <= value <= 1_000_000
            return value if whole or (value is None and name == "most_tokens") else _WRONG


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _hash(value: Any) -> str:  # noqa: ANN401 - JSON
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return blake2b(text.encode(), digest_size=20).hexdigest()
