"""A tool filter over an MCP session (`mcp`): `pip install 'yesno[mcp]'`.

```python
import asyncio

from mcp import Client
from mcp.server.mcpserver import MCPServer

from yesno import AsyncDecisionModel, FakeProvider
from yesno.integrations.mcp import FilteredSession

server = MCPServer("office")


@server.tool()
def forecast(city: str) -> str:
    "Say how the weather will be."
    return "sunny"


@server.tool()
def send_email(to: str) -> str:
    "Send an e-mail."
    return "sent"


async def main() -> list[str]:
    script = lambda prompt: {"Yes": 0.9} if "forecast" in prompt else {"No": 0.9}
    async with Client(server) as client:
        session = FilteredSession(client, model=AsyncDecisionModel(FakeProvider(script)))
        return [tool.name for tool in await session.list_tools("Will it rain in Lisbon?")]


assert asyncio.run(main()) == ["forecast"]
```

Read in mcp 2.3.0 (2026-11).
"""

from __future__ import annotations

from yesno.errors import ToolError
from yesno.filters import ToolFilter, ToolSelection
from yesno.flow import Runner
from yesno.integrations._shared import aran, missing

try:
    from mcp import Client, ClientSession
    from mcp.types import PaginatedRequestParams, Tool
except ImportError as error:
    raise missing("mcp") from error

__all__ = ["FilteredSession"]

MAX_PAGES = 100
"""Most pages of one listing; mcp 2.3.0 itself walks no further."""


class FilteredSession:
    """The tools of an MCP server that help with what the user asks for.

    Args:
        session: A connected `mcp.Client` or `mcp.ClientSession`. Call its tools as before: this is a shorter list, no
            barrier.
        tool_filter: The filter; by default `ToolFilter()`. What happens when the decision fails is its `fallback`.
        model: A `yesno.DecisionModel`, which works in a thread, or a `yesno.AsyncDecisionModel`.
    """

    def __init__(
        self, session: Client | ClientSession, tool_filter: ToolFilter | None = None, *, model: Runner
    ) -> None:
        self.session = session.session if isinstance(session, Client) else session
        self.tool_filter = tool_filter or ToolFilter()
        self._model = model

    async def list_tools(self, messages: object, *, user_message: str | None = None) -> list[Tool]:
        """Return the server's tools that are worth sending along, in its order.

        Args:
            messages: The conversation in any shape that `yesno.messages.messages_of` reads.
            user_message: What the user wrote, when the newest user message holds more; see `ToolFilter.select`.

        Raises:
            ToolError: The server's listing does not end.
            ToolDefinitionError, QuestionError: A tool or a message cannot be read.
            YesnoError: The model failed, and the filter's `fallback` is `"fail"`.
        """
        return (await self.explain(messages, user_message=user_message)).tools

    async def explain(self, messages: object, *, user_message: str | None = None) -> ToolSelection[Tool]:
        """Do what `list_tools` does and say why; the result prints as a table."""
        tools = await self._all_tools()
        return await aran(self._model, self.tool_filter.explain(tools, messages, user_message=user_message))

    async def _all_tools(self) -> list[Tool]:
        tools: list[Tool] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self.session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return tools
        raise ToolError(f"the server's list of tools has more than {MAX_PAGES} pages; does it end?")
