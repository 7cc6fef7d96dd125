"""Tools that run, fail, hang, and run beside each other."""

import asyncio
import contextvars
import logging
import threading
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from tests.shells import Async, Sync
from tests.toolcalls.support import USER, Bench, Log, chat, contents, statuses
from yesno import DecisionModel, FakeProvider
from yesno.errors import ConfigError, InvalidArgumentsError, RetryTool, ToolFailed, ToolTimeout
from yesno.toolcalls import (
    Audit,
    Tool,
    ToolAnnotations,
    ToolCallingManager,
    ToolErrors,
    arun_without_model,
    run_without_model,
    tool,
)
from yesno.toolcalls.running import arun_jobs, run_jobs

MANAGER = ToolCallingManager()
READS = ToolAnnotations(read_only=True)


class Point(BaseModel):
    x: int
    y: float = 0.5


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "ä"]}, '{"a":[1,"ä"]}'),
        (None, "The tool ran and returned nothing."),
        ("", "The tool ran and returned nothing."),
        ("as it is\n", "as it is\n"),
        (True, "true"),
        (Point(x=1), '{"x":1,"y":0.5}'),
        (float("nan"), '"NaN"'),
        ({"o": object()}, '{"o":"<object>"}'),
        ("half \ud800", "half \ufffd"),
    ],
)
def test_case_035_results_become_text(bench, value, text):
    log = Log()
    assert contents(bench.execute(MANAGER, chat(("a", {})), [log.tool("a", result=value)])) == [text]


def test_a_result_that_holds_itself_still_counts_as_run(bench):
    endless = []
    endless.append(endless)
    run = bench.execute(MANAGER, chat(("a", {})), [Log().tool("a", result=endless)])
    assert statuses(run) == ["ran"]
    assert "list" in contents(run)[0]


def test_case_036_the_model_hears_the_type_and_the_log_has_both(bench, caplog):
    events = []
    manager = ToolCallingManager(audit=events.append)
    tools = [Log().tool("a", raises=ValueError("db at 10.0.0.1"))]
    with caplog.at_level(logging.WARNING, "yesno.toolcalls"):
        run = bench.execute(manager, chat(("a", {})), tools)
    assert contents(run) == ["The tool failed: ValueError."]
    assert run.results[0].error == "ValueError: db at 10.0.0.1"
    assert events[-1]["error"] == "ValueError: db at 10.0.0.1"
    (record,) = [r for r in caplog.records if r.getMessage() == "tool_failed"]
    assert record.error == "ValueError: db at 10.0.0.1"
    shown = ToolCallingManager(errors=ToolErrors(show_message=True))
    assert "10.0.0.1" in contents(bench.execute(shown, chat(("a", {})), tools))[0]


@pytest.mark.parametrize("error", [ValueError(), RetryTool(""), ToolFailed(" "), StopIteration(), KeyError()])
def test_case_037_a_failure_without_a_message_still_has_content(bench, error):
    run = bench.execute(MANAGER, chat(("a", {})), [Log().tool("a", raises=error)])
    assert statuses(run) == ["failed"]
    assert type(error).__name__ in contents(run)[0]


def test_case_038_one_failure_does_not_stop_the_others(bench):
    log = Log()
    tools = [log.tool("a", raises=OSError("x")), log.tool("b"), log.tool("c")]
    run = bench.execute(MANAGER, chat(("a", {}), ("b", {}), ("c", {})), tools)
    assert statuses(run) == ["failed", "ran", "ran"]
    assert log.names == ["a", "b", "c"]


@pytest.mark.parametrize("error", [RetryTool("use an ISO date"), InvalidArgumentsError("use an ISO date")])
def test_case_039_a_tool_says_how_to_mend_the_call(bench, error):
    run = bench.execute(MANAGER, chat(("a", {})), [Log().tool("a", raises=error)])
    assert statuses(run) == ["failed"]
    assert contents(run) == ["use an ISO date"]


def test_a_tool_that_failed_for_good_says_so(bench):
    run = bench.execute(
        MANAGER, chat(("a", {})), [Log().tool("a", raises=ToolFailed("the account is closed"))]
    )
    assert contents(run) == ["the account is closed\nDo not retry this call."]


async def late(n: int):
    """Come late."""
    await asyncio.sleep(0)
    return n


@pytest.mark.parametrize(
    "made",
    [tool(late), Tool("late", "d", run=lambda n: late(n))],
    ids=["coroutine function", "returns a coroutine"],
)
def test_case_040_an_asynchronous_tool_is_awaited(bench, made):
    assert contents(bench.execute(MANAGER, chat(("late", {"n": 3})), [made])) == ["3"]


