import asyncio
import json
import sqlite3
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import Server, both, compatible, patient, refused
from tests.naming import stable
from yesno import (
    AsyncDecisionModel,
    Choice,
    DecisionModel,
    FakeProvider,
    SqliteCache,
    Usage,
    YesNo,
    YesNoAnswer,
)
from yesno.engine.caching import key_of, payload_of, text_of, value_of
from yesno.engine.waiting import Term
from yesno.errors import ConfigError, ProviderRejected
from yesno.evidence import Completion, Reply
from yesno.providers.base import PromptTask, Turn
from yesno.providers.fake import chat_reply
from yesno.providers.openai_compatible import OpenAICompatible

YES = {"Yes": 0.9, "No": 0.1}
Q = YesNo("q?")


class Memory:
    """A cache in a dictionary."""

    def __init__(self):
        self.kept = {}
        self.asked = []

    def get(self, key):
        self.asked.append(key)
        return self.kept.get(key)

    def put(self, key, value):
        self.kept[key] = value


class Broken:
    def get(self, key):
        raise OSError("a secret")

    def put(self, key, value):
        raise OSError("a secret")


@both
def test_an_equal_request_is_answered_from_the_cache_with_the_same_digits(shell):
    server, cache = (
        Server({**chat_reply(YES), "usage": {"prompt_tokens": 9, "completion_tokens": 1}}),
        Memory(),
    )
    first = shell(compatible(server), cache=cache).decide("x", {"q": Q})
    again = shell(compatible(server), cache=cache).decide("x", {"q": Q})
    assert again.yes_no("q").probability == first.yes_no("q").probability
    assert len(server.bodies) == 1
    assert first.usage == Usage(9, 1, requests=1)
    assert again.usage == Usage(cache_hits=1, cost_usd=0.0)
    assert (again.model, again.yes_no("q").attempts[0].requests) == (first.model, 0)


@both
def test_without_a_cache_every_request_is_sent(shell):
    server = Server(YES)
    model = shell(compatible(server))
    assert [model.decide("x", Q).is_yes() for _ in range(2)] == [True, True]
    assert len(server.bodies) == 2


@both
def test_hits_and_requests_of_one_decision_are_counted_apart(shell):
    cache = Memory()
    shell(FakeProvider(), cache=cache).decide("x", {"a": YesNo("a?")})
    usage = shell(FakeProvider(), cache=cache).decide("x", {"a": YesNo("a?"), "b": YesNo("b?")}).usage
    assert (usage.cache_hits, usage.requests) == (1, 1)


def keys_of(provider, given="x", question=Q):
    cache = Memory()
    DecisionModel(provider, cache=cache, retry=patient([])).decide(given, question)
    return set(cache.asked)


def named(model="m", base_url="http://server.test/v1", key="one"):
    provider = compatible(Server(YES))
    other = OpenAICompatible(model, base_url=base_url, api_key=key, http_client=provider._http_client)
    return keys_of(other)


def test_the_key_is_the_payload_and_where_it_goes_and_never_a_credential():
    assert named() == named(key="two") == named(base_url="http://user:password@server.test/v1")
    assert not named() & named(model="n")
    assert not named() & named(base_url="http://other.test/v1")
    assert not keys_of(FakeProvider()) & keys_of(FakeProvider(), given="y")
    assert not keys_of(FakeProvider()) & keys_of(FakeProvider(), question=YesNo("r?"))
    assert all(len(key) == 40 for key in named())


def test_the_same_payload_to_another_provider_has_another_key():
    assert key_of("a", None, b"{}") != key_of("b", None, b"{}") != key_of("b", "c", b"{}")


@both
@pytest.mark.parametrize("failure", [refused(400), refused(503), chat_reply(YES) | {"choices": []}], ids=str)
def test_what_fails_is_not_kept(shell, failure):
    cache, server = Memory(), Server(failure, YES)
    model = shell(compatible(server), cache=cache, retry=patient([], attempts=1))
    with pytest.raises(Exception, match=r"."):
        model.decide("x", Q)
    assert cache.kept == {}
    assert model.decide("x", Q).is_yes()
    assert len(cache.kept) == 1


@both
@pytest.mark.parametrize("ending", ["<refusal>", "<content_filter>"])
def test_a_refusal_is_not_kept(shell, ending):
    cache = Memory()
    shell(FakeProvider({ending: 1}), cache=cache).decide("x", {"q": Q})
    assert cache.kept == {}


@both
def test_what_is_not_json_is_neither_kept_nor_refused(shell):
    cache = Memory()
    native = FakeProvider({"q": YesNoAnswer(0.9)}, native=True)
    assert shell(native, cache=cache).decide("x", {"q": Q}).yes_no("q").is_yes()
    assert shell(FakeProvider({"Yes": 0.9, "No": 1e-320, "x": 0.0}), cache=cache).decide("x", Q).is_yes()
    assert len(cache.kept) == 1


@pytest.mark.parametrize(
    "raw", [{"a": float("nan")}, {"a": (1,)}, {1: "a"}, {"a": {1}}, {"a": b"b"}], ids=str
)
def test_a_reply_that_json_would_change_is_not_kept(raw):
    assert value_of(raw, Reply(Completion("x"))) is None


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b"\xff\xfe", b"nothing", b"1", "{}", None, 3], ids=repr)
def test_a_damaged_value_is_a_miss(value):
    assert payload_of(value) is None


