"""Every shape of a tool is the same tool, and nothing is taken for one that is none."""

import pickle
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Literal

import pydantic
import pytest

from yesno.errors import DuplicateToolError, ToolDefinitionError
from yesno.tools import NO_PARAMETERS, Tool, tool_of, tools_of

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", "Tell the weather.", parameters=SCHEMA)


class LangChainTool:
    """Has the attributes of a LangChain tool, whose schema is a class."""

    name = "weather"
    description = "Tell the weather."
    metadata = None

    @property
    def tool_call_schema(self):
        return pydantic.create_model(
            "weather", city=Annotated[str, pydantic.WithJsonSchema({"type": "string"})]
        )


SHAPES = {
    "tool": WEATHER,
    "chat": {
        "type": "function",
        "function": {"name": "weather", "description": "Tell the weather.", "parameters": SCHEMA},
    },
    "responses": {
        "type": "function",
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": SCHEMA,
        "strict": True,
    },
    "anthropic": {"name": "weather", "description": "Tell the weather.", "input_schema": SCHEMA},
    "mcp dict": {
        "name": "weather",
        "title": "Weather",
        "description": "Tell the weather.",
        "inputSchema": SCHEMA,
    },
    "mcp 1": SimpleNamespace(name="weather", description="Tell the weather.", inputSchema=SCHEMA, meta=None),
    "mcp 2": SimpleNamespace(name="weather", description="Tell the weather.", input_schema=SCHEMA, meta=None),
    "pydantic-ai": SimpleNamespace(
        name="weather",
        description="Tell the weather.",
        metadata=None,
        function_schema=SimpleNamespace(json_schema=SCHEMA),
    ),
    "pydantic-ai definition": SimpleNamespace(
        name="weather", description="Tell the weather.", parameters_json_schema=SCHEMA
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_reads_the_same_in_every_shape_and_remembers_what_it_was(shape):
    tool = tool_of(SHAPES[shape])
    assert tool == WEATHER
    assert tool.original is SHAPES[shape]


def test_a_langchain_tool_makes_its_schema_when_it_is_read():
    tool = tool_of(LangChainTool())
    assert (tool.name, tool.description) == ("weather", "Tell the weather.")
    assert tool.parameters["properties"]["city"]["type"] == "string"
    assert "title" not in tool.parameters
    assert tool.parameters is tool.parameters


def test_a_schema_that_an_object_holds_itself_is_read_as_a_mapping_or_a_class():
    class Arguments(pydantic.BaseModel):
        city: str

    for held in (SCHEMA, Arguments):
        tool = tool_of(SimpleNamespace(name="weather", description="", args_schema=held))
        assert tool.parameters["required"] == ["city"]
    assert tool_of(SimpleNamespace(name="weather", args_schema=5)).parameters == NO_PARAMETERS


def test_a_schema_that_cannot_be_made_is_refused_when_it_is_read():
    def broken():
        raise TypeError("SECRET")

    tool = tool_of(SimpleNamespace(name="weather", args_schema=SimpleNamespace(model_json_schema=broken)))
    with pytest.raises(ToolDefinitionError, match=r"TypeError") as caught:
        _ = tool.parameters
    assert "SECRET" not in str(caught.value)


def test_a_tool_is_written_in_every_shape_and_read_back():
    for written in (
        WEATHER.to_openai(),
        WEATHER.to_openai_responses(),
        WEATHER.to_anthropic(),
        WEATHER.to_mcp(),
    ):
        assert tool_of(written) == WEATHER
    assert Tool("ping").to_anthropic() == {
        "name": "ping",
        "input_schema": {"type": "object", "properties": {}},
    }


def search(
    query: str,
    kind: Literal["web", "news"] = "web",
    limit: int | None = None,
    *,
    json: bool = False,
    **more: str,
) -> str:
    """Search for something.

    Takes a moment.

    Args:
        query: What to look for.
        limit: Most results.

    Returns:
        The results.
    """
    return query


def test_a_function_is_described_by_its_signature_and_docstring():
    tool = tool_of(search)
    assert (tool.name, tool.description) == ("search", "Search for something.\n\nTakes a moment.")
    schema = tool.parameters
    assert schema["required"] == ["query"]
    assert schema["additionalProperties"] is not False
    assert schema["properties"]["query"] == {
        "description": "What to look for.",
        "title": "Query",
        "type": "string",
    }
    assert schema["properties"]["kind"]["enum"] == ["web", "news"]
    assert schema["properties"]["kind"]["default"] == "web"
    assert schema["properties"]["limit"]["default"] is None
    assert list(schema["properties"]) == ["query", "kind", "limit", "json"]


def test_functions_without_anything_methods_and_partials_are_tools():
    def ping():
        pass

    class Server:
        def fetch(self, copy: int, schema: str = "x"):
            """Fetch it."""

    assert tool_of(ping) == Tool("ping", parameters={**NO_PARAMETERS, "additionalProperties": False})
    fetch = tool_of(Server().fetch)
    assert (fetch.name, fetch.description, list(fetch.parameters["properties"])) == (
        "fetch",
        "Fetch it.",
        ["copy", "schema"],
    )
    bound = tool_of(partial(search, kind="news"))
    assert bound.name == "search"
    assert bound.parameters["properties"]["kind"]["default"] == "news"
    assert tool_of(len).name == "len"


def test_a_pydantic_model_class_is_a_tool():
    class Book(pydantic.BaseModel):
        """Book a table."""

        people: int

    tool = tool_of(Book)
    assert (tool.name, tool.description, tool.parameters["required"]) == ("Book", "Book a table.", ["people"])


def test_a_hosted_tool_is_called_by_its_type():
    assert [
        tool.name for tool in tools_of([{"type": "web_search"}, {"type": "mcp", "server_label": "crm"}])
    ] == [
        "web_search",
        "mcp_crm",
    ]
    assert tool_of({"type": "web_search_20250305", "name": "web_search"}).name == "web_search"
    assert tool_of({"type": "custom", "custom": {"name": "run", "description": "d"}}).description == "d"


def test_what_is_marked_always_visible_is_in_every_shape():
    def marked():
        pass

    marked.always_visible = True
    for value in (
        marked,
        {"name": "t", "metadata": {"always_visible": True}},
        {"name": "t", "_meta": {"always_visible": True}},
        {"type": "function", "function": {"name": "t", "always_visible": True}},
        SimpleNamespace(name="t", metadata={"always_visible": True}),
        SimpleNamespace(name="t", always_visible=True),
        Tool("t", always_visible=True),
    ):
        assert tool_of(value).always_visible
    for value in (
        {"name": "t", "metadata": {"always_visible": "no"}},
        SimpleNamespace(name="t", metadata="x"),
    ):
        assert not tool_of(value).always_visible


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"description": "nameless"}, "no `name`"),
        ({"type": "function", "function": {"description": "nameless"}}, "no `name`"),
        ({"type": "function"}, "no `name`"),
        ({"name": ""}, "blank name"),
        ({"name": 5}, "name of type int"),
        ({"name": "t", "description": 5}, "'t' has a description of type int"),
        (SimpleNamespace(name=None), "name of type NoneType"),
        (lambda: None, "function without a name"),
        (5, "a int is no tool"),
        (None, "NoneType is no tool"),
        ("weather", "a str is no tool"),
        (LangChainTool, "class 'LangChainTool'"),
    ],
)
def test_what_is_no_tool_is_refused_with_its_place(value, named):
    with pytest.raises(ToolDefinitionError, match=named):
        tool_of(value)
    with pytest.raises(ToolDefinitionError, match="tool 2 of the list"):
        tools_of([WEATHER, value])


