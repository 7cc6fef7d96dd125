"""What a function's signature means: the request that it makes and the value that it returns."""

from __future__ import annotations

import collections.abc
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin

from yesno.errors import QuestionError
from yesno.functions.arguments import Arguments, arguments_of, checked_signature
from yesno.functions.hints import is_union, peeled, resolved, resolved_each, shown
from yesno.functions.marks import Asks
from yesno.functions.objects import builder_of, is_object, readers_of
from yesno.functions.readers import SUPPORTED, Reader, check_asks, is_leaf, reader_of
from yesno.functions.results import Result
from yesno.functions.stubs import is_stub
from yesno.functions.thresholds import ThresholdContext, Thresholds, threshold_for
from yesno.questions import Question
from yesno.request import DecisionRequest
from yesno.response import DecisionResponse

__all__ = ["Binding", "Draft", "Plan", "drafted", "planned"]

Binding: TypeAlias = Literal["instance", "class", "static"]
"""What a function receives first when it is an attribute of a class."""

_LATER = (
    collections.abc.Awaitable,
    collections.abc.Coroutine,
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a function before its hints are resolved."""

    function: Callable[..., Any]
    asks: Asks | None
    thresholds: Thresholds | None
    binding: Binding
    signature: inspect.Signature
    receives: bool
    """Whether the first parameter is `self` or `cls`."""

    @property
    def label(self) -> str:
        """The function's name, with its class."""
        return self.function.__qualname__.rpartition("<locals>.")[2]

    @property
    def service(self) -> str:
        """The class of a method, the module of a function."""
        return self.label.rpartition(".")[0] or self.function.__module__


@dataclass(frozen=True, slots=True)
class Plan:
    """How calls become requests, and responses values."""

    draft: Draft
    service: str
    arguments: Arguments
    readers: Mapping[str, Reader]
    build: Callable[[Mapping[str, Any]], Any] | None
    """From the values of the fields to the object; None when the function asks one question itself."""
    with_result: bool

    @property
    def questions(self) -> dict[str, Question[Any]]:
        """The questions by name."""
        return {name: reader.question for name, reader in self.readers.items()}

    def request(self, arguments: Mapping[str, Any]) -> DecisionRequest:
        """Return the request of a call."""
        return DecisionRequest(
            self.arguments.input(arguments), self.questions, self.arguments.parameters(arguments)
        )

    def answer(self, response: DecisionResponse) -> Any:  # noqa: ANN401 - of the function's type
        """Return the answer to the function's one question.

        Raises:
            QuestionError: It asks one for each field.
            Refused, UndecidedError: There is none.
        """
        (reader,) = self._alone().values()
        return reader.full(response.answer(self.draft.function.__name__, reader.kind))

    def question(self) -> Question[Any]:
        """Return the function's one question; raises as `answer` does."""
        (reader,) = self._alone().values()
        return reader.question

    def content(self, response: DecisionResponse, asked: str | None) -> Any:  # noqa: ANN401 - the function's own
        """Return what the function returns.

        Args:
            response: What came back.
            asked: The model that was asked, for when the response does not say who answered.

        Raises:
            Refused, UndecidedError: A question has no answer.
            QuestionError: A threshold is impossible.
        """
        values = {
            name: self._value(name, reader, response, response.model or asked)
            for name, reader in self.readers.items()
        }
        content = next(iter(values.values())) if self.build is None else self.build(values)
        return Result(content, response) if self.with_result else content

    def _value(self, name: str, reader: Reader, response: DecisionResponse, model: str | None) -> Any:  # noqa: ANN401
        answer = reader.full(response.answer(name, reader.kind))
        if reader.value is not None:
            return reader.value(answer)
        context = ThresholdContext(self.service, self.draft.function.__name__, name, model)
        return answer.is_yes(threshold_for(context, self.draft.thresholds, reader.threshold))

    def _alone(self) -> Mapping[str, Reader]:
        if self.build is not None:
            raise QuestionError(
                f"`{self.draft.label}` asks {len(self.readers)} questions; use `.questions`, and return "
                "`Result[…]` to see all answers"
            )
        return self.readers


def drafted(
    function: Any,  # noqa: ANN401 - the check is the point
    asks: Asks | None,
    thresholds: Thresholds | None = None,
    binding: Binding = "instance",
) -> Draft:
    """Look at everything about a function that does not need its hints.

    Raises:
        QuestionError: It is no function, does something itself, or has a signature that makes no input.
    """
    if not inspect.isfunction(function):
        raise QuestionError(f"only functions and methods can decide, not {_what(function)}")
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), None)
    around = function.__qualname__.rpartition(".")[0]
    in_class = bool(around) and not around.endswith("<locals>")
    receives = binding == "class" or (binding == "instance" and in_class and first in ("self", "cls"))
    draft = Draft(function, asks, thresholds, binding, signature, receives)
    if asks is not None:
        check_asks(asks, f"`{draft.label}`")
    if thresholds is not None and not callable(thresholds):
        raise QuestionError(
            f"`thresholds` of `{draft.label}` must be a function of a ThresholdContext, not {thresholds!r}; "
            "one number is `threshold`"
        )
    if not is_stub(function):
        raise QuestionError(
            f"`{draft.label}` has a body, which would never run; the model decides, so write `...` or a docstring"
        )
    checked_signature(signature, draft.label, receives=receives)
    return draft


