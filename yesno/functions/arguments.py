"""From a call's arguments to the input of a request."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from yesno.errors import QuestionError
from yesno.functions.hints import is_union, peeled
from yesno.functions.marks import Name
from yesno.functions.plain import plain
from yesno.request import Parameters

__all__ = ["Arguments", "arguments_of", "checked_signature"]


@dataclass(frozen=True, slots=True)
class Arguments:
    """How the arguments of one function become an input."""

    signature: inspect.Signature
    label: str
    """The function, for errors."""
    sent_as: Mapping[str, str]
    """Parameter -> name in the input, for those that are sent."""
    settings: str | None
    """The parameter whose argument is the request's `Parameters`."""

    def bound(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameter -> argument, defaults filled in; a wrong call is Python's own `TypeError`."""
        return self._filled(self.signature, given, named)

    def by_name(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """Do what `bound` does, when all arguments but `self` come by name, positional-only ones too."""
        mine = [p for p in self.signature.parameters.values() if p.name in (*self.sent_as, self.settings)]
        parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in mine]
        return self._filled(inspect.Signature(parameters), (), named)

    def _filled(
        self, signature: inspect.Signature, given: tuple[Any, ...], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        try:
            call = signature.bind(*given, **named)
        except TypeError as error:
            raise TypeError(f"{self.label}() {error}") from None
        call.apply_defaults()
        return dict(call.arguments)

    def single(self, item: Any) -> dict[str, Any]:  # noqa: ANN401 - an item of `map`
        """Return the arguments that an item of `map` stands for.

        Raises:
            QuestionError: The function has several parameters and the item is no mapping of them.
        """
        names = list(self.sent_as)
        if len(names) == 1:
            return {names[0]: item}
        if not isinstance(item, Mapping):
            raise QuestionError(
                f"an item for `{self.label}` must be a mapping of its parameters "
                f"({', '.join(names)}), not {type(item).__name__}"
            )
        return dict(item)

    def input(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the input: name -> plain value, without what is None.

        Raises:
            QuestionError: Every argument is None, or one holds something that cannot be sent.
        """
        sent = {}
        for parameter, name in self.sent_as.items():
            if arguments[parameter] is not None:
                sent[name] = plain(arguments[parameter], f"argument `{parameter}` of `{self.label}`")
        if not sent:
            names = " and ".join(f"`{parameter}`" for parameter in self.sent_as)
            raise QuestionError(f"every argument of `{self.label}` is None; give at least one of {names}")
        return sent

    def parameters(self, arguments: Mapping[str, Any]) -> Parameters:
        """Return the settings that the call brings along.

        Raises:
            QuestionError: They are something else.
        """
        given = None if self.settings is None else arguments[self.settings]
        if given is not None and not isinstance(given, Parameters):
            raise QuestionError(
                f"argument `{self.settings}` of `{self.label}` must be `Parameters` or None, not {type(given).__name__}"
            )
        return given or Parameters()


def checked_signature(signature: inspect.Signature, label: str, *, receives: bool) -> None:
    """Refuse a signature that cannot become an input: this much can be seen without resolving a hint."""
    parameters = list(signature.parameters.values())[1 if receives else 0 :]
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise QuestionError(
                f"`{label}` takes `{parameter}`, whose arguments have no names of their own; name each parameter"
            )
    if not parameters:
        raise QuestionError(f"`{label}` has no parameter, so there is nothing to ask about; give it one")
    if signature.return_annotation is signature.empty:
        raise QuestionError(f"`{label}` does not say what it returns; annotate it, such as `-> bool`")


def arguments_of(
    signature: inspect.Signature, hints: Mapping[str, Any], label: str, *, receives: bool
) -> Arguments:
    """Return how the arguments of a function become an input.

    Raises:
        QuestionError: Two parameters have one name, two are `Parameters`, or none is left to be sent.
    """
    sent: dict[str, str] = {}
    settings: list[str] = []
    for parameter in list(signature.parameters)[1 if receives else 0 :]:
        kind, added = peeled(hints.get(parameter, Any))
        if kind is Parameters or (is_union(kind) and Parameters in get_args(kind)):
            settings.append(parameter)
            continue
        name = next((mark.text for mark in reversed(added) if isinstance(mark, Name)), parameter)
        if name in sent.values():
            raise QuestionError(f"`{label}` has two parameters that are sent as {name!r}; rename one")
        sent[parameter] = name
    if len(settings) > 1:
        raise QuestionError(f"`{label}` has two parameters of type Parameters, {settings!r}; keep one")
    if not sent:
        raise QuestionError(f"`{label}` has no parameter that is sent, only `Parameters`; give it an input")
    return Arguments(signature, label, sent, settings[0] if settings else None)
