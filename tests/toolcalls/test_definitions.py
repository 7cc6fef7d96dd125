"""Tools: what a model is told of them, and what may be registered."""

import enum
import sys
from datetime import date
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from tests.toolcalls.support import Log, chat, contents, statuses
from yesno.errors import ConfigError, DuplicateToolError, ToolDefinitionError
from yesno.filters import ToolFilter
from yesno.toolcalls import Tool, ToolAnnotations, ToolCallingManager, ToolContext, ToolSet, as_tool, tool
from yesno.tools import tools_of

MANAGER = ToolCallingManager()
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "Where."}},
    "required": ["city"],
    "additionalProperties": False,
}


def properties(made):
    return made.parameters["properties"]


def test_case_001_a_default_makes_a_parameter_optional_and_extras_are_forbidden():
    def f(a: int, b: str = "x"):
        """Do f."""

    schema = as_tool(f).parameters
    assert schema["required"] == ["a"]
    assert schema["properties"]["b"]["default"] == "x"
    assert schema["additionalProperties"] is False


def test_case_002_a_parameter_that_may_be_none_can_be_left_out(bench):
    got = []

    @tool
    def f(y: int | None = None):
        """Do f."""
        got.append(y)

    assert statuses(bench.execute(MANAGER, chat(("f", {})), [f])) == ["ran"]
    assert got == [None]


def test_case_003_a_docstring_describes_the_parameters():
    def f(order: str, cents: int):
        """Pay money back.

        Args:
            order: Which order.
            cents: How much.
        """

    made = as_tool(f)
    assert made.description == "Pay money back."
    assert properties(made)["order"]["description"] == "Which order."
    assert properties(made)["cents"]["description"] == "How much."


def test_case_004_any_name_of_a_parameter_works(bench):
    got = []

    @tool
    def f(schema: int, copy: int, json: int, _p: int, model_config: int = 5):
        """Do f."""
        got.append((schema, copy, json, _p, model_config))

    assert set(properties(f)) == {"schema", "copy", "json", "_p", "model_config"}
    bench.execute(MANAGER, chat(("f", {"schema": 1, "copy": 2, "json": 3, "_p": 4})), [f])
    assert got == [(1, 2, 3, 4, 5)]


def test_case_005_a_literal_becomes_an_enum():
    def f(size: Literal["small", "large"]):
        """Do f."""

    assert properties(as_tool(f))["size"]["enum"] == ["small", "large"]


def test_case_006_star_args_are_refused_by_name():
    def f(*numbers: int):
        """Do f."""

    with pytest.raises(ToolDefinitionError, match=r"\*numbers"):
        as_tool(f)


def test_case_007_a_positional_only_parameter_is_bound_by_name(bench):
    @tool
    def f(a: int, b: int = 7, /, *, c: int = 1):
        """Do f."""
        return [a, b, c]

    run = bench.execute(MANAGER, chat(("f", {"a": 1, "c": 3}), ("f", {"a": 1, "b": 2})), [f])
    assert contents(run) == ["[1,7,3]", "[1,2,1]"]


@pytest.mark.parametrize("kind", [ToolContext, ToolContext | None, Annotated[ToolContext, "from the caller"]])
def test_case_008_the_context_is_filled_in_and_never_in_the_schema(bench, kind):
    def f(n: int, ctx: ToolContext):
        """Do f."""
        return {"user": ctx["user"], "n": n, "call": ctx.call_id, "all": dict(ctx)}

    f.__annotations__["ctx"] = kind
    made = as_tool(f)
    assert set(properties(made)) == {"n"}
    assert "ctx" not in tools_of([f])[0].parameters["properties"]
    run = bench.execute(MANAGER, chat(("f", {"n": 1})), [made], context={"user": "anna"})
    assert contents(run) == ['{"user":"anna","n":1,"call":"c1","all":{"user":"anna"}}']
    assert "anna" not in repr(ToolContext({"user": "anna"}))


def test_a_context_cannot_be_given_by_the_model(bench):
    @tool
    def f(ctx: ToolContext):
        """Do f."""

    assert statuses(bench.execute(MANAGER, chat(("f", {"ctx": {"user": "root"}})), [f])) == [
        "invalid_arguments"
    ]


def test_case_009_two_tools_of_one_name_are_refused():
    def pay():
        """Pay."""

    with pytest.raises(DuplicateToolError, match="'pay'"):
        ToolSet([pay, Tool("pay", "Pay otherwise.", source="mcp:far")])


