"""Paths besides the two that decide, and what a program that runs the server can change."""

import asyncio
import re

import jsonschema
import pytest
from starlette.middleware import Middleware

from tests.serve.asgi import acall, ask, call, decide, documented, openai, served, systemone
from yesno import AsyncDecisionModel, FakeProvider
from yesno.errors import ConfigError, RequestProblem
from yesno.serve import Settings, create_app
from yesno.serve.models import Models

APP = served()
TWO = create_app(
    {
        "big": AsyncDecisionModel(FakeProvider({"Yes": 0.9, "No": 0.1}, model="big-1")),
        "small": AsyncDecisionModel(FakeProvider({"Yes": 0.6, "No": 0.4}, model="small-1")),
    }
)


def test_models_are_listed_in_the_shapes_of_both_sdks():
    listed = call(TWO, "/v1/models").json()
    assert listed["object"] == "list"
    assert [(entry["id"], entry["object"]) for entry in listed["data"]] == [
        ("big", "model"),
        ("small", "model"),
    ]
    assert [entry["name"] for entry in listed["models"]] == ["big", "small"]
    assert listed["models"][1]["description"] == "fake:small-1"


def test_a_request_names_its_model_by_alias_and_the_response_says_what_is_behind_it():
    answer = decide(TWO, model="small").json()
    assert (answer["model"], answer["answers"][0]["probability"]) == ("small-1", 0.6)


def test_the_first_model_answers_to_jev_latest_unless_an_alias_is_called_so():
    assert ask(TWO).json()["model"] == "big-1"
    named = create_app(
        {
            "a": AsyncDecisionModel(FakeProvider(model="1")),
            "jev-latest": AsyncDecisionModel(FakeProvider(model="2")),
        }
    )
    assert ask(named).json()["model"] == "2"


def test_a_server_needs_models_with_names():
    with pytest.raises(ConfigError, match="no model to serve"):
        create_app({})
    with pytest.raises(ConfigError, match="blank"):
        create_app({" ": AsyncDecisionModel(FakeProvider())})


@pytest.mark.parametrize("name", ["max_body_bytes", "max_depth", "max_questions", "timeout_s"])
def test_impossible_limits_are_refused(name):
    with pytest.raises(ConfigError, match=name):
        Settings(**{name: 0})


def test_health_and_readiness_are_two_things():
    app = served()
    assert call(app, "/healthz").json() == {"status": "ok"}
    assert call(app, "/readyz").json() == {"status": "ready"}
    app.ready = False
    assert call(app, "/healthz").status == 200
    answer = call(app, "/readyz")
    assert (answer.status, answer.json()) == (503, {"status": "stopping"})


def test_metrics_count_requests_questions_and_tokens_by_model():
    app = served()
    decide(app)
    ask(app, {"a": {"type": "noul", "instructions": "q?"}, "b": {"type": "noul", "instructions": "q?"}})
    call(app, "/v1/systemone", b"{")
    call(app, "/somewhere/else")
    answer = call(app, "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.body.decode().splitlines()
    for line in (
        'yesno_requests_total{path="/v1/decisions",status="200"} 1.0',
        'yesno_requests_total{path="/v1/systemone",status="422"} 1.0',
        'yesno_requests_total{path="other",status="404"} 1.0',
        'yesno_request_seconds_count{path="/v1/systemone"} 2.0',
        'yesno_questions_total{model="m",outcome="answered"} 3.0',
        'yesno_tokens_total{direction="output",model="m"} 3.0',
        'yesno_problems_total{code="json_invalid"} 1.0',
    ):
        assert line in lines


def test_each_server_has_metrics_of_its_own():
    decide(served())
    assert b"yesno_requests_total{" not in call(served(), "/metrics").body


@pytest.mark.parametrize(
    ("path", "method", "status", "code"),
    [
        ("/", "GET", 404, "not_found"),
        ("/v1/decisions/", "POST", 404, "not_found"),
        ("/v1/decisions", "GET", 405, "method_not_allowed"),
        ("/v1/models", "DELETE", 405, "method_not_allowed"),
        ("/healthz", "OPTIONS", 405, "method_not_allowed"),
    ],
)
def test_paths_and_methods_that_are_not_there_are_told_in_openais_form(path, method, status, code):
    answer = call(APP, path, method=method)
    assert (answer.status, answer.json()["error"]["code"]) == (status, code)
    assert ("allow" in answer.headers) == (status == 405)


def test_a_get_of_system_ones_path_is_a_405_in_its_own_form():
    answer = call(APP, "/v1/systemone")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["detail"]["error_type"] == "api_usage_error"


def test_a_head_request_has_the_headers_of_a_get():
    assert call(APP, "/healthz", method="HEAD").status == 200


# request ids


def test_every_response_bears_a_request_id_under_both_names():
    for answer in (decide(APP), ask(APP), call(APP, "/nowhere"), call(APP, "/v1/models")):
        name = answer.headers["x-request-id"]
        assert re.fullmatch(r"req_[0-9a-f]{24}", name)
        assert answer.headers["x-typesafe-request-id"] == name
    assert decide(APP).headers["x-request-id"] != decide(APP).headers["x-request-id"]


def test_a_clients_request_id_is_kept_when_it_is_harmless():
    given = {"x-request-id": "abc-1.2:3_4"}
    assert call(APP, "/healthz", headers=given).headers["x-request-id"] == "abc-1.2:3_4"
    for bad in ("", "a b", "a\tb", "x" * 129, "é", "<b>"):
        answer = call(APP, "/healthz", headers={"x-request-id": bad})
        assert answer.headers["x-request-id"].startswith("req_")


# what a program can change


class Door:
    """A middleware that lets one key in, to one model, with smaller limits."""

    def __init__(self, app, key, seen):
        self.app, self.key, self.seen = app, key, seen

    async def __call__(self, scope, receive, send):
        exchange = scope["yesno"]
        if exchange.headers.get(b"authorization") != f"Bearer {self.key}".encode():
            raise RequestProblem(
                "the key is unknown", status=401, kind="authentication", code="invalid_api_key"
            )
        exchange.allowed = frozenset({"small"})
        exchange.settings = Settings(max_questions=1)
        await self.app(scope, receive, send)
        self.seen.append(exchange)


def guarded(seen):
    models = {name: AsyncDecisionModel(FakeProvider(model=name)) for name in ("big", "small")}
    return create_app(models, middleware=[Middleware(Door, "k1", seen=seen)])


KEY = {"authorization": "Bearer k1"}


def test_a_middleware_refuses_in_the_form_of_the_protocol():
    app = guarded([])
    answer = call(app, "/v1/decisions", openai(model="small"))
    assert answer.status == 401
    assert answer.json()["error"] == {
        "message": "the key is unknown",
        "type": "authentication_error",
        "param": None,
        "code": "invalid_api_key",
    }
    answer = call(app, "/v1/systemone", systemone(model="small"))
    assert (answer.status, answer.json()["detail"]["error_type"]) == (401, "authentication_error")


def test_a_middleware_sets_limits_and_models_of_one_request():
    app = guarded([])
    assert call(app, "/v1/decisions", openai(model="small"), headers=KEY).status == 200
    assert call(app, "/v1/decisions", openai(model="big"), headers=KEY).status == 404
    two = openai(*openai()["questions"] * 2, model="small")
    assert call(app, "/v1/decisions", two, headers=KEY).json()["error"]["code"] == "too_many_questions"
    assert [model["id"] for model in call(app, "/v1/models", headers=KEY).json()["data"]] == ["small"]


def test_a_middleware_sees_what_a_request_was_without_its_content():
    seen = []
    call(guarded(seen), "/v1/decisions", systemone(model="small"), headers=KEY)
    (exchange,) = seen
    assert (exchange.protocol, exchange.alias, exchange.questions) == ("systemone", "small", 1)
    assert (exchange.outcomes, exchange.usage.requests, exchange.status) == ({"answered": 1}, 1, 200)


def test_middlewares_stand_in_the_order_given():
    order = []

    def layer(name):
        class Layer:
            def __init__(self, app):
                self.app = app

            async def __call__(self, scope, receive, send):
                order.append(name)
                await self.app(scope, receive, send)

        return Middleware(Layer)

    call(served(middleware=[layer("outer"), layer("inner")]), "/healthz")
    assert order == ["outer", "inner"]


def test_another_path_may_be_added():
    async def hello(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"hi"})

    app = served(routes={"/hello": {"GET": hello}})
    answer = call(app, "/hello")
    assert (answer.body, "x-request-id" in answer.headers) == (b"hi", True)
    assert call(app, "/hello", b"", method="POST").headers["allow"] == "GET, HEAD"


