import asyncio
import contextvars
import json
import logging
import threading

import pytest

from tests.routers.contract import RouterContract
from tests.routers.support import FAILURE, Judge, likely, pick
from tests.shells import Async
from yesno import ChoiceAnswer
from yesno.errors import ConfigError, ProviderRejected, QuestionError
from yesno.routers import Agent, AgentRouter, AgentState

CHOSEN = {"agent": pick(billing=0.8, support=0.2)}


def judged(*probabilities):
    return {f"agent{n}": likely(p) for n, p in enumerate(probabilities, start=1)}


def bill(task):
    return f"billed {task}"


def support(task):
    return f"supported {task}"


class Agents:
    """Three agents that count their calls; some of them may fail, a number of times."""

    def __init__(self, failing=()):
        self.calls = []
        self.failing = list(failing)

    def agent(self, name):
        def run(**arguments):
            self.calls.append(name)
            if name in self.failing:
                self.failing.remove(name)
                raise OSError(f"{name} is down")
            return f"{name}: {arguments['task']}"

        return run

    def router(self, judge, **settings):
        return AgentRouter({name: self.agent(name) for name in "abc"}, model=judge.model, **settings)


class TestContract(RouterContract):
    router = "agent"
    answers = CHOSEN
    falls_back = False
    is_flow = False

    def make(self, **settings):
        return AgentRouter({"billing": Agent(len_of, "payments"), "support": len_of}, **settings)

    def call(self, router, text="my private sentence"):
        return router(task=text)


def len_of(task):
    return len(task)


def test_case_218_without_a_threshold_one_choice_is_asked_and_only_the_chosen_agent_runs(shell):
    ran = []
    judge = Judge(shell, CHOSEN)
    router = AgentRouter(
        {
            "billing": Agent(lambda **given: ran.append(given) or "done", "payments and invoices"),
            "support": lambda **given: pytest.fail("it was not chosen"),
        },
        model=judge.model,
    )
    assert judge.result(router(task="I was charged twice", urgent=True)) == "done"
    assert ran == [{"task": "I was charged twice", "urgent": True}]
    (request,) = judge.requests
    assert dict(request.questions["agent"].options) == {
        "billing": "payments and invoices",
        "support": "support",
    }
    assert judge.inputs == [{"task": "I was charged twice", "urgent": True}]


def test_case_218_the_agent_is_the_value_whatever_the_probabilities(shell):
    judge = Judge(
        shell, {"agent": ChoiceAnswer(value="support", probabilities={"billing": 0.6, "support": 0.4})}
    )
    router = AgentRouter({"billing": bill, "support": support}, model=judge.model)
    assert judge.result(router(task="x")) == "supported x"


def test_case_219_all_that_reach_the_threshold_run_at_the_same_time_and_are_named(shell):
    together = threading.Barrier(2, timeout=10)

    def meet(name):
        def run(task):
            together.wait()
            return f"{name}: {task}"

        return run

    judge = Judge(shell, judged(0.8, 0.6, 0.1))
    router = AgentRouter({name: meet(name) for name in "abc"}, threshold=0.5, model=judge.model)
    assert judge.result(router(task="x")) == {"a": "a: x", "b": "b: x"}
    assert [*judge.requests[0].questions] == ["agent1", "agent2", "agent3"]


def test_case_219_none_reached_is_an_empty_dict_and_exactly_the_threshold_is_reached(shell):
    agents = Agents()
    judge = Judge(shell, judged(0.1, 0.2, 0.3))
    assert judge.result(agents.router(judge, threshold=0.5)(task="x")) == {}
    assert judge.result(agents.router(judge, threshold=0.3)(task="x")) == {"c": "c: x"}
    assert agents.calls == ["c"]


@pytest.mark.parametrize("threshold", [0, 1, 0.0, 1.0, -0.5, 2, True, "0.5", float("nan")], ids=repr)
def test_case_220_a_threshold_must_lie_between_0_and_1(threshold):
    with pytest.raises(ConfigError, match="threshold"):
        AgentRouter({"a": bill}, threshold=threshold)


def test_case_220_a_call_without_arguments_asks_and_runs_nothing(shell):
    judge, agents = Judge(shell, CHOSEN), Agents()
    with pytest.raises(QuestionError, match="arguments"):
        judge.result(agents.router(judge)())
    with pytest.raises(QuestionError, match="object"):
        judge.result(agents.router(judge)(task=object()))
    loop = {}
    loop["self"] = loop
    with pytest.raises(QuestionError, match="arguments"):
        judge.result(agents.router(judge)(task=loop))
    with pytest.raises(QuestionError, match="'task' is an argument and in `context`"):
        judge.result(agents.router(judge)(task="x", context={"task": "y"}))
    assert (judge.requests, agents.calls) == ([], [])


