import asyncio
import contextvars
import itertools
import threading
from types import SimpleNamespace

import httpx2
import pytest

from tests.engine.support import SHELLS, Server, compatible, refused
from yesno import (
    AsyncDecisionModel,
    Choice,
    DecisionModel,
    Failure,
    FakeProvider,
    LoggingListener,
    RetryPolicy,
    Scale,
    Undecided,
    UsageListener,
    YesNo,
    YesNoAnswer,
    ask,
    ask_all,
    gather,
)
from yesno.errors import (
    ConfigError,
    DeadlineExceeded,
    ProviderRejected,
    ProviderUnavailable,
    QuestionError,
    Refused,
    UndecidedError,
)
from yesno.providers.base import Provider
from yesno.providers.fake import chat_reply

both = pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def test_both_models_send_the_same_bytes_and_give_the_same_answers():
    questions = {
        "y": YesNo("q?", yes_when="x"),
        "c": Choice("q?", ["one", "two"]),
        "s": Scale("How is it?", ["l", "h"]),
    }
    replies = {
        "Answer yes or no.": {"Yes": 0.7, "No": 0.2},
        "How is it?": {"B": 0.9, "A": 0.1},
        "letter": {"B": 0.6, "A": 0.3},
    }

    def handler(request):
        server.bodies.append(request.content)
        prompt = request.content.decode()
        return httpx2.Response(200, json=chat_reply(next(r for key, r in replies.items() if key in prompt)))

    seen = []
    for shell in SHELLS:
        server = Server({})
        response = shell(compatible(handler)).decide("x", questions)
        seen.append((sorted(server.bodies), response))
    assert seen[0] == seen[1]
    assert seen[0][1].choice("c").value == "two"


@both
def test_map_keeps_the_order_and_yields_failures_as_outcomes(shell):
    def script(prompt):
        if "bad" in prompt:
            return ProviderRejected("no", provider="fake", status=400)
        return {"Yes": 0.9, "No": 0.1} if "even" in prompt else {"No": 0.9, "Yes": 0.1}

    inputs = ["even", "odd", "", "bad", "even", object()]
    got = shell(FakeProvider(script), concurrency=2).map(inputs, YesNo("q?"))
    assert [type(outcome) for outcome in got] == [
        YesNoAnswer,
        YesNoAnswer,
        Failure,
        Failure,
        YesNoAnswer,
        Failure,
    ]
    assert [got[i].is_yes() for i in (0, 1, 4)] == [True, False, True]
    assert isinstance(got[2].error, QuestionError)
    assert isinstance(got[3].error, ProviderRejected)


@both
def test_map_of_several_questions_yields_responses(shell):
    (got,) = shell(FakeProvider()).map(["x"], {"a": YesNo("q?"), "b": YesNo("r?")})
    assert list(got.answers) == ["a", "b"]


def test_map_takes_an_endless_iterable_and_holds_only_a_few_items():
    taken = itertools.count()
    with DecisionModel(FakeProvider(), concurrency=3) as model:
        outcomes = model.map((f"item {next(taken)}" for _ in itertools.count()), YesNo("q?"))
        first = list(itertools.islice(outcomes, 10))
        outcomes.close()
    assert len(first) == 10
    assert next(taken) <= 10 + 2 * 3 + 1


def test_async_map_takes_an_endless_async_iterable_and_holds_only_a_few_items():
    taken = itertools.count()

    async def endless():
        while True:
            yield f"item {next(taken)}"

    async def go():
        outcomes = AsyncDecisionModel(FakeProvider(), concurrency=3).map(endless(), YesNo("q?"))
        got = [await anext(outcomes) for _ in range(10)]
        await outcomes.aclose()
        return got

    assert len(asyncio.run(go())) == 10
    assert next(taken) <= 10 + 2 * 3 + 1


