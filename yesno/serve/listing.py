"""`GET /v1/models`: one object that both SDKs read.

`{object: "list", data: [...]}` is OpenAI's, `{models: [{name, description, release_date}]}` TypeSafe's; each SDK ignores
the other's fields (openai 3.57.0, typesafe-sdk 0.7.5; 2026-11).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from yesno.serve.models import Models

__all__ = ["listed"]

UNKNOWN_DATE = "1970-01-01"
"""Both shapes demand when a model was made; nobody tells."""


def listed(
    models: Models, allowed: frozenset[str] | None = None, chat_models: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the models that may be asked, with the provider and model behind each.

    Models of chats are in OpenAI's list alone.
    """
    shown = {
        alias: f"{model.provider_name}:{model.model_name}".removesuffix(":")
        for alias, model in models.by_alias.items()
        if allowed is None or alias in allowed
    }
    names = [*shown, *(n for n in chat_models if n not in shown and (allowed is None or n in allowed))]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "yesno"} for name in names],
        "models": [
            {"name": alias, "description": told, "release_date": UNKNOWN_DATE}
            for alias, told in shown.items()
        ],
    }
