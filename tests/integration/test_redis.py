"""A Redis server of its own, on a Unix socket."""

import asyncio
import shutil
import subprocess
import threading

import pytest

from tests.engine.support import Server, compatible
from yesno import AsyncDecisionModel, DecisionModel, RedisCache, YesNo

BINARY = shutil.which("redis-server")
pytest.importorskip("redis", reason="the extra `redis` is not installed")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.enable_socket,
    pytest.mark.skipif(BINARY is None, reason="there is no redis-server on this machine"),
]
YES = {"Yes": 0.9, "No": 0.1}


class Running:
    """A server in memory, and its end."""

    def __init__(self, folder):
        self.path = folder / "redis.sock"
        command = [BINARY, "--port", "0", "--unixsocket", str(self.path), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(  # noqa: S603
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
        )
        for line in self.process.stdout:
            if "eady to accept connections" in line:
                break
        self.rest = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.rest.start()

    @property
    def url(self):
        return f"unix://{self.path}"

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)
        self.rest.join(10)


@pytest.fixture
def running(tmp_path):
    server = Running(tmp_path)
    yield server
    server.stop()
    server.process.stdout.close()


def test_a_reply_is_shared_between_objects_and_between_both_models(running):
    server = Server(YES)
    first, other = RedisCache(running.url), RedisCache(running.url)
    probability = DecisionModel(compatible(server), cache=first).decide("x", YesNo("q?")).probability
    response = asyncio.run(
        AsyncDecisionModel(compatible(server), cache=other).decide("x", {"q": YesNo("q?")})
    )
    assert response.yes_no("q").probability == probability
    assert response.usage.cache_hits == 1
    assert len(server.bodies) == 1
    first.close()
    other.close()


def test_prefixes_keep_caches_apart_and_replies_can_expire(running):
    import redis

    one, two = RedisCache(running.url, prefix="one:", ttl_s=100), RedisCache(running.url, prefix="two:")
    one.put("k", b"{}")
    assert (one.get("k"), two.get("k")) == (b"{}", None)
    client = redis.Redis.from_url(running.url)
    assert 0 < client.ttl("one:k") <= 100
    for thing in (one, two, client):
        thing.close()


def test_a_server_that_goes_down_is_one_warning(running, caplog):
    cache, server = RedisCache(running.url), Server(YES)
    model = DecisionModel(compatible(server), cache=cache)
    model.decide("x", YesNo("q?"))
    running.stop()
    assert [model.decide("x", YesNo("q?")).is_yes() for _ in range(3)] == [True] * 3
    assert len(server.bodies) == 4
    assert [record.message for record in caplog.records] == ["cache_failed"]
    cache.close()