@pytest.mark.parametrize(
    ("agents", "named"),
    [
        ([("a", bill), ("a", support)], "two agents named 'a'"),
        ({}, "no agent"),
        ({"a": 3}, "agent 'a' must be a function"),
        ({" ": bill}, "name"),
        ({"a": Agent(bill, 3)}, "description of agent 'a'"),
        ({"Bill": bill, "bill ": bill}, "bill "),
        (3, "agents"),
    ],
    ids=lambda value: repr(value)[:40].partition(" at ")[0],
)
def test_case_220_agents_that_cannot_be_told_apart_or_called_are_refused_by_name(agents, named):
    with pytest.raises(ConfigError, match=named):
        AgentRouter(agents)


def test_case_221_a_resumed_request_asks_nothing_and_runs_only_what_has_not_finished(shell):
    agents, kept = Agents(failing=["b"]), []
    judge = Judge(shell, judged(0.9, 0.8, 0.7))
    router = agents.router(judge, threshold=0.5)
    with pytest.raises(OSError, match="b is down"):
        judge.result(router(task="x", more={"deep": [1, [2]]}, save=kept.append))
    assert sorted(agents.calls) == ["a", "b", "c"]
    state = AgentState.from_dict(json.loads(json.dumps(kept[-1].to_dict())))
    assert state == kept[-1]
    assert state.waiting == ("b",)
    assert dict(state.probabilities) == {"a": 0.9, "b": 0.8, "c": 0.7}

    result = judge.result(router.resume(state, save=kept.append))
    assert result == {"a": "a: x", "b": "b: x", "c": "c: x"}
    assert sorted(agents.calls) == ["a", "b", "b", "c"]
    assert judge.result(router.resume(kept[-1])) == result
    assert len(judge.requests) == 1
    assert len(agents.calls) == 4


def test_case_221_a_single_choice_resumes_too(shell):
    agents, kept = Agents(failing=["a"]), []
    judge = Judge(shell, {"agent": pick(a=0.9, b=0.1)})
    router = agents.router(judge)
    with pytest.raises(OSError, match="a is down"):
        judge.result(router(task="x", save=kept.append))
    assert judge.result(router.resume(kept[-1])) == "a: x"
    assert len(judge.requests) == 1


@pytest.mark.parametrize(
    "broken", [{}, {"agents": 3}, {"arguments": {}, "agents": ["a"], "probabilities": []}], ids=repr
)
def test_case_221_what_is_no_stored_state_is_refused(broken):
    with pytest.raises(ConfigError, match="AgentState"):
        AgentState.from_dict(broken)


def test_case_221_a_state_of_other_agents_is_refused(shell):
    judge = Judge(shell, CHOSEN)
    router = Agents().router(judge)
    with pytest.raises(ConfigError, match="'gone'"):
        router.resume(AgentState({"task": "x"}, ("gone",)))
    with pytest.raises(ConfigError, match="holds 2 agents"):
        router.resume(AgentState({"task": "x"}, ("a", "b")))


def test_of_several_errors_the_first_by_order_is_raised_and_the_others_have_ended(shell):
    agents = Agents(failing=["c", "a"])
    judge = Judge(shell, judged(0.9, 0.9, 0.9))
    with pytest.raises(OSError, match="a is down"):
        judge.result(agents.router(judge, threshold=0.5)(task="x"))
    assert sorted(agents.calls) == ["a", "b", "c"]


def test_a_store_that_fails_is_raised_as_it_is_when_all_agents_have_ended(shell):
    agents = Agents()
    judge = Judge(shell, judged(0.9, 0.9, 0.9))

    def full(state):
        if state.outputs:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        judge.result(agents.router(judge, threshold=0.5)(task="x", save=full))
    assert sorted(agents.calls) == ["a", "b", "c"]


def test_one_agent_alone_is_not_asked_about(shell):
    judge = Judge(shell, FAILURE)
    assert judge.result(AgentRouter({"only": bill}, model=judge.model)(task="x")) == "billed x"
    assert judge.requests == []


def test_the_context_reaches_agents_and_not_the_model(shell):
    judge = Judge(shell, CHOSEN)
    router = AgentRouter({"billing": lambda **given: given, "support": support}, model=judge.model)
    session = object()
    assert judge.result(router({"save": "a word"}, task="x", context={"session": session})) == {
        "save": "a word",
        "task": "x",
        "session": session,
    }
    assert judge.inputs == [{"save": "a word", "task": "x"}]


