"""Classes whose fields are questions: dataclasses, `TypedDict`s and pydantic models."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, get_origin

from yesno.errors import QuestionError
from yesno.functions.hints import peeled, resolved, shown
from yesno.functions.marks import Asks
from yesno.functions.readers import SUPPORTED, Reader, is_leaf, reader_of

__all__ = ["builder_of", "is_object", "is_pydantic", "readers_of"]


def is_pydantic(kind: type) -> bool:
    """Return whether a class is a pydantic model, without importing pydantic."""
    return hasattr(kind, "model_fields") and hasattr(kind, "model_validate")


def is_object(hint: Any) -> bool:  # noqa: ANN401 - any hint
    """Return whether a hint is a class whose fields can be asked."""
    kind, _ = peeled(hint)
    return isinstance(kind, type) and (
        dataclasses.is_dataclass(kind) or _is_typed_dict(kind) or is_pydantic(kind)
    )


def readers_of(kind: type, names: Mapping[str, Any], place: str) -> dict[str, Reader]:
    """Return a reader for each field, inherited ones first.

    Args:
        kind: The class.
        names: What its hints may name beside the names of its module.
        place: The function that returns it, for errors.

    Raises:
        QuestionError: There is no field, a field lacks its question, cannot be set, or has a type that one
            question cannot answer.
        NameError: A hint names something that does not exist yet.
    """
    given = _fields(kind, resolved(kind, names), place)
    if not given:
        raise QuestionError(f"{place} returns {kind.__name__}, which has no field to ask about")
    return {
        name: _reader(hint, f"{place}, field `{name}` of {kind.__name__}") for name, hint in given.items()
    }


def builder_of(kind: type) -> Callable[[Mapping[str, Any]], Any]:
    """Return what makes an instance of a class from its fields."""
    if _is_typed_dict(kind):
        return dict
    if is_pydantic(kind):
        model: Any = kind
        return lambda values: model.model_validate(dict(values), by_name=True)
    return lambda values: kind(**values)


def _fields(kind: type, hints: Mapping[str, Any], place: str) -> dict[str, Any]:
    fields = {
        name: hint
        for name, hint in hints.items()
        if get_origin(hint) is not ClassVar and hint is not ClassVar
    }
    if is_pydantic(kind):
        model: Any = kind
        return {name: hint for name, hint in fields.items() if name in model.model_fields}
    if dataclasses.is_dataclass(kind):
        settable = {field.name: field.init for field in dataclasses.fields(kind)}
        set_later = [name for name, at_once in settable.items() if not at_once]
        if set_later:
            raise QuestionError(
                f"{place}: field `{set_later[0]}` of {kind.__name__} is not set by its constructor (`init=False`), "
                "so no answer can go there"
            )
        return {
            name: hint
            for name, hint in fields.items()
            if name in settable or isinstance(hint, dataclasses.InitVar)
        }
    return fields


def _reader(hint: Any, place: str) -> Reader:  # noqa: ANN401 - any hint
    if isinstance(hint, dataclasses.InitVar):
        raise QuestionError(f"{place}: an InitVar keeps no answer; make it a field")
    if get_origin(peeled(hint)[0]) is Final:
        raise QuestionError(f"{place}: a Final field cannot be given an answer; leave Final out")
    kind, added = peeled(hint)
    asked = [mark for mark in added if isinstance(mark, Asks)]
    if len(asked) > 1:
        raise QuestionError(f"{place}: {len(asked)} questions are asked; one field is one question")
    if not is_leaf(hint):
        raise QuestionError(f"{place}: {_described(kind)} is not supported; use {SUPPORTED}")
    if not asked:
        raise QuestionError(f'{place}: there is no question; write `Annotated[{shown(kind)}, Asks("…")]`')
    return reader_of(hint, asked[0], place)


def _described(kind: Any) -> str:  # noqa: ANN401 - any hint
    return f"{shown(kind)}, an object inside an object," if is_object(kind) else shown(kind)


def _is_typed_dict(kind: Any) -> bool:  # noqa: ANN401 - any class
    # not `typing.is_typeddict`: before Python 3.12 pydantic needs the one of typing_extensions
    return isinstance(kind, type) and issubclass(kind, dict) and hasattr(kind, "__required_keys__")
