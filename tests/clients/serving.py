"""The scripted model behind a real server on a port of its own, for clients in this process or in another one.

`python -m tests.clients.serving COMMAND …` runs a command with the server's address in `SERVER_URL`.
"""

import os
import subprocess
import sys
from contextlib import contextmanager
from threading import Thread

import uvicorn

from tests.clients.scripted import model
from yesno.serve import create_app

__all__ = ["scripted_app", "served"]


def scripted_app():
    """Return the server of the scripted model, under its own name and the one that OpenAI's clients know."""
    scripted = model()
    return create_app({"scripted": scripted, "gpt-6-luna": scripted})


@contextmanager
def served(app=None):
    """Serve an app, by default the scripted one, and give its address without `/v1`."""
    config = uvicorn.Config(
        scripted_app() if app is None else app,
        host="127.0.0.1",
        port=0,
        log_level="error",
        ws="none",
    )
    server = uvicorn.Server(config)
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            thread.join(0.01)
        host, port = server.servers[0].sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    with served() as url:
        done = subprocess.run(sys.argv[1:], env={**os.environ, "SERVER_URL": url}, check=False)  # noqa: S603
    sys.exit(done.returncode)
