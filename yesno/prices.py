"""What tokens cost.

A list price with its source, not a bill: those of the package `genai-prices`, which pydantic keeps up to date, behind a
few rows of our own. A price that nobody has written down with a source is unknown, never 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any

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
    cache_write: float | None = None
    """For input tokens that were written to a prompt cache; None when it is not known."""
    longer: tuple[tuple[int, Price], ...] = ()
    """Input tokens of one request -> what all tokens of a request with more than these cost, fewest first."""

    def cost(self, usage: Usage) -> float | None:
        """Return the price of what one request used in US dollars; None when a part of it is unknown."""
        for start, dearer in reversed(self.longer):
            if usage.input_tokens > start:
                return dearer.cost(usage)
        if usage.requests and not usage.input_tokens and self.most() > 0:
            return None  # the server did not say what it read
        parts = ((usage.cached_tokens, self.cached_input), (usage.cache_written_tokens, self.cache_write))
        if any(tokens and price is None for tokens, price in parts):
            return None
        fresh = usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens
        special = sum(tokens * (price or 0.0) for tokens, price in parts)
        return (fresh * self.input + special + usage.output_tokens * self.output) / MILLION

    def most(self, input_tokens: int = 1, output_tokens: int = 1) -> float:
        """Return the most that so many tokens of one request can cost in US dollars."""
        dearest = max(self.input, self.cached_input or 0.0, self.cache_write or 0.0)
        here = (input_tokens * dearest + output_tokens * self.output) / MILLION
        reached = (dearer for start, dearer in self.longer if input_tokens > start)
        return max([here, *(dearer.most(input_tokens, output_tokens) for dearer in reached)])


_LUNA = "OpenAI, guide to Decisions and model page of gpt-6-luna; the tier through genai-prices 0.2.3"
_LONG_LUNA = Price(0.20, 0.0, source=_LUNA, date="2026-11")
_HERE = Price(0.0, 0.0, 0.0, source="computed on this machine: nobody charges for it", date="2026-11")

PRICES: dict[str, tuple[tuple[str, Price], ...]] = {
    "fake": (("", _HERE),),
    "local": (("", _HERE),),
    "openai-decisions": (
        # What cached input costs is unsettled: free in launch articles, 0.01 in LiteLLM's cost map.
        ("gpt-6-luna", Price(0.10, 0.0, source=_LUNA, date="2026-11", longer=((272_000, _LONG_LUNA),))),
    ),
    "systemone": (("jev-", Price(0.042, 0.0, source="TypeSafe, System One documentation", date="2026-11")),),
}
"""Provider -> rows of a model-name prefix and its price; the longest prefix wins. A prefix that is a whole name
also stands for its dated snapshots, and for nothing else that begins with it."""
_LISTS = {
    "anthropic": "anthropic",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "gemini": "google",
    "gemini-compat": "google",
    "groq": "groq",
    "mistral": "mistral",
    "openai": "openai",
    "openai-decisions": "openai-decisions",
    "openai-responses": "openai",
    "openrouter": "openrouter",
    "systemone": "typesafe",
    "together": "together",
    "xai": "x-ai",
}
"""Provider -> the vendor whose list `genai-prices` has."""
_ONLY_INPUT = frozenset({"openai-decisions", "typesafe"})
"""Vendors that charge nothing for an answer."""
_ASIDE = ("web_searches", "storage_searches", "audio", "image", "video", "1h")
"""Parts of a list price that a decision uses nothing of."""


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
    if rows:
        return max(rows, key=lambda item: len(item[0]))[1]
    return _listed(_LISTS[provider], model) if provider in _LISTS and model else None


@cache
def _listed(vendor: str, model: str) -> Price | None:
    """Return a price from `genai-prices`; None for one that depends on more than the number of tokens."""
    import genai_prices
    from genai_prices.data_snapshot import get_snapshot
    from genai_prices.types import TimeOfDateConstraint

    try:
        _, found = get_snapshot().find_provider_model(model, None, vendor, None)
    except LookupError:
        return None
    conditions = found.prices if isinstance(found.prices, list) else []
    if any(isinstance(condition.constraint, TimeOfDateConstraint) for condition in conditions):
        return None
    now = datetime.now(UTC)
    parts = {name: part for name, part in vars(found.get_prices(now)).items() if part is not None}
    named = {name: parts.pop(key, None) for name, key in _PARTS.items()}
    if any(not any(word in key for word in _ASIDE) for key in parts):
        return None
    if vendor in _ONLY_INPUT:
        named["output"] = named["output"] or Decimal(0)
    if named["input"] is None or named["output"] is None:
        return None
    source = f"genai-prices {genai_prices.__version__}"
    return _tiered(named, source, f"{now:%Y-%m}")


_PARTS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cached_input": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
}


def _tiered(parts: Mapping[str, Any], source: str, date: str) -> Price:
    tiers = {tier.start for part in parts.values() for tier in getattr(part, "tiers", ())}

    def at(tokens: int, longer: tuple[tuple[int, Price], ...] = ()) -> Price:
        rates = {name: _rate(part, tokens) for name, part in parts.items() if part is not None}
        own = rates.get("cached_input"), source, date, rates.get("cache_write"), longer
        return Price(rates["input"], rates["output"], *own)

    return at(0, tuple((start, at(start + 1)) for start in sorted(tiers)))


def _rate(part: Any, tokens: int) -> float:  # noqa: ANN401 - a number or one of the library's tiers
    tiers = getattr(part, "tiers", None)
    if tiers is None:
        return float(part)
    return float(([part.base] + [tier.price for tier in tiers if tokens > tier.start])[-1])


def _fits(prefix: str, model: str) -> bool:
    if not model.startswith(prefix):
        return False
    return not prefix or prefix.endswith("-") or _SNAPSHOT.fullmatch(model, len(prefix)) is not None
