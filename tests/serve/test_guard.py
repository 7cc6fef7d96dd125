import asyncio
from datetime import date

import pytest

from tests.serve.client import ask, post
from tests.serve.scripted import CHAT_TOML, Scripted, service_of
from yesno.serve.keys import add_key

KEYS = '[server]\nkeys_file = "keys.txt"\n'
MODELS = '[models.fast]\nmodel = "fake:"\n[models.slow]\nmodel = "fake:"\n'
OPENAI = {"model": "fast", "input": "hi", "questions": [{"type": "predicate", "instructions": "Is it?"}]}
SYSTEM_ONE = {"model": "fast", "state": "hi", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}}


@pytest.fixture
def serve(tmp_path):
    """Return a function that makes a service with a key for `alice` and one for `bob`."""
    keys = {name: add_key(tmp_path / "keys.txt", name, date(2026, 11, 30)) for name in ("alice", "bob")}

    def serve(text=MODELS, *, server=KEYS):
        return service_of(tmp_path, server + text), keys

    return serve


def decide(service, key=None, body=OPENAI, path="/v1/decisions", **more):
    return asyncio.run(post(service.asgi, path, body, key=key, **more))


def test_a_known_key_opens(serve):
    service, keys = serve()
    assert decide(service, keys["alice"]).status == 200


@pytest.mark.parametrize("header", ["x-api-key", "api-key", "X-API-Key"])
def test_other_headers_may_hold_the_key(serve, header):
    service, keys = serve()
    assert decide(service, headers=[(header, keys["alice"])]).status == 200


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([], "missing_api_key"),
        ([("authorization", "Basic YTpi")], "missing_api_key"),
        ([("authorization", "Bearer ")], "missing_api_key"),
        ([("authorization", "Bearer yesno-wrong")], "invalid_api_key"),
        ([("x-api-key", "ü")], "invalid_api_key"),
    ],
    ids=["none", "basic", "blank", "wrong", "odd"],
)
def test_without_a_known_key_nothing_is_asked(serve, headers, code):
    service, _ = serve()
    reply = decide(service, headers=headers)
    assert (reply.status, reply.json["error"]["code"]) == (401, code)
    assert reply["www-authenticate"] == "Bearer"
    assert "wrong" not in reply.body.decode()


def test_system_one_is_refused_in_its_own_form(serve):
    service, keys = serve()
    reply = decide(service, body=SYSTEM_ONE, path="/v1/systemone")
    assert (reply.status, reply.json["detail"]["error_type"]) == (401, "authentication_error")
    assert decide(service, keys["bob"], SYSTEM_ONE, "/v1/systemone").status == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [("/healthz", 200), ("/readyz", 200), ("/openapi.json", 200), ("/v1/models", 401), ("/metrics", 401), ("/x", 401)],
)  # fmt: skip
def test_only_what_says_nothing_is_open(serve, path, status):
    service, _ = serve()
    assert asyncio.run(ask(service.asgi, "GET", path)).status == status


def test_a_rate_is_one_keys_own(serve):
    service, keys = serve("[limits]\nrequests_per_minute = 30\nburst = 2\n" + MODELS)
    assert [decide(service, keys["alice"]).status for _ in range(3)] == [200, 200, 429]
    denied = decide(service, keys["alice"])
    assert denied.json["error"]["code"] == "rate_limit_exceeded"
    assert (denied["retry-after"], denied["retry-after-ms"]) == ("2", "2000")
    assert decide(service, keys["bob"]).status == 200


def test_looking_around_costs_no_rate(serve):
    service, keys = serve("[limits]\nrequests_per_minute = 60\nburst = 1\n" + MODELS)
    head = [("authorization", f"Bearer {keys['alice']}")]
    for _ in range(3):
        assert asyncio.run(ask(service.asgi, "GET", "/v1/models", headers=head)).status == 200
    assert decide(service, keys["alice"]).status == 200


def test_a_rate_of_nothing_says_not_to_retry(serve):
    service, keys = serve("[keys.alice]\nrequests_per_minute = 0\n" + MODELS)
    reply = decide(service, keys["alice"])
    assert (reply.status, reply["x-should-retry"], reply["retry-after"]) == (429, "false", None)


def test_without_keys_all_callers_share_the_limits(serve):
    service, _ = serve("[limits]\nrequests_per_minute = 60\nburst = 1\n" + MODELS, server="")
    assert [decide(service).status for _ in range(2)] == [200, 429]


