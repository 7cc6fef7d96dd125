"""Functions that a model decides."""

from __future__ import annotations

import inspect
import sys
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing
from enum import Enum
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, overload

from yesno.functions.deciding import Deciding, Inputs
from yesno.functions.plans import Draft
from yesno.questions import Answer, ChoiceAnswer, Question, ScaleAnswer, YesNoAnswer
from yesno.response import DecisionResponse, Failure

__all__ = ["AsyncDecisionFunction", "DecisionFunction", "decision_function"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")
E = TypeVar("E", bound=Enum | str)


class DecisionFunction(Deciding[P, R]):
    """A function that a `DecisionModel` decides; `decide` makes it."""

    _kind = "sync"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask, and return what the function returns."""
        response, asked = self._decided(args, kwargs)
        return self.plan.content(response, asked)  # type: ignore[no-any-return]  # R, as its hints say

    @overload
    def answer(
        self: DecisionFunction[P, bool] | DecisionFunction[P, YesNoAnswer], *args: P.args, **kwargs: P.kwargs
    ) -> YesNoAnswer: ...
    @overload
    def answer(
        self: DecisionFunction[P, ScaleAnswer[T]], *args: P.args, **kwargs: P.kwargs
    ) -> ScaleAnswer[T]: ...
    @overload
    def answer(
        self: DecisionFunction[P, ChoiceAnswer[T]], *args: P.args, **kwargs: P.kwargs
    ) -> ChoiceAnswer[T]: ...
    @overload
    def answer(self: DecisionFunction[P, E], *args: P.args, **kwargs: P.kwargs) -> ChoiceAnswer[E]: ...
    @overload
    def answer(self, *args: P.args, **kwargs: P.kwargs) -> Answer: ...
    def answer(self, *args: Any, **kwargs: Any) -> Any:
        """Ask, and return the whole answer, with its probabilities and where they come from.

        Raises:
            QuestionError: The function asks one question for each field; let it return `Result[…]` instead.
        """
        self.plan.question()
        return self.plan.answer(self._decided(args, kwargs)[0])

    def map(self, items: Iterable[Any], *, concurrency: int | None = None) -> Iterator[R | Failure]:
        """Decide about many items as `DecisionModel.map` does: in order, a few at a time.

        Args:
            items: Each the argument of a function that has one parameter, else a mapping of arguments by parameter.
            concurrency: Most items under way; the model's own number unless given.

        Yields:
            What the function returns for each item, or the `Failure` of that item.
        """
        return self._mapped(self.plan.questions, self._model(), items, concurrency)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self: DecisionFunction[Concatenate[S, Q], T], instance: S, owner: type
    ) -> DecisionFunction[Q, T]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._bound(instance, owner)

    def _decided(
        self, given: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[DecisionResponse, str | None]:
        request = self.plan.request(self._arguments(given, named))
        model = self._model()
        return model.decide(request), request.parameters.model_name or model.model_name

    def _mapped(
        self,
        questions: Mapping[str, Question[Any]],
        model: Any,  # noqa: ANN401 - a model of either kind
        items: Iterable[Any],
        concurrency: int | None,
    ) -> Iterator[R | Failure]:
        inputs = Inputs(self._input)
        answered = model.map(map(inputs, items), questions, concurrency=concurrency)
        for response in answered:
            yield self._outcome(inputs.instead_of(response), model.model_name)


class AsyncDecisionFunction(Deciding[P, R]):
    """A coroutine function that an `AsyncDecisionModel` decides; `decide` makes it of an `async def`."""

    _kind = "async"

    def __init__(self, draft: Draft, names: Mapping[str, Any], **settings: Any) -> None:
        super().__init__(draft, names, **settings)
        if sys.version_info >= (3, 12):
            inspect.markcoroutinefunction(self)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Ask, and return what the function returns. Cancelling it cancels the request."""
        response, asked = await self._decided(args, kwargs)
        return self.plan.content(response, asked)  # type: ignore[no-any-return]  # R, as its hints say

    @overload
    async def answer(
        self: AsyncDecisionFunction[P, bool] | AsyncDecisionFunction[P, YesNoAnswer],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> YesNoAnswer: ...
    @overload
    async def answer(
        self: AsyncDecisionFunction[P, ScaleAnswer[T]], *args: P.args, **kwargs: P.kwargs
    ) -> ScaleAnswer[T]: ...
    @overload
    async def answer(
        self: AsyncDecisionFunction[P, ChoiceAnswer[T]], *args: P.args, **kwargs: P.kwargs
    ) -> ChoiceAnswer[T]: ...
    @overload
    async def answer(
        self: AsyncDecisionFunction[P, E], *args: P.args, **kwargs: P.kwargs
    ) -> ChoiceAnswer[E]: ...
    @overload
    async def answer(self, *args: P.args, **kwargs: P.kwargs) -> Answer: ...
    async def answer(self, *args: Any, **kwargs: Any) -> Any:
        """Do what `DecisionFunction.answer` does, awaited."""
        self.plan.question()
        return self.plan.answer((await self._decided(args, kwargs))[0])

    def map(
        self, items: Iterable[Any] | AsyncIterable[Any], *, concurrency: int | None = None
    ) -> AsyncIterator[R | Failure]:
        """Do what `DecisionFunction.map` does, for `async for`; items may come from an asynchronous iterable."""
        return self._mapped(self.plan.questions, self._model(), items, concurrency)

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(
        self: AsyncDecisionFunction[Concatenate[S, Q], T], instance: S, owner: type
    ) -> AsyncDecisionFunction[Q, T]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self._bound(instance, owner)

    async def _decided(
        self, given: tuple[Any, ...], named: Mapping[str, Any]
    ) -> tuple[DecisionResponse, str | None]:
        request = self.plan.request(self._arguments(given, named))
        model = self._model()
        return await model.decide(request), request.parameters.model_name or model.model_name

    async def _mapped(
        self,
        questions: Mapping[str, Question[Any]],
        model: Any,  # noqa: ANN401 - a model of either kind
        items: Iterable[Any] | AsyncIterable[Any],
        concurrency: int | None,
    ) -> AsyncIterator[R | Failure]:
        inputs = Inputs(self._input)
        given = inputs.each_of(items) if isinstance(items, AsyncIterable) else map(inputs, items)
        async with aclosing(model.map(given, questions, concurrency=concurrency)) as answered:
            async for response in answered:
                yield self._outcome(inputs.instead_of(response), model.model_name)


def decision_function(draft: Draft, names: Mapping[str, Any], **settings: Any) -> Any:  # noqa: ANN401
    """Return the decision function of a draft, of the kind that its function is."""
    kind = AsyncDecisionFunction if inspect.iscoroutinefunction(draft.function) else DecisionFunction
    return kind(draft, names, **settings)
