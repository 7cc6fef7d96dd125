"""Settings of the wrong kind, refused by name."""

from __future__ import annotations

import math

from yesno.errors import ConfigError

__all__ = [
    "check_kinds",
    "check_methods",
    "checked_count",
    "checked_positive",
    "checked_seconds",
    "checked_share",
]


def checked_count(name: str, value: int) -> int:
    """Return a whole number of at least 1.

    Raises:
        ConfigError: It is none.
    """
    if type(value) is not int or value < 1:
        raise ConfigError(f"`{name}` must be a whole number of at least 1, not {value!r}")
    return value


def checked_share(name: str, value: float) -> float:
    """Return a number from 0 to 1.

    Raises:
        ConfigError: It is none.
    """
    if type(value) not in (int, float) or math.isnan(value) or not 0 <= value <= 1:
        raise ConfigError(f"`{name}` must be a number from 0 to 1, not {value!r}")
    return value


def checked_positive(name: str, value: float) -> float:
    """Return a number above 0.

    Raises:
        ConfigError: It is none.
    """
    if type(value) not in (int, float) or not value > 0:
        raise ConfigError(f"`{name}` must be a number above 0, not {value!r}")
    return value


def checked_seconds(name: str, value: float) -> float:
    """Return a finite number of at least 0.

    Raises:
        ConfigError: It is none.
    """
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise ConfigError(f"`{name}` must be a number of seconds from 0, not {value!r}")
    return value


def check_kinds(**settings: tuple[object, type]) -> None:
    """Check that values, where they are given, are of a class; name -> value and class.

    Raises:
        ConfigError: One is not.
    """
    for name, (value, kind) in settings.items():
        if value is not None and not isinstance(value, kind):
            raise ConfigError(f"`{name}` must be a `{kind.__name__}`, not a {type(value).__name__}")


def check_methods(name: str, value: object, *methods: str) -> None:
    """Check that a value, where it is given, has methods.

    Raises:
        ConfigError: It lacks one.
    """
    for method in methods:
        if value is not None and not callable(getattr(value, method, None)):
            raise ConfigError(f"`{name}` must have a method `{method}`; a {type(value).__name__} has none")