def test_an_asynchronous_tool_in_blocking_form_inside_a_loop_is_refused_before_anything_runs():
    log = Log()
    flow = MANAGER.execute_tool_calls(USER, chat(("a", {}), ("late", {"n": 1})), tools=[log.tool("a"), late])

    async def inside():
        with pytest.raises(ConfigError, match="aexecute_tool_calls"):
            DecisionModel(FakeProvider()).run(flow)

    asyncio.run(inside())
    assert log == []


def test_a_coroutine_that_comes_by_surprise_inside_a_loop_fails_alone():
    log = Log()
    sly = Tool("sly", "d", run=lambda: late(1))

    async def inside():
        return run_without_model(
            MANAGER.execute_tool_calls(USER, chat(("sly", {}), ("a", {})), tools=[sly, log.tool("a")])
        )

    assert statuses(asyncio.run(inside())) == ["failed", "ran"]


def test_the_asynchronous_form_needs_an_asynchronous_model():
    log = Log()
    flow = MANAGER.aexecute_tool_calls(USER, chat(("a", {})), tools=[log.tool("a")])
    with pytest.raises(ConfigError, match="AsyncDecisionModel"):
        DecisionModel(FakeProvider()).run(flow)
    assert log == []


class Hangs:
    """Tools that wait for a door that stays shut until the test is over."""

    def __init__(self):
        self.door = threading.Event()
        self.cancelled = threading.Event()

    def blocking(self):
        self.door.wait(30)

    async def awaiting(self):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@pytest.fixture
def hangs():
    made = Hangs()
    yield made
    made.door.set()


@pytest.mark.parametrize("kind", ["blocking", "awaiting"])
def test_case_041_a_tool_past_its_time_is_left_and_the_next_runs(bench, hangs, kind):
    log = Log()
    slow = Tool("slow", "d", run=getattr(hangs, kind), timeout=0.02)
    run = bench.execute(MANAGER, chat(("slow", {}), ("a", {})), [slow, log.tool("a", timeout=20)])
    assert statuses(run) == ["timed_out", "ran"]
    assert "0.02 seconds" in contents(run)[0]
    assert log.names == ["a"]
    assert hangs.cancelled.wait(20 if kind == "awaiting" else 0) == (kind == "awaiting")


def test_a_tools_own_timeout_error_is_a_failure(bench):
    run = bench.execute(MANAGER, chat(("a", {})), [Log().tool("a", raises=TimeoutError("far"), timeout=20)])
    assert statuses(run) == ["failed"]


@pytest.mark.parametrize("error", [ToolTimeout, LookupError])
def test_chosen_errors_end_the_run_with_the_results_so_far(bench, hangs, error):
    log = Log()
    tools = [
        log.tool("a"),
        Tool("slow", "d", run=hangs.blocking, timeout=0.01),
        log.tool("b", raises=LookupError("x")),
    ]
    manager = ToolCallingManager(errors=ToolErrors(reraise=(error,)))
    with pytest.raises(error) as raised:
        bench.execute(manager, chat(("a", {}), ("slow", {}), ("b", {}), ("a", {"n": 2})), tools)
    found = [result.status for result in raised.value.call_results]
    assert found == (["ran", "timed_out"] if error is ToolTimeout else ["ran", "timed_out", "failed"])


@pytest.mark.parametrize(
    ("names", "direct"),
    [
        pytest.param("ab", True, id="case_042"),
        pytest.param("ac", False, id="case_043"),
        pytest.param("ad", False, id="case_044"),
        pytest.param("az", False, id="unknown"),
    ],
)
def test_results_go_to_the_user_only_when_all_are_meant_to_and_ran(bench, names, direct):
    log = Log()
    tools = [
        log.tool("a", return_direct=True),
        log.tool("b", return_direct=True),
        log.tool("c"),
        log.tool("d", return_direct=True, raises=OSError("x")),
    ]
    run = bench.execute(MANAGER, chat(*((name, {}) for name in names)), tools)
    assert run.return_direct is direct
    assert "failed" not in statuses(run) or contents(run)[1] == "The tool failed: OSError."


class Together:
    """Tools that finish only when as many run at once as they say."""

    def __init__(self, count):
        self.barrier = threading.Barrier(count, timeout=20)
        self.count, self.now = count, 0
        self.arrived = None

    def meet(self, n):
        self.barrier.wait()
        return n

    async def ameet(self, n):
        if self.arrived is None:
            self.arrived = asyncio.Event()
        self.now += 1
        if self.now == self.count:
            self.arrived.set()
        await asyncio.wait_for(self.arrived.wait(), 20)
        return n


def numbered(name, count):
    return chat(*((name, {"n": n}) for n in range(count)))


def test_case_045_tools_that_only_read_run_at_once_and_keep_their_order(bench):
    together = Together(4)
    meet = Tool("meet", "d", run=together.meet, annotations=READS)
    run = bench.execute(ToolCallingManager(parallel=4), numbered("meet", 4), [meet])
    assert contents(run) == ["0", "1", "2", "3"]


