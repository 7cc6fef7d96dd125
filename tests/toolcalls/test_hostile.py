"""Models, tools and stores that do what nobody expects of them."""

import asyncio
import math
import uuid
from decimal import Decimal
from typing import Any

import pytest

from tests.toolcalls.support import Log, anthropic, chat, contents, responses, sendable, statuses
from yesno.errors import (
    NoToolCallsError,
    ReplyError,
    RetryTool,
)
from yesno.toolcalls import (
    Reply,
    Tool,
    ToolCallingManager,
    ToolErrors,
)

MANAGER = ToolCallingManager()


@pytest.fixture
def log():
    return Log()


def one(run, **settings):
    return Tool("t", "Do it.", run=run, **settings)


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class OddError(Exception):
    def __str__(self):
        return 5


@pytest.mark.parametrize(
    "error",
    [MuteError(), OddError(), RetryTool(MuteError()), StopIteration(1), RecursionError(), MemoryError()],
)
@pytest.mark.parametrize("show_message", [True, False])
def test_an_exception_that_cannot_speak_is_a_failure_like_any_other(bench, log, error, show_message):
    manager = ToolCallingManager(errors=ToolErrors(show_message=show_message))
    run = bench.execute(
        manager, chat(("t", {}), ("next", {})), [log.tool("t", raises=error), log.tool("next")]
    )
    assert statuses(run) == ["failed", "ran"]
    assert type(error).__name__ in contents(run)[0]


@pytest.mark.parametrize(
    "error", [RetryTool("\ud800 bad"), ValueError("\ud800"), RetryTool("x" * 300_000), UnicodeError("\udfff")]
)
def test_what_a_tool_says_can_be_sent(bench, error):
    def run(**arguments):
        raise error

    told = ToolCallingManager(errors=ToolErrors(show_message=True))
    assert sendable(bench.execute(told, chat(("t", {})), [one(run)]))


class Odd(str):
    def isascii(self):
        raise RuntimeError

    __slots__ = ()


RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Odd("é"), "é"),
        ({"a": "\ud800"}, '{"a": "\\ud800"}'),
        ({1, 2}, "[1,2]"),
        (math.nan, '"NaN"'),
        (Decimal("1.10"), '"1.10"'),
        (uuid.UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (ValueError("secret"), '"<ValueError>"'),
        (RECURSIVE, "The tool ran; its result, a list, cannot be written as JSON."),
        (False, "false"),
        (0, "0"),
    ],
)
def test_any_result_is_a_text_that_can_be_sent(bench, value, told):
    run = bench.execute(MANAGER, chat(("t", {})), [one(lambda **arguments: value)])
    assert contents(run) == [told]
    assert sendable(run)


def yields(**arguments):
    yield 1
    yield 2


def breaks(**arguments):
    yield 1
    raise ValueError("half way")


def hidden_async(**arguments):
    async def numbers():
        yield 1
        yield 2

    return numbers()


def hidden_coroutine(**arguments):
    async def generator():
        return yields()

    return generator()


@pytest.mark.parametrize("run", [yields, hidden_async, hidden_coroutine])
def test_a_generator_is_gone_through_while_the_tool_runs(bench, run):
    assert contents(bench.execute(MANAGER, chat(("t", {})), [one(run)])) == ["[1,2]"]


def test_a_generator_that_breaks_is_a_failure(bench):
    run = bench.execute(MANAGER, chat(("t", {})), [one(breaks)])
    assert statuses(run) == ["failed"]
    assert contents(run) == ["The tool failed: ValueError."]


def test_an_asynchronous_generator_without_end_is_stopped_in_time(bench):
    async def numbers():
        yield 1
        await asyncio.Event().wait()

    run = bench.execute(MANAGER, chat(("t", {})), [one(lambda **arguments: numbers(), timeout=0.01)])
    assert statuses(run) == ["timed_out"]


class StopNow(BaseException):
    pass


