"""What tokens cost, as data.

A row is a list price with its source and date, not a bill. A price that nobody has written down with a source
is unknown, never 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from yesno.evidence import Usage

__all__ = ["PRICES", "Price", "price_for"]

MILLION = 1_000_000
_SNAPSHOT = re.compile(r"(?:-\d[\d-]*)?")
"""What may follow a model's name without making it another model: the date of a snapshot."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached_input: float | None = None
    """For input tokens that a prompt cache served; None when it is not known."""
    source: str = ""
    date: str = ""

    def cost(self, usage: Usage) -> float | None:
        """Return the price of what was used in US dollars; None when a part of it is unknown."""
        fresh = usage.input_tokens - usage.cached_tokens
        if usage.requests and not usage.input_tokens and self.most() > 0:
            return None  # the server did not say what it read
        if usage.cached_tokens and self.cached_input is None:
            return None
        cached = usage.cached_tokens * (self.cached_input or 0.0)
        return (fresh * self.input + cached + usage.output_tokens * self.output) / MILLION

    def most(self, input_tokens: int = 1, output_tokens: int = 1) -> float:
        """Return the most that so many tokens can cost in US dollars."""
        dearest = max(self.input, self.cached_input or 0.0)
        return (input_tokens * dearest + output_tokens * self.output) / MILLION


_HERE = Price(0.0, 0.0, 0.0, source="computed on this machine: nobody charges for it", date="2026-11")

PRICES: dict[str, tuple[tuple[str, Price], ...]] = {
    "fake": (("", _HERE),),
    "local": (("", _HERE),),
    "openai-decisions": (
        # What cached input costs is unsettled: free in launch articles, 0.01 in LiteLLM's cost map.
        ("gpt-6-luna", Price(0.10, 0.0, source="OpenAI, model page of gpt-6-luna", date="2026-10")),
    ),
    "systemone": (("jev-", Price(0.042, 0.0, source="TypeSafe, System One documentation", date="2026-11")),),
}
"""Provider -> rows of a model-name prefix and its price; the longest prefix wins. A prefix that is a whole name
also stands for its dated snapshots, and for nothing else that begins with it."""


def price_for(provider: str, model: str, address: str | None = None) -> Price | None:
    """Return what a model costs at its vendor; None when that is unknown.

    Args:
        provider: The provider's name.
        model: The model's name.
        address: Where requests go when that is not the vendor's own server; other servers have other prices.
    """
    if address is not None and provider != "local":
        return None
    rows = [(prefix, row) for prefix, row in PRICES.get(provider, ()) if _fits(prefix, model)]
    return max(rows, key=lambda item: len(item[0]))[1] if rows else None


def _fits(prefix: str, model: str) -> bool:
    if not model.startswith(prefix):
        return False
    return not prefix or prefix.endswith("-") or _SNAPSHOT.fullmatch(model, len(prefix)) is not None
