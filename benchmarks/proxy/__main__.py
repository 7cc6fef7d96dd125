"""What the server's tool filter saves and costs: `python -m benchmarks.proxy --help`."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console
from rich.progress import track

from benchmarks.runs import command, count, limits, mixed
from benchmarks.tools.items import SETS, Item, load
from yesno.serve.assembly import assemble
from yesno.serve.config import load_config
from yesno.serve.headers import Headers
from yesno.serve.service import Service
from yesno.serve.upstreams import Answer, Upstream, UsageWatch

TEXT = """
[server]
timeout_s = 3600
[models.judge]
model = {model}
[chat]
decide_with = "judge"
default = "upstream"
[chat.routes.upstream]
base_url = {address}
model = {name}
[chat.tool_filter]
min_probability = {min_probability}
fallback = "fail"
"""
UPSTREAM = "qwen2.5-coder-1.5b"
"""Its chat template shows the tools to the model; SmolLM2's has no place for them."""


class Seen(Upstream):
    """Remembers the last body that went to a server."""

    body = b"{}"

    @asynccontextmanager
    async def ask(self, body: bytes, headers: Headers) -> AsyncIterator[Answer]:
        """Send a request."""
        self.body = body
        async with super().ask(body, headers) as answer:
            yield answer


class Heard(logging.Handler):
    """Keeps the last line of the access log."""

    line: logging.LogRecord

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line."""
        self.line = record

    def number(self, name: str) -> int:
        """Return a number that the line holds; 0 where it is left out."""
        return int(getattr(self.line, name, 0))


def main(arguments: Sequence[str] | None = None) -> int:
    """Send every request with all its tools and with those that the filter keeps, and print what came of it."""
    options = parsed(arguments)
    sets = limits(options.sets, options.limit, SETS)
    todo = mixed({name: load(name, options.split, limit) for name, limit in sets.items()})
    with served(options) as address, tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(measured(options, address, todo, Path(folder)))
    if options.rows:
        options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(report(rows, command("proxy", arguments)))
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proxy", description=__doc__)
    parser.add_argument("--model", default="local", help="provider:model that judges the tools")
    parser.add_argument("--upstream", help="base URL of the server that answers; by default a model here")
    parser.add_argument("--upstream-model", default=UPSTREAM, help="the model that answers there, or here")
    parser.add_argument("--min-probability", type=float, default=0.5)
    parser.add_argument("--shortlist", type=count, default=0, help="most tools to ask about, 0 for all")
    parser.add_argument("--sets", default="own", help="names, separated by commas, or name:requests")
    parser.add_argument("--limit", type=count, default=5, help="requests per set (default 5)")
    parser.add_argument("--split", default="heldout", choices=["heldout", "dev"])
    parser.add_argument("--rows", type=Path, help="write a JSON line per request here")
    return parser.parse_args(arguments)


@contextmanager
def served(options: argparse.Namespace) -> Iterator[str]:
    """Return the address of the server that answers: the one named, or llama.cpp's with a model of the catalogue."""
    if options.upstream:
        yield options.upstream
        return
    import xllamacpp

    from yesno.models.download import pull

    params = xllamacpp.CommonParams()
    params.model.path = str(pull(options.upstream_model))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.n_ctx = 8192
    params.verbosity = -1
    params.warmup = False
    params.use_jinja = True
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"