def planned(
    draft: Draft, names: Mapping[str, Any], *, service: str | None = None, last_try: bool = False
) -> Plan:
    """Return the plan of a function.

    Args:
        draft: What is known of it.
        names: What its hints may name beside the names of its module.
        service: The class that it belongs to, when that is not where it was written.
        last_try: A parameter whose hint cannot be found is one without a hint.

    Raises:
        QuestionError: Its hints make no question, or no input.
        NameError: A hint names something that does not exist yet.
    """
    hints = (resolved_each if last_try else resolved)(draft.function, names)
    arguments = arguments_of(draft.signature, hints, draft.label, receives=draft.receives)
    full, with_result = _content_of(hints["return"], draft.label)
    hint, added = peeled(full)
    asked = [mark for mark in added if isinstance(mark, Asks)]
    asked = asked if draft.asks is None else [draft.asks, *asked]
    place = f"`{draft.label}`"
    if is_object(hint) and not is_leaf(hint):
        if asked:
            raise QuestionError(
                f"{place} returns the object {shown(hint)}, whose fields have the questions; take its own question out"
            )
        readers = readers_of(hint, names, place)
        build: Callable[[Mapping[str, Any]], Any] | None = builder_of(hint)
    else:
        readers, build = {draft.function.__name__: _own_reader(full, asked, place)}, None
    return Plan(draft, service or draft.service, arguments, readers, build, with_result)


def _content_of(hint: Any, label: str) -> tuple[Any, bool]:  # noqa: ANN401 - any hint
    """Return what a `Result` holds, or the hint itself, and whether it was one."""
    kind, added = peeled(hint)
    if kind is Result:
        raise QuestionError(f"`{label}` returns a Result, and of what? Write such as `Result[bool]`")
    if get_origin(kind) is not Result:
        return hint, False
    (content,) = get_args(kind)
    for mark in added:
        content = Annotated[content, mark]
    return content, True


def _own_reader(hint: Any, asked: list[Asks], place: str) -> Reader:  # noqa: ANN401 - any hint
    kind, _ = peeled(hint)
    if (get_origin(kind) or kind) in _LATER:
        raise QuestionError(f"{place} returns {shown(kind)}; write `async def`, and what it is awaited for")
    if not is_leaf(hint):
        way_out = "; what is refused or undecided raises `NoAnswer`, and a way out is one more option"
        raise QuestionError(
            f"{place} returns {shown(kind)}, which no question answers; use {SUPPORTED}, or a dataclass, TypedDict "
            f"or pydantic model of those{way_out if is_union(kind) else ''}"
        )
    if not asked:
        raise QuestionError(f'{place} has no question; write `@decide("…")`, or `@Asks("…")` in a Protocol')
    if len(asked) > 1:
        raise QuestionError(f"{place} has {len(asked)} questions; keep one")
    return reader_of(hint, asked[0], place)


def _what(thing: Any) -> str:  # noqa: ANN401 - anything
    return f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__