def test_a_budget_ends_the_decisions_of_its_key_alone(serve):
    service, keys = serve("[keys.alice]\nbudget_requests = 2\n" + MODELS)
    assert [decide(service, keys["alice"]).status for _ in range(3)] == [200, 200, 429]
    reply = decide(service, keys["alice"])
    assert (reply.json["error"]["code"], reply["x-should-retry"]) == ("insufficient_quota", "false")
    assert decide(service, keys["bob"]).status == 200


def test_a_key_sees_and_asks_the_models_it_may(serve):
    service, keys = serve('[keys.alice]\nmodels = ["slow"]\n' + MODELS)
    head = [("authorization", f"Bearer {keys['alice']}")]
    listed = asyncio.run(ask(service.asgi, "GET", "/v1/models", headers=head)).json
    assert [entry["id"] for entry in listed["data"]] == ["slow"]
    assert decide(service, keys["alice"], {**OPENAI, "model": "slow"}).status == 200
    assert decide(service, keys["alice"], {**OPENAI, "model": "fast"}).status == 404


def test_a_key_may_be_given_a_chat_and_no_other_route(tmp_path, serve):
    _, keys = serve()
    small = Scripted(b"{}")
    text = KEYS + '[keys.alice]\nmodels = ["small"]\n' + CHAT_TOML
    service = service_of(tmp_path, text, {"small": small, "large": small})
    hi = {"messages": [{"role": "user", "content": "hi"}]}
    chat = "/v1/chat/completions"
    assert decide(service, keys["alice"], {"model": "small", **hi}, chat).status == 200
    reply = decide(service, keys["alice"], {"model": "auto", **hi}, chat)
    assert (reply.status, "this server has small" in reply.json["error"]["message"]) == (404, True)


def test_a_server_with_enough_to_do_sends_more_away(serve):
    async def go():
        service, keys = serve(server=KEYS + "max_concurrency = 1\n")
        arrived = asyncio.Event()
        first = asyncio.create_task(
            post(service.asgi, "/v1/decisions", OPENAI, key=keys["alice"], arrives=arrived.wait)
        )
        await asyncio.sleep(0)
        second = await post(service.asgi, "/v1/decisions", OPENAI, key=keys["bob"])
        open_ = await ask(service.asgi, "GET", "/healthz")
        arrived.set()
        return await first, second, open_

    first, second, open_ = asyncio.run(go())
    assert (first.status, second.status, open_.status) == (200, 503, 200)
    assert (second.json["error"]["code"], second["retry-after"]) == ("overloaded", "1")


def test_requests_of_one_key_under_way_are_limited(serve):
    async def go():
        service, keys = serve("[limits]\nconcurrency = 1\n" + MODELS)
        arrived = asyncio.Event()
        asked = (service.asgi, "/v1/decisions", OPENAI)
        first = asyncio.create_task(post(*asked, key=keys["alice"], arrives=arrived.wait))
        await asyncio.sleep(0)
        second = await post(*asked, key=keys["alice"])
        other = await post(*asked, key=keys["bob"])
        arrived.set()
        await first
        return second, other, await post(*asked, key=keys["alice"])

    second, other, again = asyncio.run(go())
    assert (second.status, second.json["error"]["code"]) == (429, "too_many_requests")
    assert (other.status, again.status) == (200, 200)


def test_a_body_that_does_not_arrive_is_given_up(serve):
    async def go():
        service, keys = serve(server=KEYS + "timeout_s = 0.02\n")
        never = asyncio.Event()
        return await post(service.asgi, "/v1/decisions", OPENAI, key=keys["alice"], arrives=never.wait)

    reply = asyncio.run(asyncio.wait_for(go(), 10))
    assert (reply.status, reply.json["error"]["code"], reply["connection"]) == (408, "body_timeout", "close")


def test_limits_on_bodies_and_questions_come_from_the_file(serve):
    service, keys = serve(server=KEYS + "max_body_bytes = 300\nmax_questions = 1\n")
    many = {**OPENAI, "questions": OPENAI["questions"] * 2}
    assert decide(service, keys["alice"], many).json["error"]["code"] == "too_many_questions"
    assert decide(service, keys["alice"], {**OPENAI, "input": "x" * 300}).status == 413


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:8000", 200),
        ("app.localhost", 200),
        ("LOCALHOST", 200),
        ("evil.example:8000", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("[::2]:8000", 403),
        ("", 403),
    ],
)
def test_a_server_without_keys_answers_to_this_machines_names(serve, host, status):
    service, _ = serve(server="")
    reply = decide(service, headers=[("host", host)])
    assert reply.status == status
    if status == 403:
        assert reply.json["error"]["code"] == "host_not_allowed"


def test_with_keys_a_server_may_have_any_name(serve):
    service, keys = serve()
    assert decide(service, keys["alice"], headers=[("host", "decisions.example")]).status == 200
