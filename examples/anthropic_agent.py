"""An agent on Anthropic's Messages API that asks on the terminal before it does something risky.

ANTHROPIC_API_KEY=... python examples/anthropic_agent.py "Pay back order A7"
"""

from __future__ import annotations

import sys
from typing import Any

from anthropic import Anthropic

from yesno import DecisionModel
from yesno.toolcalls import ConfirmationRequired, PendingCall, RiskGate, ToolCallingManager, ToolLimits, tool


@tool
def find_order(order: str) -> dict[str, object]:
    """Find an order by its number."""
    return {"order": order, "cents": 900, "state": "delivered"}


@tool(confirm="auto")
def refund(order: str, cents: int) -> str:
    """Pay money back for an order."""
    return f"{cents} cents were paid back for {order}"


TOOLS = [find_order, refund]
MANAGER = ToolCallingManager(gate=RiskGate(), limits=ToolLimits(rounds=10))


def work(task: str, client: Anthropic, judge: DecisionModel) -> str:
    """Let the model call tools until it answers."""
    messages: list[Any] = [{"role": "user", "content": task}]
    tools: list[Any] = [one.to_anthropic() for one in TOOLS]
    while True:
        reply = client.messages.create(
            model="claude-haiku-4-5", max_tokens=1024, messages=messages, tools=tools
        )
        if reply.stop_reason != "tool_use":
            return "".join(block.text for block in reply.content if block.type == "text")
        calls: dict[str, Any] = {"messages": messages, "reply": reply, "tools": TOOLS}
        try:
            run = judge.run(MANAGER.execute_tool_calls(**calls))
        except ConfirmationRequired as stop:  # nothing ran yet
            said = {call.id: is_allowed(call) for call in stop.pending.waiting}
            run = judge.run(MANAGER.execute_tool_calls(**calls, pending=stop.pending, decisions=said))
        messages = run.messages


def is_allowed(call: PendingCall) -> bool:
    """Ask on the terminal."""
    return input(f"{call.summary}\n{call.reason or call.why}. Run it? [y/N] ").strip().lower() == "y"


if __name__ == "__main__":
    print(work(sys.argv[1], Anthropic(), DecisionModel("anthropic:claude-haiku-4-5")))