def test_models_and_settings_can_be_changed_while_the_server_runs():
    app = served(alias="old")
    app.models = Models({"new": AsyncDecisionModel(FakeProvider(model="n"))})
    app.settings = Settings(max_questions=1)
    assert decide(app, model="new").json()["model"] == "n"
    assert decide(app, model="old").status == 404
    assert decide(app, *openai()["questions"] * 2, model="new").status == 400


# life


def live(app, *messages):
    async def run():
        given = [{"type": kind} for kind in messages]
        sent = []

        async def receive():
            return given.pop(0)

        async def send(message):
            sent.append(message["type"])

        await app({"type": "lifespan" if messages else "websocket"}, receive, send)
        return sent

    return asyncio.run(run())


def test_the_end_of_the_server_awaits_what_it_was_told_to():
    closed = []

    async def close():
        closed.append(True)

    app = served(on_shutdown=[close])
    assert live(app, "lifespan.startup", "lifespan.shutdown") == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert closed == [True]


def test_a_web_socket_is_refused():
    assert live(APP) == ["websocket.close"]


def test_requests_are_answered_side_by_side():
    async def run():
        app = served()
        return await asyncio.gather(*(acall(app, "/v1/decisions", openai()) for _ in range(20)))

    assert {answer.status for answer in asyncio.run(run())} == {200}


# the document


def test_the_document_describes_every_path_and_names_the_models():
    document = call(TWO, "/openapi.json").json()
    assert set(document["paths"]) == set(TWO.routes)
    request = document["components"]["schemas"]["DecisionsRequest"]
    assert request["properties"]["model"]["enum"] == ["big", "small", "jev-latest"]
    assert "securitySchemes" not in document["components"]


def test_the_document_says_when_keys_are_needed():
    app = served()
    app.keys = True
    document = call(app, "/openapi.json").json()
    assert document["paths"]["/v1/decisions"]["post"]["security"] == [{"key": []}]
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


def test_every_schema_is_one_and_every_reference_leads_somewhere():
    schemas = documented()["components"]["schemas"]
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for name in set(re.findall(r"#/components/schemas/(\w+)", str(documented()))):
        assert name in schemas


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("DecisionsRequest", openai()),
        (
            "DecisionsRequest",
            openai(given=[{"role": "user", "content": [{"type": "input_text", "text": ""}]}]),
        ),
        ("SystemOneRequest", systemone(model="m")),
        ("SystemOneRequest", systemone({"q": {"type": "noul", "criteria": {"true": "a"}}}, state=[])),
    ],
)
def test_what_the_server_takes_is_what_the_document_says(name, body):
    schema = {**documented()["components"]["schemas"][name], "components": documented()["components"]}
    jsonschema.Draft202012Validator(schema).validate(body)
    assert call(APP, "/v1/decisions", body).status == 200
