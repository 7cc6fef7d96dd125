import asyncio
import json
from datetime import date

import pytest
from aiohttp import ClientConnectorError
from aiohttp.client_reqrep import ConnectionKey

from tests.serve.client import ask, post
from tests.serve.scripted import CHAT_TOML, Scripted, service_of
from yesno.errors import ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.serve.keys import add_key

PATH = "/v1/chat/completions"
HI = [{"role": "user", "content": "hello there"}]
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "found"}
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("find", "send", "pay")]


def by_tool(prompt):
    """Choose the second route; of the tools only `find` helps."""
    if "find" in prompt:
        return {"Yes": 0.9, "No": 0.1}
    if "send" in prompt or "pay" in prompt:
        return {"Yes": 0.1, "No": 0.9}
    return {"A": 0.2, "B": 0.7}


class House:
    """A service with two scripted upstreams."""

    def __init__(self, folder, text=CHAT_TOML, script=by_tool, **upstreams):
        self.small = upstreams.get("small") or Scripted(b'{"from": "small"}')
        self.large = upstreams.get("large") or Scripted(b'{"from": "large"}')
        self.service = service_of(folder, text, {"small": self.small, "large": self.large}, script)
        self.app = self.service.asgi

    def post(self, body=None, **more):
        given = {"model": "auto", "messages": HI, **(body or {})}
        return asyncio.run(post(self.app, PATH, given, **more))


@pytest.fixture
def house(tmp_path):
    return House(tmp_path)


def test_the_route_that_was_chosen_answers_and_is_named_in_the_headers(house):
    reply = house.post({"temperature": 0.5})
    assert (reply.status, reply.json) == (200, {"from": "large"})
    assert (reply["x-yesno-route"], reply["x-yesno-route-why"]) == ("large", "chosen")
    assert float(reply["x-yesno-route-probability"]) == pytest.approx(0.7778, abs=1e-4)
    ((body, _),) = house.large.asked
    assert json.loads(body) == {"model": "huge", "messages": HI, "temperature": 0.5}
    assert house.small.asked == []


def test_a_request_that_names_a_route_goes_there_unasked(house):
    reply = house.post({"model": "small"})
    assert reply.json == {"from": "small"}
    assert reply["x-yesno-route-why"] == "named"
    assert reply["x-yesno-route-probability"] is None


def test_an_unknown_model_is_not_found(house):
    reply = house.post({"model": "gpt-4"})
    assert (reply.status, reply.json["error"]["code"]) == (404, "model_not_found")
    assert "this server has auto, small, large" in reply.json["error"]["message"]


def test_a_decision_that_fails_takes_the_default_and_says_so(tmp_path):
    reply = House(tmp_path, script={"<refusal>": 1.0}).post()
    assert (reply["x-yesno-route"], reply["x-yesno-route-why"]) == ("small", "refused")


def test_a_decision_that_may_not_fail_is_an_error(tmp_path):
    text = CHAT_TOML.replace('default = "small"', 'default = "small"\nfallback = "fail"')
    failure = ProviderRejected("no", provider="fake", status=400)
    house = House(tmp_path, text, script=lambda prompt: failure)
    reply = house.post()
    assert (reply.status, reply.json["error"]["code"]) == (502, "model_failed")
    assert house.small.asked == house.large.asked == []


def test_a_conversation_of_an_unknown_shape_takes_the_default_with_all_tools(tmp_path):
    house = House(tmp_path, CHAT_TOML + "[chat.tool_filter]\n")
    odd = [{"role": "user", "content": [{"type": "hologram", "data": "x"}]}]
    reply = house.post({"messages": odd, "tools": TOOLS})
    assert (reply["x-yesno-route"], reply["x-yesno-route-why"]) == ("small", "unreadable")
    assert reply["x-yesno-tools-why"] == "fallback"
    assert json.loads(house.small.asked[0][0]) == {"model": "tiny", "messages": odd, "tools": TOOLS}


def test_the_requests_of_a_turn_ask_once(tmp_path):
    prompts = []

    def script(prompt):
        prompts.append(prompt)
        return by_tool(prompt)

    house = House(tmp_path, CHAT_TOML + "[chat.tool_filter]\n", script)
    first = house.post({"tools": TOOLS})
    count = len(prompts)
    second = house.post({"messages": [*HI, CALL, RESULT], "tools": TOOLS})
    assert count == 4
    assert len(prompts) == count
    assert first["x-yesno-route"] == second["x-yesno-route"] == "large"
    assert first["x-yesno-tools-sent"] == second["x-yesno-tools-sent"] == "1"
    house.post({"messages": [*HI, CALL, RESULT, {"role": "user", "content": "and now?"}], "tools": TOOLS})
    assert len(prompts) > count


def test_a_schema_goes_to_a_route_that_can_hold_to_it(tmp_path):
    text = CHAT_TOML.replace('model = "tiny"', 'model = "tiny"\ncapabilities = ["json_schema"]')
    schema = {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}
    reply = House(tmp_path, text).post(schema)
    assert (reply["x-yesno-route"], reply["x-yesno-route-why"]) == ("small", "only_route")


