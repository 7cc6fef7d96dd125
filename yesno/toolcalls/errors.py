"""What becomes of tools that fail: what the model reads, what is raised, what is logged."""

from __future__ import annotations

from dataclasses import dataclass

from yesno._log import get_logger
from yesno.errors import ConfigError
from yesno.toolcalls.calls import CallResult

__all__ = ["ToolErrors"]


@dataclass(frozen=True, slots=True)
class ToolErrors:
    """What goes to the model, and what is raised.

    Args:
        show_message: Tell the model the message of an exception too, not only its type. A message may hold addresses,
            paths and data; `RetryTool` and `ToolFailed` are always told in full, being written for the model.
        raise_: Raise `UnknownToolError` and `InvalidArgumentsError`, before anything runs, in place of telling the
            model.
        reraise: Exceptions of tools that end the run; `call_results` on them holds the results so far. A run out of
            time is a `ToolTimeout`.

    Raises:
        ConfigError: `reraise` holds something that is no exception class.
    """

    show_message: bool = False
    raise_: bool = False
    reraise: tuple[type[Exception], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.reraise, tuple) or not all(
            isinstance(kind, type) and issubclass(kind, Exception) for kind in self.reraise
        ):
            raise ConfigError(f"`reraise` must be a tuple of exception classes, not {self.reraise!r}")

    def log(self, result: CallResult) -> None:
        """Log a tool that failed, with the type and the message of what it raised."""
        if result.status in ("failed", "timed_out"):
            get_logger("toolcalls").warning(
                "tool_failed",
                tool=result.call.name,
                call_id=result.call.id,
                status=result.status,
                error=result.error,
            )
