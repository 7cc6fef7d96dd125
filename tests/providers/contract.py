"""What every provider must do, whatever its wire looks like: subclass, make the provider, inherit the tests."""

import asyncio
import copy
import json
import pickle
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx2
import pytest

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.evidence import Completion, NativeAnswers
from yesno.providers.base import NativeTask, PromptTask, Provider, Turn
from yesno.questions import Answer, Choice, Scale, YesNo
from yesno.reading.labels import yes_no_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading
from yesno.request import DecisionRequest

PAYLOADS = Path(__file__).resolve().parents[1] / "payloads"
PRIVATE = 'my private sentence about "Mr. Smith" and Mrs. Jones'
KEY = "k" * 30
TASK = PromptTask((Turn("system", "Answer."), Turn("user", f"<input>\n{PRIVATE}\n</input>\nIs it?")), "m", 4)

QUESTIONS = {
    "billing": YesNo("Is this about billing?", yes_when="money was taken", no_when="nothing was paid"),
    "team": Choice("Which team?", {"payments": "payouts, invoices", "support": None}, none="none of these"),
    "mood": Scale("How angry is the customer?", ["calm", "annoyed", "angry"]),
}
NATIVE_TASK = NativeTask(DecisionRequest(PRIVATE, QUESTIONS), "m")


def record(name):
    return json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))


def payload(name):
    return record(name)["response"]


def pickled(error):
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes


class ProviderContract:
    """Give `provider` (its name), `recorded` (a file under tests/payloads) and `make`."""

    provider: str
    recorded: str
    task = TASK
    key_header = "authorization"

    def make(self, body) -> Provider:
        """Return a provider whose other side answers everything with a body."""
        raise NotImplementedError

    def travelling(self, body):
        """Return what of a body that `build` made goes out as the content of a request."""
        return body

    def test_its_name_is_the_one_it_is_registered_by(self):
        assert self.make({}).name == self.provider

    def test_build_is_pure_json(self):
        provider = self.make(payload(self.recorded))
        body = provider.build(self.task)
        again = copy.deepcopy(body)
        assert provider.build(self.task) == again == json.loads(json.dumps(body))
        assert "my private sentence" in json.dumps(body)

    def test_a_body_that_is_changed_changes_no_later_one(self):
        provider = self.make({})
        first = dict(provider.build(self.task))
        kept = copy.deepcopy(first)
        for value in first.values():
            if isinstance(value, list):
                value.clear()
        assert provider.build(self.task) == kept

    def test_sync_and_async_bring_the_same_reply(self):
        one, two = self.make(payload(self.recorded)), self.make(payload(self.recorded))
        assert one.send(one.build(self.task)) == asyncio.run(two.asend(two.build(self.task)))

    def test_a_recorded_reply_reads_as_a_distribution(self):
        provider = self.make(payload(self.recorded))
        reply = provider.parse(self.task, provider.send(provider.build(self.task)))
        assert isinstance(reply.evidence, Completion)
        reading = read(reply.evidence, yes_no_labels())
        assert isinstance(reading, Reading)
        assert sum(reading.probabilities) == pytest.approx(1)
        assert reply.model
        assert reply.usage.requests == 1

    def test_a_profile_that_claims_logprobs_has_a_payload_that_proves_it(self):
        provider = self.make(payload(self.recorded))
        if "logprobs" in provider.profile.strategies:
            positions = provider.parse(self.task, payload(self.recorded)).evidence.positions
            assert positions
            assert positions[0].top

    @pytest.mark.parametrize(
        "junk",
        [
            {},
            {"choices": []},
            {"choices": [{}]},
            {"choices": None},
            {"choices": [{"message": 3}]},
            {"choices": [{"message": {"content": 3}}]},
            {"choices": [{"message": {"content": PRIVATE}, "logprobs": {"content": [{"token": 1}]}}]},
            {
                "choices": [
                    {
                        "message": {"content": PRIVATE},
                        "logprobs": {"content": [{"token": PRIVATE, "logprob": "x"}]},
                    }
                ]
            },
            {"choices": [{"message": {"content": "x"}, "logprobs": {"content": PRIVATE}}]},
            {"choices": PRIVATE},
        ],
        ids=["empty", "no_choice", "bare", "null", "number", "content", "token", "value", "entries", "text"],
    )
    def test_junk_is_unreadable_and_nothing_else(self, junk):
        with pytest.raises(UnreadableReply) as info:
            self.make(junk).parse(self.task, junk)
        assert PRIVATE not in str(info.value)
        clone = pickled(info.value)
        assert (type(clone), str(clone), vars(clone)) == (UnreadableReply, str(info.value), vars(info.value))
        assert clone.provider == self.provider

    def test_foreign_errors_pass_and_our_own_stay_what_they_are(self):
        provider = self.make(payload(self.recorded))
        ours = UnreadableReply("odd", provider=self.provider)
        assert provider.classify(ValueError("ours")) is None
        assert provider.classify(ours) is ours

    def test_closing_twice_is_fine_and_either_side_may_be_closed_unused(self):
        provider = self.make(payload(self.recorded))
        provider.send(provider.build(self.task))
        provider.close()
        provider.close()
        asyncio.run(provider.aclose())
        unused = self.make(payload(self.recorded))
        unused.close()
        asyncio.run(unused.aclose())


