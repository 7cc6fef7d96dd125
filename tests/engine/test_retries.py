import asyncio
import sys

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import SHELLS, Server, both, compatible, patient, refused
from yesno import FakeProvider, RetryPolicy, YesNo
from yesno.errors import (
    InvalidResponse,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    UnreadableReply,
)
from yesno.providers.gemini import Gemini
from yesno.providers.openai_compatible import OpenAICompatible

YES = {"Yes": 0.9, "No": 0.1}


def busy(retry_after=None, status=503):
    return ProviderUnavailable("busy", provider="fake", status=status, retry_after=retry_after)


@both
def test_a_server_that_asks_to_wait_is_waited_for_and_asked_the_same_again(shell):
    waits = []
    server = Server(refused(429, headers={"retry-after": "7"}), YES)
    assert shell(compatible(server), retry=patient(waits)).decide("x", YesNo("q?")).is_yes()
    assert waits == [7.0]
    assert server.bodies[0] == server.bodies[1]


@both
@pytest.mark.parametrize("failure", [refused(408), refused(409), refused(500), refused(529)], ids=str)
def test_a_failure_that_may_pass_is_tried_again(shell, failure):
    server = Server(failure, YES)
    assert shell(compatible(server), retry=patient([])).decide("x", YesNo("q?")).is_yes()
    assert len(server.bodies) == 2


@both
@pytest.mark.parametrize(
    "failure", [httpx2.ConnectError("refused"), httpx2.ReadTimeout("slow"), httpx2.RemoteProtocolError("cut")]
)
def test_a_connection_that_fails_is_tried_again(shell, failure):
    server = Server(failure, YES)
    assert shell(compatible(server), retry=patient([])).decide("x", YesNo("q?")).is_yes()


@both
def test_without_a_hint_the_waits_grow_up_to_twenty_seconds(shell):
    waits = []
    failing = FakeProvider(busy())
    with pytest.raises(ProviderUnavailable):
        shell(failing, retry=patient(waits, attempts=13, total_s=1e6)).decide("x", YesNo("q?"))
    assert len(failing.requests) == 13
    longest = [min(20, 0.5 * 1.5**number) for number in range(12)]
    assert longest[-2:] == [20, 20]
    assert all(0.75 * most < wait <= most for wait, most in zip(waits, longest, strict=True))


@both
def test_retries_end_after_the_last_attempt_with_the_last_error(shell):
    waits = []
    last = busy(status=502)
    provider = FakeProvider([busy(), busy(), last])
    with pytest.raises(ProviderUnavailable) as info:
        shell(provider, retry=patient(waits, attempts=3)).decide("x", YesNo("q?"))
    assert info.value is last
    assert (len(provider.requests), len(waits)) == (3, 2)


@both
def test_no_try_begins_after_the_time_for_all_of_them(shell):
    waits = []
    provider = FakeProvider(busy(30.0))
    with pytest.raises(ProviderUnavailable):
        shell(provider, retry=patient(waits, attempts=9, total_s=29)).decide("x", YesNo("q?"))
    assert waits == []


