import asyncio
import logging
from datetime import date

import pytest

from tests.serve.client import ask, post
from tests.serve.scripted import CHAT_TOML, Scripted, service_of
from yesno.serve.keys import add_key

MODELS = '[models.fast]\nmodel = "fake:"\n'
CONTENT = "the patient has measles"
BODY = {
    "model": "fast",
    "input": CONTENT,
    "questions": [{"type": "predicate", "instructions": "Is Ann ill?"}],
}
STANDARD = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


@pytest.fixture(autouse=True)
def _heard(caplog):
    caplog.set_level("DEBUG", logger="yesno")


def lines(caplog):
    """Return what was logged, field by field."""
    records = [record for record in caplog.records if record.name == "yesno.access"]
    return [{name: v for name, v in vars(record).items() if name not in STANDARD} for record in records]


def test_a_line_says_who_asked_and_how_it_went_and_nothing_else(tmp_path, caplog):
    key = add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
    service = service_of(tmp_path, '[server]\nkeys_file = "keys.txt"\n' + MODELS)
    head = [("x-request-id", "r-1")]
    asyncio.run(post(service.asgi, "/v1/decisions", BODY, key=key, headers=head, query=b"secret=1"))
    (line,) = lines(caplog)
    assert line.pop("duration_ms") > 0
    assert line.pop("bytes_in") > 100
    assert line.pop("bytes_out") > 50
    assert line == {
        "method": "POST",
        "path": "/v1/decisions",
        "status": 200,
        "client": "127.0.0.1",
        "request_id": "r-1",
        "key": "alice",
        "alias": "fast",
        "questions": 1,
    }
    assert caplog.records[-1].getMessage() == "request_served"


def test_neither_content_nor_keys_are_logged_anywhere(tmp_path, caplog):
    key = add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
    small = Scripted(b'{"choices": "' + CONTENT.encode() + b'"}')
    text = '[server]\nkeys_file = "keys.txt"\n' + CHAT_TOML.replace(
        'model = "tiny"', 'model = "tiny"\napi_key_env = "UP_KEY"'
    )
    service = service_of(
        tmp_path, text, {"small": small, "large": small}, environment={"UP_KEY": "sk-upstream"}
    )
    caplog.set_level("INFO", logger="yesno")
    chat = {"model": "auto", "messages": [{"role": "user", "content": CONTENT}], "temperature": "hot"}
    asyncio.run(post(service.asgi, "/v1/chat/completions", chat, key=key))
    asyncio.run(post(service.asgi, "/v1/decisions", {**BODY, "model": "judge"}, key=key))
    asyncio.run(post(service.asgi, "/v1/decisions", {"secret": CONTENT}, key=key))
    asyncio.run(post(service.asgi, "/v1/decisions", BODY, key="wrong-key-of-somebody"))
    told = "\n".join(str(vars(record)) for record in caplog.records)
    assert len(lines(caplog)) == 4
    for hidden in (CONTENT, "measles", "Is Ann ill", key, "sk-upstream", "wrong-key-of-somebody"):
        assert hidden not in told


def test_a_refused_request_is_logged_with_its_code(tmp_path, caplog):
    service = service_of(tmp_path, MODELS)
    asyncio.run(post(service.asgi, "/v1/decisions", {**BODY, "model": "none"}))
    (line,) = lines(caplog)
    assert (line["status"], line["problem"]) == (404, "model_not_found")


def test_a_chat_is_logged_with_its_route_tools_and_tokens(tmp_path, caplog):
    answer = Scripted(b'{"usage": {"prompt_tokens": 5, "completion_tokens": 7}}')
    text = CHAT_TOML + "[chat.tool_filter]\nmin_probability = 0.95\n"
    service = service_of(tmp_path, text, {"small": answer, "large": answer})
    tools = [{"type": "function", "function": {"name": name}} for name in ("a", "b")]
    chat = {"model": "auto", "messages": [{"role": "user", "content": "hi"}], "tools": tools}
    asyncio.run(post(service.asgi, "/v1/chat/completions", chat))
    (line,) = lines(caplog)
    assert (line["route"], line["route_why"], line["alias"]) == ("small", "chosen", "auto")
    assert (line["tools_offered"], line["tools_sent"], line["tools_why"]) == (2, 0, "filtered")
    assert (line["input_tokens"], line["output_tokens"], line["decision_requests"]) == (5, 7, 2)


