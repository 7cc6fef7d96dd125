import pytest

from tests.integration.support import Running


@pytest.fixture(scope="module")
def serve():
    """Return a function that starts a server for so many requests at once."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    started = []

    def serve(places):
        started.append(Running(xllamacpp, places))
        return started[-1]

    yield serve
    for running in started:
        running.stop()


@pytest.fixture(scope="module")
def address(serve):
    # one place: neighbours in a batch change the rounding, by up to 0.04 with this model
    return serve(1).address