def test_coroutines_that_only_read_run_at_once():
    together = Together(4)
    meet = Tool("meet", "d", run=together.ameet, annotations=READS)
    run = Bench(Async).execute(ToolCallingManager(parallel=4), numbered("meet", 4), [meet])
    assert contents(run) == ["0", "1", "2", "3"]


@pytest.fixture
def groups(monkeypatch):
    """How many tools were begun at once, group by group."""
    seen = []

    def recorded(jobs):
        seen.append(len(jobs))
        return run_jobs(jobs)

    async def arecorded(jobs):
        seen.append(len(jobs))
        return await arun_jobs(jobs)

    monkeypatch.setattr("yesno.toolcalls.manager.run_jobs", recorded)
    monkeypatch.setattr("yesno.toolcalls.manager.arun_jobs", arecorded)
    return seen


@pytest.mark.parametrize(
    "annotations",
    [ToolAnnotations(), ToolAnnotations(read_only=False), ToolAnnotations(read_only=True, destructive=True)],
)
def test_case_046_with_a_tool_that_may_write_they_run_one_after_another(bench, groups, annotations):
    tools = [
        Tool("reads", "d", run=lambda n: n, annotations=READS),
        Tool("writes", "d", run=lambda n: n, annotations=annotations),
    ]
    manager = ToolCallingManager(parallel=4)
    bench.execute(manager, chat(("reads", {"n": 0}), ("writes", {"n": 1}), ("reads", {"n": 2})), tools)
    assert groups == [1, 1, 1]
    groups.clear()
    bench.execute(manager, numbered("reads", 6), tools)
    assert groups == [4, 2]


@pytest.mark.parametrize(("trusted", "together"), [(False, [1, 1]), (True, [2])])
def test_hints_of_a_server_that_is_not_trusted_do_not_make_its_tools_run_at_once(
    bench, groups, trusted, together
):
    far = Tool(
        "far",
        "d",
        run=lambda n: n,
        annotations=READS,
        source="mcp:far",
        trusted=trusted,
        confirm=lambda call, context: False,
    )
    bench.execute(ToolCallingManager(parallel=2), numbered("far", 2), [far])
    assert groups == together


def test_case_047_a_tool_that_changes_its_arguments_changes_no_record(bench):
    def greedy(items: list[int]):
        """Take all."""
        items.clear()
        return len(items)

    events = []
    manager = ToolCallingManager(audit=Audit(events.append, include_arguments=True))
    reply = chat(("greedy", {"items": [1, 2]}))
    run = bench.execute(manager, reply, [greedy])
    assert run.results[0].call.arguments == {"items": [1, 2]}
    assert events[-1]["arguments"] == {"items": [1, 2]}
    assert '"items": [1, 2]' in reply["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize("timeout", [None, 20])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_case_048_what_ends_the_program_comes_through_with_the_results_so_far(timeout, error):
    log = Log()
    tools = [log.tool("a"), log.tool("stop", raises=error, timeout=timeout), log.tool("b")]
    with pytest.raises(type(error)) as raised:
        Bench(Sync).execute(MANAGER, chat(("a", {}), ("stop", {}), ("b", {})), tools)
    assert log.names == ["a", "stop"]
    assert [result.call.name for result in raised.value.call_results] == ["a"]


def test_what_ends_the_program_comes_through_a_loop():
    log = Log()
    with pytest.raises(SystemExit):
        Bench(Async).execute(
            MANAGER, chat(("a", {}), ("b", {})), [log.tool("a", raises=SystemExit(3)), log.tool("b")]
        )
    assert log.names == ["a"]


def test_a_cancelled_run_stops_and_runs_no_more():
    log = Log()
    started = []

    async def hang():
        started.append(asyncio.current_task())
        await asyncio.Event().wait()

    async def cancel_it():
        flow = MANAGER.aexecute_tool_calls(
            USER, chat(("hang", {}), ("a", {})), tools=[Tool("hang", "d", run=hang), log.tool("a")]
        )
        task = asyncio.ensure_future(arun_without_model(flow))
        while not started:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel_it())
    assert log == []


def test_context_variables_reach_tools_in_threads(bench):
    user = contextvars.ContextVar("user", default="nobody")

    def who():
        """Say who."""
        return user.get()

    user.set("anna")
    assert contents(bench.execute(MANAGER, chat(("who", {})), [Tool("who", "d", run=who, timeout=20)])) == [
        "anna"
    ]


def test_a_flow_that_asks_needs_a_model():
    gate = SimpleNamespace(check_all=True, judge=lambda calls, messages: (yield ["a question"]))
    with pytest.raises(ConfigError, match="ask"):
        run_without_model(
            ToolCallingManager(gate=gate).execute_tool_calls(USER, chat(("a", {})), tools=[Log().tool("a")])
        )