class Far:
    """A tool object as LangChain has them."""

    name = "weather"
    description = "Tell the weather."
    args_schema = SCHEMA
    input_schema = output_schema = BaseModel  # as every `Runnable` has
    return_direct = False

    def invoke(self, arguments):
        return f"sunny in {arguments['city']}"


def test_case_010_all_shapes_give_equal_definitions():
    described = {"name": "weather", "description": "Tell the weather."}
    shapes = [
        {"type": "function", "function": {**described, "parameters": SCHEMA}},
        {"type": "function", **described, "parameters": SCHEMA},
        {**described, "input_schema": SCHEMA},
        {**described, "inputSchema": SCHEMA},
        SimpleNamespace(**described, inputSchema=SCHEMA, annotations=None),
        SimpleNamespace(**described, input_schema=SCHEMA, output_schema=None, annotations=None),
        Far(),
    ]
    definitions = [ToolSet([shape]).definitions() for shape in shapes]
    assert definitions.count(definitions[0]) == len(shapes)
    assert definitions[0][0].input_schema == SCHEMA
    made = as_tool(shapes[0])
    assert made.to_openai() == shapes[0]
    assert made.to_openai_responses() == shapes[1]
    assert made.to_anthropic() == shapes[2]


def test_case_011_no_tools_resolve_to_an_empty_list():
    assert MANAGER.resolve_tool_definitions([]) == []


def test_case_012_a_missing_description_is_made_from_the_name_with_a_warning():
    def getHTTPStatus_of2():  # noqa: N802 - the name is what is tested
        pass

    with pytest.warns(UserWarning, match="getHTTPStatus_of2"):
        made = as_tool(getHTTPStatus_of2)
    assert made.description == "Get http status of 2."


def test_case_013_a_long_mcp_name_is_cut_and_unique_while_the_server_hears_its_own(bench):
    asked = []

    async def call_tool(name, arguments):
        asked.append((name, arguments))
        return {"content": [{"type": "text", "text": "ok"}]}

    names = ["n" * 69 + end for end in "ab"]
    tools = [
        Tool.from_mcp(
            {"name": name, "description": "Do.", "inputSchema": {"type": "object"}},
            call_tool,
            server="far",
            trusted=True,
            annotations=ToolAnnotations(read_only=True),
        )
        for name in names
    ]
    assert all(len(made.name) <= 64 for made in tools)
    assert tools[0].name.startswith("far__nnn")
    assert tools[0].name != tools[1].name
    run = bench.execute(MANAGER, chat((tools[1].name, {"x": 1})), tools)
    assert contents(run) == ["ok"]
    assert asked == [(names[1], {"x": 1})]


def test_case_014_definitions_keep_their_order():
    log = Log()
    names = ["b", "c", "a"]
    assert [d.name for d in MANAGER.resolve_tool_definitions(map(log.tool, names))] == names


def test_characters_that_no_host_takes_are_replaced_and_told_apart():
    made = [
        Tool.from_mcp({"name": name, "description": "d", "inputSchema": {}}, server="s")
        for name in ("a.b", "a b")
    ]
    assert [m.name[:6] for m in made] == ["s__a_b"] * 2
    assert made[0].name != made[1].name


def test_types_of_annotations_reach_the_function(bench):
    class Size(enum.Enum):
        small = "s"

    class Item(BaseModel):
        name: str
        count: int = 1

    got = []

    @tool
    def f(day: date, size: Size, items: list[Item], **others: int):
        """Do f."""
        got.append((day, size, items, others))

    arguments = {"day": "2026-01-02", "size": "s", "items": [{"name": "x"}], "more": 3}
    assert statuses(bench.execute(MANAGER, chat(("f", arguments)), [f])) == ["ran"]
    assert got == [(date(2026, 1, 2), Size.small, [Item(name="x")], {"more": 3})]


def test_methods_and_partials_are_tools(bench):
    class Shop:
        def refund(self, cents: Annotated[int, Field(ge=1)], reason: str = "none"):
            """Pay back."""
            return f"{cents} {reason}"

    refund = partial(Shop().refund, reason="late")
    run = bench.execute(MANAGER, chat(("refund", {"cents": 5}), ("refund", {"cents": 0})), [refund])
    assert statuses(run) == ["ran", "invalid_arguments"]
    assert contents(run)[0] == "5 late"


