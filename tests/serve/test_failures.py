"""What a client is told when the model fails, and what nobody is told."""

import asyncio
import json
import logging

import pytest

from tests.serve.asgi import acall, ask, call, decide, openai, served, systemone
from yesno import Budget, FakeProvider, RetryPolicy
from yesno.errors import (
    ConfigError,
    InvalidResponse,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    ToolError,
    UnreadableReply,
)
from yesno.serve import Settings
from yesno.serve.problems import MOST_RETRY_S, RETRY_S

ONCE = RetryPolicy(attempts=1)
PRIVATE = "my private sentence"


def failing(error):
    return served(error, retry=ONCE)


def unavailable(**fields):
    return ProviderUnavailable("account 7 is over its limit", provider="fake", **fields)


@pytest.mark.parametrize(
    ("error", "status", "wait", "code"),
    [
        (unavailable(status=503), 503, RETRY_S, "model_unavailable"),
        (unavailable(status=429, retry_after=7.2), 503, 8, "model_unavailable"),
        (unavailable(retry_after=0), 503, 1, "model_unavailable"),
        (unavailable(retry_after=9999), 503, MOST_RETRY_S, "model_unavailable"),
        (ProviderRejected("key of account 7", provider="fake", status=401), 502, RETRY_S, "model_failed"),
        (UnreadableReply("account 7", provider="fake"), 502, RETRY_S, "model_failed"),
        (InvalidResponse("account 7", provider="fake"), 502, RETRY_S, "model_failed"),
        (ProviderError("account 7", provider="fake"), 502, RETRY_S, "model_failed"),
        (ConfigError("account 7"), 503, RETRY_S, "model_not_set_up"),
        (ToolError("account 7"), 502, RETRY_S, "model_failed"),
    ],
)
def test_a_providers_failure_is_502_or_503_with_retry_after_and_without_its_words(error, status, wait, code):
    app = failing(error)
    answer = decide(app)
    assert (answer.status, answer.headers["retry-after"]) == (status, str(wait))
    assert answer.json()["error"]["type"] == "server_error"
    assert answer.json()["error"]["code"] == code
    assert "account 7" not in answer.body.decode()
    answer = ask(app)
    assert (answer.status, answer.headers["retry-after"]) == (status, str(wait))
    assert answer.json()["detail"]["error_type"] == "api_error"
    assert "account 7" not in answer.body.decode()


def test_what_fails_again_tells_openais_client_not_to_try():
    assert decide(failing(ProviderRejected("x", provider="fake"))).headers["x-should-retry"] == "false"
    assert "x-should-retry" not in decide(failing(unavailable())).headers


def test_the_operator_finds_the_words_in_the_log_under_the_requests_id(caplog):
    with caplog.at_level(logging.WARNING, "yesno.serve"):
        answer = decide(failing(unavailable()))
    (record,) = [record for record in caplog.records if record.name == "yesno.serve"]
    assert record.msg == "request_failed"
    assert (record.request_id, record.alias) == (answer.headers["x-request-id"], "m")
    assert record.error == "account 7 is over its limit"


def test_a_spent_budget_is_a_429_that_is_not_worth_trying_again():
    app = served(budget=Budget(requests=1))
    assert decide(app).status == 200
    answer = decide(app)
    assert (answer.status, answer.json()["error"]["code"]) == (429, "insufficient_quota")
    assert answer.headers["x-should-retry"] == "false"
    assert ask(app).json()["detail"]["error_type"] == "rate_limit_error"


class Slow(FakeProvider):
    """Never answers; says that it was asked, and that it was given up."""

    def __init__(self):
        super().__init__()
        self.asked, self.given_up = asyncio.Event(), asyncio.Event()

    async def asend(self, payload):
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()


def test_a_decision_that_takes_too_long_is_a_503():
    async def run():
        app = served(provider=Slow(), settings=Settings(timeout_s=0.02))
        return await acall(app, "/v1/decisions", openai())

    answer = asyncio.run(run())
    assert (answer.status, answer.json()["error"]["code"]) == (503, "timeout")


