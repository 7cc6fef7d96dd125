"""SGLang's decision endpoint is asked first; what it refuses or leaves open is asked by prompts."""

import json

import httpx2
import pytest

from tests.engine.support import both, patient
from tests.providers.contract import record
from tests.providers.test_hosts import connected
from yesno import Choice, DecisionModel, Scale, YesNo
from yesno.errors import ProviderRejected, ProviderUnavailable
from yesno.providers.base import NativeTask
from yesno.providers.fake import chat_reply
from yesno.request import DecisionRequest

near = pytest.approx
QUESTIONS = {
    "billing": YesNo("Is this about billing?"),
    "team": Choice("Which team?", {"payments": "payouts, invoices", "support": None}),
    "mood": Scale("How angry is the customer?", ["calm", "annoyed", "angry"]),
}
CHAT = {"Yes": 0.9, "A": 0.05, "No": 0.02}


def reply_of(name):
    kept = record(name)
    return httpx2.Response(kept.get("status", 200), json=kept["response"])


class SGLangServer:
    """Answers its decision endpoint with one reply, and chats from a script."""

    def __init__(self, native, chat=CHAT):
        self.native = native
        self.chat = chat
        self.native_bodies = []
        self.chat_bodies = []

    def __call__(self, request):
        body = json.loads(request.content)
        if request.url.path == "/v1/systemone":
            self.native_bodies.append(body)
            return (
                self.native(body)
                if callable(self.native)
                else httpx2.Response(self.native.status_code, content=self.native.content)
            )
        assert request.url.path == "/v1/chat/completions"
        self.chat_bodies.append(body)
        return httpx2.Response(200, json=chat_reply(self.chat))


def asked(shell, server, questions, **settings):
    return shell(connected("sglang", server), **settings).decide("I was charged twice", questions)


def test_the_request_on_file_is_what_is_sent_today():
    request = DecisionRequest("I was charged twice", QUESTIONS)
    provider = connected("sglang", None)
    for name in ("sglang/systemone", "sglang/no_route_404", "sglang/no_template_400", "sglang/question_400"):
        kept = record(name)["request"]
        assert provider.build(NativeTask(request, kept["model"])) == kept


@both
def test_answers_come_from_the_endpoint_and_one_of_low_mass_is_asked_again(shell):
    server = SGLangServer(reply_of("sglang/systemone"))
    response = asked(shell, server, QUESTIONS)
    assert (len(server.native_bodies), len(server.chat_bodies)) == (1, 1)
    team, mood, billing = response.choice("team"), response.scale("mood"), response.yes_no("billing")
    assert (team.method, mood.method, billing.method) == ("native", "native", "logprobs")
    assert (team.probabilities["payments"], team.label_mass) == (near(0.9171), near(0.9873))
    assert team.bounds["payments"] == near((0.9171 * 0.9873, 0.9171 * 0.9873 + 1 - 0.9873), abs=1e-9)
    assert mood.mean == near(1.2071, abs=1e-6)
    assert billing.probability == near(0.9 / 0.92, abs=1e-6)
    assert [(a.method, a.result) for a in billing.attempts] == [
        ("native", "low_label_mass"),
        ("logprobs", "answered"),
    ]
    assert response.usage.requests == 2
    assert response.usage.fallbacks == {"low_label_mass": 1}
    assert list(response.answers) == list(QUESTIONS)


@both
@pytest.mark.parametrize(
    ("name", "remembered"),
    [("sglang/no_route_404", True), ("sglang/no_template_400", True), ("sglang/question_400", False)],
)
def test_a_server_that_refuses_is_asked_by_prompts(shell, name, remembered, caplog):
    server = SGLangServer(reply_of(name))
    model = shell(connected("sglang", server))
    for _ in range(3):
        response = model.decide("x", {"q": YesNo("Is it?")})
        answer = response.yes_no("q")
        assert (answer.method, answer.probability) == ("logprobs", near(0.9 / 0.92, abs=1e-6))
        assert response.usage.fallbacks == {"endpoint_refused": 1}
    assert (len(server.native_bodies), len(server.chat_bodies)) == (1 if remembered else 3, 3)
    assert caplog.text.count("endpoint_refused") >= 1