@pytest.mark.parametrize("error", [StopNow("x"), GeneratorExit()])
def test_what_ends_a_program_ends_the_run_and_holds_the_results_so_far(bench, log, error):
    tools = [log.tool("a"), log.tool("t", raises=error), log.tool("b")]
    with pytest.raises(type(error)) as raised:
        bench.execute(MANAGER, chat(("a", {}), ("t", {}), ("b", {})), tools)
    assert [result.status for result in raised.value.call_results] == ["ran"]
    assert log.names == ["a", "t"]


CALL = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
USE = {"type": "tool_use", "id": "c1", "name": "t", "input": {}}


@pytest.mark.parametrize(
    "reply",
    [
        chat(("t", {}), finish="content_filter"),
        chat(("t", {}), finish="LENGTH"),
        anthropic(("t", {}), stop="refusal"),
        anthropic(("t", {}), stop="model_context_window_exceeded"),
        *(responses(("t", {}), status=status) for status in ("failed", "cancelled", "in_progress", "queued")),
        {"output": [{"type": "function_call", "call_id": "c1", "name": "t", "status": "in_progress"}]},
    ],
)
def test_a_reply_that_ended_before_the_model_did_runs_nothing(bench, log, reply):
    with pytest.raises(ReplyError, match="cut off"):
        bench.execute(MANAGER, reply, [log.tool("t")])
    assert log == []


@pytest.mark.parametrize(
    "reply",
    [
        {"role": "user", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "", "tool_calls": [CALL]},
        {"role": "system", "content": [USE]},
        {"role": "assistant", "content": [USE], "tool_calls": [{**CALL, "id": "c2"}]},
        {"role": "assistant", "tool_calls": [{**CALL, "id": "  "}]},
        {"role": "assistant", "tool_calls": [{**CALL, "id": "c1\n"}]},
        [USE],
        [{"role": "assistant", "tool_calls": [CALL]}],
    ],
)
def test_what_is_no_reply_of_a_model_runs_nothing(bench, log, reply):
    with pytest.raises(ReplyError) as refused:
        bench.execute(MANAGER, reply, [log.tool("t")])
    assert not isinstance(refused.value, NoToolCallsError)
    assert log == []


@pytest.mark.parametrize(
    "block",
    [
        {"type": "hologram", "x": 1},
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
    ],
)
def test_blocks_that_nobody_knows_stay_where_they_are(bench, log, block):
    reply = {"role": "assistant", "content": [block, USE], "stop_reason": "tool_use"}
    run = bench.execute(MANAGER, reply, [log.tool("t")])
    assert run.new_messages[0]["content"] == [block, USE]
    assert [b["tool_use_id"] for b in run.new_messages[1]["content"]] == ["c1"]


def test_items_that_nobody_knows_stay_where_they_are(bench, log):
    reply = responses(("t", {}))
    reply["output"].insert(0, {"type": "quantum_call", "id": "q1"})
    run = bench.execute(MANAGER, reply, [log.tool("t")])
    assert run.new_messages[:-1] == reply["output"]


@pytest.mark.parametrize("text", ['{"x":1,"x":2}', "{oops", '{"x": NaN}', "[1]"])
def test_streamed_arguments_that_are_none_are_told_and_can_be_sent(bench, log, text):
    parts = [{"type": "input_json_delta", "partial_json": part} for part in (text[:3], text[3:])]
    chunks = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": USE},
        *({"type": "content_block_delta", "index": 0, "delta": part} for part in parts),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ]
    run = bench.execute(MANAGER, Reply.from_chunks(chunks), [log.tool("t")])
    assert statuses(run) == ["invalid_arguments"]
    assert run.messages[-2] == {"role": "assistant", "content": [{**USE, "input": {"INVALID_JSON": text}}]}
    assert sendable(run)


def test_the_same_calls_in_both_forms_are_one_reply():
    both = {"role": "assistant", "content": [USE], "tool_calls": [CALL]}
    assert [call.id for call in Reply.parse(both).calls] == ["c1"]
