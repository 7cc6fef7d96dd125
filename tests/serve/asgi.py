"""Calls an ASGI application without a network, and holds every response against the OpenAPI document."""

import asyncio
import json
from dataclasses import dataclass
from functools import cache

import jsonschema

from yesno import AsyncDecisionModel, FakeProvider
from yesno.serve import App, create_app
from yesno.serve.models import Models
from yesno.serve.openapi import document
from yesno.serve.settings import Settings

JSON = {"content-type": "application/json"}


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)


def served(script=None, *, alias="m", middleware=(), routes=None, settings=None, on_shutdown=(), **options):
    """Return a server with one scripted model."""
    provider = options.pop("provider", None) or FakeProvider(script)
    model = AsyncDecisionModel(provider, **options)
    return create_app(
        {alias: model},
        settings=settings,
        middleware=middleware,
        routes=routes,
        on_shutdown=on_shutdown,
    )


def call(app, path, body=None, *, method=None, headers=None, chunks=None, stays=True):
    """Return the answer to one request; a body that is no bytes is sent as JSON."""
    return asyncio.run(acall(app, path, body, method=method, headers=headers, chunks=chunks, stays=stays))


async def acall(app, path, body=None, *, method=None, headers=None, chunks=None, stays=True):
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    parts = list(chunks) if chunks is not None else [data or b""]
    given = {**(JSON if data is not None or chunks is not None else {}), **(headers or {})}
    sent = []
    done = asyncio.Event()

    async def receive():
        if parts:
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}
        if stays:
            await done.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            done.set()

    scope = {
        "type": "http",
        "method": method or ("GET" if data is None and chunks is None else "POST"),
        "path": path,
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
    }
    await app(scope, receive, send)
    start, *rest = sent
    answer = Answer(
        start["status"],
        {name.decode(): value.decode() for name, value in start["headers"]},
        b"".join(message.get("body", b"") for message in rest),
    )
    assert answer.headers["content-length"] == str(len(answer.body))
    _check(app, scope["method"], path, answer)
    return answer


def _check(app, method, path, answer):
    """Hold a response against what the document says of it."""
    operation = documented().get("paths", {}).get(path, {}).get(method.lower())
    if not isinstance(app, App) or operation is None or answer.status == 499:
        return
    content = operation["responses"][str(answer.status)]["content"]
    media = answer.headers["content-type"].partition(";")[0]
    if media == "application/json":
        schema = {**content[media]["schema"], "components": documented()["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.json())
    else:
        assert media in content


@cache
def documented():
    """Return a document; aliases and limits do not matter for responses."""
    return document(Models({"m": AsyncDecisionModel(FakeProvider())}), Settings())


# bodies


def openai(*questions, given="I was charged twice", model="m", **fields):
    """Return a body in OpenAI's shape; without questions, with one."""
    asked = list(questions) or [{"type": "predicate", "name": "q", "instructions": "Is it about billing?"}]
    return {"model": model, "input": given, "questions": asked, **fields}


def systemone(questions=None, state="I was charged twice", model="jev-latest", **fields):
    """Return a body in System One's shape; without questions, with one."""
    asked = (
        {"q": {"type": "noul", "instructions": "Is it about billing?"}} if questions is None else questions
    )
    return {"model": model, "state": state, "questions": asked, **fields}


def decide(app, *questions, **fields):
    """Return the answer to a request in OpenAI's shape."""
    return call(app, "/v1/decisions", openai(*questions, **fields))


def ask(app, questions=None, **fields):
    """Return the answer to a request in System One's shape."""
    return call(app, "/v1/systemone", systemone(questions, **fields))
