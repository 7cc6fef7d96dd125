"""One request and its response, for whatever looks at it on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from yesno.evidence import Usage
from yesno.serve.settings import Settings

__all__ = ["Exchange", "Protocol"]

Protocol: TypeAlias = Literal["openai", "systemone"]
"""Whose form errors have."""

_NOTHING = Usage()


@dataclass(slots=True)
class Exchange:
    """What is known of one request; a middleware finds it in `scope["yesno"]`.

    Nothing in it is content: neither the input nor instructions, options or answers.
    """

    request_id: str
    """What the client sent as `x-request-id`, or made here; every response has it."""
    protocol: Protocol
    settings: Settings
    """Limits of this request; a middleware may set others."""
    headers: Mapping[bytes, bytes]
    """Request headers; of equal names the last."""
    allowed: frozenset[str] | None = None
    """Aliases that may be asked; None for all. A middleware may set them."""
    alias: str | None = None
    """The model that was asked, once that is known."""
    questions: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    """`"answered"`, `"refused"` and `"undecided"` -> how many questions."""
    usage: Usage = _NOTHING
    """What the decision used."""
    status: int | None = None
    """The HTTP status, once the response has begun; None when the client went before."""
    problem: str | None = None
    """The code of the error that was sent."""
    caller: str | None = None
    """The name of the key it came with."""
    notes: dict[str, str | int | float | bool] = field(default_factory=dict)
    """What else the log says about it, such as its route."""
    seconds: float = 0.0
    """From the first byte to the end of the response, once it has ended."""
