"""`calls check` and `calls approve`, as a shell would run them."""

import io
import json

import pytest

from tests.shells import REFUSED
from tests.toolcalls.support import KEY, USER, Log, chat
from yesno import DecisionModel, FakeProvider
from yesno.errors import DecisionError, ProviderRejected
from yesno.toolcalls import (
    ConfirmationRequired,
    Deny,
    PendingCalls,
    PendingSigner,
    ToolCallingManager,
    answers_document,
    read_answers,
    run_without_model,
)

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = [
    {"type": "function", "function": {"name": "read", "description": "Read it.", "parameters": PATH}},
    {"name": "delete", "description": "Delete it.", "input_schema": PATH},
]
REPLY = chat(("read", {"path": "a"}), ("delete", {"path": "b"}))


@pytest.fixture
def files(tmp_path):
    """Return what writes a JSON file and gives its path."""

    def write(name, value):
        path = tmp_path / f"{name}.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    """Let each row of a table be one line, whatever runs the tests."""
    monkeypatch.setenv("COLUMNS", "300")


@pytest.fixture
def check(run, files):
    def call(*words, reply=REPLY, tools=TOOLS, **more):
        given = ("calls", "check", files("reply", reply), "--tools", files("tools", tools), "-m", "fake")
        return run(*given, *words, **more)

    return call


RISKS = {'"tool": "read"': 0.05, '"tool": "delete"': 0.6}


def by_tool(prompt):
    risk = next(risk for key, risk in RISKS.items() if key in prompt)
    return {"Yes": risk, "No": 1 - risk}


def test_check_shows_what_runs_and_what_waits_and_why(check, scripted):
    scripted(by_tool)
    code, out, err = check()
    assert (code, err) == (1, "")
    _, first, second, spent = out.splitlines()
    assert spent.startswith("2 requests")
    assert first.split() == ["run", "0.050", 'read({"path":', '"a"})']
    assert second.startswith('wait  0.600  delete({"path": "b"})')
    assert "risky with probability 0.600; only below 0.2 it runs unasked" in second


def test_check_ends_with_0_when_everything_would_run(check, scripted):
    scripted(by_tool)
    assert check("--run-below", "0.7")[0] == 0


def test_check_says_the_same_as_json(check, scripted):
    scripted(by_tool)
    code, out, _ = check("--json", "--block-from", "0.5")
    shown = json.loads(out)
    assert (code, shown["type"], shown["usage"]["requests"]) == (1, "plan", 2)
    read, delete = shown["calls"]
    assert (read["id"], read["action"], read["risk"]) == ("c1", "run", pytest.approx(0.05))
    assert (delete["action"], delete["status"], delete["arguments_text"]) == (
        "settled",
        "blocked",
        '{"path": "b"}',
    )


def test_check_sends_what_the_user_wrote_and_asks_nothing_about_what_a_person_decides(check, scripted, files):
    fake = scripted(by_tool)
    check("--messages", files("messages", USER), "--confirm", "delete")
    (request,) = fake.requests
    assert '["please do it"]' in request["messages"][-1]["content"]
    code, out, _ = check("--confirm", "delete", "--confirm", "read")
    assert (code, out.count("a person is always asked about this tool")) == (1, 2)
    assert len(fake.requests) == 1


def test_check_shows_calls_that_cannot_run(check, scripted):
    scripted(by_tool)
    _, out, _ = check(reply=chat(("delet", {}), ("read", {"path": 3})))
    assert "unknown tool" in out
    assert "Did you mean: delete?" in out
    assert "invalid arguments" in out


def test_check_reads_the_reply_from_standard_input(run, files, scripted):
    scripted(by_tool)
    tools = files("tools", {"tools": TOOLS})
    code, out, _ = run("calls", "check", "-", "--tools", tools, "-m", "fake", stdin=json.dumps(REPLY))
    assert (code, "delete" in out) == (1, True)


@pytest.mark.parametrize(
    ("reply", "code"), [(ProviderRejected("no", provider="fake", status=401), 4), (REFUSED, 3)]
)
def test_check_ends_as_elsewhere_when_nothing_can_be_judged_and_that_is_to_fail(check, scripted, reply, code):
    scripted(reply)
    assert check()[0] == 1
    ended, out, err = check("--on-error", "raise", "--json")
    assert (ended, json.loads(out)["error"]) == (code, "GateUnavailable")
    assert "use --on-error confirm to ask a person" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--confirm", "delet"], "no tool is called 'delet'; did you mean 'delete'?"),
        (["--run-below", "2"], "--run-below must be a number from 0 to 1"),
        (["--block-from", "0.1"], "raise --block-from"),
        (["--on-error", "run"], "known are confirm, block, raise"),
    ],
)
def test_check_names_what_is_wrong_with_its_options(check, words, told):
    code, _, err = check(*words)
    assert code == 2
    assert told in err


def test_check_names_a_file_that_is_no_use(check, run, files):
    assert "is not JSON" in check(reply="{oops")[2]
    assert "the tools must be a list" in check(tools="3")[2]
    assert "two tools are called" in check(tools=[TOOLS[0]] * 2)[2]
    assert "asks for no tool" in check(reply=chat())[2]
    code, _, err = run("calls", "check", "-", "--tools", "-", "-m", "fake", stdin="")
    assert (code, "only one of reply, tools and messages" in err) == (2, True)


@pytest.fixture
def record():
    log = Log()
    tools = [log.tool("read"), log.tool("delete", confirm=True), log.tool("send", confirm=True)]
    sly = chat(("read", {}), ("delete", {"path": "b\u202e", "deep": {"n": 1}}), ("send", {}))
    manager = ToolCallingManager(signer=PendingSigner({"main": KEY}), clock=lambda: 4_000_000_000)
    with pytest.raises(ConfirmationRequired) as stop:
        run_without_model(manager.execute_tool_calls(USER, sly, tools=tools))
    return stop.value.pending


@pytest.fixture
def approve(run, files, record):
    def call(*words, **more):
        return run("calls", "approve", files("pending", record.model_dump_json()), *words, **more)

    return call


class Terminal(io.StringIO):
    """Standard input of somebody who types this."""

    def isatty(self):
        return True


@pytest.fixture
def typed(monkeypatch):
    return lambda text: monkeypatch.setattr("sys.stdin", Terminal(text))


def test_approve_takes_decisions_as_options(approve, record, tmp_path):
    output = tmp_path / "decisions.json"
    code, out, err = approve("--allow", "c2", "--deny", "c3= not now ", "--json", "--output", output)
    assert (code, err) == (0, "")
    document = {
        "id": record.id,
        "decisions": {"c2": {"allow": True}, "c3": {"allow": False, "message": "not now"}},
    }
    assert json.loads(out) == json.loads(output.read_text()) == document
    decisions = read_answers(document, record, by="anna")
    assert (decisions["c2"].by, decisions["c3"]) == ("anna", Deny("not now", by="anna"))
    assert set(decisions) == {"c1", "c2", "c3"}


def test_approve_can_refuse_what_does_not_wait(approve):
    code, out, _ = approve("--allow", "c2", "--allow", "c3", "--deny", "c1")
    assert code == 0
    assert [line.split("(")[0].split() for line in out.splitlines()] == [
        ["deny", "read"],
        ["allow", "delete"],
        ["allow", "send"],
    ]


def test_approve_asks_on_a_terminal_and_shows_exactly_what_will_run(approve, typed):
    typed("maybe\ny\nn\nkeep it\n")
    code, out, err = approve("--json")
    assert (code, json.loads(out)["decisions"]) == (
        0,
        {"c2": {"allow": True}, "c3": {"allow": False, "message": "keep it"}},
    )
    assert "2 calls wait for you" in err
    assert "read({})  runs as well" in err
    assert '  path: "b\\u202e"' in err
    assert '  deep: {\n      "n": 1\n    }' in err
    assert "no arguments" in err


def test_approve_asks_only_about_what_is_left(approve, typed):
    typed("n\n\n")
    _, out, err = approve("--allow", "c2", "--json")
    assert json.loads(out)["decisions"] == {"c2": {"allow": True}, "c3": {"allow": False}}
    assert "1 call waits for you" in err


def test_approve_writes_nothing_when_it_is_left(approve, typed, tmp_path):
    typed("y\n")
    output = tmp_path / "decisions.json"
    code, out, err = approve("--json", "--output", output)
    assert (code, out, output.exists()) == (130, "", False)
    assert "nothing was decided" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "no terminal to ask on; give --allow or --deny for: c2, c3"),
        (["--allow", "c2"], "for: c3"),
        (["--allow", "c9"], "a decision for 'c9', which is no call of the reply"),
        (["--allow", "c2", "--deny", "c2"], "two decisions for call 'c2'"),
    ],
)
def test_approve_refuses_what_is_no_whole_decision(approve, words, told):
    code, out, err = approve(*words, stdin="")
    assert (code, out) == (2, "")
    assert told in err


def test_approve_shows_no_key_and_no_signature(approve, record):
    _, out, err = approve("--allow", "c2", "--allow", "c3", "--json")
    for secret in (KEY.decode(), record.signature):
        assert secret not in out + err


def test_approve_shows_what_runs_and_not_what_the_record_says_of_it(run, files, record, typed):
    calls = [call.model_copy(update={"summary": "harmless()"}) for call in record.calls]
    sly = record.model_copy(update={"calls": tuple(calls)})
    typed("y\ny\n")
    code, out, err = run("calls", "approve", files("pending", sly.model_dump_json()))
    assert code == 0
    assert "harmless" not in out + err
    assert out.splitlines()[0].startswith('allow delete({"path": ')


def test_approve_refuses_a_record_that_expired_or_is_none(run, files, record):
    old = record.model_copy(update={"expires": 1})
    for value, told in ((old.model_dump_json(), "expired; ask the model again"), ("[]", "cannot be read")):
        code, _, err = run("calls", "approve", files("pending", value), "--allow", "c2")
        assert (code, told in err) == (2, True)


def test_answers_say_nothing_about_the_calls_and_are_read_strictly(record):
    document = answers_document(record, {"c2": True, "c3": Deny("no")})
    assert "path" not in json.dumps(document)
    assert read_answers(json.dumps(document), record)["c3"] == Deny("no")
    for wrong in (
        "{oops",
        [],
        {"id": record.id},
        {**document, "id": "another"},
        {**document, "decisions": {"c2": {"allow": True}}},
        {**document, "decisions": {"c2": {"allow": "true"}, "c3": {"allow": True}}},
        {**document, "decisions": {"c2": True, "c3": True}},
        {**document, "decisions": {"c2": {"allow": True, "arguments": {}}, "c3": {"allow": True}}},
    ):
        with pytest.raises(DecisionError):
            read_answers(wrong, record)
    with pytest.raises(DecisionError, match="c3"):
        answers_document(record, {"c2": True})


def test_answers_of_the_program_resume_the_calls():
    log = Log()
    tools = [log.tool("read"), log.tool("delete", confirm="auto")]
    manager = ToolCallingManager(signer=PendingSigner(KEY), allow_replay=True)
    model = DecisionModel(FakeProvider())
    with pytest.raises(ConfirmationRequired) as stop:
        model.run(manager.execute_tool_calls(USER, REPLY, tools=tools))
    record = PendingCalls.read(stop.value.pending.model_dump_json())
    answers = answers_document(record, {"c2": True})
    decisions = read_answers(answers, record)
    model.run(manager.execute_tool_calls(USER, REPLY, tools=tools, pending=record, decisions=decisions))
    assert log.names == ["read", "delete"]
