"""The tool search: one tool with which a model finds the others."""

import json
import logging

import pytest

from tests.filters.contract import PRIVATE, FilterContract
from tests.shells import REFUSED, UNDECIDED, Scripted
from yesno.errors import (
    ConfigError,
    DuplicateToolError,
    InvalidArgumentsError,
    ProviderRejected,
    Refused,
    ToolFailed,
    UndecidedError,
)
from yesno.filters import ToolSearch
from yesno.tools import Tool, tool_of

DOWN = ProviderRejected("no", provider="fake", status=400)
FOUR = [
    Tool("email", "Send an e-mail."),
    Tool("weather", "Tell the weather."),
    Tool("forecast"),
    Tool("convert", "Convert money."),
]
ANSWERS = {'"email"': 0.3, '"weather"': 0.8, '"forecast"': 0.95, '"convert"': 0.05}
QUERY = '{"query": "will it rain"}'


class TestToolSearchContract(FilterContract):
    filter = ToolSearch
    impossible = (
        ({"min_probability": -0.1}, "min_probability"),
        ({"max_results": 0}, "max_results"),
        ({"max_tools_per_request": 0}, "max_tools_per_request"),
        ({"question_template": "Does it help?"}, "{{name}}"),
        ({"shortlist": 0}, "shortlist"),
        ({"name": " "}, "name"),
        ({"argument_name": ""}, "argument_name"),
    )

    def flow(self, made):
        return made.find({"query": PRIVATE}, FOUR)

    def call(self, made):
        return made({"query": PRIVATE}, FOUR)


def test_case_100_the_names_come_most_relevant_first_and_the_input_is_the_bare_query(shell):
    scripted = Scripted(shell, ANSWERS)
    found = scripted.run(ToolSearch().find(QUERY, FOUR))
    assert found.names == ("forecast", "weather")
    assert found.tools == (FOUR[2], FOUR[1])
    assert found.tools[0] is FOUR[2]
    assert found.text == str(found) == "Found tools: forecast, weather"
    assert found.probabilities == {name.strip('"'): pytest.approx(p) for name, p in ANSWERS.items()}
    assert [request.input for request in scripted.requests] == ["will it rain"]


def test_case_101_the_question_about_a_tool_without_a_description_has_no_space_at_its_end(shell):
    scripted = Scripted(shell)
    scripted.run(ToolSearch().find(QUERY, [Tool("bare")]))
    assert scripted.questions == [['Would the tool "bare" help to do what the user asks for?']]
    own = Scripted(shell)
    made = ToolSearch(question_template="Tool: {{name}}\nDescription: {{description}}")
    own.run(made.find(QUERY, [Tool("bare")]))
    assert own.questions == [["Tool: bare\nDescription:"]]


def test_case_102_cap_minimum_and_batches_work_together(shell):
    scripted = Scripted(shell, ANSWERS)
    made = ToolSearch(max_results=1, min_probability=0.2, max_tools_per_request=3)
    assert scripted.run(made.find(QUERY, FOUR)).names == ("forecast",)
    assert [len(texts) for texts in scripted.questions] == [3, 1]


def test_case_103_a_template_of_ones_own_is_given_both_values(shell):
    scripted = Scripted(shell)
    made = ToolSearch(question_template="{{description}} That is {{name}}.")
    scripted.run(made.find(QUERY, FOUR[:2]))
    assert scripted.questions == [["Send an e-mail. That is email.", "Tell the weather. That is weather."]]


@pytest.mark.parametrize(
    ("template", "said"), [("Does it help?", "{{name}}"), ("{{name}} {{cost}}", "'cost'.*name, description")]
)
def test_case_104_a_template_without_the_name_or_with_another_variable_is_refused(shell, template, said):
    with pytest.raises(ConfigError, match=said):
        ToolSearch(question_template=template, model=Scripted(shell).model)


@pytest.mark.parametrize(
    ("reply", "error"), [(DOWN, ProviderRejected), (REFUSED, Refused), (UNDECIDED, UndecidedError)]
)
def test_case_105_an_error_of_the_model_is_raised(shell, reply, error):
    with pytest.raises(error):
        Scripted(shell, {'"weather"': reply}).run(ToolSearch().find(QUERY, FOUR))