def test_async_map_closed_early_cancels_what_is_under_way():
    cancelled = []

    class Hanging(FakeProvider):
        async def asend(self, payload):
            if "first" not in payload["messages"][-1]["content"]:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append(1)
                    raise
            return self.send(payload)

    async def go():
        outcomes = AsyncDecisionModel(Hanging(), concurrency=2).map(["first", "b1", "c1", "d1"], YesNo("q?"))
        await anext(outcomes)
        await asyncio.sleep(0)
        await outcomes.aclose()
        await asyncio.sleep(0)

    asyncio.run(go())
    assert cancelled


class Counting(FakeProvider):
    """Counts how many requests are under way at once."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.now = self.most = 0
        self.lock = threading.Lock()
        self.all_here = threading.Barrier(3, timeout=5)

    def send(self, payload, *, timeout_s=None):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            self.all_here.wait()
            return super().send(payload)
        finally:
            with self.lock:
                self.now -= 1


def test_the_sync_model_has_as_many_requests_under_way_as_allowed_and_no_more():
    provider = Counting()
    with DecisionModel(provider, concurrency=3) as model:
        assert len(list(model.map([f"i{n}" for n in range(9)], YesNo("q?")))) == 9
    assert provider.most == 3


def test_the_async_model_has_no_more_requests_under_way_than_allowed():
    most = now = 0

    class Yielding(FakeProvider):
        async def asend(self, payload):
            nonlocal most, now
            now += 1
            most = max(most, now)
            for _ in range(5):
                await asyncio.sleep(0)
            now -= 1
            return self.send(payload)

    async def go():
        model = AsyncDecisionModel(Yielding(), concurrency=3)
        return [outcome async for outcome in model.map([f"i{n}" for n in range(20)], YesNo("q?"))]

    assert len(asyncio.run(go())) == 20
    assert most == 3


@both
def test_nested_work_does_not_wait_for_itself(shell):
    options = [f"option {i}" for i in range(60)]
    questions = {f"q{i}": Choice("Which?", options) for i in range(4)}
    got = shell(FakeProvider({"A": 0.9, "B": 0.1}), concurrency=1).map(["i1", "i2", "i3"], questions)
    assert [response.choice("q3").value for response in got] == ["option 0"] * 3


def test_context_variables_reach_the_worker_threads():
    trace = contextvars.ContextVar("trace", default="lost")
    seen = []

    class Spy(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            seen.append(trace.get())
            return super().send(payload)

    trace.set("kept")
    with DecisionModel(Spy()) as model:
        model.decide("x", {"a": YesNo("q?"), "b": YesNo("r?")})
    assert seen == ["kept", "kept"]


def test_one_async_model_serves_several_event_loops():
    model = AsyncDecisionModel(compatible(Server({"Yes": 0.9, "No": 0.1})))
    for _ in range(3):
        assert asyncio.run(model.decide("x", YesNo("q?"))).is_yes()


@both
def test_flows_ask_in_batches_and_equal_inputs_travel_together(shell):
    provider = FakeProvider()

    def flow():
        first = yield from ask_all([YesNo("a?"), YesNo("b?")], "x")
        second = yield from gather([ask(YesNo("c?"), "x"), ask(YesNo("d?"), "y")])
        return len(first) + len(second)

    assert shell(provider).run(flow()) == 4
    assert len(provider.requests) == 4


@both
def test_a_failure_is_thrown_into_the_flow_which_may_fall_back(shell):
    def flow():
        try:
            yield from ask(YesNo("q?"), "x")
        except ProviderRejected:
            return "fallback"

    assert shell(FakeProvider(ProviderRejected("no", provider="fake", status=400))).run(flow()) == "fallback"


@both
def test_one_question_raises_and_several_hold_their_outcomes(shell):
    with pytest.raises(Refused):
        shell(FakeProvider({"<refusal>": 1})).decide("x", YesNo("q?"))
    with pytest.raises(UndecidedError, match="low_label_mass") as info:
        shell(FakeProvider({"The": 0.9, "Yes": 0.1})).decide("x", YesNo("q?"))
    assert isinstance(info.value.outcome, Undecided)
    response = shell(FakeProvider({"<content_filter>": 1})).decide("x", {"q": YesNo("q?")})
    assert response.outcome("q").reason == "content_filter"


@both
def test_a_weak_reply_is_asked_again_with_a_stricter_prompt(shell):
    provider = FakeProvider([{"The": 0.8, "Yes": 0.2}, {"Yes": 0.9, "No": 0.1}])
    answer = shell(provider).decide("x", YesNo("q?"))
    assert [attempt.result for attempt in answer.attempts] == ["low_label_mass", "answered"]
    first, second = (payload["messages"][-1]["content"] for payload in provider.requests)
    assert second.startswith(first.rstrip())
    assert "exactly one word" in second


@both
def test_after_two_weak_replies_the_outcome_is_undecided_with_what_was_seen(shell):
    provider = FakeProvider({"The": 0.9, "Yes": 0.06, "No": 0.04})
    outcome = shell(provider).decide("x", {"q": YesNo("q?")}).outcome("q")
    assert (outcome.reason, outcome.label_mass) == ("low_label_mass", pytest.approx(0.1))
    assert outcome.low <= 0.6 <= outcome.high
    assert len(provider.requests) == len(outcome.attempts) == 2


def test_the_least_label_mass_is_the_callers_choice():
    script = {"The": 0.7, "Yes": 0.2, "No": 0.1}
    assert DecisionModel(FakeProvider(script), min_label_mass=0.2).decide(
        "x", YesNo("q?")
    ).probability == pytest.approx(2 / 3)
    for value in (-0.1, 1.5, "x", float("nan")):
        with pytest.raises(ConfigError, match="min_label_mass"):
            DecisionModel(FakeProvider(), min_label_mass=value)


@both
@pytest.mark.parametrize(("count", "requests"), [(20, 1), (30, 3), (77, 5), (255, 14)], ids=str)
def test_more_options_than_a_list_holds_are_asked_in_heats_and_a_final(shell, count, requests):
    options = [f"option {i}" for i in range(count)]
    target = options[count * 2 // 3]

    def script(prompt):
        lines = [line for line in prompt.splitlines() if line[1:3] == ". "]
        right = [line[0] for line in lines if line[3:] == target]
        return {right[0]: 0.9, "A" if right[0] != "A" else "B": 0.06} if right else {"A": 0.5, "B": 0.4}

    provider = FakeProvider(script)
    answer = shell(provider).decide("x", Choice("Which?", options))
    assert len(provider.requests) == requests
    assert answer.value == target
    assert sum(answer.probabilities.values()) == pytest.approx(1)
    assert list(answer.probabilities) == options
    low, high = answer.bounds[target]
    assert low <= answer.probabilities[target] <= high
    assert ("tournament" in answer.flags) == (count > 20)
    assert answer.attempts[0].requests == requests


def test_a_way_out_takes_part_in_the_final_only_and_is_reported_apart():
    def script(prompt):
        for line in prompt.splitlines():
            if line.endswith(". none of these"):
                return {line[0]: 0.9, "A": 0.1}
        return {"A": 0.9, "B": 0.1}

    answer = DecisionModel(FakeProvider(script)).decide(
        "x", Choice("Which?", [f"o{i}x" for i in range(40)], none="none of these")
    )
    assert answer.is_none
    assert answer.none_probability == pytest.approx(0.86, abs=0.05)
    assert sum(answer.probabilities.values()) + answer.none_probability == pytest.approx(1)


def test_a_scale_with_too_many_levels_is_refused_with_the_limit():
    with pytest.raises(QuestionError, match="at most 20"):
        DecisionModel(FakeProvider()).decide("x", Scale("q?", [f"l{i}" for i in range(21)]))


def test_a_deadline_bounds_an_async_decision():
    class Hanging(FakeProvider):
        async def asend(self, payload):
            await asyncio.Event().wait()

    with pytest.raises(DeadlineExceeded, match="timeout_s"):
        asyncio.run(AsyncDecisionModel(Hanging(), timeout_s=0.01).decide("x", YesNo("q?")))


def test_a_deadline_bounds_a_sync_decision_and_is_handed_to_the_provider(monkeypatch):
    now = 0.0
    monkeypatch.setattr("yesno.engine.sync.time", SimpleNamespace(monotonic=lambda: now))
    given = []

    class Slow(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            nonlocal now
            given.append(timeout_s)
            now += 8
            return super().send(payload)

    weak = {"The": 0.9, "Yes": 0.1}
    DecisionModel(Slow([weak, {"Yes": 0.9, "No": 0.1}]), timeout_s=10).decide("x", YesNo("q?"))
    assert given == [10, 2]
    with pytest.raises(DeadlineExceeded):
        DecisionModel(Slow([weak]), timeout_s=5).decide("x", YesNo("q?"))


@pytest.mark.parametrize("value", [0, -1, "soon"])
def test_a_timeout_that_makes_no_sense_is_refused(value):
    with pytest.raises(ConfigError, match="timeout_s"):
        DecisionModel(FakeProvider(), timeout_s=value)


@both
def test_a_server_that_asks_to_wait_is_waited_for(shell):
    waits = []

    async def asleep(seconds):
        waits.append(seconds)

    server = Server(refused(429, headers={"retry-after": "7"}), {"Yes": 0.9, "No": 0.1})
    policy = RetryPolicy(sleep=waits.append, asleep=asleep)
    assert shell(compatible(server), retry=policy).decide("x", YesNo("q?")).is_yes()
    assert waits == [7.0]


@both
def test_retries_end_after_the_last_attempt(shell):
    waits = []

    async def asleep(seconds):
        waits.append(seconds)

    server = Server(refused(503))
    with pytest.raises(ProviderUnavailable) as info:
        shell(compatible(server), retry=RetryPolicy(attempts=3, sleep=waits.append, asleep=asleep)).decide(
            "x", YesNo("q?")
        )
    assert (len(server.bodies), len(waits), info.value.status) == (3, 2, 503)
    assert all(0 < wait <= 20 for wait in waits)


@both
@pytest.mark.parametrize(
    "reply",
    [refused(401), refused(429, headers={"retry-after": "500"}), refused(429, code="insufficient_quota")],
    ids=["key", "too_long", "quota"],
)
def test_what_waiting_cannot_mend_is_not_tried_again(shell, reply):
    server = Server(reply)
    with pytest.raises((ProviderRejected, ProviderUnavailable)):
        shell(compatible(server)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 1


def test_usage_and_log_listeners_hear_decisions_without_their_content(caplog):
    meter = UsageListener()
    with caplog.at_level("INFO", logger="yesno"):
        model = DecisionModel(FakeProvider(), listeners=[meter, LoggingListener()])
        model.decide("my secret", {"a": YesNo("private?"), "b": YesNo("hidden?")})
        with pytest.raises(ProviderRejected):
            DecisionModel(
                FakeProvider(ProviderRejected("no", provider="fake", status=400)),
                listeners=[LoggingListener()],
            ).decide("my secret", YesNo("private?"))
    assert meter.total.requests == 2
    assert [record.message for record in caplog.records] == ["decision_made", "decision_failed"]
    assert caplog.records[1].status == 400
    shown = " ".join(str(vars(record)) for record in caplog.records)
    assert "secret" not in shown
    assert "private" not in shown


def test_closing_twice_is_fine_and_a_context_manager_closes():
    closed = []

    class Closing(Provider):
        def close(self):
            closed.append(1)

    with DecisionModel(Closing()) as model:
        pass
    model.close()

    async def go():
        async with AsyncDecisionModel(Closing()) as twin:
            pass
        await twin.close()

    asyncio.run(go())
    assert len(closed) == 4
