"""Stop for a person, end, and go on in another process: with a signed record that is good for one use.

OPENAI_API_KEY=... python examples/approve_later.py start "Pay back order A7"
yesno calls approve waiting/pending.json --output waiting/answers.json
OPENAI_API_KEY=... python examples/approve_later.py resume

Only `pending.json` goes to the person and only `answers.json` comes back; the rest of the folder is the program's own.
"""

from __future__ import annotations

import json
import secrets
import sys
from getpass import getuser
from pathlib import Path
from typing import Any

from openai import OpenAI

from yesno import DecisionModel
from yesno.toolcalls import (
    ConfirmationRequired,
    PendingCalls,
    PendingSigner,
    RiskGate,
    SqlitePendingStore,
    ToolCallingManager,
    read_answers,
    tool,
)


@tool(confirm="auto")
def refund(order: str, cents: int) -> str:
    """Pay money back for an order."""
    return f"{cents} cents were paid back for {order}"


TOOLS = [refund]


def manager(folder: Path) -> ToolCallingManager:
    """Return the manager; its key and what it remembers of records outlive the process."""
    folder.mkdir(mode=0o700, exist_ok=True)
    key = folder / "key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(32))
    signer, store = PendingSigner(key.read_bytes()), SqlitePendingStore(folder / "records.db")
    return ToolCallingManager(gate=RiskGate(), signer=signer, store=store)


def start(task: str, folder: Path, client: OpenAI, judge: DecisionModel) -> str:
    """Begin a conversation."""
    return go_on([{"role": "user", "content": task}], folder, client, judge)


def resume(folder: Path, client: OpenAI, judge: DecisionModel) -> str:
    """Go on with what a person decided."""
    kept = json.loads((folder / "conversation.json").read_text())
    record = PendingCalls.read((folder / "pending.json").read_text())
    decisions = read_answers((folder / "answers.json").read_text(), record, by=getuser())
    run = judge.run(
        manager(folder).execute_tool_calls(
            kept["messages"], kept["reply"], tools=TOOLS, pending=record, decisions=decisions
        )
    )
    return go_on(run.messages, folder, client, judge)


def go_on(messages: list[Any], folder: Path, client: OpenAI, judge: DecisionModel) -> str:
    """Let the model call tools until it answers, or a call waits for a person."""
    offered: list[Any] = [one.to_openai() for one in TOOLS]
    while True:
        answer = client.chat.completions.create(model="gpt-5.4-mini", messages=messages, tools=offered)
        reply = answer.model_dump(exclude_none=True)
        if not answer.choices[0].message.tool_calls:
            return answer.choices[0].message.content or ""
        try:
            messages = judge.run(manager(folder).execute_tool_calls(messages, reply, tools=TOOLS)).messages
        except ConfirmationRequired as stop:
            (folder / "conversation.json").write_text(json.dumps({"messages": messages, "reply": reply}))
            (folder / "pending.json").write_text(stop.pending.model_dump_json())
            return f"{stop}\nyesno calls approve {folder}/pending.json --output {folder}/answers.json"


def main(words: list[str], client: OpenAI, judge: DecisionModel) -> str:
    """Start with a task, or resume."""
    folder = Path("waiting")
    if words[0] == "start":
        return start(words[1], folder, client, judge)
    return resume(folder, client, judge)


if __name__ == "__main__":
    print(main(sys.argv[1:], OpenAI(), DecisionModel("openai:gpt-5.4-mini")))