@both
@pytest.mark.parametrize("value", [b"{", b"{}", b'{"choices": [7]}', b'{"choices": []}', "text"], ids=repr)
def test_a_kept_reply_that_cannot_be_read_is_asked_for_again(shell, value):
    cache, server = Memory(), Server(YES)
    shell(compatible(server), cache=cache).decide("x", Q)
    (key,) = cache.kept
    intact, cache.kept[key] = cache.kept[key], value
    assert shell(compatible(server), cache=cache).decide("x", Q).is_yes()
    assert len(server.bodies) == 2
    assert cache.kept[key] == intact


@both
def test_a_store_that_fails_is_warned_about_once_without_its_words(shell, caplog):
    model = shell(FakeProvider(), cache=Broken())
    assert [model.decide("x", Q).is_yes() for _ in range(3)] == [True] * 3
    (record,) = caplog.records
    assert (record.message, record.cache, record.error) == ("cache_failed", "Broken", "OSError")
    assert "secret" not in str(vars(record))


@both
@pytest.mark.parametrize("thing", ["cache.db", object(), {}], ids=stable)
def test_what_is_no_cache_is_refused(shell, thing):
    with pytest.raises(ConfigError, match="cache"):
        shell(FakeProvider(), cache=thing)


@both
def test_a_request_that_was_adapted_is_kept_as_it_was_sent(shell):
    cache = Memory()
    refusal = refused(400, "top_logprobs must be at most 5", param="top_logprobs")
    shell(compatible(Server(refusal, YES)), cache=cache).decide("x", Q)
    server = Server(refusal, YES)
    again = shell(compatible(server), cache=cache).decide("x", {"q": Q})
    assert len(server.bodies) == 1
    assert (again.usage.requests, again.usage.cache_hits) == (1, 1)


def test_a_sample_is_never_kept_and_never_looked_up():
    cache = Memory()
    model = DecisionModel(FakeProvider(), cache=cache)
    task = PromptTask((Turn("user", "x"),), "fake", 4, sample=1)
    for _ in range(2):
        assert model._send(task, Term(None, None)).usage.requests == 1
    assert (cache.asked, cache.kept) == ([], {})


def test_a_store_that_may_block_is_used_from_a_thread_and_sqlite_is_read_in_place(tmp_path):
    def noting(kind):
        class Noting(kind):
            def get(self, key):
                self.read = threading.current_thread()
                return super().get(key)

            def put(self, key, value):
                self.written = threading.current_thread()
                super().put(key, value)

        return Noting

    here = threading.current_thread()
    slow, quick = noting(Memory)(), noting(SqliteCache)(tmp_path / "c.db")
    for cache in (slow, quick):
        asyncio.run(AsyncDecisionModel(FakeProvider(), cache=cache).decide("x", Q))
    quick.close()
    assert here not in (slow.read, slow.written, quick.written)
    assert quick.read is here


@both
def test_a_tournament_and_map_are_answered_from_the_cache(shell, tmp_path):
    questions = {"c": Choice("q?", [f"option {i}" for i in range(30)]), "y": Q}
    with SqliteCache(tmp_path / "c.db") as cache:
        first = shell(FakeProvider({"A": 0.6, "B": 0.3}), cache=cache).map(["x", "y"], questions)
        silent = FakeProvider(ProviderRejected("no", provider="fake", status=400))
        again = shell(silent, cache=cache).map(["x", "y"], questions)
    assert [r.choice("c").probabilities for r in again] == [r.choice("c").probabilities for r in first]
    # the yes/no question had no label to read, so it was asked twice, and its second prompt was kept too
    assert silent.requests == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_equal_payloads_have_equal_keys_whatever_their_order(payload):
    turned = dict(reversed(payload.items()))
    assert text_of(payload) == text_of(turned)
    assert json.loads(text_of(payload).decode("utf-8", "surrogatepass")) == payload


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_kept_comes_back_equal(payload):
    assert payload_of(value_of(payload, Reply(Completion("x")))) == payload


def test_nothing_of_a_prompt_or_a_key_is_in_the_file(tmp_path):
    path = tmp_path / "c.db"
    with SqliteCache(path) as cache:
        provider = compatible(Server(YES), api_key="sk-very-private")
        DecisionModel(provider, cache=cache).decide("my secret", YesNo("hidden?"))
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"logprobs" in stored
    assert not any(word in stored for word in (b"secret", b"hidden", b"sk-very"))
    assert sqlite3.connect(path).execute("SELECT count(*) FROM replies").fetchone() == (1,)


@both
def test_the_samples_of_a_decision_are_all_sent_and_none_is_kept(shell):
    message = {"role": "assistant", "content": '{"answer": "Yes", "confidence": 90}'}
    reply = {"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    cache, server = Memory(), Server(reply)
    response = shell(compatible(server), cache=cache, strategy="sampled").decide("x", {"q": Q})
    assert response.yes_no("q").method == "sampled"
    assert response.usage.requests == len(server.bodies) >= 5
    assert (cache.asked, cache.kept) == ([], {})
