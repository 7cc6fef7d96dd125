"""Replies in every shape, tools that remember how they were called, and one way to run flows with either shell."""

import json
from types import SimpleNamespace

import pytest

from tests.shells import Scripted
from yesno.toolcalls import (
    ConfirmationRequired,
    InMemoryPendingStore,
    PendingSigner,
    Tool,
    ToolCallingManager,
    ToolSet,
)

USER = [{"role": "user", "content": "please do it"}]
KEY = b"k" * 32


def text_of(arguments):
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def chat(*calls, finish="tool_calls", text=None):
    """Return a reply of OpenAI's Chat Completions: calls are `(name, arguments)` or `(name, arguments, id)`."""
    made = []
    for number, (name, arguments, *id_) in enumerate(calls, start=1):
        function = {"name": name, "arguments": text_of(arguments)}
        made.append({"id": id_[0] if id_ else f"c{number}", "type": "function", "function": function})
    message = {"role": "assistant", "content": text}
    if made:
        message["tool_calls"] = made
    return {"id": "r1", "choices": [{"index": 0, "finish_reason": finish, "message": message}]}


def anthropic(*calls, stop="tool_use", text="I will."):
    blocks = [{"type": "text", "text": text}]
    for number, (name, arguments) in enumerate(calls, start=1):
        blocks.append({"type": "tool_use", "id": f"c{number}", "name": name, "input": arguments})
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "x",
        "content": blocks,
        "stop_reason": stop,
    }


def responses(*calls, status="completed"):
    items = [{"type": "reasoning", "id": "rs1", "summary": []}]
    for number, (name, arguments) in enumerate(calls, start=1):
        items.append(
            {
                "type": "function_call",
                "id": f"fc{number}",
                "call_id": f"c{number}",
                "name": name,
                "arguments": text_of(arguments),
            }
        )
    return {"id": "resp1", "object": "response", "status": status, "output": items}


def plain(*calls, text=""):
    made = [
        {"id": f"c{number}", "name": name, "arguments": text_of(arguments)}
        for number, (name, arguments) in enumerate(calls, start=1)
    ]
    return {"calls": made, "text": text}


def langchain(*calls, invalid=(), finish="tool_calls"):
    made = [
        {"name": name, "args": arguments, "id": f"c{number}", "type": "tool_call"}
        for number, (name, arguments) in enumerate(calls, start=1)
    ]
    return SimpleNamespace(
        type="ai",
        content="",
        tool_calls=made,
        invalid_tool_calls=list(invalid),
        response_metadata={"finish_reason": finish},
    )


SHAPES = {
    "chat": chat,
    "anthropic": anthropic,
    "responses": responses,
    "plain": plain,
    "langchain": langchain,
}


class Log(list):
    """What ran, in order."""

    def tool(self, name, *, result="done", raises=None, schema=None, **settings):
        """Return a tool that takes anything, or what a schema says, and remembers what it got."""

        def run(**arguments):
            self.append((name, arguments))
            if raises is not None:
                raise raises
            return result

        more = {} if schema is None else {"input_schema": schema}
        return Tool(name, f"Do {name}.", run=run, **more, **settings)

    @property
    def names(self):
        return [name for name, _ in self]


class Bench(Scripted):
    """Runs managers' flows with a model of either kind."""

    def __init__(self, shell, *args, **settings):
        super().__init__(shell, *args, **settings)
        self.is_async = shell.name == "async"

    def execute(self, manager, reply, tools, messages=USER, **more):
        make = manager.aexecute_tool_calls if self.is_async else manager.execute_tool_calls
        return self.run(make(messages, reply, tools=ToolSet.of(tools), **more))

    def paused(self, manager, reply, tools, **more):
        """Return the record of a reply that has to wait."""
        with pytest.raises(ConfirmationRequired) as stop:
            self.execute(manager, reply, tools, **more)
        return stop.value.pending


def statuses(run):
    return [result.status for result in run.results]


def contents(run):
    return [result.content for result in run.results]


def sealed(**settings):
    """Return a manager whose records are signed and good for one use."""
    return ToolCallingManager(**{"signer": PendingSigner(KEY), "store": InMemoryPendingStore(), **settings})


def sendable(run):
    """Return whether a host can be sent the conversation of a run: it is JSON, in whole letters."""
    return bool(json.dumps(run.messages, allow_nan=False, ensure_ascii=False).encode("utf-8"))