def test_two_tools_of_one_name_are_refused_whatever_their_shapes():
    with pytest.raises(DuplicateToolError, match="'weather'"):
        tools_of([SHAPES["chat"], WEATHER])


@pytest.mark.parametrize("value", ["weather", {"name": "weather"}, 5, None])
def test_one_tool_is_no_list_of_tools(value):
    with pytest.raises(ToolDefinitionError, match="must be a list"):
        tools_of(value)


def stars(*values: int):
    pass


def unknown(x: "Nowhere"):  # noqa: F821 - the point
    pass


def odd(x: object()):
    pass


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (stars, r"'stars' takes \*values"),
        (unknown, "'unknown'.*NameError"),
        (odd, "'odd'"),
        (Tool("t", parameters=[]), "'t' has parameters of type list"),
    ],
)
def test_parameters_that_cannot_be_described_are_refused_when_they_are_read(value, named):
    tool = tool_of(value)
    with pytest.raises(ToolDefinitionError, match=named):
        _ = tool.parameters


def test_odd_values_are_neither_looked_into_nor_lost():
    loop = {"type": "object"}
    loop["properties"] = loop
    odd_ones = [
        {"name": "loop", "input_schema": loop},
        {"name": "\ud800", "description": "lone"},
        {"name": "long", "description": "x" * 1_000_000},
    ]
    tools = tools_of([*odd_ones, *({"name": f"t{n}"} for n in range(10_000))])
    assert len(tools) == 10_003
    assert tools[0].parameters is loop
    assert len(tools[2].description) == 1_000_000


def test_tools_compare_hash_pickle_and_show_themselves_without_their_schema():
    assert pickle.loads(pickle.dumps(WEATHER)) == WEATHER  # noqa: S301 - our own bytes
    assert hash(tool_of(SHAPES["chat"])) == hash(WEATHER)
    assert Tool("weather", "Tell the weather.") != WEATHER
    assert WEATHER != "weather"
    assert "city" not in repr(WEATHER)


def test_the_words_of_a_tool_hold_its_arguments_where_its_schema_is_at_hand():
    schema = {"properties": {"city": {"description": "which town"}, "odd": 5, "bare": {"description": 5}}}
    assert Tool("a", "b", parameters=schema).words == "a\nb\ncity\nwhich town\nodd\nbare"
    assert Tool("a", parameters={"properties": []}).words == "a"
    assert tool_of(search).words == "search\nSearch for something.\n\nTakes a moment."