@both
def test_a_reply_of_another_shape_is_passed_over(shell):
    server = SGLangServer(httpx2.Response(200, json=chat_reply(CHAT)))
    answer = asked(shell, server, YesNo("Is it?"))
    assert answer.method == "logprobs"


@both
@pytest.mark.parametrize("count", [26, 255])
def test_255_options_are_one_request_without_a_tournament(shell, count):
    options = [f"option {i}" for i in range(count)]
    rest = 0.25 / (count - 1)
    shares = dict.fromkeys(options, rest) | {"option 7": 0.75}

    def native(body):
        assert list(body["questions"]["q"]["criteria"]) == options
        answer = {"type": "choice", "choice": "option 7", "confidence": 0.7, "probabilities": shares}
        return httpx2.Response(200, json={"model": "m", "answers": {"q": {**answer, "x_label_mass": 0.9}}})

    server = SGLangServer(native)
    response = asked(shell, server, {"q": Choice("Which?", options)})
    answer = response.choice("q")
    assert (answer.value, answer.probabilities["option 7"]) == ("option 7", near(0.75, abs=1e-6))
    assert answer.label_mass == 0.9
    assert "tournament" not in answer.flags
    assert (response.usage.requests, server.chat_bodies) == (1, [])


@both
def test_what_the_endpoint_cannot_be_asked_is_asked_by_prompts(shell):
    server = SGLangServer(reply_of("sglang/systemone"), {"A": 0.9, "B": 0.1})
    answer = asked(shell, server, Scale("How?", [f"level {i}" for i in range(12)]))
    assert answer.method == "logprobs"
    assert server.native_bodies == []


@both
@pytest.mark.parametrize("settings", [{"orders": 2}, {"prior": "content_free"}, {"template": "few_shot"}])
def test_an_endpoint_with_prompts_of_its_own_is_passed_over_for_wishes_about_them(shell, settings):
    server = SGLangServer(reply_of("sglang/systemone"), {"Yes": 0.8, "No": 0.2})
    assert asked(shell, server, YesNo("Is it?"), **settings).method == "logprobs"
    assert server.native_bodies == []


@both
def test_one_way_alone_is_taken_when_it_is_named(shell):
    server = SGLangServer(reply_of("sglang/no_route_404"))
    with pytest.raises(ProviderRejected, match="404"):
        asked(shell, server, YesNo("Is it?"), strategy="native")
    with pytest.raises(ProviderRejected, match="404"):
        asked(shell, server, YesNo("Is it?"), strict=True)
    before = len(server.native_bodies)
    assert asked(shell, server, YesNo("Is it?"), strategy="logprobs").method == "logprobs"
    assert len(server.native_bodies) == before


@both
@pytest.mark.parametrize(("status", "kind"), [(401, ProviderRejected), (503, ProviderUnavailable)])
def test_a_server_that_fails_is_an_error(shell, status, kind):
    server = SGLangServer(httpx2.Response(status, json={"message": "no"}))
    with pytest.raises(kind):
        asked(shell, server, YesNo("Is it?"), retry=patient([]))
    assert server.chat_bodies == []


@both
def test_content_that_the_endpoint_declines_is_a_refusal(shell):
    body = {"error": {"message": "no", "code": "content_filter"}}
    server = SGLangServer(httpx2.Response(400, json=body))
    response = asked(shell, server, QUESTIONS)
    assert {response.outcome(name).reason for name in QUESTIONS} == {"content_filter"}
    assert server.chat_bodies == []


def test_doctor_looks_at_what_is_read_in_the_endpoints_place():
    server = SGLangServer(reply_of("sglang/no_route_404"), {"Yes": 0.5, "No": 0.4})
    found = DecisionModel(connected("sglang", server)).probe()
    assert found.strategy == "logprobs"
    assert server.native_bodies == []