@both
@pytest.mark.parametrize(
    "failure",
    [
        ProviderRejected("no", provider="fake", status=400),
        UnreadableReply("junk", provider="fake"),
        InvalidResponse("odd", provider="fake"),
        ProviderError("other", provider="fake"),
        ValueError("a bug"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_that_is_final_is_not_tried_again(shell, failure):
    provider = FakeProvider(failure)
    with pytest.raises(type(failure)) as info:
        shell(provider, retry=patient([])).decide("x", YesNo("q?"))
    assert info.value is failure
    assert len(provider.requests) == 1


@both
@pytest.mark.parametrize(
    "reply",
    [
        refused(401),
        refused(429, headers={"retry-after": "500"}),
        refused(429, code="insufficient_quota"),
        refused(429, type="insufficient_quota", code="billing_hard_limit_reached"),
        refused(429, code="insufficient_quota", headers={"x-should-retry": "true"}),
        refused(503, headers={"x-should-retry": "false"}),
    ],
    ids=["key", "too_long", "quota", "type", "quota_wins", "told_not_to"],
)
def test_what_waiting_cannot_mend_is_not_tried_again(shell, reply):
    server = Server(reply)
    with pytest.raises((ProviderRejected, ProviderUnavailable)):
        shell(compatible(server), retry=patient([], total_s=1e6)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 1


@both
def test_a_server_that_says_to_try_again_is_asked_again_whatever_its_status(shell):
    server = Server(refused(400, headers={"x-should-retry": "true"}), YES)
    assert shell(compatible(server), retry=patient([])).decide("x", YesNo("q?")).is_yes()
    assert len(server.bodies) == 2


@both
@pytest.mark.parametrize("content", [b"<html>", b'{"choices": [', b"", b"(\xb5/\xfd"], ids=str)
def test_a_body_that_is_not_whole_is_asked_for_again_at_once_and_then_with_patience(shell, content):
    waits = []
    server = Server(httpx2.Response(200, content=content))
    with pytest.raises(UnreadableReply):
        shell(compatible(server), retry=patient(waits)).decide("x", YesNo("q?"))
    assert len(server.bodies) == 8
    assert waits[0] <= 0.1 < waits[1] < waits[3] < waits[5]


@both
def test_with_all_tries_it_takes_about_a_quarter_of_a_minute_to_give_up(shell):
    waits = []
    with pytest.raises(ProviderUnavailable):
        shell(FakeProvider(busy()), retry=patient(waits)).decide("x", YesNo("q?"))
    assert 10 < sum(waits) < 18


@both
@pytest.mark.parametrize("kind", [OpenAICompatible, Gemini], ids=lambda kind: kind.name)
def test_where_nobody_answers_at_all_fewer_tries_are_made(shell, kind):
    def away(request):
        seen.append(request)
        raise httpx2.ConnectError("refused")

    seen, transport = [], httpx2.MockTransport(away)
    provider = kind(
        "m",
        api_key="k",
        base_url="http://server.test/v1",
        http_client=httpx2.Client(transport=transport),
        async_http_client=httpx2.AsyncClient(transport=transport),
    )
    with pytest.raises(ProviderUnavailable, match="cannot reach"):
        shell(provider, retry=patient([]), strategy="logprobs").decide("x", YesNo("q?"))
    assert len(seen) == 4


@pytest.mark.parametrize(("seconds", "tries"), [(0.0, 2), (119.0, 2), (120.0, 2), (120.5, 1)])
def test_a_hint_of_up_to_two_minutes_is_obeyed(seconds, tries):
    for shell in SHELLS:
        waits = []
        provider = FakeProvider([busy(seconds), YES])
        model = shell(provider, retry=patient(waits, total_s=1e6), timeout_s=1e6)
        if tries == 2:
            assert model.decide("x", YesNo("q?")).is_yes()
            assert waits == [seconds]
        else:
            with pytest.raises(ProviderUnavailable):
                model.decide("x", YesNo("q?"))
        assert len(provider.requests) == tries


@both
def test_one_attempt_means_no_second_try(shell):
    provider = FakeProvider(busy())
    with pytest.raises(ProviderUnavailable):
        shell(provider, retry=RetryPolicy(attempts=1)).decide("x", YesNo("q?"))
    assert len(provider.requests) == 1


@both
def test_each_question_is_tried_again_by_itself(shell):
    waits = []

    class Flaky(FakeProvider):
        failed = False

        def send(self, payload, *, timeout_s=None):
            if "b?" in payload["messages"][-1]["content"] and not self.failed:
                self.failed = True
                raise busy(1.0)
            return super().send(payload)

    response = shell(Flaky(YES), retry=patient(waits)).decide("x", {"a": YesNo("a?"), "b": YesNo("b?")})
    assert (response.usage.requests, response.usage.retries) == (3, 1)
    assert waits == [1.0]


@given(st.lists(st.sampled_from([None, 0.0, 3.0, 119.0, 500.0]), min_size=1, max_size=6), st.integers(1, 5))
def test_both_forms_of_a_policy_try_alike(hints, attempts):
    def plays():
        errors = iter([busy(hint) for hint in hints])
        return lambda: next(errors, None)

    def outcome(waits, run):
        play = plays()
        tried = []

        def send():
            tried.append(1)
            error = play()
            if error is not None:
                raise error
            return "done"

        try:
            return run(send), len(tried), len(waits)
        except ProviderUnavailable as error:
            return error.retry_after, len(tried), len(waits)

    one, other = [], []
    policy, twin = (patient(waits, attempts=attempts, total_s=1e6) for waits in (one, other))

    def awaited(send):
        async def asend():
            return send()

        return asyncio.run(twin.acall(asend))

    assert outcome(one, policy.call) == outcome(other, awaited)
    hinted = [(a, b) for a, b, hint in zip(one, other, hints, strict=False) if hint is not None]
    assert all(a == b for a, b in hinted)


def test_a_decision_that_works_at_once_does_not_load_the_retrying_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "tenacity", None)
    for shell in SHELLS:
        assert shell(FakeProvider(YES)).decide("x", YesNo("q?")).is_yes()
