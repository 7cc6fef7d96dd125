import asyncio
import gc
import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import SHELLS, Server, both, compatible, patient, refused
from yesno import AsyncDecisionModel, DecisionModel, FakeProvider, Limits, RetryPolicy, YesNo
from yesno.engine import gates
from yesno.engine.aio_waiting import await_place
from yesno.engine.gates import Party
from yesno.engine.limits import LEAST_ROUND, LONGEST_PAUSE_S, Limit
from yesno.engine.waiting import wait_for_place
from yesno.errors import ConfigError, DeadlineExceeded, ProviderUnavailable
from yesno.providers.openai_compatible import OpenAICompatible

YES = {"Yes": 0.9, "No": 0.1}


def busy(status=429, *, retry_after=None, remaining=None, reset_s=None):
    error = ProviderUnavailable("busy", provider="fake", status=status, retry_after=retry_after)
    error.remaining, error.reset_s = remaining, reset_s
    return error


def hear(limit, *ends, now=0.0):
    for end in ends:
        limit.hear(limit.begin(now), end, now)


steps = st.lists(
    st.tuples(
        st.sampled_from(
            [None, busy(), busy(503), busy(500), busy(remaining=0, reset_s=3.0), busy(retry_after=2.0)]
        ),
        st.integers(0, 3),
        st.floats(0, 10),
    ),
    max_size=300,
)


@given(st.integers(1, 80), steps)
def test_a_limit_is_never_above_its_ceiling_and_never_below_one(ceiling, story):
    limit, now, eras = Limit(ceiling), 0.0, [0]
    for end, age, seconds in story:
        now += seconds
        eras.append(limit.begin(now))
        limit.hear(eras[max(0, len(eras) - 1 - age)], end, now)
        assert 1 <= limit.height <= ceiling


@given(st.integers(1, 80), steps)
def test_a_limit_recovers_when_the_server_does(ceiling, story):
    limit, now = Limit(ceiling), 0.0
    for end, _, seconds in story:
        now += seconds
        hear(limit, end, now=now)
    rounds = 0
    while limit.height < ceiling:
        hear(limit, *[None] * max(limit.height, LEAST_ROUND), now=now)
        rounds += 1
        assert rounds <= 20
    assert limit.wait_s(0, now + LONGEST_PAUSE_S) == 0


@given(st.integers(1, 80), steps, st.integers(0, 100), st.floats(0, 1e4))
def test_a_limit_always_says_when_to_ask_again(ceiling, story, under_way, later):
    limit, now = Limit(ceiling), 0.0
    for end, _, seconds in story:
        now += seconds
        hear(limit, end, now=now)
    wait = limit.wait_s(under_way, now + later)
    assert wait >= 0
    assert (wait == math.inf) == (under_way >= limit.height)
    assert wait == math.inf or wait <= LONGEST_PAUSE_S


def test_busy_replies_lower_a_limit_by_the_same_part_each_round():
    limit, heights = Limit(40), []
    for _ in range(4):
        era = limit.era
        while limit.era == era:
            hear(limit, busy())
        heights.append(limit.height)
    assert heights == [28, 19, 13, 9]


def test_good_rounds_raise_a_limit_by_the_same_number_each():
    limit = Limit(64)
    while limit.height > 1:
        hear(limit, busy())
    heights = []
    for _ in range(3):
        hear(limit, *[None] * LEAST_ROUND)
        heights.append(limit.height)
    assert heights == [5, 9, 13]


def test_all_that_was_under_way_when_a_limit_fell_lowers_it_once():
    limit = Limit(32)
    eras = [limit.begin(0) for _ in range(32)]
    for era in eras:
        limit.hear(era, busy(), 0)
    assert limit.height == 22


def test_a_few_busy_replies_among_many_change_nothing():
    limit = Limit(40)
    hear(limit, *([busy()] + [None] * 9) * 20)
    assert limit.height == 40


@pytest.mark.parametrize("end", [None, busy(500), busy(None), busy(408)], ids=["reply", "500", "none", "408"])
def test_what_is_not_busy_never_lowers_a_limit(end):
    limit = Limit(8)
    hear(limit, *[end] * 100)
    assert limit.height == 8


