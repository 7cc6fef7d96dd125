"""`GET /openapi.json`: what the server takes and gives, for people and for programs that test it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yesno.serve.models import USUAL, Models
from yesno.serve.schemas import SCHEMAS, requests_of
from yesno.serve.settings import Settings

__all__ = ["OPEN", "document"]

Json = dict[str, Any]

_FAILURES: Mapping[str, str] = {
    "400": "The body cannot be asked, or System One has no form for what came of it.",
    "401": "A key is missing or unknown.",
    "403": "The key does not allow this.",
    "404": "There is no such model.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The body is of another type or encoding, or holds images.",
    "422": "The body of a System One request cannot be asked.",
    "429": "Too many requests, or a budget is spent.",
    "500": "A mistake in the server.",
    "502": "The model failed.",
    "503": "The model cannot be reached, took too long or is not set up; see `retry-after`.",
}
OPEN = frozenset(("/healthz", "/readyz", "/openapi.json"))
"""Paths that ask for no key: they say nothing of what is asked or answered."""
_WAITS = ("429", "502", "503")
_ID = {"x-request-id": {"description": "For talking about this request.", "schema": {"type": "string"}}}
_WAIT = {
    "retry-after": {
        "description": "Seconds after which to try again.",
        "schema": {"type": "integer", "minimum": 1},
    }
}


def document(
    models: Models, settings: Settings, *, keys: bool = False, chat_models: Sequence[str] = ()
) -> Json:
    """Return the OpenAPI document of a server.

    Args:
        models: What is served; their aliases are the values of `model`.
        settings: The limits.
        keys: Whether requests need a key.
        chat_models: What chats may call a model; without any there is no such path.
    """
    from yesno import __version__

    names = [*models.by_alias, *([] if USUAL in models.by_alias else [USUAL])]
    made: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": "yesno",
            "version": __version__,
            "summary": "Typed questions about an input, answered with probabilities.",
            "description": "OpenAI's Decisions and TypeSafe's System One. Bodies are JSON in UTF-8, at most "
            f"{settings.max_body_bytes:,} bytes and {settings.max_depth} levels deep, plain or with the "
            "`content-encoding` gzip or zstd; a name may be there once in an object.",
        },
        "paths": {
            "/v1/decisions": {"post": _decisions()},
            "/v1/systemone": {"post": _systemone()},
            "/v1/models": {
                "get": _get("List the models, in the shapes of both SDKs.", "Models", guarded=True)
            },
            "/healthz": {"get": _get("Say that the process lives.", "Status")},
            "/readyz": {
                "get": _get("Say whether requests are welcome.", "Status", {"503": "The server is stopping."})
            },
            "/metrics": {"get": _plain("Show counters in Prometheus' text format.", "text/plain", "string")},
            "/openapi.json": {"get": _plain("Show this document.", "application/json", "object")},
        },
        "components": {"schemas": {**SCHEMAS, **requests_of(names, settings.max_questions)}},
    }
    if chat_models:
        made["paths"]["/v1/chat/completions"] = {"post": _chat(chat_models)}
    if keys:
        made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path, operations in made["paths"].items():
            for operation in operations.values() if path not in OPEN else ():
                operation["security"] = [{"key": []}]
                operation["responses"].setdefault("401", _response(_FAILURES["401"], "DecisionsError"))
    return made


def _decisions() -> Json:
    return {
        "operationId": "decide",
        "summary": "Answer questions; the shape of the body, OpenAI's or System One's, is that of the answer.",
        "requestBody": _body("DecisionsRequest", "SystemOneRequest"),
        "responses": {
            "200": _response("The answers.", "DecisionsResponse", "SystemOneResponse"),
            **_failures("DecisionsError", "SystemOneInvalid", "SystemOneError"),
        },
    }


def _systemone() -> Json:
    return {
        "operationId": "system_one",
        "summary": "Answer questions in System One's shape.",
        "requestBody": _body("SystemOneRequest"),
        "responses": {
            "200": _response("The answers.", "SystemOneResponse"),
            **_failures("SystemOneInvalid", "SystemOneError"),
        },
    }


def _chat(names: Sequence[str]) -> Json:
    """Describe what the proxy itself looks at; the rest of a body is between the caller and the upstream."""
    text = {"type": "string"}
    request = {
        "type": "object",
        "required": ["model", "messages"],
        "properties": {
            "model": {"type": "string", "enum": [*names]},
            "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
            "stream": {"type": ["boolean", "null"]},
        },
    }
    told = {
        "x-yesno-route": "The route that answers.",
        "x-yesno-route-why": "Why it is this one.",
        "x-yesno-route-probability": "How probable it was, from 0 to 1.",
        "x-yesno-tools-offered": "Tools in the request.",
        "x-yesno-tools-sent": "Tools that were sent on.",
    }
    headers = {name: {"description": words, "schema": text} for name, words in told.items()}
    answer: Json = {
        "description": "What the upstream answers, as it comes, its errors too; errors of this server are in OpenAI's shape.",
        "headers": {**_ID, **headers},
        "content": {"application/json": {"schema": {}}, "text/event-stream": {"schema": text}},
    }
    return {
        "operationId": "chat",
        "summary": "Send a conversation to the route that suits it, in the shape of OpenAI's Chat Completions.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "responses": {"200": answer, "default": answer},
    }


def _get(summary: str, schema: str, more: Mapping[str, str] | None = None, *, guarded: bool = False) -> Json:
    responses: Json = {"200": _response(summary, schema)}
    for status, told in (more or {}).items():
        responses[status] = _response(told, schema)
    if guarded:
        responses["401"] = _response(_FAILURES["401"], "DecisionsError")
    return {"summary": summary, "responses": responses}


def _plain(summary: str, media: str, kind: str) -> Json:
    response = {"description": summary, "headers": _ID, "content": {media: {"schema": {"type": kind}}}}
    return {"summary": summary, "responses": {"200": response}}


def _failures(*schemas: str) -> Json:
    return {
        status: _response(told, *schemas, headers=_WAIT if status in _WAITS else {})
        for status, told in _FAILURES.items()
    }


def _response(told: str, *schemas: str, headers: Mapping[str, Any] | None = None) -> Json:
    return {"description": told, "headers": {**_ID, **(headers or {})}, "content": _json(*schemas)}


def _body(*schemas: str) -> Json:
    return {"required": True, "content": _json(*schemas)}


def _json(*schemas: str) -> Json:
    refs = [{"$ref": f"#/components/schemas/{name}"} for name in schemas]
    return {"application/json": {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}}}