@pytest.mark.parametrize("tools", [[], None, list])
def test_case_106_without_tools_nothing_is_found_and_nobody_is_asked(shell, tools):
    scripted = Scripted(shell)
    found = scripted.run(ToolSearch().find(QUERY, tools))
    assert (found.names, found.tools, found.text) == ((), (), "No tool matches this query.")
    assert scripted.requests == []
    with pytest.raises(ToolFailed):
        scripted.run(ToolSearch().find("{}", tools))


def test_case_107_the_search_tool_has_the_documented_name_and_one_required_argument(shell):
    search = ToolSearch(model=Scripted(shell).model)
    function = search.openai()["function"]
    assert function["name"] == "tool_search_tool"
    assert function["parameters"]["required"] == ["query"]
    assert list(function["parameters"]["properties"]) == ["query"]
    assert function["parameters"]["properties"]["query"]["type"] == "string"
    for written in (search.openai(), search.openai_responses(), search.anthropic(), search.mcp()):
        assert tool_of(json.loads(json.dumps(written))) == search.tool
    other = ToolSearch(
        name="find", description="d", argument_name="need", argument_description="a"
    ).anthropic()
    assert (other["name"], other["description"]) == ("find", "d")
    assert other["input_schema"]["properties"] == {"need": {"type": "string", "description": "a"}}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{}", "lack 'query'"),
        ('{"query": " "}', "lack 'query'"),
        ('{"query": null}', "lack 'query'"),
        ('{"other": "SECRET"}', "lack 'query'"),
        ({}, "lack 'query'"),
        ('{"query": "SECRET"', r"no JSON \(character 18\)"),
        ("", "no JSON"),
        ('["SECRET"]', "must be an object with 'query', not list"),
        (5, "must be an object with 'query', not int"),
        pytest.param("[" * 100_000, "no JSON", id="deep"),
    ],
)
def test_case_108_arguments_that_cannot_be_used_are_a_typed_error_that_names_the_argument(
    shell, arguments, said
):
    scripted = Scripted(shell)
    with pytest.raises(ToolFailed, match=said) as caught:
        scripted.run(ToolSearch().find(arguments, FOUR))
    assert "SECRET" not in str(caught.value)
    with pytest.raises(InvalidArgumentsError, match=said):
        scripted.run(ToolSearch(raise_invalid_arguments=True).find(arguments, FOUR))
    assert scripted.requests == []


@pytest.mark.parametrize(("value", "query"), [(5, "5"), (True, "true"), (["a", "ü"], '["a", "ü"]')])
def test_case_108_a_query_that_is_no_text_is_written_as_one(shell, value, query):
    scripted = Scripted(shell)
    scripted.run(ToolSearch().find({"query": value}, FOUR))
    assert scripted.requests[0].input == query


def test_case_108_a_query_that_holds_itself_is_an_error(shell):
    loop = []
    loop.append(loop)
    with pytest.raises(ToolFailed, match="query"):
        Scripted(shell).run(ToolSearch().find({"query": loop}, FOUR))


def test_case_109_all_tools_are_asked_about_in_one_request_and_five_are_given(shell):
    scripted = Scripted(shell, default=0.9)
    assert scripted.run(ToolSearch().find(QUERY, FOUR)).names == tuple(tool.name for tool in FOUR)
    assert [len(texts) for texts in scripted.questions] == [4]
    many = [Tool(f"t{n}") for n in range(9)]
    assert scripted.run(ToolSearch().find(QUERY, many)).names == ("t0", "t1", "t2", "t3", "t4")


def test_the_text_of_the_result_can_be_ones_own(shell):
    made = ToolSearch(result_text=lambda tools: f"{len(tools)} found")
    assert Scripted(shell, ANSWERS).run(made.find(QUERY, FOUR)).text == "2 found"
    assert Scripted(shell).run(made.find(QUERY, [])).text == "0 found"


def test_equally_named_tools_are_refused(shell):
    with pytest.raises(DuplicateToolError):
        Scripted(shell).run(ToolSearch().find(QUERY, [*FOUR, FOUR[0]]))


def test_each_tools_probability_is_logged_for_debugging(shell, caplog):
    with caplog.at_level(logging.DEBUG, logger="yesno.filters"):
        Scripted(shell, ANSWERS).run(ToolSearch().find(QUERY, FOUR))
    assert [r.tool for r in caplog.records if r.name == "yesno.filters"] == [tool.name for tool in FOUR]
