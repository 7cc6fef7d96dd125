"""What a server allows; all of it can be set for one request too, see `Exchange.settings`."""

from __future__ import annotations

from dataclasses import dataclass

from yesno._checks import checked_count, checked_positive

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Limits on requests.

    Raises:
        ConfigError: A limit is not a positive number.
    """

    max_body_bytes: int = 8 * 1024 * 1024
    """Most bytes of a body, as it comes and once more when it is decompressed."""
    max_depth: int = 64
    """Most objects and arrays inside each other."""
    max_questions: int = 400
    """Most questions of one request (openai 3.57.0 says 400; System One names no limit; 2026-11)."""
    timeout_s: float | None = None
    """Seconds that one decision may take, retries included; None leaves it to the model."""

    def __post_init__(self) -> None:
        for name in ("max_body_bytes", "max_depth", "max_questions"):
            checked_count(name, getattr(self, name))
        if self.timeout_s is not None:
            checked_positive("timeout_s", self.timeout_s)