def test_a_tool_can_still_be_called_like_its_function():
    @tool(confirm=True)
    def double(n: int) -> int:
        """Double it."""
        return 2 * n

    assert double(4) == 8


def test_langchain_tools_run(bench):
    class Late(Far):
        func = None
        coroutine = staticmethod(lambda: None)

        async def ainvoke(self, arguments):
            return f"late in {arguments['city']}"

    for far, said in ((Far(), "sunny in Rom"), (Late(), "late in Rom")):
        assert contents(bench.execute(MANAGER, chat(("weather", {"city": "Rom"})), [far])) == [said]
        assert as_tool(far).is_local


def test_an_error_of_an_mcp_tool_is_a_failure(bench):
    result = SimpleNamespace(
        model_dump=lambda **_: {"content": [{"type": "text", "text": "no disk"}], "isError": True}
    )
    hints = SimpleNamespace(readOnlyHint=True, destructiveHint=False)
    far = SimpleNamespace(name="df", description="Disk.", inputSchema={"type": "object"}, annotations=hints)
    made = Tool.from_mcp(far, SimpleNamespace(call_tool=lambda name, arguments: result), trusted=True)
    assert made.annotations == ToolAnnotations(read_only=True, destructive=False)
    run = bench.execute(MANAGER, chat(("df", {})), [made])
    assert statuses(run) == ["failed"]
    assert contents(run) == ["no disk"]


def test_a_schema_tool_is_refused_where_it_could_not_be_checked(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(ToolDefinitionError, match=r"yesno\[toolcalls\]"):
        as_tool({"name": "x", "description": "d", "parameters": SCHEMA})


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "objekt"}, "no JSON Schema"),
        ({"type": "object", "properties": {"x": {"$ref": "https://far.test/x.json"}}}, "points outside"),
        ({"type": "object", "properties": {"x": {"$ref": "file:///etc/x"}}}, "points outside"),
    ],
)
def test_a_schema_that_is_none_or_points_elsewhere_is_refused(schema, told):
    with pytest.raises(ToolDefinitionError, match=told):
        as_tool({"name": "x", "description": "d", "parameters": schema})


@pytest.mark.parametrize(
    "setting",
    [
        {"confirm": "yes"},
        {"confirm": None},
        {"timeout": 0},
        {"timeout": True},
        {"max_calls": 0},
        {"editable": "no"},
        {"run": "f"},
        {"annotations": {"read_only": True}},
    ],
)
def test_an_impossible_setting_is_refused_by_name(setting):
    with pytest.raises(
        ToolDefinitionError, match=r"'x'.*" + next(iter(setting)).replace("annotations", "Annotations")
    ):
        Tool("x", "d", **setting)


def test_what_cannot_be_a_result_or_a_context_is_refused(bench):
    async def stream():
        """Give one by one."""
        yield 1

    with pytest.raises(ToolDefinitionError, match="'stream' is an asynchronous generator"):
        as_tool(stream)
    with pytest.raises(ConfigError, match="context"):
        bench.execute(MANAGER, chat(("a", {})), [Log().tool("a")], context="anna")


def test_a_tool_that_is_only_described_can_be_planned_but_not_run(bench):
    described = as_tool({"name": "x", "description": "d", "parameters": SCHEMA})
    plan = bench.run(MANAGER.plan([], chat(("x", {"city": "Rom"})), tools=[described]))
    assert plan.calls[0].action == "run"
    with pytest.raises(ToolDefinitionError, match="only described"):
        bench.execute(MANAGER, chat(("x", {"city": "Rom"})), [described])


def test_a_filter_takes_these_tools_as_they_are(bench):
    tools = [Log().tool("weather"), Log().tool("email")]
    bench.answers = {'"weather"': 0.9}
    assert bench.run(ToolFilter().select(tools, "Will it rain?")) == tools[:1]


def test_a_digest_changes_with_what_a_call_means_and_not_with_words():
    def digest(**changes):
        fields = {"name": "x", "description": "d", "input_schema": SCHEMA, **changes}
        return ToolSet([Tool(**fields)]).digest("x")

    assert digest() == digest(description="other words")
    assert digest() != digest(input_schema={**SCHEMA, "required": []})
    assert digest() != digest(source="mcp:far")