async def measured(
    options: argparse.Namespace, address: str, todo: Sequence[tuple[str, Item]], folder: Path
) -> list[dict[str, Any]]:
    """Return a row per request."""
    path, heard = folder / "serve.toml", Heard()
    text = TEXT.format(
        model=json.dumps(options.model),
        address=json.dumps(address),
        name=json.dumps(options.upstream_model),
        min_probability=options.min_probability,
    )
    path.write_text(text + (f"shortlist = {options.shortlist}\n" if options.shortlist else ""))
    parts = assemble(load_config(path, lambda name: None), lambda name: None)
    assert parts.chat is not None
    seen = Seen("upstream", address, None, connect_timeout_s=10, timeout_s=3600)
    target = replace(parts.chat.targets["upstream"], upstream=seen)
    parts.chat = replace(parts.chat, targets={"upstream": target})
    log = logging.getLogger("yesno.access")
    log.setLevel(logging.INFO)
    log.addHandler(heard)
    transport = httpx2.ASGITransport(app=Service(parts, lambda before: before).asgi)
    rows = []
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=None) as client:
        opening = {"messages": [{"role": "user", "content": "Hello"}], "tools": [{"name": "greet"}]}
        await through(client, heard, opening["messages"], opening["tools"])  # not part of the measurement
        for name, item in track(todo, "asking", console=Console(stderr=True)):
            rows.append({"set": name, "id": item.id, **await asked(client, heard, seen, options, item)})
    for close in parts.closings():
        await close()
    return rows


async def asked(
    client: httpx2.AsyncClient, heard: Heard, seen: Seen, options: argparse.Namespace, item: Item
) -> dict[str, Any]:
    """Send one request through the filter, and once more with all its tools; return its row."""
    start = time.perf_counter()
    await through(client, heard, item.messages, item.tools)
    filtered_s = time.perf_counter() - start
    kept = {tool["function"]["name"] for tool in json.loads(seen.body).get("tools", ())}
    row = {
        "offered": len(item.tools),
        "sent": heard.number("tools_sent"),
        "needed": len(item.relevant),
        "needed_sent": len(item.relevant & kept),
        "tokens_sent": heard.number("input_tokens"),
        "decision_requests": heard.number("decision_requests"),
        "decision_tokens": heard.number("decision_tokens"),
        "filtered_s": round(filtered_s, 2),
    }
    start = time.perf_counter()
    tokens = await straight(seen, options.upstream_model, item)
    return {**row, "tokens_offered": tokens, "offered_s": round(time.perf_counter() - start, 2)}


async def through(
    client: httpx2.AsyncClient, heard: Heard, messages: Sequence[Any], tools: Sequence[Mapping[str, Any]]
) -> None:
    """Send a request through the server."""
    body = {"model": "upstream", "messages": messages, "tools": in_openais_shape(tools), "max_tokens": 1}
    response = await client.post("/v1/chat/completions", json=body)
    response.raise_for_status()
    assert heard.number("input_tokens"), "the upstream does not count its tokens"


async def straight(seen: Seen, model: str, item: Item) -> int:
    """Send a request with all its tools to the upstream, and return how many tokens of prompt it counts."""
    body = {"model": model, "messages": item.messages, "tools": in_openais_shape(item.tools), "max_tokens": 1}
    watch = UsageWatch(stream=False)
    async with seen.ask(json.dumps(body).encode(), []) as answer:
        async for piece in answer.pieces:
            watch.see(piece)
    usage = watch.end()
    assert usage is not None, "the upstream does not count its tokens"
    return usage.input_tokens


def in_openais_shape(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools as a request for a chat completion holds them; of their arguments the data have little."""
    told = ("name", "description", "parameters")
    return [
        {"type": "function", "function": {name: tool[name] for name in told if name in tool}}
        for tool in tools
    ]


def report(rows: Sequence[Mapping[str, Any]], line: str) -> str:
    """Return a table with a line per set: sums over its requests, and medians of times."""
    lines = [
        f"`{line}`",
        "",
        "| set | n | tools offered | sent | needed | of these sent | prompt tokens with all | with those sent | "
        "questions | tokens of questions | s with all | s filtered |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        sums = (
            "offered", "sent", "needed", "needed_sent", "tokens_offered", "tokens_sent", "decision_requests",
            "decision_tokens",
        )  # fmt: skip
        cells = [f"{sum(row[key] for row in own):,}" for key in sums]
        times = [f"{statistics.median(row[key] for row in own):.2f}" for key in ("offered_s", "filtered_s")]
        lines.append(" | ".join(["| " + name, str(len(own)), *cells, *times]) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
