"""What a run asks: models, each with template sets and strategies, about the items of sets."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from yesno.bench.outcomes import Place
from yesno.bench.rows import RowKey, Way
from yesno.bench.runs import RunCard, SetCard
from yesno.calibration.files import load_calibrations
from yesno.engine.ladder import StrategyName
from yesno.engine.sync import DecisionModel
from yesno.errors import ConfigError
from yesno.labelled import Item, LabelledSet, kind_of, load_set
from yesno.providers import load_provider
from yesno.providers.base import Provider

__all__ = ["Models", "Opened", "Plan", "now"]

Models: TypeAlias = Sequence[str] | Mapping[str, str | Provider]
"""Names such as `openai:gpt-5.4-mini`, or a mapping from the name a model has in reports to such a name or a provider."""

CHANGES_ANSWERS = ("min_label_mass", "orders", "packing", "prior", "strict")
"""Settings by which the rows of one run must not differ."""
OF_MODEL = (
    *CHANGES_ANSWERS,
    *(
        "timeout_s",
        "concurrency",
        "retry",
        "listeners",
        "cache",
        "budget",
        "price",
        "memory",
        "limits",
        "hedge",
        "calibration",
    ),
)
"""Settings of a `DecisionModel`; all others are of its provider."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A model that is ready to be asked in one way."""

    way: Way
    model: DecisionModel

    @property
    def asked(self) -> str:
        """Provider and model."""
        return f"{self.model.provider_name}:{self.model.model_name}"

    def digest(self, kind: str) -> str:
        """Return the digest of the template of a type of question."""
        return self.model.asking.templates.template(kind).digest


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask.

    Raises:
        ConfigError: There is nothing to ask, two sets have one name, or the limit is impossible.
    """

    sets: tuple[LabelledSet, ...]
    models: Mapping[str, str | Provider]
    templates: Sequence[str | Path | None]
    strategies: Sequence[StrategyName]
    limit: int | None
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not (self.sets and self.models and self.templates and self.strategies):
            raise ConfigError("a run needs at least one set, one model, one template set and one strategy")
        names = [found.name for found in self.sets]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(f"two sets are called {name!r}; give one of them another name")
        if self.limit is not None and self.limit < 1:
            raise ConfigError(f"`limit` must be a whole number of at least 1, not {self.limit!r}")

    @classmethod
    def of(
        cls,
        sets: Sequence[LabelledSet | str | Path],
        models: Models,
        templates: Sequence[str | Path | None],
        strategies: Sequence[StrategyName],
        limit: int | None,
        settings: Mapping[str, Any],
    ) -> Plan:
        """Read what has to be read."""
        loaded = tuple(given if isinstance(given, LabelledSet) else load_set(given) for given in sets)
        named = models if isinstance(models, Mapping) else {name: name for name in models}
        return cls(loaded, named, templates, strategies, limit, settings)

    def items(self, found: LabelledSet) -> tuple[Item, ...]:
        """Return the items of a set that are asked about."""
        return found.items[: self.limit]

    def opened(self, held: ExitStack) -> list[Opened]:
        """Return the models in all their ways, to be closed with `held`; those of one name share a provider.

        Raises:
            ConfigError: A model or template set is unknown, or two template sets have one name.
        """
        found: dict[Way, Opened] = {}
        mine = {name: value for name, value in self.settings.items() if name in OF_MODEL}
        others = {name: value for name, value in self.settings.items() if name not in OF_MODEL}
        for name, spec in self.models.items():
            provider = spec if isinstance(spec, Provider) else load_provider(spec, **others)
            for template in self.templates:
                for strategy in self.strategies:
                    model = DecisionModel(provider, template=template, strategy=strategy, **mine)
                    held.enter_context(model)
                    way = Way(name, model.asking.templates.name, strategy)
                    earlier = found.setdefault(way, Opened(way, model))
                    if earlier.model.asking.templates != model.asking.templates:
                        raise ConfigError(
                            f"two template sets are called {way.template!r}; rename the folder of one"
                        )
        return [*found.values()]

    def left(self, one: Opened, done: Container[RowKey]) -> Iterator[tuple[Item, Place]]:
        """Yield what is to be asked in one way and has no row yet."""
        for found in self.sets:
            for item in self.items(found):
                if RowKey(found.name, item.id, one.way) not in done:
                    digest = one.digest(kind_of(item.question))
                    yield item, Place(found.name, found.version, one.way, digest)

    def card(self, opened: Sequence[Opened], command: str | None) -> RunCard:
        """Return what this run measures."""
        from yesno import __version__

        kinds = sorted({kind_of(item.question) for found in self.sets for item in self.items(found)})
        return RunCard(
            sets={found.name: self._set_card(found, [one.way for one in opened]) for found in self.sets},
            templates={one.way.template: {kind: one.digest(kind) for kind in kinds} for one in opened},
            models={one.way.model: one.asked for one in opened},
            settings={
                **{n: self.settings[n] for n in CHANGES_ANSWERS if self.settings.get(n) is not None},
                **_cards(self.settings.get("calibration")),
            },
            commands=() if command is None else (command,),
            made=now(),
            yesno=__version__,
        )

    def _set_card(self, found: LabelledSet, ways: Sequence[Way]) -> SetCard:
        splits = {item.split for item in found.items}
        split = splits.pop() if len(splits) == 1 else None
        return SetCard(found.version, len(self.items(found)), found.path, split, tuple(ways))


def _cards(source: Any) -> dict[str, list[str]]:  # noqa: ANN401 - as `DecisionModel` takes it
    """Return the digests of calibration cards as a setting; nothing without cards."""
    if source is None:
        return {}
    written = [card.to_json().encode() for card in load_calibrations(source)]
    return {"calibration": sorted(sha256(text).hexdigest()[:12] for text in written)}


def now() -> str:
    """Return the date and time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
