"""Names and arguments: what is run, and what the model hears of instead."""

import json
from types import SimpleNamespace

import pytest

from tests.toolcalls.support import Log, chat, contents, statuses
from yesno.errors import InvalidArgumentsError, UnknownToolError
from yesno.toolcalls import ToolCallingManager, ToolErrors, ToolSet, tool
from yesno.toolcalls.arguments import MAX_BYTES, MAX_DEPTH, ArgumentsProblem, read_arguments

MANAGER = ToolCallingManager()
NUMBER = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


@pytest.fixture
def got():
    return []


@pytest.fixture(params=["function", "schema"])
def taking_x(request, got):
    """A tool with one whole number, as a function or as a JSON Schema."""
    if request.param == "schema":
        log = Log()
        made = log.tool("f", schema=NUMBER)
        return SimpleNamespace(tool=made, got=lambda: [arguments["x"] for _, arguments in log])

    @tool
    def f(x: int):
        """Take a number."""
        got.append(x)

    return SimpleNamespace(tool=f, got=lambda: got)


def refused(bench, taking_x, text, told):
    run = bench.execute(MANAGER, chat(("f", text)), [taking_x.tool])
    assert statuses(run) == ["invalid_arguments"]
    assert told in contents(run)[0]
    assert taking_x.got() == []


def test_case_022_a_misspelt_name_hears_of_the_right_one_and_others_run(bench):
    log = Log()
    tools = [log.tool("delete_file"), log.tool("read")]
    run = bench.execute(MANAGER, chat(("delete_fil", {}), ("read", {})), tools)
    assert statuses(run) == ["unknown_tool", "ran"]
    assert "delete_file" in contents(run)[0]
    assert log.names == ["read"]


def test_case_023_a_tool_of_another_request_is_unknown_unless_fallback_is_on(bench):
    log = Log()
    other = log.tool("other")
    resolver = {"other": other}.get
    closed = ToolCallingManager(resolver=resolver)
    assert statuses(bench.execute(closed, chat(("other", {})), [])) == ["unknown_tool"]
    opened = ToolCallingManager(resolver=resolver, resolver_fallback=True)
    assert statuses(bench.execute(opened, chat(("other", {}), ("third", {})), [])) == ["ran", "unknown_tool"]


def test_case_024_a_wrong_type_is_told_with_its_path(bench, taking_x):
    refused(bench, taking_x, {"x": "abc"}, "- x: ")


def test_case_025_a_number_in_quotes_is_refused_unless_the_tool_is_lenient(bench, taking_x, got):
    refused(bench, taking_x, {"x": "5"}, "- x: ")

    @tool(strict=False)
    def f(x: int):
        """Take a number."""
        got.append(x)

    bench.execute(MANAGER, chat(("f", {"x": "5"})), [f])
    assert got == [5]


@pytest.mark.parametrize("text", ['{"x": 1.0}', '{"x": 1}', '{"x":10e-1}'])
def test_case_026_a_whole_number_may_be_written_as_a_float(bench, taking_x, text):
    assert statuses(bench.execute(MANAGER, chat(("f", text)), [taking_x.tool])) == ["ran"]
    assert taking_x.got() == [1]


@pytest.mark.parametrize("text", ['{"x": 1.5}', '{"x": true}', '{"x": null}'])
def test_what_is_no_whole_number_is_refused(bench, taking_x, text):
    refused(bench, taking_x, text, "- x: ")


def test_case_027_a_name_that_is_not_known_is_refused(bench, taking_x):
    refused(bench, taking_x, {"x": 1, "force": True}, "- force: is not known")


def test_case_028_a_missing_name_is_refused_and_never_none(bench, taking_x):
    refused(bench, taking_x, {}, "- x: is required")


def test_case_029_broken_json_does_not_touch_the_other_calls(bench):
    log = Log()
    run = bench.execute(MANAGER, chat(("a", "{oops"), ("b", {})), [log.tool("a"), log.tool("b")])
    assert statuses(run) == ["invalid_arguments", "ran"]
    assert "not valid JSON" in contents(run)[0]
    assert log.names == ["b"]


def test_case_030_a_key_given_twice_is_refused(bench, taking_x):
    refused(bench, taking_x, '{"x":1,"x":2}', '"x" is given twice')