def test_fewer_tools_are_sent_where_a_filter_is_set_up(tmp_path):
    house = House(tmp_path, CHAT_TOML + "[chat.tool_filter]\n")
    reply = house.post({"tools": TOOLS})
    assert json.loads(house.large.asked[0][0])["tools"] == [TOOLS[0]]
    assert (reply["x-yesno-tools-offered"], reply["x-yesno-tools-sent"]) == ("3", "1")
    metrics = asyncio.run(ask(house.app, "GET", "/metrics")).body.decode()
    assert 'yesno_chat_tools_total{what="offered"} 3.0' in metrics
    assert 'yesno_chat_tools_total{what="sent"} 1.0' in metrics
    assert 'yesno_chats_total{route="large",why="chosen"} 1.0' in metrics


def test_without_a_filter_all_tools_are_sent(house):
    reply = house.post({"tools": TOOLS})
    assert json.loads(house.large.asked[0][0])["tools"] == TOOLS
    assert reply["x-yesno-tools-offered"] is None


def test_an_error_of_the_upstream_is_passed_back_as_it_is(tmp_path):
    body = b'{"error":{"message":"slow  down","type":"x"}}'
    headers = [(b"Content-Type", b"application/json"), (b"Retry-After", b"7"), (b"X-Request-Id", b"up-1")]
    for status in (400, 403, 404, 422, 429, 500, 503, 529):
        large = Scripted(body, status=status, headers=headers)
        reply = House(tmp_path, large=large).post(headers=[("x-request-id", "mine-1")])
        assert (reply.status, reply.body, reply["retry-after"]) == (status, body, "7")
        assert (reply["x-request-id"], reply["x-upstream-request-id"]) == ("mine-1", "up-1")
        assert large.asked[0][1][b"x-request-id"] == b"mine-1"


def test_a_401_is_about_the_servers_own_key_and_is_not_shown(tmp_path):
    large = Scripted(b'{"error": {"message": "Incorrect API key provided: sk-1234"}}', status=401)
    reply = House(tmp_path, large=large).post()
    assert (reply.status, reply.json["error"]["code"]) == (502, "upstream_key_refused")
    assert b"sk-1234" not in reply.body


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ProviderUnavailable("cannot be reached", provider="large", status=502), 502, "upstream_unavailable"),
        (ProviderUnavailable("no answer in time", provider="large", status=504), 504, "upstream_timeout"),
        (UnreadableReply("a redirect", provider="large", status=502), 502, "upstream_redirects"),
    ],
    ids=["unreachable", "slow", "redirect"],
)
def test_an_upstream_that_does_not_answer_is_a_bad_gateway(tmp_path, error, status, code):
    reply = House(tmp_path, large=Scripted(error=error)).post()
    assert (reply.status, reply.json["error"]["code"]) == (status, code)
    assert (reply["retry-after"] is None) == (code == "upstream_redirects")
    assert (reply["x-yesno-route"], reply["x-yesno-route-why"]) == ("large", "chosen")


def test_events_are_passed_on_before_the_next_is_there(tmp_path):
    async def go():
        more = asyncio.Event()
        large = Scripted(
            b"data: 1\n\n", more, b"data: 2\n\n", headers=[(b"content-type", b"text/event-stream")]
        )
        house = House(tmp_path, large=large)
        return await post(
            house.app,
            PATH,
            {"model": "auto", "messages": HI, "stream": True},
            on_piece=lambda piece: more.set(),
        )

    reply = asyncio.run(asyncio.wait_for(go(), 10))
    assert reply.pieces == [b"data: 1\n\n", b"data: 2\n\n"]
    assert (reply["content-type"], reply.whole) == ("text/event-stream", True)


@pytest.mark.parametrize("when", ["before_the_answer", "within_the_answer"])
def test_a_client_that_goes_away_ends_the_request_at_the_upstream(tmp_path, when):
    async def go():
        gone, never = asyncio.Event(), asyncio.Event()
        pieces = [b"data: 1\n\n", never] if when == "within_the_answer" else [never]
        large = Scripted(*pieces)
        house = House(tmp_path, large=large)
        asking = asyncio.create_task(
            post(house.app, PATH, {"model": "large", "messages": HI, "stream": True}, gone=gone)
        )
        await large.began.wait()
        assert large.under_way == 1
        gone.set()
        reply = await asking
        return reply, large

    reply, large = asyncio.run(asyncio.wait_for(go(), 10))
    assert large.under_way == 0
    assert not reply.whole


def test_an_answer_that_breaks_off_stays_broken(tmp_path):
    broken = ProviderUnavailable("broke off", provider="large", status=502)
    reply = House(tmp_path, large=Scripted(b"data: 1\n\n", broken)).post({"stream": True})
    assert (reply.status, reply.pieces, reply.whole) == (200, [b"data: 1\n\n"], False)


