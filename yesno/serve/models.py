"""Which models are served, and under which names."""

from __future__ import annotations

from collections.abc import Mapping

from yesno._frozen import FrozenDict
from yesno.engine.aio import AsyncDecisionModel
from yesno.errors import ConfigError, RequestProblem

__all__ = ["USUAL", "Models"]

USUAL = "jev-latest"
"""What System One's SDKs send when they are told no model (typesafe-sdk 0.7.5, @typesafe-ai/sdk 0.6.0; 2026-11)."""
SHOWN = 80
"""Characters of a name that an error shows."""


class Models:
    """The models of a server by alias; the first also answers to `jev-latest` where no alias is called so.

    Raises:
        ConfigError: There is none, or an alias is blank.
    """

    def __init__(self, models: Mapping[str, AsyncDecisionModel]) -> None:
        if not models:
            raise ConfigError("there is no model to serve; give at least one")
        blank = [alias for alias in models if not alias.strip()]
        if blank:
            raise ConfigError(f"an alias must not be blank ({blank[0]!r}); give the model a name")
        self.by_alias: Mapping[str, AsyncDecisionModel] = FrozenDict(models)
        """Alias -> model, in the order given."""
        self._default = next(iter(models))

    def alias_of(self, name: str, allowed: frozenset[str] | None = None) -> str:
        """Return the alias that a request means by a name.

        Raises:
            RequestProblem: There is no such model, or it is not among those allowed.
        """
        alias = self._default if name == USUAL and name not in self.by_alias else name
        if alias in self.by_alias and (allowed is None or alias in allowed):
            return alias
        offered = ", ".join(sorted(a for a in self.by_alias if allowed is None or a in allowed)) or "none"
        raise RequestProblem(
            f"Unknown model: {name[:SHOWN]!r}; this server has {offered}",
            status=404,
            kind="model",
            code="model_not_found",
            where=("model",),
        )
