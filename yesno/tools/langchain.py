"""Say what is missing where a LangChain tool is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from yesno.errors import ConfigError

__all__ = ["needed"]


@contextmanager
def needed() -> Iterator[None]:
    """Turn a missing `langchain-core` into advice.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            "a LangChain tool needs a package that is missing; run: pip install 'yesno[langchain]'"
        ) from error
