import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import Server, both, compatible, patient, refused
from yesno import YesNo
from yesno.engine.aio_gates import AsyncGate, AsyncPlaces
from yesno.engine.gates import LATE, Gate, Places
from yesno.engine.limits import LEAST_ROUND, LONGEST_PAUSE_S, Limit
from yesno.errors import DeadlineExceeded, ProviderUnavailable

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


def test_a_thread_waits_for_the_reset_and_no_longer():
    clock, limit = Clock(), Limit(4)
    gate = Gate(limit, clock=clock, wait=clock.wait)
    gate.leave(gate.enter(), heard=True, error=busy(remaining=0, reset_s=3.0))
    gate.enter(deadline=10.0)
    assert clock.waits == [3.0]


def test_a_thread_gives_up_at_its_deadline_and_leaves_no_trace():
    clock, limit = Clock(), Limit(1)
    gate = Gate(limit, clock=clock, wait=clock.wait)
    held = gate.enter()
    with pytest.raises(DeadlineExceeded, match="timeout"):
        gate.enter(deadline=2.0)
    gate.leave(held, heard=True)
    gate.enter(deadline=2.0)
    assert clock.waits == [2.0]


def test_a_place_is_given_back_whatever_happens():
    places = Places(1)
    for error in (busy(), ValueError("a bug"), KeyboardInterrupt(), DeadlineExceeded(LATE)):
        with pytest.raises(type(error)), places.one("m", None):
            raise error
    with places.one("m", 0.0), pytest.raises(DeadlineExceeded), places.one("other", 0.0):
        raise AssertionError


def test_a_task_that_is_cancelled_while_it_waits_or_just_after_its_turn_leaves_no_trace():
    async def go():
        gate = AsyncGate(Limit(1))
        held = await gate.enter()
        waiting = [asyncio.create_task(gate.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
        gate.leave(held, heard=True)
        waiting[1].cancel()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(end) for end in done] == [asyncio.CancelledError, asyncio.CancelledError, int]

    asyncio.run(go())


def test_tasks_get_their_turns_in_the_order_they_came():
    async def go():
        gate, order = AsyncGate(Limit(2)), []

        async def work(number):
            era = await gate.enter()
            order.append(number)
            await asyncio.sleep(0)
            gate.leave(era, heard=True)

        await asyncio.gather(*(work(number) for number in range(9)))
        assert order == list(range(9))

    asyncio.run(go())


def test_a_task_waits_for_the_reset_and_no_longer():
    async def go():
        loop, gate, now = asyncio.get_running_loop(), None, 0.0
        later = []
        loop.time, loop.call_later = lambda: now, lambda s, call: later.append((s, call))
        gate = AsyncGate(Limit(4))
        gate.leave(await gate.enter(), heard=True, error=busy(remaining=0, reset_s=3.0))
        waiting = asyncio.ensure_future(gate.enter())
        await asyncio.sleep(0)
        ((seconds, call),) = later
        now = seconds
        call()
        assert (await waiting, seconds) == (0, 3.0)

    asyncio.run(go())


def test_a_new_event_loop_finds_all_places_free():
    places = AsyncPlaces(1)

    async def abandon():
        await places.one("m").__aenter__()

    async def use():
        async with places.one("m"):
            return True

    asyncio.run(abandon())
    assert asyncio.run(use())


@both
def test_a_server_that_is_busy_is_asked_less_at_once_and_its_headers_reach_the_limit(shell):
    headers = {"x-ratelimit-remaining-requests": "7", "x-ratelimit-reset-requests": "1s"}
    server = Server(*[refused(429, headers=headers)] * 3, YES)
    wrapped = shell(compatible(server), retry=patient([]), concurrency=8)
    assert wrapped.decide("x", YesNo("q?")).is_yes()
    places = wrapped.model._places
    limit = places._limits["m"] if shell.name == "async" else places._gates["m"]._limit
    assert limit.height == 5
    assert limit._left <= 7
