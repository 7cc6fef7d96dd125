"""A Chat Completions server that answers at once, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

TOKENS = {
    "Yes": -0.1269,
    "No": -2.2519,
    " Yes": -5.3769,
    "yes": -6.1269,
    "YES": -7.5019,
    " No": -7.7519,
    "no": -8.3769,
    "Based": -9.1269,
    "The": -9.2519,
    "I": -9.5019,
    "NO": -9.8769,
    "It": -10.1269,
    "This": -10.2519,
    "**": -10.6269,
    "Answer": -10.7519,
    "Y": -11.0019,
    "Probably": -11.2519,
    "<": -11.6269,
    "Not": -11.8769,
    '"': -12.0019,
}
"""Twenty alternatives at the answer position, with log-probabilities as a chat model gives them."""


def reply() -> dict[str, Any]:
    """Return the body that every request gets, with the fields that OpenAI sends."""
    top = [
        {"token": token, "logprob": value, "bytes": list(token.encode())} for token, value in TOKENS.items()
    ]
    zero = {"audio_tokens": 0, "cached_tokens": 0}
    return {
        "id": "chatcmpl-CkT0mYq8Zr5jWkq1u0vXn3s7dPzQe",
        "object": "chat.completion",
        "created": 1796000000,
        "model": "m-2026-11-01",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Yes", "refusal": None, "annotations": []},
                "logprobs": {"content": [{**top[0], "top_logprobs": top}], "refusal": None},
                "finish_reason": "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 71,
            "completion_tokens": 1,
            "total_tokens": 72,
            "prompt_tokens_details": zero,
            "completion_tokens_details": {**zero, "reasoning_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }


@contextmanager
def running() -> Iterator[str]:
    """Run the server in another process and yield its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.overhead.stub"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError("the stub server did not start")
        yield address
    finally:
        process.terminate()
        process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


def main() -> None:
    """Serve on a free port of this machine and print the base URL."""
    body = json.dumps(reply(), separators=(",", ":")).encode()

    async def answer(request: web.Request) -> web.Response:
        await request.read()
        return web.Response(body=body, content_type="application/json")

    async def announce(_: web.Application) -> None:
        print(f"http://127.0.0.1:{port}/v1", flush=True)

    import socket

    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    port = listener.getsockname()[1]
    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    app.on_startup.append(announce)
    web.run_app(app, sock=listener, access_log=None, print=None)


if __name__ == "__main__":
    main()
