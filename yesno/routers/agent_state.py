"""What an agent router has decided and done, to be stored and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from yesno._frozen import FrozenDict
from yesno.errors import ConfigError
from yesno.messages.plain import freeze_values, thawed

__all__ = ["AgentState"]


@dataclass(frozen=True, slots=True)
class AgentState:
    """What is decided and done so far; plain values, so that it can be stored and resumed elsewhere."""

    arguments: Mapping[str, Any] = field(repr=False)
    """The request's arguments by name."""
    agents: tuple[str, ...]
    """The agents that were chosen, in the order configured."""
    probabilities: Mapping[str, float] = FrozenDict()
    """Agent -> probability (0..1) that the request is for it; empty when the provider reports none."""
    outputs: Mapping[str, Any] = field(default=FrozenDict(), repr=False)
    """Agent -> what it returned, of those that have finished."""

    @property
    def waiting(self) -> tuple[str, ...]:
        """The chosen agents that have not finished."""
        return tuple(name for name in self.agents if name not in self.outputs)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a dict that JSON can hold when the outputs can."""
        return {
            "arguments": thawed(self.arguments),
            "agents": list(self.agents),
            "probabilities": dict(self.probabilities),
            "outputs": dict(self.outputs),
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Self:
        """Return the state that `to_dict` wrote.

        Raises:
            ConfigError: A part is missing or of another type.
        """
        try:
            return cls(
                freeze_values(kept["arguments"], "arguments"),
                tuple(str(name) for name in kept["agents"]),
                FrozenDict(kept["probabilities"]),
                FrozenDict(kept["outputs"]),
            )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"this is not a stored AgentState ({type(error).__name__}: {error})") from None
