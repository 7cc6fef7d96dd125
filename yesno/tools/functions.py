"""Tools that are plain functions: what signature and docstring say."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeAlias,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from yesno.errors import ToolDefinitionError
from yesno.tools.context import ToolContext
from yesno.tools.tool import Schema, Tool

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Taken", "arguments_taken", "function_parameters", "tool_of_function"]

Extra: TypeAlias = Literal["allow", "forbid"]


def tool_of_function(function: Callable[..., Any]) -> Tool:
    """Return the description of a function: its name, its docstring without sections, its signature.

    The schema is made when `parameters` is first read: from the annotations, with the descriptions that a
    docstring in Google's, NumPy's or Sphinx's style has for the arguments; a parameter with a default is optional, one annotated with `ToolContext` is left out.
    `always_visible = True` may be set on the function.
    """
    plain = function
    while isinstance(plain, partial):
        plain = plain.func
    name = getattr(plain, "__name__", None)
    if not isinstance(name, str) or name == "<lambda>":
        raise ToolDefinitionError(
            f"a {type(function).__name__} without a name is no tool; wrap it in a `Tool`"
        )
    description, _ = _documented(inspect.getdoc(plain) or "")
    return Tool(
        name,
        description,
        parameters=partial(function_parameters, function),
        always_visible=getattr(plain, "always_visible", False),
        original=function,
    )


@dataclass(frozen=True, slots=True)
class Taken:
    """What a function takes: how to read it from JSON, its schema, and which parameters the caller fills in."""

    adapter: TypeAdapter[dict[str, Any]]
    schema: Schema
    context: tuple[str, ...]
    """Names of the parameters annotated with `ToolContext`; they are no part of the schema."""
    others: TypeAdapter[dict[str, Any]] | None = None
    """What `**kwargs` takes, where they are annotated."""


def function_parameters(function: Callable[..., Any]) -> Schema:
    """Return the JSON Schema of a function's arguments, from its annotations and its docstring.

    Raises:
        ToolDefinitionError: It takes `*args`, an annotation cannot be resolved, or a type has no schema.
    """
    return arguments_taken(function).schema


def arguments_taken(function: Callable[..., Any]) -> Taken:
    """Return what a function takes, from its annotations and its docstring; raises as `function_parameters` does."""
    import pydantic
    from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

    plain = function
    while isinstance(plain, partial):
        plain = plain.func
    name = getattr(plain, "__name__", type(function).__name__)
    fields, extra, context, kind = _fields(function, plain, name)
    # a TypedDict may have any names, while a model keeps some of them for itself
    make: Any = TypedDict
    shape = make(name, fields)
    shape.__pydantic_config__ = pydantic.ConfigDict(extra=extra)
    try:
        adapter: TypeAdapter[dict[str, Any]] = pydantic.TypeAdapter(shape)
        schema = adapter.json_schema()
        others = None if kind is None else pydantic.TypeAdapter(dict[str, kind])  # type: ignore[valid-type]  # made here
        if others is not None:
            told = others.json_schema()
            schema["additionalProperties"] = told["additionalProperties"]
            if "$defs" in told:
                schema["$defs"] = {**told["$defs"], **schema.get("$defs", {})}
    except (pydantic.errors.PydanticUserError, NameError) as error:
        raise ToolDefinitionError(
            f"tool {name!r}: no JSON Schema can be made of its annotations ({type(error).__name__}); "
            "annotate it with plain types, or give a `Tool` with `parameters`"
        ) from error
    schema.pop("title", None)
    schema.pop("description", None)
    return Taken(adapter, {"type": "object", "properties": {}, **schema}, context, others)


def _fields(
    function: Callable[..., Any], plain: Callable[..., Any], name: str
) -> tuple[dict[str, Any], Extra, tuple[str, ...], Any]:
    import pydantic

    try:
        parameters = inspect.signature(function).parameters
        hints = get_type_hints(plain, include_extras=True)
    except (NameError, TypeError, ValueError) as error:
        raise ToolDefinitionError(
            f"tool {name!r}: its signature cannot be read ({type(error).__name__}); give a `Tool` with `parameters`"
        ) from error
    _, described = _documented(inspect.getdoc(plain) or "")
    fields: dict[str, Any] = {}
    context: list[str] = []
    extra: Extra = "forbid"
    others: Any = None
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise ToolDefinitionError(
                f"tool {name!r} takes *{parameter.name}, which no model can give; name its values"
            )
        if parameter.kind is parameter.VAR_KEYWORD:
            extra, others = "allow", hints.get(parameter.name)
            continue
        kind = hints.get(parameter.name, Any)
        if kind is ToolContext or ToolContext in get_args(kind):
            context.append(parameter.name)
            continue
        if parameter.name in described:
            kind = Annotated[kind, pydantic.Field(description=described[parameter.name])]
        if parameter.default is not parameter.empty:
            default = _default(parameter.default)
            kind = NotRequired[
                Annotated[kind, pydantic.Field(json_schema_extra=default)] if default else kind
            ]
        fields[parameter.name] = kind
    open_ = others is Any or get_origin(others) is Unpack
    return fields, extra, tuple(context), None if open_ else others


def _default(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any default
    try:
        return {"default": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError, RecursionError):
        return {}  # a default that JSON cannot show is still one


@lru_cache(maxsize=4096)  # the same tools come with every message
def _documented(doc: str) -> tuple[str, Mapping[str, str]]:
    """Return what a docstring says of the function and of each argument."""
    if not doc:
        return "", {}
    from docstring_parser import ParseError, parse

    try:
        found = parse(doc)
    except ParseError:
        return doc, {}
    parts = [text for text in (found.short_description, found.long_description) if text]
    told = {param.arg_name: param.description for param in found.params if param.description}
    return ("\n\n".join(parts) or (doc if not found.meta else "")), told
