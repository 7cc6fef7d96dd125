"""For any batch, any failures and any answers: one result per call, nothing denied ran, nothing ran twice."""

import threading

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shells import Async, Sync
from tests.toolcalls.support import SHAPES, USER, Bench, Log, chat, responses, sealed, statuses
from yesno.errors import PendingStateError, RetryTool, ToolFailed
from yesno.messages import messages_of
from yesno.toolcalls import (
    Allow,
    ConfirmationRequired,
    Deny,
    Reply,
    Tool,
    ToolAnnotations,
    ToolLimits,
    Verdict,
    run_without_model,
)
from yesno.toolcalls.histories import History
from yesno.toolcalls.texts import denied_text

RAISED = st.none() | st.sampled_from([ValueError("x"), RetryTool("again"), ToolFailed(""), OSError()])
CONFIRM = st.sampled_from([False, True, "auto", lambda call, context: None, lambda call, context: False])
ANSWER = st.sampled_from([True, False, Allow(), Deny("no"), Allow(arguments={"n": 7})])
ARGUMENTS = st.sampled_from([{}, {"n": 1}, {"n": 2}, {"n": "bad"}])
VERDICT = st.sampled_from([Verdict("run", 0.1), Verdict("confirm", 0.6), Verdict("block", 0.99), None])
BENCHES = {shell.name: Bench(shell) for shell in (Sync, Async)}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


class AnyGate:
    def __init__(self, verdict, check_all):
        self.verdict, self.check_all = verdict, check_all

    def judge(self, calls, messages):
        yield from ()
        return [self.verdict for _ in calls]


@st.composite
def batches(draw):
    """Return tools, calls, a manager's settings, and how a person answers."""
    log = Log()
    tools = []
    for name in "abc":
        read_only = draw(st.booleans())
        tools.append(
            log.tool(
                name,
                raises=draw(RAISED),
                confirm=draw(CONFIRM),
                editable=True,
                schema=SCHEMA,
                annotations=ToolAnnotations(read_only=read_only),
            )
        )
    calls = draw(st.lists(st.tuples(st.sampled_from("abcz"), ARGUMENTS), min_size=1, max_size=6))
    limits = ToolLimits(
        per_tool=draw(st.integers(1, 4)), total=draw(st.integers(1, 6)), identical=2, on_exceeded="tell_model"
    )
    made = {
        "limits": limits,
        "parallel": draw(st.integers(1, 3)),
        "gate": draw(st.none() | st.builds(AnyGate, VERDICT, st.booleans())),
    }
    answers = draw(st.lists(ANSWER, min_size=len(calls), max_size=len(calls)))
    return log, tools, calls, made, answers


@given(batches(), st.sampled_from(sorted(SHAPES)), st.sampled_from(sorted(BENCHES)))
@settings(max_examples=150)
def test_every_call_has_one_result_and_nothing_denied_ran(batch, shape, name):
    log, tools, calls, made, answers = batch
    bench, manager, reply = BENCHES[name], sealed(**made), SHAPES[shape](*calls)
    decisions = {f"c{number}": answer for number, answer in enumerate(answers, start=1)}
    waited = frozenset()
    try:
        run = bench.execute(manager, reply, tools)
    except ConfirmationRequired as stop:
        assert log == []
        pending = stop.pending
        waited = frozenset(call.id for call in pending.waiting)
        open_ = {call.id for call in pending.calls if call.answers}
        decisions = {key: value for key, value in decisions.items() if key in open_}
        run = bench.execute(manager, reply, tools, pending=pending.model_dump_json(), decisions=decisions)
    assert [result.call.id for result in run.results] == [f"c{number}" for number in range(1, len(calls) + 1)]
    assert all(result.content for result in run.results)
    if shape != "langchain":
        answered = [message.tool_call_id for message in messages_of(run.messages) if message.role == "tool"]
        assert answered == [result.call.id for result in run.results]
    started = [result for result in run.results if result.status in ("ran", "failed")]
    assert len(log) == len(started)
    assert sorted(log.names) == sorted(result.call.name for result in started)
    for result in run.results:
        answer = decisions.get(result.call.id)
        if waited and (answer is False or isinstance(answer, Deny)):
            assert result.status in ("denied", "over_limit")
        if result.call.id in waited and result in started:
            assert answer is True or isinstance(answer, Allow)


@given(st.lists(st.booleans(), min_size=16, max_size=16), st.integers(1, 3))
@settings(max_examples=10)
def test_a_resumed_batch_runs_at_most_once_from_sixteen_threads(yes, count):
    log = Log()
    tools = [log.tool("a", confirm=True)]
    manager = sealed()
    reply = SHAPES["chat"](*(("a", {"n": n}) for n in range(count)))
    pending = BENCHES["sync"].paused(manager, reply, tools)
    together, outcomes = threading.Barrier(16), []

    def resume(answer):
        decisions = {f"c{number}": answer for number in range(1, count + 1)}
        together.wait()
        try:
            flow = manager.execute_tool_calls(USER, reply, tools=tools, pending=pending, decisions=decisions)
            outcomes.append(statuses(run_without_model(flow)))
        except PendingStateError as error:
            outcomes.append(error.reason)

    threads = [threading.Thread(target=resume, args=(answer,)) for answer in yes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("already_used") == 15
    (won,) = [outcome for outcome in outcomes if outcome != "already_used"]
    assert len(log) == won.count("ran")
    assert won in (["ran"] * count, ["denied"] * count)


@given(st.lists(st.sampled_from(["a", "b", "z"]), min_size=1, max_size=8), st.integers(1, 4))
def test_running_at_once_gives_what_running_in_turn_gives(names, width):
    safe = ToolAnnotations(read_only=True)
    tools = [Tool(name, "d", run=lambda n, name=name: f"{name}{n}", annotations=safe) for name in "ab"]
    reply = SHAPES["chat"](*((name, {"n": n}) for n, name in enumerate(names)))
    limits = ToolLimits(identical=None)
    for bench in BENCHES.values():
        one, many = (bench.execute(sealed(parallel=n, limits=limits), reply, tools) for n in (1, width))
        assert one.messages == many.messages


SAID = st.sampled_from(
    [
        [{"role": "user", "content": "Do it."}],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "done"}]}],
        [{"role": "assistant", "content": "Done."}],
        [chat(("a", {"n": 1}), ("b", {}))["choices"][0]["message"]],
        [{"role": "tool", "tool_call_id": "c1", "content": denied_text("no")}],
        [{"type": "reasoning", "id": "r", "summary": []}, *responses(("a", {"n": 2}))["output"]],
    ]
)


@given(st.lists(SAID, max_size=40), st.booleans())
def test_a_turn_read_from_its_end_is_the_turn(parts, ends_with_reply):
    given = [item for part in parts for item in part]
    reply = Reply.parse(chat(("last", {}, "z1")))
    messages = [*given, *reply.items] if ends_with_reply else given
    history = History.read(messages, reply)
    assert history.has_reply == ends_with_reply
    assert history.said == (messages_of(given) if given else ())
    whole = History(given, history.said, has_reply=False)
    assert (history.turn, history.calls) == (whole.turn, whole.calls)
