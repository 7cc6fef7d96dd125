"""What is measured against: a starlette app that reads a body and sends a constant, served as uvicorn serves."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from benchmarks.serve.bodies import PATHS


def app(constants: dict[str, bytes]) -> Starlette:
    """Return the app: path -> the constant that it sends."""

    def route(path: str, constant: bytes) -> Route:
        async def endpoint(request: Request) -> Response:
            await request.body()
            return Response(constant, media_type="application/json")

        return Route(path, endpoint, methods=["POST"])

    return Starlette(routes=[route(path, constant) for path, constant in constants.items()])


def main() -> None:
    """Serve the files in a folder, each under its own name; say where on standard error."""
    folder = Path(sys.argv[1])
    constants = {path: (folder / name).read_bytes() for name, path in PATHS.items()}
    # asyncio turns Nagle's delay off only where the protocol is named
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    print(f"serving at http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
    config = uvicorn.Config(app(constants), server_header=False)
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
