"""What every provider must do, whatever its wire looks like: subclass, make the provider, inherit the tests."""

import asyncio
import json
import pickle
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.evidence import Completion
from yesno.providers.base import PromptTask, Provider, Turn
from yesno.reading.labels import yes_no_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Reading

PAYLOADS = Path(__file__).resolve().parents[1] / "payloads"
PRIVATE = "my private sentence about Mr. Smith"
TASK = PromptTask((Turn("system", "Answer."), Turn("user", f"{PRIVATE}\nIs it?")), "m", 4)


def payload(name):
    return json.loads((PAYLOADS / f"{name}.json").read_text(encoding="utf-8"))["response"]


class ProviderContract:
    """Give `recorded` (a file under tests/payloads) and `make` (a provider that answers with a body)."""

    recorded: str

    def make(self, body) -> Provider:
        raise NotImplementedError

    def test_build_is_pure_json(self):
        provider = self.make(payload(self.recorded))
        body = provider.build(TASK)
        assert body == provider.build(TASK)
        assert json.loads(json.dumps(body)) == body
        assert PRIVATE in json.dumps(body)

    def test_sync_and_async_bring_the_same_reply(self):
        one, two = self.make(payload(self.recorded)), self.make(payload(self.recorded))
        assert one.send(one.build(TASK)) == asyncio.run(two.asend(two.build(TASK)))

    def test_a_recorded_reply_reads_as_a_distribution(self):
        provider = self.make(payload(self.recorded))
        reply = provider.parse(TASK, provider.send(provider.build(TASK)))
        assert isinstance(reply.evidence, Completion)
        reading = read(reply.evidence, yes_no_labels())
        assert isinstance(reading, Reading)
        assert sum(reading.probabilities) == pytest.approx(1)
        assert reply.model
        assert reply.usage.requests == 1

    def test_a_profile_that_claims_logprobs_has_a_payload_that_proves_it(self):
        provider = self.make(payload(self.recorded))
        if "logprobs" in provider.profile.strategies:
            assert provider.parse(TASK, payload(self.recorded)).evidence.positions

    @pytest.mark.parametrize(
        "junk",
        [
            {},
            {"choices": []},
            {"choices": [{}]},
            {"choices": None},
            {"choices": [{"message": 3}]},
            {"choices": [{"message": {"content": "x"}, "logprobs": {"content": [{"token": 1}]}}]},
        ],
        ids=["empty", "no_choice", "bare", "null", "number", "token"],
    )
    def test_junk_is_unreadable_and_nothing_else(self, junk):
        with pytest.raises(UnreadableReply) as info:
            self.make(junk).parse(TASK, junk)
        clone = pickle.loads(pickle.dumps(info.value))  # noqa: S301 - our own bytes
        assert (type(clone), str(clone), clone.provider) == (
            UnreadableReply,
            str(info.value),
            info.value.provider,
        )

    def test_foreign_errors_pass_through(self):
        assert self.make(payload(self.recorded)).classify(ValueError("ours")) is None

    def test_closing_twice_is_fine(self):
        provider = self.make(payload(self.recorded))
        provider.send(provider.build(TASK))
        provider.close()
        provider.close()
        asyncio.run(provider.aclose())


class HttpProviderContract(ProviderContract):
    """For providers over HTTP: `answering(status, body, headers)` makes one whose server answers so."""

    def answering(self, status, body, headers=None) -> Provider:
        raise NotImplementedError

    def failure(self, status, body=None, headers=None) -> ProviderError:
        provider = self.answering(status, {"error": {"message": "no"}} if body is None else body, headers)
        with pytest.raises(Exception) as info:  # noqa: PT011 - whatever the SDK raises
            provider.send(provider.build(TASK))
        known = provider.classify(info.value)
        assert known is not None
        return known

    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, ProviderRejected),
            (401, ProviderRejected),
            (403, ProviderRejected),
            (404, ProviderRejected),
            (422, ProviderRejected),
        ]
        + [(code, ProviderUnavailable) for code in (408, 409, 429, 500, 502, 503, 529)],
    )
    def test_http_errors_are_classified_and_pickle(self, status, kind):
        known = self.failure(status, headers={"x-request-id": "req_1"})
        assert (type(known), known.status, known.request_id) == (kind, status, "req_1")
        assert known.retryable == (kind is ProviderUnavailable)
        clone = pickle.loads(pickle.dumps(known))  # noqa: S301 - our own bytes
        assert (type(clone), str(clone), vars(clone)) == (kind, str(known), vars(known))

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry-after-ms": "1500"}, 1.5),
            ({"retry-after": "7"}, 7.0),
            ({"retry-after": format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)}, 0.0),
            ({"retry-after": "soon"}, None),
            ({}, None),
        ],
        ids=["ms", "seconds", "date", "junk", "none"],
    )
    def test_the_wait_that_a_server_asks_for_is_kept(self, headers, seconds):
        assert self.failure(429, headers=headers).retry_after == seconds

    @pytest.mark.parametrize(
        "message",
        [f"cannot answer '{PRIVATE}'", f"bad key {'k' * 30}", f"prompt was: {PRIVATE[5:30]}"],
        ids=["input", "key", "part"],
    )
    def test_no_message_shows_the_input_or_the_key(self, message):
        shown = str(self.failure(400, {"error": {"message": message}}))
        assert PRIVATE[5:30] not in shown
        assert "k" * 30 not in shown
        assert "400" in shown

    def test_a_body_that_is_not_json_is_unreadable(self):
        provider = self.answering(200, "<html>hello</html>")
        with pytest.raises(UnreadableReply, match="not JSON"):
            provider.send(provider.build(TASK))

    @pytest.mark.parametrize("body", ["[1, 2]", '"text"'], ids=["list", "text"])
    def test_a_body_that_is_no_object_is_unreadable(self, body):
        provider = self.answering(200, body)
        with pytest.raises(UnreadableReply, match="object"):
            provider.send(provider.build(TASK))
