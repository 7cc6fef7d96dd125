"""The clients that are compared: each sends one request per text and reads the reply."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import aiohttp
import httpx2
import openai

from yesno import AsyncDecisionModel, DecisionModel, SqliteCache, YesNo, YesNoAnswer

RAW = "openai SDK, create"
YESNO = "yesno, async map"
_QUESTION = YesNo("Is this message about billing?")
_SPEC = "openai-compatible:m"

Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Distinct short texts, and the request bodies that yesno makes of them, so that all clients send the same."""

    texts: Sequence[str]
    bodies: Sequence[Body]


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server is, and how many requests may be under way there."""

    base_url: str
    concurrency: int


Client: TypeAlias = Callable[[Batch], Awaitable[None]]
Run: TypeAlias = Callable[[Batch], None]


def batch(server: Server, count: int) -> Batch:
    """Make a batch of `count` decisions."""
    texts = [f"Ticket {number}: I was charged twice for my order this month." for number in range(count)]
    with DecisionModel(_SPEC, base_url=server.base_url) as model:
        return Batch(texts, [_body(model, text) for text in texts])


def _body(model: DecisionModel, text: str) -> Body:
    request = model.request(text, _QUESTION, None)
    (talk,) = model.talks(request, request.questions)
    (task,) = next(talk)
    return dict(model.provider.build(task))


@contextmanager
def opened(server: Server, runner: asyncio.Runner) -> Iterator[dict[str, Run]]:
    """Open all clients and yield a blocking call for each, by name; one event loop serves them all."""
    held = AsyncExitStack()
    runs = {
        name: _blocking(runner, runner.run(held.enter_async_context(kind(server))))
        for name, kind in _KINDS.items()
    }
    settings = {"base_url": server.base_url, "concurrency": server.concurrency}
    try:
        with (
            TemporaryDirectory() as folder,
            SqliteCache(f"{folder}/replies.db") as cache,
            DecisionModel(_SPEC, **settings) as model,
            DecisionModel(_SPEC, cache=cache, **settings) as cached,
        ):
            yield {
                **runs,
                "yesno, sync map": lambda work: _check(list(model.map(work.texts, _QUESTION))),
                "yesno, from a cache": lambda work: _check([cached.decide(t, _QUESTION) for t in work.texts]),
            }
    finally:
        runner.run(held.aclose())


def _blocking(runner: asyncio.Runner, client: Client) -> Run:
    async def once(work: Batch) -> None:
        await client(work)

    return lambda work: runner.run(once(work))


def _check(outcomes: Sequence[object]) -> None:
    wrong = next((outcome for outcome in outcomes if not isinstance(outcome, YesNoAnswer)), None)
    if wrong is not None:
        raise RuntimeError(f"a decision failed: {wrong!r}")


async def _spread(send: Callable[[Body], Awaitable[object]], bodies: Sequence[Body], width: int) -> None:
    waiting = iter(bodies)

    async def work() -> None:
        for body in waiting:
            await send(body)

    await asyncio.gather(*(work() for _ in range(width)))


@asynccontextmanager
async def _sdk_create(server: Server) -> AsyncIterator[Client]:
    """The SDK as its documentation shows it."""
    async with openai.AsyncOpenAI(api_key="none", base_url=server.base_url, max_retries=0) as client:
        create: Any = client.chat.completions.create
        yield lambda work: _spread(lambda body: create(**body), work.bodies, server.concurrency)


@asynccontextmanager
async def _sdk_post(server: Server) -> AsyncIterator[Client]:
    """The SDK without its response models, on its own aiohttp transport."""
    async with openai.AsyncOpenAI(
        api_key="none",
        base_url=server.base_url,
        max_retries=0,
        http_client=openai.DefaultAioHttpClient(),
    ) as client:

        async def send(body: Body) -> None:
            response = await client.post("/chat/completions", body=body, cast_to=httpx2.Response)
            json.loads(response.content)

        yield lambda work: _spread(send, work.bodies, server.concurrency)


@asynccontextmanager
async def _bare(server: Server) -> AsyncIterator[Client]:
    """The least that a client can do."""
    headers = {"content-type": "application/json", "authorization": "Bearer none"}
    url = f"{server.base_url}/chat/completions"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:

        async def send(body: Body) -> None:
            async with session.post(url, data=json.dumps(body).encode()) as response:
                json.loads(await response.read())

        yield lambda work: _spread(send, work.bodies, server.concurrency)


@asynccontextmanager
async def _yesno(server: Server) -> AsyncIterator[Client]:
    """One question over many inputs."""
    async with AsyncDecisionModel(_SPEC, base_url=server.base_url, concurrency=server.concurrency) as model:

        async def run(work: Batch) -> None:
            _check([outcome async for outcome in model.map(work.texts, _QUESTION)])

        yield run


_KINDS: dict[str, Callable[[Server], AbstractAsyncContextManager[Client]]] = {
    RAW: _sdk_create,
    "openai SDK, post on aiohttp": _sdk_post,
    "aiohttp and json": _bare,
    YESNO: _yesno,
}
