"""SIGTERM while requests come: is every request that was taken answered?

Each request has a connection of its own. One that is refused was not taken; whoever was let in has to get a whole
reply.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from benchmarks.serve.servers import YESNO, started

__all__ = ["Drain", "drained"]

STOPS = b"HTTP/1.1 503"


@dataclass(slots=True)
class Drain:
    """What became of the requests."""

    answered: int = 0
    after_signal: int = 0
    """Of the answered: those that were under way when the signal was sent."""
    turned_away: int = 0
    """Connections refused, or answered with a 503, after the signal."""
    lost: list[str] = field(default_factory=list)
    """Why, for each request that was let in and got no whole reply."""
    exit_code: int | None = None


def drained(path: str, body: bytes, *, clients: int, seconds: float) -> Drain:
    """Post from many clients for some seconds, stop the server in the middle of it, and count."""
    found = Drain()
    with started(YESNO) as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        head = (
            f"POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n"
        )
        request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        signalled = asyncio.Event()

        async def one() -> None:
            while not signalled.is_set():
                await _ask(found, signalled, (host, int(port)), request)

        async def run() -> None:
            async with asyncio.TaskGroup() as group:
                for _ in range(clients):
                    group.create_task(one())
                await asyncio.sleep(seconds)
                signalled.set()
                server.process.terminate()
            found.exit_code = await asyncio.to_thread(server.process.wait, 60)

        asyncio.run(run())
    return found


async def _ask(found: Drain, signalled: asyncio.Event, address: tuple[str, int], request: bytes) -> None:
    try:
        reader, writer = await asyncio.open_connection(*address)
    except ConnectionRefusedError:
        if signalled.is_set():
            found.turned_away += 1
        else:
            found.lost.append("refused before the signal")
        return
    try:
        writer.write(request)
        await writer.drain()
        reply = await reader.read()
    except ConnectionError as error:
        found.lost.append(type(error).__name__)
        return
    finally:
        writer.close()
    head, _, body = reply.partition(b"\r\n\r\n")
    if head.startswith(STOPS) and signalled.is_set():
        found.turned_away += 1
    elif not head.startswith(b"HTTP/1.1 200") or f"content-length: {len(body)}".encode() not in head.lower():
        found.lost.append(f"reply of {len(reply)} bytes: {reply[:80]!r}")
    else:
        found.answered += 1
        found.after_signal += signalled.is_set()
