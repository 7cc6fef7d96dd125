"""Which failures end a run over many items."""

from __future__ import annotations

from yesno.errors import BudgetExceeded, ConfigError, ProviderError

__all__ = ["ends_run"]

_HOPELESS = (401, 402, 404)
"""Statuses that every item would get: the key, the credit or the model is not there."""


def ends_run(error: Exception) -> bool:
    """Return whether no other item could fare better, so that a run stops and can go on later."""
    if isinstance(error, ProviderError):
        return error.status in _HOPELESS or getattr(error, "code", None) == "insufficient_quota"
    return isinstance(error, BudgetExceeded | ConfigError)
