"""Question texts of the layers: tool filter, routers, reranker."""

from __future__ import annotations

from yesno.templates.encoding import Encoded, encode_text
from yesno.templates.sets import layer_template

__all__ = ["layer_question"]


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
