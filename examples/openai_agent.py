"""An agent on OpenAI's Chat Completions that asks on the terminal before it does something risky.

OPENAI_API_KEY=... python examples/openai_agent.py "Pay back order A7"
"""

from __future__ import annotations

import sys
from typing import Any

from openai import OpenAI

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


def work(task: str, client: OpenAI, judge: DecisionModel) -> str:
    """Let the model call tools until it answers."""
    messages: list[Any] = [{"role": "user", "content": task}]
    while True:
        reply = client.chat.completions.create(
            model="gpt-5.4-mini",
            messages=messages,
            tools=[one.to_openai() for one in TOOLS],  # type: ignore[misc]  # dicts
        )
        if not reply.choices[0].message.tool_calls:
            return reply.choices[0].message.content or ""
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
    print(work(sys.argv[1], OpenAI(), DecisionModel("openai:gpt-5.4-mini")))
