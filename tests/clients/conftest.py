import asyncio
from datetime import date

import pytest


@pytest.fixture(scope="session")
def root():
    """The address of a server with the scripted model, without `/v1`."""
    pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    from tests.clients.serving import served

    with served() as url:
        yield url


@pytest.fixture
def command(tmp_path):
    """Return a function that starts `yesno serve` with some options and returns its address."""
    from tests.integration.serving import Serving

    started = []

    def command(*options):
        started.append(Serving(tmp_path, *options))
        return asyncio.run(started[-1].started()).url

    yield command
    for serving in started:
        serving.stop()


@pytest.fixture
def keyed(command, tmp_path):
    """The address of `yesno serve --model fake` with keys, and a key for it."""
    from yesno.serve.keys import add_key

    key = add_key(tmp_path / "keys.txt", "tests", date(2026, 11, 30))
    return command("--model", "fake", "--keys", "keys.txt"), key