class HttpProviderContract(ProviderContract):
    """For providers over HTTP: `connect` makes one whose requests go to a function, with the key `KEY`."""

    request_id_header = "x-request-id"

    def connect(self, handler) -> Provider:
        raise NotImplementedError

    def make(self, body):
        return self.connect(lambda request: httpx2.Response(200, json=body))

    @pytest.fixture(params=["sync", "async"])
    def failure(self, request):
        """Return a function from what the server does to the error as the engine sees it."""

        def failure(status=500, body=None, headers=None, *, raises=None):
            def handler(_):
                if raises is not None:
                    raise raises
                content = (
                    body.encode()
                    if isinstance(body, str)
                    else json.dumps({"error": {"message": "no"}} if body is None else body).encode()
                )
                return httpx2.Response(status, content=content, headers=headers or {})

            def send():
                body = provider.build(self.task)
                return provider.send(body) if request.param == "sync" else asyncio.run(provider.asend(body))

            provider = self.connect(handler)
            with pytest.raises(Exception) as info:  # noqa: PT011 - whatever the SDK raises
                send()
            known = provider.classify(info.value)
            assert isinstance(known, ProviderError)
            assert known.provider == self.provider
            return known

        return failure

    def test_sync_and_async_send_equal_bytes_to_the_same_place_with_the_key(self):
        seen = []

        def handler(request):
            seen.append((request.method, str(request.url), request.headers[self.key_header], request.content))
            return httpx2.Response(200, json=payload(self.recorded))

        provider = self.connect(handler)
        provider.send(provider.build(self.task))
        asyncio.run(provider.asend(provider.build(self.task)))
        assert seen[0] == seen[1]
        assert seen[0][0] == "POST"
        assert KEY in seen[0][2]
        assert KEY not in seen[0][1]
        assert json.loads(seen[0][3]) == self.travelling(provider.build(self.task))

    def test_a_time_limit_reaches_the_transport(self):
        seen = []

        def handler(request):
            seen.append(request.extensions["timeout"]["read"])
            return httpx2.Response(200, json=payload(self.recorded))

        provider = self.connect(handler)
        provider.send(provider.build(self.task), timeout_s=2.5)
        provider.send(provider.build(self.task))
        assert seen[0] == 2.5
        assert seen[1] > 60

    def test_the_sdk_does_not_retry_by_itself(self, failure):
        for status in (429, 500, 503):
            assert failure(status).retryable
        calls = []

        def handler(request):
            calls.append(1)
            return httpx2.Response(503, headers={"retry-after": "0"})

        provider = self.connect(handler)
        with pytest.raises(Exception):  # noqa: B017, PT011 - whatever the SDK raises
            provider.send(provider.build(self.task))
        assert len(calls) == 1

    @pytest.mark.parametrize(
        ("status", "kind"),
        [(code, ProviderRejected) for code in (400, 401, 402, 403, 404, 413, 422)]
        + [(code, ProviderUnavailable) for code in (408, 409, 429, 500, 502, 503, 504, 529)],
    )
    def test_http_errors_are_classified_and_pickle(self, failure, status, kind):
        known = failure(status, headers={self.request_id_header: "req_1"})
        assert (type(known), known.status, known.request_id) == (kind, status, "req_1")
        assert known.retryable == (kind is ProviderUnavailable)
        assert str(status) in str(known)
        clone = pickled(known)
        assert (type(clone), str(clone), vars(clone)) == (kind, str(known), vars(known))

    @pytest.mark.parametrize(
        "body",
        [
            "",
            "plain words",
            "<html>busy</html>",
            "[]",
            '"text"',
            "null",
            '{"error": "text"}',
            '{"detail": "d"}',
        ],
    )
    def test_an_error_body_of_any_shape_is_classified(self, failure, body):
        assert isinstance(failure(500, body), ProviderUnavailable)
        assert isinstance(failure(400, body), ProviderRejected)

    @pytest.mark.parametrize(
        ("raised", "words"),
        [
            (httpx2.ConnectError("refused"), "cannot reach"),
            (httpx2.ReadError("reset"), "broke off"),
            (httpx2.RemoteProtocolError("cut off"), "broke off"),
            (httpx2.ConnectTimeout("slow"), "in time"),
            (httpx2.ReadTimeout("slow"), "in time"),
        ],
        ids=["connect", "read", "protocol", "connect_timeout", "read_timeout"],
    )
    def test_a_connection_that_fails_is_unavailable_and_may_be_tried_again(self, failure, raised, words):
        known = failure(raises=raised)
        assert isinstance(known, ProviderUnavailable)
        assert (known.retryable, known.status) == (True, None)
        assert words in str(known)
        assert str(pickled(known)) == str(known)

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry-after-ms": "1500"}, 1.5),
            ({"retry-after": "7"}, 7.0),
            ({"retry-after": "0.25"}, 0.25),
            ({"retry-after": "-3"}, 0.0),
            ({"retry-after-ms": "100", "retry-after": "9"}, 0.1),
            ({"retry-after": "soon"}, None),
            ({"retry-after": ""}, None),
            ({}, None),
        ],
        ids=["ms", "seconds", "part", "past", "both", "junk", "empty", "none"],
    )
    def test_the_wait_that_a_server_asks_for_is_kept(self, failure, headers, seconds):
        assert failure(429, headers=headers).retry_after == seconds

    @pytest.mark.parametrize(
        ("ahead", "least", "most"), [(100, 90, 100), (-3600, 0, 0)], ids=["future", "past"]
    )
    def test_a_wait_may_be_a_date(self, failure, ahead, least, most):
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)
        assert least <= failure(503, headers={"retry-after": date}).retry_after <= most

    @pytest.mark.parametrize(
        "message",
        [
            f"cannot answer: {PRIVATE}",
            f"cannot answer {json.dumps(PRIVATE)}",
            f"prompt was: {PRIVATE[3:27]}...",
            f"the end was {PRIVATE[-22:]}",
            f"bad key {KEY}",
            f"prompt {PRIVATE!r} with key={KEY}",
        ],
        ids=["whole", "escaped", "middle", "end", "key", "both"],
    )
    @pytest.mark.parametrize(
        "shape",
        [
            lambda message: {"error": {"message": message}},
            lambda message: {"object": "error", "message": message, "code": 400},
            lambda message: {"detail": [{"loc": ["body"], "msg": "bad", "input": message}]},
            lambda message: [{"error": {"code": 400, "message": message}}],
            lambda message: {"error": {"message": "up", "metadata": {"raw": json.dumps({"error": message})}}},
            lambda message: message,
        ],
        ids=["nested", "flat", "detail", "list", "wrapped", "text"],
    )
    def test_no_message_shows_the_input_or_the_key(self, failure, message, shape):
        for status in (400, 500):
            shown = str(failure(status, shape(message)))
            assert KEY not in shown
            assert not any(PRIVATE[i : i + 20] in shown for i in range(len(PRIVATE) - 19))
            assert str(status) in shown

    def test_words_of_the_prompt_in_an_error_do_not_change_what_is_asked(self, failure):
        known = failure(400, {"error": {"message": f"{PRIVATE}: logprobs temperature top_logprobs <= 1"}})
        assert known.param is None

    @pytest.mark.parametrize(
        "body", ["<html>hello</html>", "", "{", "\x00"], ids=["html", "empty", "cut", "nul"]
    )
    def test_a_body_that_is_not_json_is_unreadable(self, failure, body):
        known = failure(200, body)
        assert isinstance(known, UnreadableReply)
        assert "not JSON" in str(known)

    @pytest.mark.parametrize(
        "body", ["[1, 2]", '"text"', "null", "7"], ids=["list", "text", "null", "number"]
    )
    def test_a_body_that_is_no_object_is_unreadable(self, failure, body):
        known = failure(200, body)
        assert isinstance(known, UnreadableReply)
        assert "object" in str(known)

    def test_the_request_on_file_is_what_is_sent_today(self):
        kept = record(self.recorded)["request"]
        turns = tuple(Turn(turn["role"], turn["content"]) for turn in kept["messages"])
        cap = kept.get("max_tokens") or kept["max_completion_tokens"]
        assert self.make({}).build(PromptTask(turns, kept["model"], cap)) == kept


