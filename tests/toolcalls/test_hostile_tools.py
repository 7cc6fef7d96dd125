"""Tools, servers and settings that are made in ways that cannot work."""

import json
import math

import pytest

from tests.toolcalls.support import USER, Log, chat, contents, statuses
from yesno.errors import ConfigError, ToolDefinitionError
from yesno.toolcalls import Audit, Tool, ToolCallingManager, tool

MANAGER = ToolCallingManager()


@pytest.fixture
def log():
    return Log()


def test_other_arguments_are_checked_where_they_are_annotated(bench):
    @tool
    def total(first: int, **others: int) -> int:
        """Add up."""
        return first + sum(others.values())

    assert total.parameters["additionalProperties"] == {"type": "integer"}
    asked = chat(("total", {"first": 1, "a": 2.0}), ("total", {"first": 1, "a": "2"}))
    run = bench.execute(MANAGER, asked, [total])
    assert statuses(run) == ["ran", "invalid_arguments"]
    assert contents(run)[0] == "3"
    assert "- a: " in contents(run)[1]


@pytest.mark.parametrize("schema", [{"default": math.nan}, {"enum": [{1, 2}]}, {"const": object()}])
def test_a_schema_that_no_host_can_be_sent_is_refused(schema):
    with pytest.raises(ToolDefinitionError, match="'t'"):
        Tool("t", "Do it.", {"type": "object", "properties": {"x": schema}}, run=print)


def test_a_default_that_json_does_not_have_is_left_out():
    def f(x: float = math.nan) -> float:
        """Take it."""
        return x

    assert json.dumps(tool(f).to_openai(), allow_nan=False)


@pytest.mark.parametrize("source", [5, None, ""])
def test_a_source_that_is_no_text_is_refused(source):
    with pytest.raises(ToolDefinitionError, match="source"):
        Tool("t", "Do it.", run=print, source=source)


def test_a_log_without_a_clock_stops_no_tool(bench, log, caplog):
    manager = ToolCallingManager(audit=Audit(print, clock=lambda: 1 / 0))
    assert statuses(bench.execute(manager, chat(("t", {})), [log.tool("t")], messages=USER)) == ["ran"]
    assert "audit_sink_failed" in caplog.text


@pytest.mark.parametrize("name", ["policy", "gate", "limits", "errors", "signer", "store", "clock", "timer"])
@pytest.mark.parametrize("value", [5, b"k" * 32])
def test_a_setting_of_another_kind_is_refused_when_the_manager_is_made(name, value):
    with pytest.raises(ConfigError, match=f"`{name}` must"):
        ToolCallingManager(**{name: value})


def test_a_resolver_gives_no_tool_of_another_name(bench, log):
    manager = ToolCallingManager(resolver=lambda name: log.tool("other"), resolver_fallback=True)
    with pytest.raises(ToolDefinitionError, match="asked for 't' and gave 'other'"):
        bench.execute(manager, chat(("t", {})), [])
    assert log == []


def test_a_server_that_fails_without_a_word_is_a_failure_in_words(bench):
    listed = {"name": "t", "description": "Do it.", "inputSchema": {"type": "object"}}
    failing = Tool.from_mcp(listed, lambda name, arguments: {"content": [], "isError": True}, confirm=False)
    local = Tool("t", "Do it.", run=failing.run)
    run = bench.execute(MANAGER, chat(("t", {})), [local])
    assert statuses(run) == ["failed"]
    assert contents(run) == ["The server says that this failed, and not why."]
