"""A Chat Completions server that fails by plan, in a process of its own; it counts what it is asked."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import math
import random
import re
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from benchmarks.faults.kinds import Kind, expected, kind_of, zstd

NUMBER = re.compile(r"Ticket (\d+):")
LATENCY_S = (0.2, 0.3)
"""How long a reply takes, evenly spread: no hosted model is faster with one token."""
ERROR = {"error": {"message": "something went wrong", "type": "server_error", "code": None, "param": None}}
BUSY = {
    "retry-after-ms": "250",
    "x-ratelimit-limit-requests": "500",
    "x-ratelimit-remaining-requests": "50",
    "x-ratelimit-reset-requests": "120ms",
}


def body_of(number: int, *, censored: bool = False) -> bytes:
    """Return the reply to a decision: yes with the expected probability, no with the rest of 0.98."""
    yes = expected(number)
    tokens = {"Yes": math.log(0.98 * yes), "No": math.log(0.98 * (1 - yes))}
    top: list[dict[str, Any]] = [{"token": token, "logprob": value} for token, value in tokens.items()]
    if censored:
        top.append({"token": "Maybe", "logprob": -math.inf})
    top.sort(key=lambda entry: -entry["logprob"])
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": top[0]["token"], "refusal": None},
        "logprobs": {"content": [{**top[0], "top_logprobs": top}]},
    }
    usage = {"prompt_tokens": 70, "completion_tokens": 1, "total_tokens": 71}
    return json.dumps(
        {"object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    ).encode()


class Plan:
    """The server's state: which try of which decision comes next, and what it has counted."""

    def __init__(self, seed: int, fail_share: float) -> None:
        self.seed = seed
        self.fail_share = fail_share
        self.tries: Counter[int] = Counter()
        self.kinds: Counter[str] = Counter()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one try of one decision as planned."""
        found = NUMBER.search(await request.text())
        if found is None:
            return web.json_response(ERROR, status=400)
        number = int(found[1])
        kind = kind_of(self.seed, number, self.tries[number], self.fail_share)
        self.tries[number] += 1
        self.kinds[kind] += 1
        dice = random.Random(f"{number}/{self.tries[number]}")  # noqa: S311 - a plan, not a secret
        await asyncio.sleep(dice.uniform(*LATENCY_S))
        return await _PLAYERS[kind](request, number)

    async def stats(self, _: web.Request) -> web.Response:
        """Return what was counted."""
        return web.json_response({"requests": self.tries.total(), "kinds": dict(self.kinds)})


def _json(body: bytes, **headers: str) -> web.Response:
    return web.Response(body=body, content_type="application/json", headers=headers)


async def _good(_: web.Request, number: int) -> web.StreamResponse:
    return _json(body_of(number))


async def _busy(_: web.Request, number: int) -> web.StreamResponse:
    return web.json_response(ERROR, status=429)


async def _busy_with_headers(_: web.Request, number: int) -> web.StreamResponse:
    return web.json_response(ERROR, status=429, headers=BUSY)


async def _down(_: web.Request, number: int) -> web.StreamResponse:
    return web.json_response(ERROR, status=(500, 502, 503)[number % 3])


async def _flat(_: web.Request, number: int) -> web.StreamResponse:
    return web.json_response({"object": "error", "message": "worker lost", "code": 500}, status=500)


async def _double(_: web.Request, number: int) -> web.StreamResponse:
    return web.json_response(json.dumps(ERROR), status=502)


async def _html(_: web.Request, number: int) -> web.StreamResponse:
    return web.Response(text="<html><body>Just a moment...</body></html>", content_type="text/html")


async def _truncated(_: web.Request, number: int) -> web.StreamResponse:
    whole = body_of(number)
    return _json(whole[: len(whole) // 2])


async def _censored(_: web.Request, number: int) -> web.StreamResponse:
    return _json(body_of(number, censored=True))


async def _gzip(_: web.Request, number: int) -> web.StreamResponse:
    return _json(gzip.compress(body_of(number)), **{"content-encoding": "gzip"})


async def _zstd(_: web.Request, number: int) -> web.StreamResponse:
    return _json(zstd(body_of(number)), **{"content-encoding": "zstd"})


async def _begun(request: web.Request, length: int) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json", "content-length": str(length)})
    await response.prepare(request)
    return response


async def _slow(request: web.Request, number: int) -> web.StreamResponse:
    whole = body_of(number)
    response = await _begun(request, len(whole))
    for start in range(0, len(whole), len(whole) // 4 + 1):
        await asyncio.sleep(0.1)
        await response.write(whole[start : start + len(whole) // 4 + 1])
    return response


async def _endless(request: web.Request, number: int) -> web.StreamResponse:
    response = await _begun(request, 10**9)
    while request.transport is not None and not request.transport.is_closing():
        await response.write(b" ")
        await asyncio.sleep(0.1)
    return response


async def _reset(request: web.Request, number: int) -> web.StreamResponse:
    whole = body_of(number)
    response = await _begun(request, len(whole))
    await response.write(whole[: len(whole) // 2])
    if request.transport is not None:
        request.transport.abort()
    return response


_PLAYERS: dict[Kind, Callable[[web.Request, int], Awaitable[web.StreamResponse]]] = {
    "good": _good,
    "429": _busy,
    "429 with headers": _busy_with_headers,
    "500, 502 or 503": _down,
    "never-ending body": _endless,
    "reset in the body": _reset,
    "HTML with status 200": _html,
    "truncated JSON": _truncated,
    "flat error body": _flat,
    "double-encoded error body": _double,
    "zstd, not asked for": _zstd,
    "slow body": _slow,
    "-Infinity": _censored,
    "gzip": _gzip,
}


@contextmanager
def running(seed: int, fail_share: float) -> Iterator[str]:
    """Run a server in another process and yield its base URL."""
    command = [sys.executable, "-m", "benchmarks.faults.server", str(seed), str(fail_share)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError("the fault server did not start")
        yield address
    finally:
        process.kill()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


def main() -> None:
    """Serve on a free port of this machine and print the base URL."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("fail_share", type=float)
    options = parser.parse_args()
    plan = Plan(options.seed, options.fail_share)
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = listener.getsockname()[1]

    async def announce(_: web.Application) -> None:
        print(f"http://127.0.0.1:{port}/v1", flush=True)

    app = web.Application()
    app.router.add_post("/v1/chat/completions", plan.answer)
    app.router.add_get("/v1/stats", plan.stats)
    app.on_startup.append(announce)
    web.run_app(app, sock=listener, access_log=None, print=None)


if __name__ == "__main__":
    main()
