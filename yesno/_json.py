"""JSON read strictly: what two readers could take for different values is no value."""

from __future__ import annotations

import json
import math
from typing import Any, Literal, NoReturn, TypeAlias

__all__ = ["Fault", "JSONFault", "strict_json"]

Fault: TypeAlias = Literal["syntax", "twice", "constant", "too_large", "digits", "depth"]


class JSONFault(ValueError):
    """A text that is no JSON, or holds what JSON does not have.

    Its text says what, and quotes nothing but the name of a field.
    """

    def __init__(
        self, kind: Fault, told: str, *, name: str = "", at: json.JSONDecodeError | None = None
    ) -> None:
        super().__init__(told)
        self.kind = kind
        self.name = name
        """The name that is there twice, or the constant."""
        self.at = at
        """Where the syntax breaks, if that is it."""


def strict_json(text: str | bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text.

    Raises:
        JSONFault: It is none, a name is there twice in one object, a number is NaN, infinite or beyond a float, or has
            more digits than Python reads, or it is nested too deeply for Python's reader.
        UnicodeDecodeError: Bytes are no text.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        told = f"{error.msg} (line {error.lineno}, column {error.colno})"
        raise JSONFault("syntax", told, at=error) from None
    except RecursionError:
        raise JSONFault("depth", "it is nested too deeply") from None
    except (JSONFault, UnicodeDecodeError):
        raise
    except ValueError:  # a whole number of more than 4,300 digits
        raise JSONFault("digits", "a number has too many digits") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        last = {name: place for place, (name, _) in enumerate(pairs)}
        twice = next(name for place, (name, _) in enumerate(pairs) if last[name] != place)
        raise JSONFault("twice", f"{json.dumps(twice[:64])} is there twice in one object", name=twice)
    return made


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise JSONFault("too_large", "a number is larger than any that can be kept")
    return number


def _no_constant(name: str) -> NoReturn:
    raise JSONFault("constant", f"{name} is no number of JSON", name=name)
