"""Upstreams and servers without a network."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

from yesno import AsyncDecisionModel, FakeProvider
from yesno.serve.assembly import assemble
from yesno.serve.config import load_config
from yesno.serve.proxy import Chat
from yesno.serve.service import Service
from yesno.serve.upstreams import Answer, Upstream

__all__ = ["CHAT_TOML", "Scripted", "service_of", "with_script"]

CHAT_TOML = """\
[models.judge]
model = "fake:"
[chat]
decide_with = "judge"
default = "small"
[chat.routes.small]
base_url = "http://small.example/v1"
model = "tiny"
description = "small talk"
[chat.routes.large]
base_url = "http://large.example/v1"
model = "huge"
description = "proofs"
"""


class Scripted(Upstream):
    """Answers with what it is given, and remembers what it was asked."""

    def __init__(self, *pieces, status=200, headers=((b"content-type", b"application/json"),), error=None):
        super().__init__("scripted", "http://scripted", None, connect_timeout_s=1, timeout_s=1)
        self.pieces, self.status, self.headers, self.error = pieces, status, headers, error
        self.asked = []
        self.under_way = 0
        self.closed = False
        self.began = asyncio.Event()

    @asynccontextmanager
    async def ask(self, body, headers):
        self.asked.append((body, dict(headers)))
        self.under_way += 1
        self.began.set()
        try:
            if self.error is not None:
                raise self.error
            yield Answer(self.status, [*self.headers], self._played())
        finally:
            self.under_way -= 1

    async def _played(self):
        for piece in self.pieces:
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            elif isinstance(piece, Exception):
                raise piece
            else:
                yield piece

    async def close(self):
        self.closed = True


def service_of(folder, text, upstreams=None, script=None, environment=None, log_line=None):
    """Return a service for a configuration file, its routes answered by scripts."""
    path = folder / "serve.toml"
    path.write_text(text)
    variable = (environment or {}).get

    def read(before):
        parts = assemble(load_config(path, variable), variable, before, clock=lambda: 0.0)
        return parts if upstreams is None else with_script(parts, upstreams, script)

    return Service(read(None), read, log_line)


def with_script(parts, upstreams, script=None):
    """Put scripted upstreams, and a scripted judge, into parts."""
    chat = parts.chat
    targets = {
        name: replace(target, upstream=upstreams[name]) if name in upstreams else target
        for name, target in chat.targets.items()
    }
    if script is not None:
        chat.turns._model = AsyncDecisionModel(FakeProvider(script), budget=chat.turns._model.delivery.budget)
    parts.chat = Chat(chat.name, chat.turns, targets)
    return parts