def test_the_callers_key_never_reaches_an_upstream(tmp_path):
    key = add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
    house = House(tmp_path, '[server]\nkeys_file = "keys.txt"\n' + CHAT_TOML)
    assert house.post(key=key, headers=[("x-api-key", key), ("cookie", key)]).status == 200
    body, headers = house.large.asked[0]
    assert key.encode() not in body
    assert key.encode() not in b"".join(headers.values())


def test_a_server_without_chats_says_so(tmp_path):
    service = service_of(tmp_path, '[models.judge]\nmodel = "fake:"\n')
    reply = asyncio.run(post(service.asgi, PATH, {"model": "auto", "messages": HI}))
    assert (reply.status, reply.json["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 400), (b"[]", 400), (b"{", 400), (b'{"model": 1}', 400), (b"\xff", 400), (b"[" * 200 + b"]" * 200, 400)],
    ids=["empty", "list", "cut", "number", "binary", "deep"],
)  # fmt: skip
def test_a_body_that_is_no_request_is_a_4xx_in_openais_form(house, body, status):
    reply = asyncio.run(
        ask(house.app, "POST", PATH, headers=[("content-type", "application/json")], body=body)
    )
    assert reply.status == status
    assert set(reply.json["error"]) == {"message", "type", "param", "code"}
    assert house.large.asked == []


def test_chat_models_are_in_openais_list_alone(house):
    listed = asyncio.run(ask(house.app, "GET", "/v1/models")).json
    assert [entry["id"] for entry in listed["data"]] == ["judge", "auto", "small", "large"]
    assert [entry["name"] for entry in listed["models"]] == ["judge"]


PRICED = CHAT_TOML.replace('model = "huge"', 'model = "huge"\nprice = { input = 1, output = 2 }').replace(
    'model = "tiny"', 'model = "tiny"\nprice = { input = 1, output = 2 }'
)
ANSWER = b'{"usage": {"prompt_tokens": 100, "completion_tokens": 50}}'


def spent(house):
    return house.service.parts.policy.callers[None].budget().spent


def test_a_budget_counts_what_the_answer_says_was_used(tmp_path):
    house = House(tmp_path, "[limits]\nbudget_usd = 1\n" + PRICED, large=Scripted(ANSWER))
    assert house.post({"model": "large"}).status == 200
    assert (spent(house).tokens, spent(house).requests) == (150, 1)
    assert spent(house).usd == pytest.approx((100 * 1 + 50 * 2) / 1e6)


def test_a_budget_counts_all_that_was_possible_where_the_answer_does_not_say(tmp_path):
    house = House(tmp_path, "[limits]\nbudget_tokens = 100000\n" + CHAT_TOML)
    house.post({"model": "large", "max_tokens": 77})
    assert spent(house).tokens == len(house.large.asked[0][0]) + 77
    house.post({"model": "large"})
    assert spent(house).tokens == sum(len(body) for body, _ in house.large.asked) + 77 + 4096


def test_a_failed_request_costs_no_tokens(tmp_path):
    text = "[limits]\nbudget_tokens = 100000\n" + CHAT_TOML
    house = House(tmp_path, text, large=Scripted(b"{}", status=500))
    house.post({"model": "large"})
    assert (spent(house).requests, spent(house).tokens) == (1, 0)


@pytest.mark.parametrize("sent", [True, False], ids=["broken", "never_sent"])
def test_what_was_never_sent_costs_no_tokens(tmp_path, sent):
    lost = ProviderUnavailable("cannot be reached", provider="large", status=502)
    key = ConnectionKey("large", 80, False, False, None, None, None)
    lost.__cause__ = OSError("reset") if sent else ClientConnectorError(key, OSError("refused"))
    house = House(tmp_path, "[limits]\nbudget_tokens = 100000\n" + CHAT_TOML, large=Scripted(error=lost))
    assert house.post({"model": "large"}).status == 502
    assert (spent(house).tokens > 0, spent(house).requests) == (sent, 1)


def test_a_spent_budget_sends_nothing(tmp_path):
    house = House(tmp_path, "[limits]\nbudget_tokens = 100\n" + CHAT_TOML)
    reply = house.post({"model": "large"})
    assert (reply.status, reply.json["error"]["code"]) == (429, "insufficient_quota")
    assert reply["x-should-retry"] == "false"
    assert house.large.asked == []


def test_without_tools_as_fallback_an_unreadable_conversation_gets_those_that_are_always_kept(tmp_path):
    text = CHAT_TOML + '[chat.tool_filter]\nfallback = "no_tools"\nalways_include = ["find"]\n'
    house = House(tmp_path, text)
    odd = [{"role": "user", "content": [{"type": "hologram", "data": "x"}]}]
    reply = house.post({"messages": odd, "tools": TOOLS})
    assert reply["x-yesno-tools-why"] == "fallback"
    sent = json.loads(house.small.asked[0][0]).get("tools", [])
    assert [tool["function"]["name"] for tool in sent] == ["find"]
