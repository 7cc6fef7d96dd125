import asyncio

import pytest

pytest.importorskip("mcp", reason="mcp is not installed: pip install 'yesno[mcp]'")

from mcp import Client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.types import ListToolsResult, Tool

from tests.integrations.contract import IntegrationContract
from tests.shells import Scripted
from yesno.errors import ProviderUnavailable, ToolError, YesnoError
from yesno.filters import ToolFilter
from yesno.integrations.mcp import MAX_PAGES, FilteredSession

DOWN = ProviderUnavailable("down", provider="fake", retryable=False)
ASKED = "Will it rain in Lisbon?"


class TestMcp(IntegrationContract):
    integration = "mcp"


def office():
    server = MCPServer("office")

    @server.tool()
    def forecast(city: str) -> str:
        """Say how the weather will be."""
        return f"sunny in {city}"

    @server.tool()
    def send_email(to: str) -> str:
        """Send an e-mail."""
        return f"sent to {to}"

    @server.tool(meta={"always_visible": True})
    def help_me() -> str:
        """Say what there is."""
        return "all sorts"

    return server


def paged(pages):
    """Return a server whose list of tools has pages; the number of a page is its cursor."""

    async def listed(context, params):
        number = int((params and params.cursor) or 0)
        tools = [Tool(name=name, input_schema={"type": "object"}) for name in pages(number)]
        return ListToolsResult(tools=tools, next_cursor=str(number + 1) if pages(number + 1) else None)

    return Server("paged", on_list_tools=listed)


def listed(server, shell, messages=ASKED, tool_filter=None, *, mode="auto", bare=False, **script):
    """Return the names that a filtered session lists, or its error, and the scripted model."""
    scripted = Scripted(shell, **script)

    async def main():
        async with Client(server, mode=mode) as client:
            session = client.session if bare else client
            filtered = FilteredSession(session, tool_filter, model=scripted.model)
            try:
                return [tool.name for tool in await filtered.list_tools(messages)]
            except YesnoError as error:  # the client would put it into groups on its way out
                return error

    return asyncio.run(main()), scripted


@pytest.mark.parametrize("bare", [False, True], ids=["client", "session"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_real_server_s_tools_are_filtered_in_its_order(shell, mode, bare):
    names, scripted = listed(office(), shell, mode=mode, bare=bare, answers={"forecast": 0.9}, default=0.1)
    assert names == ["forecast", "help_me"]
    assert [len(asked) for asked in scripted.questions] == [2]


def test_what_was_listed_can_be_called(shell):
    async def main():
        async with Client(office()) as client:
            scripted = Scripted(shell, {"forecast": 0.9}, default=0.1)
            (tool, _) = await FilteredSession(client, model=scripted.model).list_tools(ASKED)
            return await client.call_tool(tool.name, {"city": "Lisbon"})

    assert asyncio.run(main()).content[0].text == "sunny in Lisbon"


def test_all_pages_are_asked_about_together(shell):
    pages = [["a", "b"], ["c"], ["d", "e"]]
    server = paged(lambda number: pages[number] if number < len(pages) else [])
    names, scripted = listed(server, shell, default=0.9)
    assert names == ["a", "b", "c", "d", "e"]
    assert [len(asked) for asked in scripted.questions] == [5]


def test_a_listing_that_never_ends_is_an_error(shell):
    error, scripted = listed(paged(lambda number: [f"tool{number}"]), shell)
    assert isinstance(error, ToolError)
    assert f"more than {MAX_PAGES} pages" in str(error)
    assert scripted.questions == []


def test_explain_says_why(shell):
    async def main():
        async with Client(office()) as client:
            scripted = Scripted(shell, {"forecast": 0.9}, default=0.1)
            return await FilteredSession(client, model=scripted.model).explain(ASKED)

    assert [(verdict.name, verdict.reason) for verdict in asyncio.run(main()).verdicts] == [
        ("forecast", "probable"),
        ("send_email", "improbable"),
        ("help_me", "always_visible"),
    ]


def test_what_happens_when_the_model_fails_is_the_filters_choice(shell):
    assert len(listed(office(), shell, default=DOWN)[0]) == 3
    assert listed(office(), shell, tool_filter=ToolFilter(fallback="no_tools"), default=DOWN)[0] == [
        "help_me"
    ]
    error, _ = listed(office(), shell, tool_filter=ToolFilter(fallback="fail"), default=DOWN)
    assert isinstance(error, ProviderUnavailable)