class NativeProviderContract(HttpProviderContract):
    """For decision endpoints; the recorded reply answers `QUESTIONS`."""

    task = NATIVE_TASK

    def test_a_recorded_reply_reads_as_a_distribution(self):
        provider = self.make(payload(self.recorded))
        reply = provider.parse(self.task, provider.send(provider.build(self.task)))
        assert isinstance(reply.evidence, NativeAnswers)
        answers = reply.evidence.answers
        assert list(answers) == list(QUESTIONS)
        assert all(isinstance(answer, Answer) for answer in answers.values())
        shares = answers["team"].probabilities
        assert sum(shares.values()) + answers["team"].none_probability == pytest.approx(1)
        assert sum(answers["mood"].probabilities) == pytest.approx(1)
        assert reply.model
        assert reply.usage.requests == 1

    def test_a_profile_that_claims_logprobs_has_a_payload_that_proves_it(self):
        assert self.make({}).profile.strategies == ("native",)

    def test_the_request_on_file_is_what_is_sent_today(self):
        kept = record(self.recorded)["request"]
        model = kept["model"]
        body = self.make({}).build(NativeTask(DecisionRequest("I was charged twice", QUESTIONS), model))
        assert body == kept

    @pytest.mark.parametrize(
        "answers",
        [None, 3, PRIVATE, [PRIVATE], {"billing": PRIVATE}, [{}], {"billing": {}}, [{"type": PRIVATE}] * 3],
        ids=["null", "number", "text", "texts", "map", "bare", "bare_map", "type"],
    )
    def test_junk_answers_are_unreadable_and_not_shown(self, answers):
        body = {"model": "m", "answers": answers}
        with pytest.raises(UnreadableReply) as info:
            self.make(body).parse(self.task, body)
        assert PRIVATE not in str(info.value)
        assert self.provider == info.value.provider

    def test_a_prompt_is_not_what_it_answers(self):
        for call in (lambda p: p.build(TASK), lambda p: p.parse(TASK, {})):
            with pytest.raises(NotImplementedError):
                call(self.make({}))

    def test_no_error_of_the_other_side_changes_a_body(self):
        error = ProviderRejected("temperature", provider=self.provider, status=400, param="model")
        assert self.make({}).adapt({"model": "m"}, error) is None
