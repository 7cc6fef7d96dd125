"""Question texts of the layers: tool filter, routers, reranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from yesno.errors import ConfigError
from yesno.templates.encoding import Encoded, encode_text
from yesno.templates.sets import environment, layer_template

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["checked_template", "layer_question"]


def layer_question(layer: str, template: str | None = None, /, **variables: str) -> str:
    """Return the text of a layer's question.

    Args:
        layer: A file of `prompts/layers`, such as `tool`, `route`, `retriever`, `passage` or `agent`.
        template: A Jinja text of your own in place of the layer's; see `checked_template`.
        variables: What its template names, such as `name` and `description`; encoded, so that a tool's
            description cannot change the prompt. An unused `description` may be empty.

    Raises:
        ConfigError: There is no such layer, or the template names a variable that is not given.
    """
    encoded = {name: encode_text(text.strip()) for name, text in variables.items()}
    if template is None:
        return Encoded(layer_template(layer).render("question", encoded))
    return Encoded(_compiled(template).render(encoded).strip())


def checked_template(
    template: str | None,
    *,
    required: Sequence[str] = (),
    any_of: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> str | None:
    """Return a question template of the caller's own when it can be filled.

    Args:
        template: The Jinja text; None for the layer's own.
        required: Variables that it must name.
        any_of: Variables of which it must name one at least.
        optional: Others that it may name.

    Raises:
        ConfigError: It is blank or no Jinja template, lacks a variable, or names another one.
    """
    if template is None:
        return None
    if not isinstance(template, str) or not template.strip():
        raise ConfigError(f"a question template must be a text with something in it, not {template!r}")
    named = _named_in(template)
    allowed = [*required, *any_of, *optional]
    shown = ", ".join(f"{{{{ {name} }}}}" for name in allowed) or "none"
    unknown = sorted(named - set(allowed))
    if unknown:
        raise ConfigError(f"the question template names {', '.join(map(repr, unknown))}; it may name {shown}")
    lacking = [name for name in required if name not in named]
    if lacking or (any_of and not named & set(any_of)):
        wanted = " or ".join(f"{{{{ {name} }}}}" for name in (lacking[:1] or any_of))
        raise ConfigError(f"the question template lacks {wanted}; without it all questions would be the same")
    return template


def _named_in(template: str) -> set[str]:
    from jinja2 import TemplateSyntaxError, meta

    try:
        return meta.find_undeclared_variables(environment().parse(template))
    except TemplateSyntaxError as error:
        raise ConfigError(f"the question template, line {error.lineno}: {error.message}") from error


@lru_cache(maxsize=64)
def _compiled(template: str) -> Template:
    return environment().from_string(template)
