"""The decorator that turns a signature into a decision."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

from yesno.errors import QuestionError
from yesno.functions.decisions import AsyncDecisionFunction, DecisionFunction, decision_function
from yesno.functions.hints import local_names
from yesno.functions.marks import MARK, Asks
from yesno.functions.models import AnyModel
from yesno.functions.plans import Binding, drafted
from yesno.functions.thresholds import Thresholds

__all__ = ["decide", "unwrapped_method"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Decorator:
    """What `decide` with arguments returns."""

    asks: Asks | None
    model: AnyModel | None
    thresholds: Thresholds | None

    @overload
    def __call__(  # type: ignore[overload-overlap]  # an `async def` is a plain callable too
        self, function: Callable[P, Coroutine[Any, Any, R]]
    ) -> AsyncDecisionFunction[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R]) -> DecisionFunction[P, R]: ...
    def __call__(self, function: Any) -> Any:
        """Decorate a function."""
        return self.applied(function, local_names(sys._getframe(1)))

    def applied(self, method: Any, names: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a decision function
        """Decorate a function whose hints may use these names beside those of its module."""
        function, binding = unwrapped_method(method)
        marked = getattr(function, MARK, None)
        if marked is not None and self.asks is not None:
            raise QuestionError(
                f"`{function.__qualname__}` is given a question by `decide` and by `Asks`; keep one"
            )
        draft = drafted(function, self.asks or marked, self.thresholds, binding)
        decided = decision_function(draft, names, model=self.model)
        if self.thresholds is not None and not decided.may_return_bool:
            raise QuestionError(
                f"`{draft.label}` was given `thresholds`, and nothing that it returns is a bool"
            )
        return decided


@overload
def decide(  # type: ignore[overload-overlap]  # an `async def` is a plain callable too
    question: Callable[P, Coroutine[Any, Any, R]], /
) -> AsyncDecisionFunction[P, R]: ...
@overload
def decide(question: Callable[P, R], /) -> DecisionFunction[P, R]: ...
@overload
def decide(
    question: str | None = None,
    /,
    *,
    model: AnyModel | None = None,
    threshold: float | None = None,
    thresholds: Thresholds | None = None,
    yes_when: str | None = None,
    no_when: str | None = None,
    options: Mapping[Any, str] | None = None,
) -> Decorator: ...
def decide(
    question: Any = None,
    /,
    *,
    model: AnyModel | None = None,
    threshold: float | None = None,
    thresholds: Thresholds | None = None,
    yes_when: str | None = None,
    no_when: str | None = None,
    options: Mapping[Any, str] | None = None,
) -> Any:
    """Let a model decide what a function returns.

    ```python
    @decide("Is this spam?", threshold=0.8)
    def is_spam(message: str) -> bool: ...
    ```

    The arguments become the input, by parameter name and without those that are None; enums are sent as their
    names, dataclasses and pydantic models as mappings of their fields. `Annotated[str, Name("…")]` renames one; an
    argument of type `Parameters` sets the model name and time limit of the call, and is not sent.

    The return type becomes the question:

    - `bool`, or `YesNoAnswer` for the probability
    - an enum or `Literal[…]`, or `ChoiceAnswer` of one for all probabilities
    - `ScaleAnswer` of an enum or `Literal[…]`, whose order is that of the levels, lowest first
    - a dataclass, `TypedDict` or pydantic model of these, each field with its question in
      `Annotated[bool, Asks("…")]`, all in one request; `@decide` then has no question of its own
    - `Result` of any of these, with the response, the model and the usage

    What is refused or undecided raises `Refused` or `UndecidedError`.

    The model is, in this order, that of a `with using(model):` around the call, the `model` given here, and that of
    `set_default_model`. Plain functions need a `DecisionModel`, those written `async def` an `AsyncDecisionModel`.

    Everything is checked when the function is defined. Only where a type hint in quotes, or under
    `from __future__ import annotations`, names something defined later, its part is checked at the first use.

    For type checkers a body must return: turn mypy's `empty-body` off, or write `raise NotImplementedError`. Put
    `@decide` above `@staticmethod` and `@classmethod`; mypy sees the former right through the class, the latter
    through an instance.

    Args:
        question: The question, in words the model reads; none when the fields have theirs.
        model: The model that decides.
        threshold: Least probability (0..1) at which a `bool` is True; 0.5 unless given.
        thresholds: Gives the threshold of each `bool` at each call; goes before `threshold`.
        yes_when: When the answer is yes.
        no_when: When the answer is no.
        options: Member of the enum, or name of the option -> description.

    Raises:
        QuestionError: The function cannot be a decision; the reason is named.
        ConfigError: The model is none, or of the other kind.
    """
    if question is not None and not isinstance(question, str):
        return Decorator(None, model, thresholds).applied(question, local_names(sys._getframe(1)))
    details: dict[str, Any] = {
        "threshold": threshold,
        "yes_when": yes_when,
        "no_when": no_when,
        "options": options,
    }
    if question is None and any(value is not None for value in details.values()):
        given = ", ".join(f"`{name}`" for name, value in details.items() if value is not None)
        raise QuestionError(f'{given} belongs to a question; write `@decide("…", …)`, or put it into `Asks`')
    asks = None if question is None else Asks(question, **details)
    return Decorator(asks, model, thresholds)


def unwrapped_method(method: Any) -> tuple[Any, Binding]:  # noqa: ANN401 - the check is the point
    """Return a function without `staticmethod` or `classmethod`, and what it receives first."""
    if isinstance(method, staticmethod):
        return method.__func__, "static"
    if isinstance(method, classmethod):
        return method.__func__, "class"
    return method, "instance"
