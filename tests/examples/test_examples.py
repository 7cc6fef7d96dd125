"""The examples run: with scripted replies, without a network, and over the end of a process."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from anthropic import Anthropic
from openai import OpenAI

from examples import anthropic_agent, openai_agent
from tests.examples import driver
from tests.examples.driver import chat
from yesno import DecisionModel, FakeProvider
from yesno.cli.main import main
from yesno.errors import PendingStateError

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """Gives scripted replies in turn and keeps what was asked."""

    def __init__(self, *replies):
        self.bodies = []
        self._replies = iter(replies)

    def __call__(self, request):
        self.bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=next(self._replies))

    def client(self, kind):
        http = httpx2.Client(transport=httpx2.MockTransport(self))
        return kind(api_key="k" * 20, base_url="https://api.example", http_client=http, max_retries=0)


def judge(risk):
    return DecisionModel(FakeProvider({"Yes": risk, "No": 1 - risk}))


def message(*blocks, stop="tool_use"):
    """Return a reply of the Messages API."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    fields = {"id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "usage": usage}
    return {**fields, "content": list(blocks), "stop_reason": stop}


def use(name, given):
    return {"type": "tool_use", "id": f"c-{name}", "name": name, "input": given}


@pytest.fixture
def answers(monkeypatch):
    """Answer every question on the terminal with this; return the questions."""
    asked = []

    def put(said):
        monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or said)
        return asked

    return put


REFUND = {"order": "A7", "cents": 900}
PAID = "900 cents were paid back for A7"


@pytest.mark.parametrize(
    ("risk", "said", "told"), [(0.05, None, PAID), (0.6, "y", PAID), (0.6, "", "refused")]
)
def test_the_agent_on_openai_runs_what_is_harmless_and_asks_about_the_rest(answers, risk, said, told):
    asked = answers(said)
    find = {"name": "find_order", "arguments": '{"order": "A7"}'}
    refund = {"name": "refund", "arguments": json.dumps(REFUND)}
    server = Server(chat(call=find), chat(call=refund), chat("All done."))
    assert openai_agent.work("Pay back A7", server.client(OpenAI), judge(risk)) == "All done."
    results = [m["content"] for m in server.bodies[-1]["messages"] if m["role"] == "tool"]
    assert "delivered" in results[0]
    assert told in results[1]
    assert len(asked) == (said is not None)


@pytest.mark.parametrize(
    ("risk", "said", "told"), [(0.05, None, PAID), (0.6, "y", PAID), (0.6, "", "refused")]
)
def test_the_agent_on_anthropic_runs_what_is_harmless_and_asks_about_the_rest(answers, risk, said, told):
    asked = answers(said)
    both = [use("find_order", {"order": "A7"}), use("refund", REFUND)]
    server = Server(message(*both), message({"type": "text", "text": "All done."}, stop="end_turn"))
    assert anthropic_agent.work("Pay back A7", server.client(Anthropic), judge(risk)) == "All done."
    first, second = server.bodies[-1]["messages"][-1]["content"]
    assert "delivered" in first["content"]
    assert told in second["content"]
    assert len(asked) == (said is not None)
    assert all("paid back" not in text for text in asked)


@pytest.fixture
def waiting(tmp_path, monkeypatch):
    """Have the program stop for a person, and return its folder."""
    monkeypatch.chdir(tmp_path)
    assert "1 of 1 calls wait for a person: refund [c1]; nothing ran." in driver.run("start", "Pay back A7")
    return tmp_path / "waiting"


def approve(folder, *words):
    with pytest.raises(SystemExit) as info:
        main(["calls", "approve", f"{folder}/pending.json", *words, "--output", f"{folder}/answers.json"])
    assert info.value.code == 0


def test_a_program_that_stopped_goes_on_in_another_process_and_only_once(waiting):
    approve(waiting, "--allow", "c1")
    command = [sys.executable, "-m", "tests.examples.driver", str(waiting.parent), "resume"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)  # noqa: S603 - our own
    assert done.stdout == f"Done: {PAID}", done.stderr
    with pytest.raises(PendingStateError, match="it was used before"):
        driver.run("resume")


def test_a_program_that_stopped_tells_the_model_what_a_person_refused(waiting):
    approve(waiting, "--deny", "c1=keep it")
    assert driver.run("resume").endswith("Do not repeat this call. They said: keep it")


def test_a_record_that_was_changed_meanwhile_is_refused(waiting):
    record = waiting / "pending.json"
    record.write_text(record.read_text().replace("900", "999"))
    approve(waiting, "--allow", "c1")
    with pytest.raises(PendingStateError, match="it was changed, or was not made here"):
        driver.run("resume")


def test_the_readme_names_every_example():
    told = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in (ROOT / "examples").glob("*.py") if f"`{path.name}`" not in told] == []
