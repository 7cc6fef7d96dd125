import pytest


@pytest.fixture(scope="session")
def root():
    """The address of a server with the scripted model, without `/v1`."""
    pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
    from tests.clients.serving import served

    with served() as url:
        yield url
