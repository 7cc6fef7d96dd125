import builtins

import pytest

from tests.engine.support import both
from yesno import FakeProvider, RedisCache, YesNo
from yesno.engine import redis_cache
from yesno.errors import ConfigError

redis = pytest.importorskip("redis", reason="the extra `redis` is not installed")


class Client:
    """Stands for a Redis client; fails while it is down."""

    def __init__(self):
        self.kept, self.calls, self.down, self.closed = {}, 0, False, False

    def get(self, name):
        self._called()
        return self.kept.get(name)

    def set(self, name, value, ex=None):
        self._called()
        self.kept[name] = value
        self.ttl = ex

    def close(self):
        self.closed = True

    def _called(self):
        self.calls += 1
        if self.down:
            raise redis.ConnectionError("cannot connect to redis://user:secret@host")


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(redis_cache.time, "monotonic", lambda: now[0])
    return now


def cache_on(client, **settings):
    cache = RedisCache("redis://user:secret@127.0.0.1:1/0", **settings)
    cache._client = client
    return cache


def test_keys_have_a_prefix_and_replies_may_be_forgotten_after_a_while():
    client = Client()
    cache = cache_on(client, prefix="mine:", ttl_s=60)
    cache.put("k", b"{}")
    assert (client.kept, client.ttl) == ({"mine:k": b"{}"}, 60)
    assert (cache.get("k"), cache.get("other")) == (b"{}", None)
    cache.close()
    assert client.closed


def test_a_client_that_decodes_is_a_miss():
    client = Client()
    client.kept["yesno:k"] = "text"
    assert cache_on(client).get("k") is None


@both
def test_a_server_that_is_down_costs_one_warning_and_one_call(shell, caplog, clock):
    client = Client()
    client.down = True
    model = shell(FakeProvider(), cache=cache_on(client))
    assert [model.decide("x", YesNo("q?")).is_yes() for _ in range(5)] == [True] * 5
    assert client.calls == 1
    (record,) = caplog.records
    assert (record.message, record.cache, record.error) == ("cache_failed", "RedisCache", "ConnectionError")
    assert "secret" not in str(vars(record))


@both
def test_a_server_that_is_back_is_used_again(shell, caplog, clock):
    client = Client()
    client.down = True
    provider = FakeProvider()
    model = shell(provider, cache=cache_on(client))
    model.decide("x", YesNo("q?"))
    client.down = False
    clock[0] += redis_cache.PAUSE_S + 1
    for _ in range(3):
        model.decide("x", YesNo("q?"))
    assert len(provider.requests) == 2
    client.down = True
    model.decide("x", YesNo("q?"))
    assert len(caplog.records) == 1


def test_a_server_that_refuses_to_write_is_no_error(clock):
    client = Client()
    cache = cache_on(client)
    client.down = True
    cache.put("k", b"{}")
    cache.put("k", b"{}")
    assert client.calls == 1


@pytest.mark.parametrize(
    "url", ["http://user:secret@host", "secret", "", None, 3, "redis://host:secret/0"], ids=repr
)
def test_an_address_that_is_none_is_refused_without_repeating_it(url):
    with pytest.raises(ConfigError, match="redis://") as caught:
        RedisCache(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("ttl_s", [0, -1, 1.5, True, "60"], ids=repr)
def test_a_time_to_live_that_makes_no_sense_is_refused(ttl_s):
    with pytest.raises(ConfigError, match="ttl_s"):
        RedisCache("redis://host", ttl_s=ttl_s)


def test_its_address_is_not_shown():
    assert "secret" not in repr(RedisCache("redis://user:secret@host"))


def test_without_the_package_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "redis":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ConfigError, match=r"yesno\[redis\]"):
        RedisCache("redis://host")