def test_no_more_begin_before_the_reset_than_the_server_has_left():
    limit = Limit(8)
    hear(limit, busy(remaining=2, reset_s=5.0), now=100.0)
    waits = []
    for _ in range(3):
        waits.append(limit.wait_s(0, 101.0))
        if waits[-1] == 0:
            limit.begin(101.0)
    assert waits == [0, 0, 4.0]
    assert limit.wait_s(0, 105.0) == 0


@pytest.mark.parametrize(
    ("hint", "pause"),
    [
        ({"reset_s": 5.0}, 5.0),
        ({"reset_s": 50.0, "retry_after": 2.0}, 2.0),
        ({"reset_s": 1e6}, LONGEST_PAUSE_S),
        ({}, 0.0),
    ],
    ids=["reset", "sooner", "far", "unknown"],
)
def test_nothing_begins_while_the_server_has_none_left(hint, pause):
    limit = Limit(8)
    hear(limit, busy(remaining=0, **hint))
    assert limit.wait_s(0, 0.0) == pause


class Clock:
    """A clock that moves by as much as somebody waits."""

    def __init__(self):
        self.now = 0.0
        self.waits = []

    def __call__(self):
        return self.now

    def wait(self, turn, seconds):
        assert seconds is not None
        self.waits.append(seconds)
        self.now += seconds


PROVIDER = FakeProvider()


def at_gate(most=4, clock=None, limits=None, name="m"):
    """Return a gate and a party that may have `most` requests under way."""
    limits, party = limits or Limits(clock=clock), Party(most)
    return limits.gate(PROVIDER, name, party), party


def test_a_thread_waits_for_the_reset_and_no_longer():
    clock = Clock()
    gate, party = at_gate(4, clock)
    gate.leave(party, wait_for_place(gate, party), error=busy(remaining=0, reset_s=3.0))
    wait_for_place(gate, party, 10.0, wait=clock.wait)
    assert clock.waits == [3.0]


def test_a_thread_gives_up_at_its_deadline_and_leaves_no_trace():
    clock = Clock()
    gate, party = at_gate(1, clock)
    held = wait_for_place(gate, party)
    with pytest.raises(DeadlineExceeded, match="timeout"):
        wait_for_place(gate, party, 2.0, wait=clock.wait)
    gate.leave(party, held)
    wait_for_place(gate, party, 2.0)
    assert clock.waits == [2.0]


def test_a_pause_that_begins_while_a_thread_waits_for_a_place_is_waited_for():
    clock = Clock()
    gate, party = at_gate(1, clock)
    held = wait_for_place(gate, party)
    waits = []

    def wait(event, seconds):
        waits.append(seconds)
        if len(waits) == 1:
            gate.leave(party, held, error=busy(remaining=0, reset_s=3.0))
            assert event.is_set()
        else:
            clock.now += seconds

    wait_for_place(gate, party, wait=wait)
    assert waits == [None, 3.0]


def test_a_pause_that_begins_while_a_task_waits_for_a_place_is_waited_for():
    async def go():
        clock, loop, later = Clock(), asyncio.get_running_loop(), []
        gate, party = at_gate(1, clock)
        loop.call_later = lambda seconds, call: later.append((seconds, call)) or loop.call_soon(int)
        held = await await_place(gate, party, loop)
        waiting = asyncio.ensure_future(await_place(gate, party, loop))
        await asyncio.sleep(0)
        gate.leave(party, held, loop, error=busy(remaining=0, reset_s=3.0))
        for _ in range(3):
            await asyncio.sleep(0)
        ((seconds, call),) = later
        clock.now += seconds
        call()
        await waiting
        assert seconds == 3.0

    asyncio.run(go())


