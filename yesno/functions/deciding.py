"""What both kinds of decision functions have in common: everything that asks nobody."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeVar, cast

from yesno._frozen import FrozenDict
from yesno.errors import QuestionError, YesnoError
from yesno.functions.models import Kind, checked_model, model_for
from yesno.functions.plans import Draft, Plan, planned
from yesno.questions import Question
from yesno.request import Parameters
from yesno.response import DecisionResponse, Failure

__all__ = ["Deciding", "Inputs"]

P = ParamSpec("P")
R = TypeVar("R")


class Deciding(Generic[P, R]):
    """A decision function without its call."""

    _kind: ClassVar[Kind]
    __name__: str
    __qualname__: str

    def __init__(
        self,
        draft: Draft,
        names: Mapping[str, Any],
        *,
        model: Any = None,  # noqa: ANN401 - a model of either kind
        service: str | None = None,
    ) -> None:
        functools.update_wrapper(cast("Any", self), draft.function)
        self.draft = draft
        self.own_model = checked_model(model, self._kind, draft.label)
        self._service = service
        self._receiver: tuple[Any, ...] = ()
        self._names = names
        self._plan: Plan | None = None
        with suppress(NameError):  # a name in quotes may be defined further down; the first use tries again
            self._made(planned(draft, names, service=service))

    @property
    def plan(self) -> Plan:
        """The plan, made now if a hint named something that was defined later.

        Raises:
            QuestionError: A hint names something that does not exist, or makes no question.
        """
        if self._plan is not None:
            return self._plan
        try:
            return self._made(planned(self.draft, self._names, service=self._service, last_try=True))
        except NameError as error:
            raise QuestionError(
                f"`{self.draft.label}` needs the type {error.name!r}, which cannot be found; define it in the "
                "module, or before the function"
            ) from error

    def _made(self, plan: Plan) -> Plan:
        self._plan, self._names = plan, {}
        return plan

    @property
    def questions(self) -> Mapping[str, Question[Any]]:
        """The questions by name: that of the function, or one for each field of what it returns."""
        return FrozenDict(self.plan.questions)

    @property
    def question(self) -> Question[Any]:
        """The question, to measure or tune it.

        Raises:
            QuestionError: There is one for each field; see `questions`.
        """
        return self.plan.question()

    @property
    def may_return_bool(self) -> bool:
        """Whether a threshold decides something, as far as the hints are known."""
        return self._plan is None or any(reader.value is None for reader in self._plan.readers.values())

    def __repr__(self) -> str:
        return f"<decision function {self.draft.label}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        if self._receiver:
            return getattr, (self._receiver[0], self.__name__)
        return self.__qualname__

    def _bound(self, instance: Any, owner: type | None) -> Self:  # noqa: ANN401 - any object
        """Return the function as an attribute of a class or its instance sees it."""
        at_class = instance is None and self.draft.binding == "instance"
        if at_class or not self.draft.receives:
            return self
        with suppress(QuestionError):  # which the call will raise
            self.plan  # noqa: B018 - made here, it is made once for all bound copies
        bound = object.__new__(type(self))
        bound.__dict__.update(self.__dict__)
        bound._receiver = (owner if self.draft.binding == "class" else instance,)
        parameters = list(self.draft.signature.parameters.values())[1:]
        bound.__dict__["__signature__"] = self.draft.signature.replace(parameters=parameters)
        return bound

    def _model(self) -> Any:  # noqa: ANN401 - a model of either kind
        return model_for(self.own_model, self._kind, self.draft.label)

    def _arguments(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        return self.plan.arguments.bound((*self._receiver, *given), named)

    def _input(self, item: Any) -> dict[str, Any] | Failure:  # noqa: ANN401 - an item of `map`
        arguments = self.plan.arguments
        without = {} if arguments.settings is None else {arguments.settings: None}
        try:
            named = arguments.by_name({**without, **arguments.single(item)})
            if arguments.parameters(named) != Parameters():
                raise QuestionError(
                    f"`{self.draft.label}.map` takes no `{arguments.settings}`; the model's own settings hold"
                )
            return arguments.input(named)
        except YesnoError as error:
            return Failure(error)

    def _outcome(self, response: DecisionResponse | Failure, asked: str | None) -> Any:  # noqa: ANN401
        if isinstance(response, Failure):
            return response
        try:
            return self.plan.content(response, asked)
        except YesnoError as error:
            return Failure(error)


class Inputs:
    """The inputs of many items; what is wrong with one takes the place of its response."""

    def __init__(self, input_of: Callable[[Any], dict[str, Any] | Failure]) -> None:
        self._input_of = input_of
        self._failed: dict[int, Failure] = {}
        self._taken = 0
        self._given = 0

    def __call__(self, item: Any) -> dict[str, Any]:  # noqa: ANN401 - any item
        """Return the input of the next item, an empty one if it has none."""
        made = self._input_of(item)
        self._taken += 1
        if isinstance(made, Failure):
            self._failed[self._taken] = made
            return {}  # which no model is asked about
        return made

    async def each_of(self, items: AsyncIterable[Any]) -> AsyncIterator[dict[str, Any]]:
        """Yield the inputs of items that come asynchronously."""
        async for item in items:
            yield self(item)

    def instead_of(self, response: DecisionResponse | Failure) -> DecisionResponse | Failure:
        """Return what is wrong with the next item, else the response to it."""
        self._given += 1
        return self._failed.pop(self._given, response)
