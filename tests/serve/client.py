"""Ask an ASGI application without a network."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

__all__ = ["Reply", "ask", "post"]


@dataclass
class Reply:
    """What came back."""

    status: int | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    whole: bool = False

    @property
    def body(self):
        return b"".join(self.pieces)

    @property
    def json(self):
        return json.loads(self.body)

    def __getitem__(self, name):
        values = [value for key, value in self.headers if key == name]
        assert len(values) <= 1, (name, values)
        return values[0] if values else None


async def ask(app, method, path, *, headers=(), body=b"", gone=None, arrives=None, on_piece=None, query=b""):
    """Send one request; `gone` is an event after which the client is no longer there.

    `arrives` is awaited before the body comes, and `on_piece` is called with each piece of the answer.
    """
    reply, asked = Reply(), False
    gone = gone or asyncio.Event()

    async def receive():
        nonlocal asked
        if not asked:
            if arrives is not None:
                await arrives()
            asked = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            reply.status = message["status"]
            reply.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
            return
        if message.get("body"):
            reply.pieces.append(message["body"])
            if on_piece is not None:
                on_piece(message["body"])
        if not message.get("more_body"):
            reply.whole = True
            gone.set()

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers],
        "client": ("127.0.0.1", 5),
    }
    await app(scope, receive, send)
    return reply


async def post(app, path, value, *, key=None, headers=(), **more):
    """Post a JSON value."""
    given = [("content-type", "application/json"), *headers]
    if key is not None:
        given.append(("authorization", f"Bearer {key}"))
    return await ask(app, "POST", path, headers=given, body=json.dumps(value).encode(), **more)