def test_questions_of_ones_own_are_asked(shell):
    judge = Judge(shell, {**CHOSEN, **judged(0.9, 0.1)})
    agents = {"billing": Agent(bill, "payments"), "support": support}
    judge.result(AgentRouter(agents, question="Who?", model=judge.model)(task="x"))
    template = "Is {{ name }} it?"
    judge.result(AgentRouter(agents, threshold=0.5, question_template=template, model=judge.model)(task="x"))
    texts = [[question.text for question in request.questions.values()] for request in judge.requests]
    assert texts == [["Who?"], ["Is billing it?", "Is support it?"]]
    with pytest.raises(ConfigError, match=r"\{\{name\}\} or"):
        AgentRouter(agents, threshold=0.5, question_template="Is it?")


def test_coroutines_run_with_an_asynchronous_model_beside_functions_in_threads(shell):
    where = contextvars.ContextVar("where", default="outside")

    async def coroutine(task):
        await asyncio.sleep(0)
        return where.get()

    def function(task):
        return where.get()

    judge = Judge(shell, judged(0.9, 0.9))
    agents = {"a": function, "b": coroutine}
    if judge.kind.name == "sync":
        with pytest.raises(ConfigError, match="'b' is a coroutine function"):
            AgentRouter(agents, threshold=0.5, model=judge.model)
        hidden = AgentRouter({"a": lambda task: coroutine(task)}, model=judge.model)
        with pytest.raises(ConfigError, match="'a' is asynchronous"):
            hidden(task="x")
        agents["b"] = function
    router = AgentRouter(agents, threshold=0.5, model=judge.model)
    token = where.set("inside")
    try:
        assert judge.result(router(task="x")) == {"a": "inside", "b": "inside"}
    finally:
        where.reset(token)


def test_cancelling_cancels_the_agents_and_leaves_a_state_to_resume():
    judge, kept, seen = Judge(Async, judged(0.9, 0.9)), [], []

    async def scenario():
        started = asyncio.Event()

        async def slow(task):
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("cancelled")
                raise

        async def quick(task):
            return "done"

        router = AgentRouter({"a": slow, "b": quick}, threshold=0.5, model=judge.model)
        running = asyncio.create_task(router(task="x", save=kept.append))
        await started.wait()
        while len(kept) < 2:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())
    assert seen == ["cancelled"]
    assert kept[-1].waiting == ("a",)


def test_cancelling_waits_for_no_agent_in_a_thread():
    judge, gate, done = Judge(Async, judged(0.9, 0.9)), threading.Event(), []
    started = threading.Barrier(3, timeout=10)

    def slow(task):
        started.wait()
        gate.wait(10)
        done.append(task)

    async def scenario():
        router = AgentRouter({"a": slow, "b": slow}, threshold=0.5, model=judge.model)
        running = asyncio.create_task(router(task="x"))
        await asyncio.to_thread(started.wait)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert done == []

    try:
        asyncio.run(scenario())
    finally:
        gate.set()


def test_a_store_may_be_asynchronous_with_an_asynchronous_model():
    judge, kept = Judge(Async, CHOSEN), []

    async def store(state):
        await asyncio.sleep(0)
        kept.append(state.waiting)

    asyncio.run(awaiting(AgentRouter({"billing": bill, "support": support}, model=judge.model), store))
    assert kept == [("billing",), ()]


async def awaiting(router, store):
    return await router(task="x", save=store)


def test_a_failed_decision_runs_no_agent(shell):
    judge, agents = Judge(shell, FAILURE), Agents()
    with pytest.raises(ProviderRejected):
        judge.result(agents.router(judge, threshold=0.5)(task="x"))
    assert agents.calls == []


def test_agents_can_be_chosen_without_running_them_and_the_log_says_which(shell, caplog):
    judge, agents = Judge(shell, judged(0.9, 0.2, 0.8)), Agents()
    with caplog.at_level(logging.INFO, "yesno.routers"):
        state = judge.run(agents.router(judge, threshold=0.5).decide({"task": "private words"}))
    assert state == AgentState({"task": "private words"}, ("a", "c"), {"a": 0.9, "b": 0.2, "c": 0.8})
    assert agents.calls == []
    (noted,) = [record for record in caplog.records if record.message == "agents_chosen"]
    assert (noted.agents, noted.probabilities) == (["a", "c"], {"a": 0.9, "b": 0.2, "c": 0.8})
    assert "private" not in str(vars(noted))
    assert "private" not in repr(state)
