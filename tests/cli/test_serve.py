"""`yesno serve`, up to the point where it would listen for good."""

import socket
import sys
from contextlib import ExitStack

import pytest

from yesno.cli.options import Connection
from yesno.cli.serving import bound, named_models, opened, told
from yesno.errors import ConfigError


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, {"local": "local"}),
        ([], {"local": "local"}),
        (["fake"], {"fake": "fake"}),
        (["openai:gpt-5.4-mini"], {"openai:gpt-5.4-mini": "openai:gpt-5.4-mini"}),
        (["fast=openai:gpt-5.4-mini", "local"], {"fast": "openai:gpt-5.4-mini", "local": "local"}),
        (["openai-compatible:a=b"], {"openai-compatible:a=b": "openai-compatible:a=b"}),
    ],
)
def test_models_are_named_by_alias_or_by_what_they_are(given, named):
    assert named_models(given) == named


def test_the_environment_names_the_model_when_nothing_else_does(monkeypatch):
    monkeypatch.setenv("YESNO_MODEL", "fake:x")
    assert named_models(None) == {"fake:x": "fake:x"}


@pytest.mark.parametrize("given", [["a=fake", "a=local"], ["fake", "fake"]])
def test_an_alias_is_used_once(given):
    with pytest.raises(ConfigError, match="used twice"):
        named_models(given)


@pytest.mark.parametrize("given", [[""], ["=fake"], ["a="]])
def test_an_alias_and_a_model_are_not_blank(given):
    with pytest.raises(ConfigError, match="ALIAS=PROVIDER:MODEL"):
        named_models(given)


def test_every_model_gets_the_options():
    with ExitStack() as held:
        models = opened({"a": "fake:x", "b": "fake:y"}, Connection(orders=2, timeout=3), held)
    assert [(model.model_name, model.asking.orders, model.timeout_s) for model in models.values()] == [
        ("x", 2, 3),
        ("y", 2, 3),
    ]


def test_a_scripted_model_that_is_served_remembers_no_request():
    with ExitStack() as held:
        (model,) = opened({"a": "fake"}, Connection(), held).values()
    model.provider.send({"model": "m", "messages": [{"content": "q"}]})
    assert model.provider.requests == []


@pytest.mark.parametrize(
    ("strategy", "way"), [("auto", "native"), ("native", "native"), ("logprobs", "logprobs")]
)
def test_a_scripted_model_that_is_served_answers_at_once_unless_told_otherwise(strategy, way):
    with ExitStack() as held:
        (model,) = opened({"a": "fake"}, Connection(strategy=strategy), held).values()
    assert model.provider.profile.strategies == (way,)


def test_a_server_says_what_it_serves_and_where():
    class Listener:
        def getsockname(self):
            return ("::1", 8000, 0, 0)

    assert told({"a": None, "b": None}, Listener()) == (
        "yesno serves a, b at http://[::1]:8000/v1 (decisions, systemone, models)"
    )


class NoSocket:
    """Stands for a socket whose address is taken."""

    def __init__(self, *kind):
        assert kind[2] == socket.IPPROTO_TCP  # asyncio turns Nagle's delay off for these only
        self.closed = False

    def setsockopt(self, *option):
        pass

    def bind(self, address):
        raise OSError(98, "Address already in use")

    def close(self):
        pass


def test_an_address_that_is_taken_is_told_in_one_line(monkeypatch, run):
    monkeypatch.setattr("yesno.cli.serving.socket.socket", NoSocket)
    with pytest.raises(ConfigError, match="choose another --host or --port"):
        bound("127.0.0.1", 8000)
    code, out, err = run("serve", "--model", "fake")
    assert (code, out) == (2, "")
    assert err == (
        "yesno: cannot listen at 127.0.0.1:8000: Address already in use; choose another --host or --port\n"
    )


def test_an_unknown_provider_is_told_before_anything_listens(run):
    code, _, err = run("serve", "--model", "a=nobody:x")
    assert code == 2
    assert "there is no provider 'nobody'" in err


def test_without_the_extra_it_says_what_to_install(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, err = run("serve", "--model", "fake")
    assert (code, err) == (2, "yesno: serving needs the package uvicorn; pip install 'yesno[serve]'\n")
