"""Question texts of the layers: tool filter, routers, reranker."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from yesno.errors import ConfigError
from yesno.templates.encoding import Encoded, encode_text
from yesno.templates.sets import environment, layer_template

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["QuestionTemplate", "layer_question"]


def layer_question(layer: str, **variables: str) -> str:
    """Return the text of a layer's question.

    Args:
        layer: `tool`, `route`, `retriever`, `passage` or `agent`.
        variables: What its template names, such as `name` and `description`; encoded, so that a tool's
            description cannot change the prompt. An unused `description` may be empty.

    Raises:
        ConfigError: There is no such layer, or the template names a variable that is not given.
    """
    encoded = {name: encode_text(text.strip()) for name, text in variables.items()}
    return Encoded(layer_template(layer).render("question", encoded))


@dataclass(frozen=True, slots=True)
class QuestionTemplate:
    """The text of a layer's question: the shipped one, or one of the user's own.

    Args:
        layer: Whose question it is, such as `tool`; its shipped template is used when there is no other.
        source: A Jinja template of the user's own, such as "Does {{name}} help?".
        required: The variables that a template of one's own must name; with several, one of them.
        allowed: All that it may name.

    Raises:
        ConfigError: A template of one's own is no text, cannot be parsed, or names other variables.
    """

    layer: str
    source: str | None = None
    required: Collection[str] = ()
    allowed: Collection[str] = ()

    def __post_init__(self) -> None:
        if self.source is not None:
            _check(self.source, tuple(self.required), tuple(self.allowed))

    def text(self, **variables: str) -> str:
        """Return the question for these values, which are encoded, without space around it."""
        return _text(self.layer, self.source, tuple(variables.items()))


@lru_cache(maxsize=4096)  # the same tools and routes come with every message
def _text(layer: str, source: str | None, variables: tuple[tuple[str, str], ...]) -> str:
    if source is None:
        return layer_question(layer, **dict(variables))
    import jinja2

    try:
        rendered = _compiled(source).render({name: encode_text(text.strip()) for name, text in variables})
    except (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ConfigError(f"`question_template` cannot be rendered: {error}") from error
    return Encoded(rendered.strip())


@cache
def _compiled(source: str) -> Template:
    return environment().from_string(source)


def _check(source: object, required: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    import jinja2
    import jinja2.meta

    if not isinstance(source, str):
        raise ConfigError(f"`question_template` must be a text, not {type(source).__name__}")
    try:
        named = jinja2.meta.find_undeclared_variables(environment().parse(source))
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"`question_template`, line {error.lineno}: {error.message}") from error
    if required and not named.intersection(required):
        wanted = " or ".join("{{" + name + "}}" for name in required)
        raise ConfigError(f"`question_template` must hold {wanted}; it is what the question is about")
    unknown = sorted(named.difference(allowed))
    if unknown:
        known = ", ".join(allowed)
        raise ConfigError(
            f"`question_template` names {unknown[0]!r}, which has no value; allowed are {known}"
        )
