"""Check the arguments of a call against what its tool takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from yesno._frozen import FrozenDict
from yesno.errors import ToolDefinitionError
from yesno.messages.plain import thawed
from yesno.toolcalls.arguments import ArgumentsProblem, read_arguments
from yesno.toolcalls.canonical import canonical, plain_numbers

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from yesno.tools.functions import Taken

__all__ = [
    "AnyReader",
    "FunctionReader",
    "Problem",
    "ProblemsError",
    "Reader",
    "SchemaReader",
    "ValidArguments",
]

_MANY = 10
"""Problems that the model is told of at once."""
_OPEN = ("additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames", "$ref")
_COMBINED = ("allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas")


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one argument, and where."""

    path: str
    """Names and places joined by dots, such as `items.0.price`; empty for the arguments as a whole."""
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class ProblemsError(ValueError):
    """Arguments do not fit their tool."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(problem.path or "arguments" for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class ValidArguments:
    """Arguments that fit their tool."""

    values: dict[str, Any] = field(repr=False)
    """What the tool is called with, in the types of its annotations; made for one run."""
    shown: str = field(repr=False)
    """The same as JSON text, for people who decide about the call."""


class Reader(Protocol):
    """Reads the arguments of one tool."""

    def read(self, text: str, *, strict: bool) -> ValidArguments:
        """Return the arguments.

        Raises:
            ProblemsError: They cannot be read, or do not fit.
        """


class AnyReader:
    """Reads the arguments of a tool without a schema: any object."""

    def read(self, text: str, *, strict: bool) -> ValidArguments:
        """Return the arguments as written; raises as `Reader.read` does."""
        return _valid(_parsed(text))


class FunctionReader:
    """Reads the arguments of a function, into the types of its annotations."""

    def __init__(self, taken: Taken) -> None:
        self._adapter = taken.adapter
        self._others = taken.others
        self._named = frozenset(taken.schema["properties"])

    def read(self, text: str, *, strict: bool) -> ValidArguments:
        """Return the arguments; raises as `Reader.read` does.

        Strict: `"5"` is no int and `"yes"` no bool, while 1.0 is an int, as in JSON Schema, and a date may be a text.
        """
        given = _parsed(text)
        values = _typed(self._adapter, text if text.strip() else "{}", given, strict=strict)
        others = {key: value for key, value in given.items() if key not in self._named}
        if self._others is not None and others:
            values |= _typed(self._others, json.dumps(others), others, strict=strict)
        return ValidArguments(values, self._shown(values, given))

    def _shown(self, values: dict[str, Any], given: dict[str, Any]) -> str:
        try:
            return self._adapter.dump_json(values, warnings=False, fallback=_unshown).decode()
        except ValueError:
            return json.dumps(given, ensure_ascii=False)


class SchemaReader:
    """Reads the arguments of a tool that is described by a JSON Schema.

    With `strict`, arguments that the schema does not name are refused too, unless it says something about them.

    Raises:
        ToolDefinitionError: `jsonschema` is not installed, the schema is none, or it points outside of itself.
    """

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        try:
            from jsonschema import SchemaError
            from jsonschema.validators import validator_for
            from referencing import Registry
        except ImportError:
            raise ToolDefinitionError(
                f"tool {name!r} is described by a JSON Schema, and checking its arguments needs a package that is "
                "missing; run: pip install 'yesno[toolcalls]'"
            ) from None
        plain = thawed(schema)
        kind: Any = validator_for(plain, default=validator_for({}))
        try:
            kind.check_schema(plain)
        except (SchemaError, RecursionError) as error:
            where = ".".join(map(str, getattr(error, "path", ()))) or "its top"
            raise ToolDefinitionError(
                f"tool {name!r} has parameters that are no JSON Schema (see {where}); correct them"
            ) from None
        outside = next((ref for ref in _references(plain) if not ref.startswith("#")), None)
        if outside is not None:
            raise ToolDefinitionError(
                f"tool {name!r} has a schema that points outside of itself ({outside[:80]!r}); put the definition "
                "into its `$defs`, nothing is fetched"
            )
        try:
            canonical(plain)
        except (TypeError, ValueError, RecursionError):
            raise ToolDefinitionError(
                f"tool {name!r} has parameters that JSON cannot write, such as NaN or a set; no host would take them"
            ) from None
        self._validator = kind(plain, registry=Registry())  # an empty registry fetches nothing
        self._names = _closed_names(plain)

    def read(self, text: str, *, strict: bool) -> ValidArguments:
        """Return the arguments as written; raises as `Reader.read` does."""
        given = _parsed(text)
        problems = []
        if strict and self._names is not None:
            problems = [Problem(key[:64], "is not known") for key in given if key not in self._names]
        problems += self._schema_problems(given)
        if problems:
            raise ProblemsError(tuple(problems[:_MANY]))
        return _valid(given)

    def _schema_problems(self, given: dict[str, Any]) -> list[Problem]:
        from referencing.exceptions import Unresolvable

        try:
            errors = sorted(
                self._validator.iter_errors(given), key=lambda e: [str(p) for p in e.absolute_path]
            )
        except (RecursionError, Unresolvable):
            return [Problem("", "the schema of this tool cannot be applied")]
        return [_schema_problem(error) for error in errors]


def _typed(
    adapter: TypeAdapter[dict[str, Any]], text: str, given: dict[str, Any], *, strict: bool
) -> dict[str, Any]:
    from pydantic import ValidationError

    try:
        return adapter.validate_json(text, strict=strict)
    except ValidationError as error:
        whole = plain_numbers(given)
        if json.dumps(whole) == json.dumps(given):
            raise ProblemsError(_pydantic_problems(error)) from None
    try:
        return adapter.validate_json(json.dumps(whole), strict=strict)
    except ValidationError as error:
        raise ProblemsError(_pydantic_problems(error)) from None


def _parsed(text: str) -> dict[str, Any]:
    try:
        return read_arguments(text)
    except ArgumentsProblem as error:
        raise ProblemsError((Problem("", str(error)),)) from None


def _valid(given: dict[str, Any]) -> ValidArguments:
    return ValidArguments(given, json.dumps(given, ensure_ascii=False))


def _pydantic_problems(error: Any) -> tuple[Problem, ...]:  # noqa: ANN401 - pydantic's ValidationError
    found = []
    for item in error.errors(include_url=False, include_context=False, include_input=False)[:_MANY]:
        path = ".".join(str(part)[:64] for part in item["loc"])
        found.append(Problem(path, _WORDS.get(item["type"], cast("str", item["msg"]))))
    return tuple(found)


_WORDS = {"missing": "is required", "extra_forbidden": "is not known"}


def _schema_problem(error: Any) -> Problem:  # noqa: ANN401 - jsonschema's ValidationError
    path = ".".join(str(part)[:64] for part in error.absolute_path)
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return Problem(f"{path}.{missing[0]}".lstrip("."), "is required")
    limit = json.dumps(error.validator_value, ensure_ascii=False, default=str)
    limit = limit if len(limit) <= 200 else limit[:200] + " …"
    return Problem(path, f"does not satisfy {error.validator}: {limit}")


def _references(schema: Any) -> Iterator[str]:  # noqa: ANN401 - JSON values
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            for key in ("$ref", "$dynamicRef", "$recursiveRef"):
                if isinstance(value.get(key), str):
                    yield value[key]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _closed_names(schema: Any) -> frozenset[str] | None:  # noqa: ANN401 - JSON values
    """Return the only names that a schema speaks of; None when it leaves others open in some way."""
    if not isinstance(schema, dict) or any(key in schema for key in (*_OPEN, *_COMBINED)):
        return None
    properties = schema.get("properties")
    return frozenset(properties) if isinstance(properties, dict | FrozenDict) and properties else None


def _unshown(value: Any) -> str:  # noqa: ANN401 - any value
    return f"<{type(value).__name__}>"