@both
def test_a_place_is_given_back_whatever_happens(shell):
    ends = [busy(), ValueError("a bug"), DeadlineExceeded("late")]

    class Ending(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            if ends:
                raise ends.pop()
            return super().send(payload)

    wrapped = shell(Ending(), concurrency=1, retry=RetryPolicy(attempts=1), timeout_s=5)
    while ends:
        with pytest.raises(type(ends[-1])):
            wrapped.decide("x", YesNo("q?"))
    assert wrapped.decide("x", YesNo("q?")).is_yes()
    assert wrapped.model.party.under_way == 0


def test_a_task_that_is_cancelled_while_it_waits_or_just_after_its_turn_leaves_no_trace():
    async def go():
        loop = asyncio.get_running_loop()
        gate, party = at_gate(1)
        held = await await_place(gate, party, loop)
        waiting = [asyncio.create_task(await_place(gate, party, loop)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        gate.leave(party, held, loop)
        waiting[1].cancel()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(end).__name__ for end in done] == ["CancelledError", "CancelledError", "Ticket"]
        assert party.under_way == 1

    asyncio.run(go())


def test_tasks_get_their_turns_in_the_order_they_came():
    async def go():
        loop, order = asyncio.get_running_loop(), []
        gate, party = at_gate(2)

        async def work(number):
            ticket = await await_place(gate, party, loop)
            order.append(number)
            await asyncio.sleep(0)
            gate.leave(party, ticket, loop)

        await asyncio.gather(*(work(number) for number in range(9)))
        assert order == list(range(9))

    asyncio.run(go())


def test_models_take_turns_so_that_a_long_list_of_one_keeps_nobody_else_waiting():
    async def go():
        loop, order, limits = asyncio.get_running_loop(), [], Limits()
        (gate, many), (_, one) = at_gate(1, limits=limits), at_gate(1, limits=limits)

        async def work(party, name):
            ticket = await await_place(gate, party, loop)
            order.append(name)
            await asyncio.sleep(0)
            gate.leave(party, ticket, loop)

        await asyncio.gather(*(work(many, "many") for _ in range(6)), *(work(one, "one") for _ in range(2)))
        assert order == ["many", "many", "one", "many", "one", "many", "many", "many"]

    asyncio.run(go())


def test_a_model_has_no_more_under_way_than_its_own_however_many_names_it_asks():
    limits = Limits()
    gate, party = at_gate(2, limits=limits)
    other = limits.gate(PROVIDER, "other", party)
    first, second = gate.enter(party), other.enter(party)
    assert first
    assert second
    assert gate.enter(party) is None
    other.leave(party, second)
    assert gate.enter(party)


def test_a_place_that_frees_at_one_name_is_given_to_who_waits_at_another():
    async def go():
        loop, limits = asyncio.get_running_loop(), Limits()
        gate, party = at_gate(1, limits=limits)
        other = limits.gate(PROVIDER, "other", party)
        held = gate.enter(party, loop)
        waiting = asyncio.create_task(await_place(other, party, loop))
        await asyncio.sleep(0)
        gate.leave(party, held, loop)
        await waiting

    asyncio.run(go())


def test_places_that_a_closed_event_loop_held_are_free_for_everybody():
    limits = Limits()
    gate, dead = at_gate(1, limits=limits)
    _, alive = at_gate(1, limits=limits)

    async def abandon():
        loop = asyncio.get_running_loop()
        return loop, await await_place(gate, dead, loop)

    loop, ticket = asyncio.run(abandon())
    wait_for_place(gate, alive, 0.0)
    gate.leave(dead, ticket, loop)
    assert (alive.under_way, dead.under_way) == (1, 0)
    assert gate.enter(dead) is None


def test_a_turn_of_a_closed_event_loop_is_passed_over():
    gate, party = at_gate(1)
    held = gate.enter(party)
    loop = asyncio.new_event_loop()
    waiting = await_place(gate, party, loop)
    waiting.send(None)
    loop.close()
    gate.leave(party, held)
    assert gate.enter(party)
    with pytest.raises(GeneratorExit):
        waiting.throw(GeneratorExit)


def test_threads_and_tasks_of_several_event_loops_share_one_gate():
    limits, under_way, most, lock = Limits(), 0, 0, threading.Lock()
    gate, _ = at_gate(3, limits=limits)

    def count(step):
        nonlocal under_way, most
        with lock:
            under_way += step
            most = max(most, under_way)

    def thread():
        _, party = at_gate(3, limits=limits)
        for _ in range(200):
            ticket = wait_for_place(gate, party)
            count(1)
            count(-1)
            gate.leave(party, ticket)

    async def tasks():
        _, party = at_gate(3, limits=limits)
        loop = asyncio.get_running_loop()

        async def work():
            ticket = await await_place(gate, party, loop)
            count(1)
            await asyncio.sleep(0)
            count(-1)
            gate.leave(party, ticket, loop)

        await asyncio.gather(*(work() for _ in range(200)))

    runs = [threading.Thread(target=thread) for _ in range(2)]
    runs += [threading.Thread(target=lambda: asyncio.run(tasks())) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(20)
        assert not run.is_alive()
    assert 1 <= most <= 3
    assert (under_way, gate._under_way) == (0, 0)


@both
def test_a_server_that_is_busy_is_asked_less_at_once_and_its_headers_reach_the_limit(shell):
    headers = {"x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "1s"}
    server = Server(*[refused(429, headers=headers)] * 3, YES)
    wrapped = shell(compatible(server), retry=patient([]), concurrency=8)
    assert wrapped.decide("x", YesNo("q?")).is_yes()
    limit = wrapped.model.gate("m").limit
    assert limit.height == 5
    assert limit._left <= 7


def limit_of(model, name="m"):
    return model.gate(name).limit


@pytest.mark.parametrize("one", [DecisionModel, AsyncDecisionModel])
@pytest.mark.parametrize("other", [DecisionModel, AsyncDecisionModel])
def test_models_of_one_server_share_what_they_learned_and_its_pause(one, other):
    first, second = one(compatible(Server(YES))), other(compatible(Server(YES)))
    hear(limit_of(first), *[busy(remaining=0, reset_s=30.0)] * 10)
    assert limit_of(second) is limit_of(first)
    assert limit_of(second).wait_s(0, 1.0) == 29.0


def test_models_share_through_what_they_are_given_and_only_there():
    apart, given = Limits(), Limits()
    kept = [DecisionModel(compatible(Server(YES)), limits=limits) for limits in (None, apart, given, given)]
    assert [limit_of(model) is limit_of(kept[0]) for model in kept] == [True, False, False, False]
    assert limit_of(kept[2]) is limit_of(kept[3])


@pytest.mark.parametrize(
    "change",
    [{"model": "other"}, {"base_url": "http://elsewhere.test/v1"}, {"api_key": "another"}],
    ids=lambda change: next(iter(change)),
)
def test_another_model_server_or_account_has_a_limit_of_its_own(change):
    settings = {"model": "m", "base_url": "http://server.test/v1", "api_key": "one", **change}
    first = DecisionModel(OpenAICompatible("m", base_url="http://server.test/v1", api_key="one"))
    second = DecisionModel(OpenAICompatible(settings.pop("model"), **settings))
    assert limit_of(first) is not limit_of(second, second.provider.model)


def test_a_provider_without_an_address_shares_with_itself_only():
    provider = FakeProvider()
    one, same, other = DecisionModel(provider), AsyncDecisionModel(provider), DecisionModel(FakeProvider())
    assert limit_of(one) is limit_of(same)
    assert limit_of(one) is not limit_of(other)


def test_what_was_learned_is_forgotten_with_the_last_model_and_no_key_is_kept():
    limits = Limits()
    models = [shell(compatible(Server(YES), api_key="sk-secret"), limits=limits).model for shell in SHELLS]
    assert [limit_of(model).height for model in models]
    assert repr(limits) == "Limits(1 in use)"
    assert "sk-secret" not in repr(list(limits._gates))
    models.pop()
    gc.collect()
    assert len(limits._gates) == 1
    models.clear()
    gc.collect()
    assert len(limits._gates) == 0


def test_together_models_have_as_many_under_way_as_the_largest_concurrency_among_them():
    limits = Limits()
    small = DecisionModel(compatible(Server(YES)), limits=limits, concurrency=2)
    assert limit_of(small).height == 2
    large = AsyncDecisionModel(compatible(Server(YES)), limits=limits, concurrency=6)
    assert limit_of(large).height == 6
    hear(limit_of(small), *[busy()] * 10)
    DecisionModel(compatible(Server(YES)), limits=limits, concurrency=9).gate("m")
    assert limit_of(small).height < 6


def test_by_default_all_models_share_and_a_decision_waits_for_the_pause_of_another_model():
    server = Server(refused(429, headers={"retry-after": "9", "x-ratelimit-remaining-requests": "0"}), YES)
    once = RetryPolicy(attempts=1)
    first = DecisionModel(compatible(server), retry=once)
    with pytest.raises(ProviderUnavailable):
        first.decide("x", YesNo("q?"))
    second = DecisionModel(compatible(server), retry=once, timeout_s=0.01)
    with pytest.raises(DeadlineExceeded):
        second.decide("x", YesNo("q?"))
    assert len(server.bodies) == 1
    assert len(gates.SHARED._gates) == 1


@both
def test_limits_that_are_none_are_refused(shell):
    with pytest.raises(ConfigError, match="limits"):
        shell(FakeProvider(), limits=8)
