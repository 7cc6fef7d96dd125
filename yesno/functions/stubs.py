"""Tell a body that does nothing from one that does something."""

from __future__ import annotations

import dis
from collections.abc import Callable
from functools import cache
from types import CodeType
from typing import Any

__all__ = ["is_stub"]


def is_stub(function: Callable[..., Any]) -> bool:
    """Return whether a body is only `...`, `pass`, a docstring or `raise NotImplementedError`.

    It looks at the compiled body, as the source is not always at hand: whatever compiles to the same is a stub too.
    """
    return _steps(function.__code__) in _stubs()


def _steps(code: CodeType) -> tuple[tuple[str, Any], ...]:
    return tuple(
        (step.opname, step.argval)
        for step in dis.get_instructions(code)
        if step.opname not in ("NOP", "RESUME", "CACHE")
    )


@cache
def _stubs() -> frozenset[tuple[tuple[str, Any], ...]]:
    # compiled by the running Python, so that no version's instructions need to be known here
    def nothing() -> None: ...

    def documented() -> None:
        """Do nothing."""

    def missing() -> None:
        raise NotImplementedError

    def documented_and_missing() -> None:
        """Do nothing."""
        raise NotImplementedError

    async def later() -> None: ...

    async def documented_later() -> None:
        """Do nothing."""

    async def missing_later() -> None:
        raise NotImplementedError

    async def documented_and_missing_later() -> None:
        """Do nothing."""
        raise NotImplementedError

    examples = (
        nothing,
        documented,
        missing,
        documented_and_missing,
        later,
        documented_later,
        missing_later,
        documented_and_missing_later,
    )
    return frozenset(_steps(example.__code__) for example in examples)