def test_probes_that_go_well_are_quiet(tmp_path, caplog):
    service = service_of(tmp_path, MODELS)
    for path in ("/healthz", "/readyz", "/metrics"):
        asyncio.run(ask(service.asgi, "GET", path))
    service.leave()
    asyncio.run(ask(service.asgi, "GET", "/readyz"))
    levels = [record.levelname for record in caplog.records if record.name == "yesno.access"]
    assert levels == ["DEBUG"] * 3 + ["INFO"]


def test_the_log_can_be_turned_off(tmp_path, caplog):
    service = service_of(tmp_path, "[server]\naccess_log = false\n" + MODELS)
    asyncio.run(post(service.asgi, "/v1/decisions", BODY))
    assert lines(caplog) == []


def test_what_is_logged_below_knows_the_request(tmp_path, caplog):
    small = Scripted(b"{}")
    service = service_of(tmp_path, CHAT_TOML, {"small": small, "large": small}, script={"<refusal>": 1.0})
    chat = {"model": "auto", "messages": [{"role": "user", "content": "hi"}]}
    asyncio.run(post(service.asgi, "/v1/chat/completions", chat, headers=[("x-request-id", "r-7")]))
    (record,) = [record for record in caplog.records if record.getMessage() == "router_fell_back"]
    assert record.request_id == "r-7"


def test_a_server_that_leaves_says_so_and_asks_for_closed_connections(tmp_path):
    service = service_of(tmp_path, MODELS)
    before = asyncio.run(ask(service.asgi, "GET", "/readyz"))
    service.leave()
    ready = asyncio.run(ask(service.asgi, "GET", "/readyz"))
    alive = asyncio.run(ask(service.asgi, "GET", "/healthz"))
    decided = asyncio.run(post(service.asgi, "/v1/decisions", BODY))
    assert (before.status, before["connection"]) == (200, None)
    assert (ready.status, ready["connection"]) == (503, "close")
    assert (alive.status, decided.status, decided["connection"]) == (200, 200, "close")


@pytest.mark.parametrize("origins", ["[]", '["https://page.example"]'], ids=["off", "on"])
def test_a_web_page_may_call_only_when_it_is_named(tmp_path, origins):
    service = service_of(tmp_path, f"[server]\ncors_origins = {origins}\n" + MODELS)
    allowed = None if origins == "[]" else "https://page.example"
    preflight = [
        ("origin", "https://page.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ]
    reply = asyncio.run(ask(service.asgi, "OPTIONS", "/v1/decisions", headers=preflight))
    assert reply["access-control-allow-origin"] == allowed
    reply = asyncio.run(
        post(service.asgi, "/v1/decisions", BODY, headers=[("origin", "https://page.example")])
    )
    assert (reply.status, reply["access-control-allow-origin"]) == (200, allowed)
    other = asyncio.run(
        post(service.asgi, "/v1/decisions", BODY, headers=[("origin", "https://evil.example")])
    )
    assert other["access-control-allow-origin"] is None


def test_lines_go_where_they_are_wanted_with_their_level(tmp_path, caplog):
    told = []
    service = service_of(tmp_path, MODELS, log_line=lambda *line: told.append(line))
    asyncio.run(post(service.asgi, "/v1/decisions", BODY))
    asyncio.run(ask(service.asgi, "GET", "/healthz"))
    assert [(level, event, fields["path"]) for level, event, fields in told] == [
        ("info", "request_served", "/v1/decisions"),
        ("debug", "request_served", "/healthz"),
    ]
    assert lines(caplog) == []