def test_what_a_client_no_longer_waits_for_is_cancelled(monkeypatch):
    monkeypatch.setattr("yesno.serve.leaving.PATIENCE_S", 0.0)

    async def run():
        provider = Slow()
        app = served(provider=provider)
        answer = await acall(app, "/v1/decisions", openai(), stays=False)
        return provider.given_up.is_set(), answer.status, app.metrics.shown()[0].decode()

    given_up, status, metrics = asyncio.run(run())
    assert (given_up, status) == (True, 499)
    assert 'yesno_problems_total{code="client_gone"} 1.0' in metrics


def test_a_cancelled_server_task_stays_cancelled(monkeypatch):
    monkeypatch.setattr("yesno.serve.leaving.PATIENCE_S", 0.0)

    async def run():
        provider = Slow()
        task = asyncio.create_task(acall(served(provider=provider), "/v1/decisions", openai()))
        await provider.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return provider.given_up.is_set()

    assert asyncio.run(run())


# no answer, in System One

TWO = {
    "good": {"type": "noul", "instructions": "Is it good?"},
    "bomb": {"type": "noul", "instructions": "Is it a bomb?"},
}


def declining(prompt):
    return {"<refusal>": 1} if "bomb" in prompt else {"Yes": 0.9, "No": 0.1}


def vague(prompt):
    return {"The": 0.9, "Yes": 0.05} if "bomb" in prompt else {"Yes": 0.9, "No": 0.1}


def test_a_refusal_is_an_http_error_that_holds_the_other_answers():
    answer = ask(served(declining), TWO)
    detail = answer.json()["detail"]
    assert (answer.status, detail["error_type"]) == (400, "no_answer_error")
    assert detail["x_refused"] == {"bomb": "refusal"}
    assert list(detail["x_answers"]) == ["good"]
    assert "'bomb'" in detail["message"]


def test_an_undecided_answer_is_an_http_error_and_never_a_number():
    detail = ask(served(vague), TWO).json()["detail"]
    assert detail["x_undecided"] == {"bomb": "low_label_mass"}
    assert "bomb" not in detail["x_answers"]


def test_an_error_names_five_of_many_questions_without_an_answer():
    questions = {f"bomb {i}": {"type": "noul", "instructions": "A bomb?"} for i in range(7)}
    message = ask(served(declining), questions).json()["detail"]["message"]
    assert "'bomb 4', …" in message
    assert "bomb 5" not in message


# mistakes of the server


def broken(scope, receive, send):
    raise KeyError(PRIVATE)


async def half_sent(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})
    raise ToolError(PRIVATE)


def test_a_mistake_is_a_500_and_neither_response_nor_log_holds_its_words(caplog):
    app = served(routes={"/broken": {"GET": broken}})
    with caplog.at_level(logging.DEBUG):
        answer = call(app, "/broken")
    assert (answer.status, answer.json()["error"]["code"]) == (500, "internal_error")
    (record,) = [record for record in caplog.records if record.name == "yesno.serve"]
    assert record.error.startswith("KeyError at ")
    assert PRIVATE not in answer.body.decode() + json.dumps(vars(record), default=str)


def test_an_error_after_the_response_began_does_not_begin_another():
    answer = call(served(routes={"/half": {"GET": half_sent}}), "/half")
    assert (answer.status, answer.body) == (200, b"")


def test_no_content_is_logged_or_counted(caplog):
    questions = {
        PRIVATE: {"type": "choice", "instructions": PRIVATE, "criteria": {PRIVATE: PRIVATE, "b": None}}
    }
    with caplog.at_level(logging.DEBUG):
        app = served(lambda prompt: {"The": 1.0})
        call(app, "/v1/decisions", systemone(questions, state=PRIVATE))
        failed = failing(unavailable())
        call(failed, "/v1/systemone", systemone(questions, state=PRIVATE))
    logged = " ".join(
        json.dumps(vars(record), default=str) for record in caplog.records if "yesno" in record.name
    )
    shown = app.metrics.shown()[0].decode() + failed.metrics.shown()[0].decode()
    assert PRIVATE not in logged + shown
