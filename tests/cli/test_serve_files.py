import socket

import pytest

from tests.serve.scripted import CHAT_TOML
from tests.serve.test_keys import TODAY
from yesno.serve.keys import add_key

MODELS = '[models.fast]\nmodel = "fake:"\n'


@pytest.fixture
def ran(monkeypatch, tmp_path):
    """Stand for the server that runs; return what was run."""
    monkeypatch.chdir(tmp_path)
    services = []

    class Runner:
        def __init__(self, service):
            services.append(service)

        def run(self, sockets):
            assert len(sockets) == 1

    class Listener(socket.socket):
        def getsockname(self):
            return ("127.0.0.1", 8765)

    monkeypatch.setattr("yesno.serve.running.Runner", Runner)
    monkeypatch.setattr("yesno.cli.serving.bound", lambda host, port: Listener(socket.AF_UNIX))
    monkeypatch.setattr("yesno.cli.serving.log_to_stderr", lambda form: None)
    return services


def test_a_file_says_what_is_served(run, ran, tmp_path):
    (tmp_path / "serve.toml").write_text(CHAT_TOML)
    code, out, err = run("serve", "--config", "serve.toml")
    assert (code, out) == (0, "")
    assert err == (
        "yesno serves judge and the chats auto, small, large at http://127.0.0.1:8765/v1 "
        "(decisions, systemone, models, chat/completions)\n"
    )
    assert list(ran[0].parts.models) == ["judge"]


def test_a_file_can_be_checked_without_serving(run, ran, tmp_path):
    (tmp_path / "serve.toml").write_text(MODELS)
    assert run("serve", "--config", "serve.toml", "--check") == (0, "serve.toml holds no mistake: fast\n", "")
    (tmp_path / "serve.toml").write_text("[server]\nport = 1.5\n" + MODELS + "modle = 1\n")
    code, out, err = run("serve", "--config", "serve.toml", "--check")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "yesno: serve.toml, line 2: server.port must be a whole number, not 1.5",
        "serve.toml, line 5: models.fast.modle is unknown; did you mean 'model'?",
    ]
    assert ran == []


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[models.a]\nmodel = "no-such:x"\n', "line 1: models.a – "),
        ('[models.a]\nmodel = "openai:x"\n', "line 1: models.a – "),
        ('[models.a]\nmodel = "fake:"\ntemplate = "none"\n', "line 1: models.a – "),
        ('[models.a]\nmodel = "fake:"\ncalibration = "none.json"\n', "line 1: models.a – "),
        ('[models.a]\nmodel = "fake:"\nbase_url = "http://x"\n', "line 1: models.a – "),
        (CHAT_TOML + "[chat.tool_filter]\nshortlist = 3\nmin_probability = 0.5\n", None),
    ],
    ids=["provider", "key", "template", "calibration", "base_url", "filter"],
)
def test_a_model_that_cannot_be_made_is_told_with_its_line(run, ran, tmp_path, table, said):
    (tmp_path / "serve.toml").write_text(table)
    code, _, err = run("serve", "--config", "serve.toml", "--check")
    assert code == (0 if said is None else 2)
    assert err == "" if said is None else err.startswith(f"yesno: serve.toml, {said}")


@pytest.mark.parametrize(
    "words", [("--model", "fake"), ("--keys", "keys.txt"), ("--strict",), ("--timeout", "3")], ids=str
)
def test_options_of_models_belong_into_the_file(run, ran, tmp_path, words):
    (tmp_path / "serve.toml").write_text(MODELS)
    code, _, err = run("serve", "--config", "serve.toml", *words)
    assert (code, "put the other options into the file" in err) == (2, True)


def test_check_is_about_a_file(run, ran):
    code, _, err = run("serve", "--model", "fake", "--check")
    assert (code, "--check is about the file of --config" in err) == (2, True)


def test_the_address_of_the_command_wins_and_is_checked(run, ran, tmp_path):
    (tmp_path / "serve.toml").write_text("[server]\nport = 9\n" + MODELS)
    assert run("serve", "--config", "serve.toml", "--port", "7")[0] == 0
    assert ran[0].parts.server.port == 7
    code, _, err = run("serve", "--config", "serve.toml", "--host", "0.0.0.0")  # noqa: S104
    assert (code, "can be reached from other machines" in err) == (2, True)


def test_options_serve_with_keys(run, ran, tmp_path):
    add_key(tmp_path / "keys.txt", "alice", TODAY)
    assert run("serve", "--model", "x=fake", "--keys", "keys.txt", "--host", "10.0.0.1")[0] == 0
    assert list(ran[0].parts.policy.callers) == ["alice"]
    add_key(tmp_path / "keys.txt", "bob", TODAY)
    again = ran[0]._reread(ran[0].parts)
    assert list(again.policy.callers) == ["alice", "bob"]
    assert again.models is ran[0].parts.models


@pytest.mark.parametrize("source", [("--model", "fake"), ("--config", "serve.toml")], ids=["options", "file"])
def test_the_access_log_can_be_left_out(run, ran, tmp_path, source):
    (tmp_path / "serve.toml").write_text(MODELS)
    assert run("serve", *source)[0] == 0
    assert run("serve", *source, "--no-access-log")[0] == 0
    assert [service.parts.server.access_log for service in ran] == [True, False]


def test_options_serve_nobody_else_without_keys(run, ran):
    code, _, err = run("serve", "--model", "fake", "--host", "::")
    assert (code, "there are no keys" in err) == (2, True)
    assert ran == []


def test_an_example_is_printed_that_can_be_used(run, ran, tmp_path):
    code, out, err = run("serve", "--example")
    assert (code, err) == (0, "")
    (tmp_path / "serve.toml").write_text(out.replace("local:qwen2.5-coder-1.5b", "fake:"))
    assert run("serve", "--config", "serve.toml", "--check") == (
        0,
        "serve.toml holds no mistake: judge\n",
        "",
    )