@pytest.mark.parametrize("text", ["[1]", '"x"', "null", "3", "true"])
def test_case_031_anything_but_an_object_is_refused(bench, taking_x, text):
    refused(bench, taking_x, text, "must be one JSON object")


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_case_032_no_arguments_are_enough_where_none_are_required(bench, text):
    log = Log()

    @tool
    def g(y: int = 4):
        """Do g."""
        return y

    run = bench.execute(MANAGER, chat(("f", text), ("g", text)), [log.tool("f"), g])
    assert statuses(run) == ["ran", "ran"]


def test_case_033_no_arguments_are_refused_where_one_is_required(bench, taking_x):
    refused(bench, taking_x, "", "- x: is required")


def test_case_034_a_person_is_not_asked_about_a_call_that_cannot_run(bench):
    @tool(confirm=True)
    def wipe(disk: str):
        """Wipe it."""

    assert statuses(bench.execute(MANAGER, chat(("wipe", {"disc": "a"})), [wipe])) == ["invalid_arguments"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"x": NaN}', "NaN"),
        ('{"x": -Infinity}', "-Infinity"),
        ('{"x": 1e999}', "too large"),
        ('{"x": "\\ud800"}', "surrogate"),
        ('{"x": "\ud800"}', "surrogate"),
        ('{"\\udc00": 1}', "surrogate"),
        ('{"x": {"y": 1, "y": 2}}', "twice"),
        ("[" * 100_000, "nested"),
        ('{"x":' * 70 + "1" + "}" * 70, "nested"),
        ('{"x": "' + "a" * MAX_BYTES + '"}', "KiB"),
        ('{"x": "' + "ä" * (MAX_BYTES // 2) + '"}', "KiB"),
        ('{"x": ' + "9" * 5000 + "}", "digits"),
        ("{} {}", "not valid JSON"),
        ("{'x': 1}", "not valid JSON"),
        ("\ufeff{}", "not valid JSON"),
    ],
)
def test_arguments_with_two_readings_are_refused(text, told):
    with pytest.raises(ArgumentsProblem, match=told):
        read_arguments(text)


def test_what_only_looks_odd_is_read():
    assert read_arguments('{"x": "\\ud83d\\ude00", "y": "[[[' + "[" * 200 + '"}')["x"] == "😀"
    deep = '{"x":' * (MAX_DEPTH - 1) + "{}" + "}" * (MAX_DEPTH - 1)
    assert json.dumps(read_arguments(deep)).count("{") == MAX_DEPTH


def test_unknown_names_and_bad_arguments_can_be_raised_before_anything_runs(bench):
    log = Log()
    manager = ToolCallingManager(errors=ToolErrors(raise_=True))
    tools = [log.tool("a"), log.tool("b", schema=NUMBER)]
    with pytest.raises(UnknownToolError, match="'c2'"):
        bench.execute(manager, chat(("a", {}), ("zzz", {})), tools)
    with pytest.raises(InvalidArgumentsError, match="not valid: x") as error:
        bench.execute(manager, chat(("a", {}), ("b", {"x": "my secret"})), tools)
    assert "secret" not in str(error.value)
    assert log == []


def test_a_schema_without_end_is_a_problem_of_the_call_not_a_crash(bench):
    log = Log()
    endless = log.tool("f", schema={"type": "object", "$ref": "#"})
    assert statuses(bench.execute(MANAGER, chat(("f", {"x": 1})), [endless])) == ["invalid_arguments"]


def test_a_lenient_schema_tool_takes_what_its_schema_leaves_open(bench):
    log = Log()
    assert statuses(
        bench.execute(MANAGER, chat(("f", {"x": 1, "y": 2})), [log.tool("f", schema=NUMBER, strict=False)])
    ) == ["ran"]
    opened = {**NUMBER, "additionalProperties": {"type": "integer"}}
    run = bench.execute(
        MANAGER, chat(("f", {"x": 1, "y": 2}), ("f", {"x": 1, "y": "z"})), [log.tool("f", schema=opened)]
    )
    assert statuses(run) == ["ran", "invalid_arguments"]


def test_only_the_names_of_a_set_are_suggested(bench):
    names = [f"tool_{number:02}" for number in range(30)]
    run = bench.execute(MANAGER, chat(("zzz", {})), ToolSet(map(Log().tool, names)))
    assert "tool_19 and 10 more" in contents(run)[0]
    assert "There are no tools" in contents(bench.execute(MANAGER, chat(("zzz", {})), []))[0]
