import json

import pytest

from tests.engine.support import Server, both, compatible
from yesno import Choice, DecisionRequest, SqliteCache, YesNo
from yesno.engine.recents import MOST, Recent, Recents
from yesno.evidence import Kept
from yesno.providers.fake import chat_reply

YES, NO = {"Yes": 0.9, "No": 0.1}, {"Yes": 0.2, "No": 0.8}
Q = YesNo("q?")


class Counting:
    """A provider's `parse`, counted."""

    def __init__(self, provider):
        self.calls = 0
        self._parse = provider.parse
        provider.parse = self

    def __call__(self, task, raw):
        self.calls += 1
        return self._parse(task, raw)


class Memory:
    """A cache in a dictionary that may be read from an event loop."""

    reads_at_once = True

    def __init__(self):
        self.kept = {}

    def get(self, key):
        return self.kept.get(key)

    def put(self, key, value):
        self.kept[key] = value


def cached(shell, server, cache, **options):
    provider = compatible(server)
    return shell(provider, cache=cache, **options), Counting(provider)


@both
def test_a_decision_out_of_the_cache_is_neither_read_nor_sent_again_and_says_the_same(shell, tmp_path):
    server = Server(YES)
    with SqliteCache(tmp_path / "c.db") as cache:
        wrapped, parsed = cached(shell, server, cache)
        request = DecisionRequest("x", {"a": Q, "b": YesNo("another?")})
        wrapped.decide(request)
        responses, spent = [], []
        for _ in range(3):
            before = wrapped.model.usage
            responses.append(wrapped.decide(request))
            spent.append(wrapped.model.usage - before)
            calls = parsed.calls
    assert calls == 4
    assert responses[0] == responses[1] == responses[2]
    assert responses[0].usage == responses[1].usage == responses[2].usage == spent[0] == spent[1] == spent[2]
    assert responses[2].usage.cache_hits == 2
    assert len(server.bodies) == 2


@both
def test_a_cache_that_was_emptied_or_overwritten_is_the_judge(shell):
    server, cache = Server(YES), Memory()
    wrapped, _ = cached(shell, server, cache)
    for _ in range(3):
        assert wrapped.decide("x", Q).probability == pytest.approx(0.9)
    (key,) = cache.kept
    cache.kept[key] = json.dumps(chat_reply(NO)).encode()
    for _ in range(2):
        assert wrapped.decide("x", Q).probability == pytest.approx(0.2)
    cache.kept.clear()
    assert wrapped.decide("x", Q).probability == pytest.approx(0.9)
    assert len(server.bodies) == 2


@both
def test_what_a_model_learns_makes_its_earlier_decisions_out_of_date(shell):
    wrapped, parsed = cached(shell, Server(YES), Memory())
    for _ in range(3):
        wrapped.decide("x", Q)
    assert parsed.calls == 2
    wrapped.model.priors.announce(Q)
    wrapped.decide("x", Q)
    assert parsed.calls == 3
    wrapped.model.priors.announce(Q)
    wrapped.decide("x", Q)
    assert parsed.calls == 3
    wrapped.model.ladder.note_blind("m", "logprobs_unsupported")
    assert wrapped.model.recent(wrapped.model.request("x", Q, None)) is None


def test_a_cache_that_may_block_is_not_read_from_an_event_loop():
    from tests.shells import Async

    class Blocking(Memory):
        reads_at_once = False

    wrapped, parsed = cached(Async, Server(YES), Blocking())
    for _ in range(3):
        wrapped.decide("x", Q)
    assert parsed.calls == 3


def recent(request, value=b"{}"):
    return Recent(request, {}, "m", (Kept("k", value),))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (YesNo("q?"), YesNo("q?", yes_when="always")),
        (YesNo("q?", examples=[({"a": 1}, True)]), YesNo("q?", examples=[({"a": True}, True)])),
        (YesNo("q?"), Choice("q?", ["m", "n"])),
    ],
    ids=["criterion", "example", "type"],
)
def test_questions_that_read_differently_are_different(one, other):
    recents = Recents()
    recents.note((0,), recent(DecisionRequest("x", {"a": one})))
    assert recents.find(DecisionRequest("x", {"a": one}), (0,), lambda _: b"{}") is not None
    assert recents.find(DecisionRequest("x", {"a": other}), (0,), lambda _: b"{}") is None
    assert recents.find(DecisionRequest("x", {"b": one}), (0,), lambda _: b"{}") is None
    assert recents.find(DecisionRequest("y", {"a": one}), (0,), lambda _: b"{}") is None


def test_only_texts_are_remembered_and_only_so_many():
    recents = Recents()
    recents.note((0,), recent(DecisionRequest({"a": 1}, {"a": Q})))
    assert recents.find(DecisionRequest({"a": True}, {"a": Q}), (0,), lambda _: b"{}") is None
    for number in range(MOST + 1):
        recents.note((0,), recent(DecisionRequest(f"text {number}", {"a": Q})))
    assert recents.find(DecisionRequest("text 0", {"a": Q}), (0,), lambda _: b"{}") is None
    assert recents.find(DecisionRequest("text 1", {"a": Q}), (0,), lambda _: b"{}") is not None


@both
def test_what_was_decided_before_a_model_learned_something_is_not_filed_as_decided_after(shell):
    wrapped, parsed = cached(shell, Server(YES), Memory())
    wrapped.decide("x", Q)
    learn = parsed._parse

    def learning(task, raw):
        wrapped.model.priors.announce(Q)
        return learn(task, raw)

    parsed._parse = learning
    wrapped.decide("x", Q)
    assert wrapped.model.recent(wrapped.model.request("x", Q, None)) is None
