"""SGLang's decision endpoint is asked first; what it refuses or leaves open is asked by prompts."""

import json
import math

import httpx2
import pytest

from tests.engine.support import both, patient
from tests.providers.contract import record
from tests.providers.test_hosts import connected
from yesno import Choice, DecisionModel, Scale, YesNo
from yesno.engine.exact import CODES, forms_of
from yesno.errors import ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.providers.base import NativeTask, PromptTask, TokenTask, Turn
from yesno.providers.fake import chat_reply
from yesno.reading.labels import yes_no_labels
from yesno.reading.logprobs import read
from yesno.request import DecisionRequest
from yesno.wire.sglang import completion_of_scores, prompt_body, score_body

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
    """Answers its decision endpoint with one reply, and chats and scores from a script.

    Its vocabulary holds every text of at most three characters; without `scores` it is one that has no such routes,
    or none that take messages.
    """

    def __init__(self, native, chat=CHAT, scores=None):
        self.native = native
        self.chat = chat
        self.scores = scores
        self.native_bodies = []
        self.chat_bodies = []
        self.number_bodies = []
        self.score_bodies = []
        self.numbers = {"\n": 198}

    def number(self, text):
        return self.numbers.setdefault(text, 1000 + len(self.numbers))

    def tokens(self, body):
        self.number_bodies.append(body)
        if "messages" in body:
            return [7, 8, 9]
        texts = [text.removeprefix("\n") for text in body["prompt"]]
        assert not any("\n" in text for text in texts)
        pieces = [[text] if len(text) <= 3 else [text[:2], text[2:]] for text in texts]
        return [[198, *(self.number(piece) for piece in row if piece)] for row in pieces]

    def score(self, body):
        self.score_bodies.append(body)
        assert body["query"] + body["items"][0] == [7, 8, 9]
        texts = {number: text for text, number in self.numbers.items()}
        chances = [self.scores.get(texts[number], 1e-9) for number in body["label_token_ids"]]
        reply = {"scores": [chances], "model": "m", "object": "scoring", "usage": {"prompt_tokens": 3}}
        return {**reply, "token_logprobs": [[math.log(p) for p in chances]]}

    def __call__(self, request):
        body = json.loads(request.content)
        if request.url.path == "/v1/systemone":
            self.native_bodies.append(body)
            return (
                self.native(body)
                if callable(self.native)
                else httpx2.Response(self.native.status_code, content=self.native.content)
            )
        if request.url.path == "/v1/tokenize" and self.scores is not None:
            return httpx2.Response(200, json={"tokens": self.tokens(body), "count": 1})
        if request.url.path == "/v1/score" and self.scores is not None:
            return httpx2.Response(200, json=self.score(body))
        if request.url.path != "/v1/chat/completions":
            return httpx2.Response(404, json={"detail": "Not Found"})
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
    assert response.usage.requests == 3  # one of them for the numbers of tokens, in vain
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


def scored(scores, **more):
    return SGLangServer(reply_of("sglang/no_route_404"), scores=scores, **more)


@both
def test_without_the_endpoint_the_labels_own_tokens_are_scored(shell):
    server = scored({"Yes": 0.55, "No": 0.35, "yes": 0.04, "no": 0.01})
    response = asked(shell, server, {"q": YesNo("Is it?")})
    answer = response.yes_no("q")
    assert (answer.method, "exact_labels" in answer.flags) == ("logprobs", True)
    assert answer.probability == near(0.59 / 0.95, abs=1e-6)
    assert answer.label_mass == near(0.95, abs=1e-6)
    assert (answer.low, answer.high) == (near(0.59, abs=1e-6), near(0.64, abs=1e-6))
    assert server.chat_bodies == []
    assert [*server.number_bodies[1]] == ["model", "messages"]
    assert response.usage.input_tokens == 3


@both
def test_numbers_of_labels_are_asked_for_once_and_of_prompts_each_time(shell):
    server = scored({"Yes": 0.9, "No": 0.1})
    model = shell(connected("sglang", server), strategy="logprobs")
    for text in ("a", "b"):
        model.decide(text, YesNo("Is it?"))
    assert ["messages" in body for body in server.number_bodies] == [False, True, True]
    assert len(server.score_bodies) == 2


@both
def test_255_options_are_scored_without_a_tournament(shell):
    options = [f"option {i}" for i in range(255)]
    server = scored({CODES[0]: 0.6, CODES[254]: 0.3})
    answer = asked(shell, server, Choice("Which?", options))
    assert answer.probabilities["option 0"] == near(0.6 / 0.9, abs=1e-4)
    assert answer.probabilities["option 254"] == near(0.3 / 0.9, abs=1e-4)
    assert ("tournament" in answer.flags, len(server.score_bodies)) == (False, 2)


@both
def test_a_model_that_begins_with_other_words_is_asked_for_the_most_probable(shell):
    server = scored({"Yes": 0.01, "No": 0.01})
    answer = asked(shell, server, YesNo("Is it?"))
    assert answer.probability == near(0.9 / 0.92, abs=1e-6)
    assert "exact_labels" not in answer.flags
    assert (len(server.score_bodies), len(server.chat_bodies)) == (1, 1)


@both
@pytest.mark.parametrize("status", [400, 404, 422])
@pytest.mark.parametrize("route", ["/v1/tokenize", "/v1/score"])
def test_a_server_that_does_not_score_is_read_as_any_other_and_that_is_remembered(shell, status, route):
    server = scored({"Yes": 0.9, "No": 0.1})
    refused = []

    def handler(request):
        if request.url.path == route and b"prompt" not in request.content:
            refused.append(request.url.path)
            return httpx2.Response(status, json={"message": "no"})
        return server(request)

    model = shell(connected("sglang", handler), strategy="logprobs")
    for text in ("a", "b"):
        assert model.decide(text, YesNo("Is it?")).probability == near(0.9 / 0.92, abs=1e-6)
    assert (refused, len(server.chat_bodies)) == ([route], 2)
    assert "label_token_ids" not in server.chat_bodies[0]


@both
def test_a_server_that_is_busy_scoring_is_asked_again(shell):
    server = scored({"Yes": 0.9, "No": 0.1})
    failures = [503, 500]

    def handler(request):
        if request.url.path == "/v1/score" and failures:
            return httpx2.Response(failures.pop(), json={"message": "busy"})
        return server(request)

    answer = shell(connected("sglang", handler), strategy="logprobs", retry=patient([])).decide(
        "x", YesNo("Is it?")
    )
    assert answer.probability == near(0.9, abs=1e-6)
    assert server.chat_bodies == []


def test_the_scoring_requests_on_file_are_what_is_sent_today():
    provider = connected("sglang", None, "Qwen/Qwen3-8B")
    texts = forms_of(yes_no_labels(), 128)
    kept = record("sglang/tokenize")
    assert provider.build(TokenTask(texts, "Qwen/Qwen3-8B")) == kept["request"]
    ids = provider.parse(TokenTask(texts, "m"), kept["response"]).evidence.ids
    assert ids == {"Yes": 9454, "No": 2753, "yes": 9693, "no": 2152}
    turns = (Turn("system", "Answer."), Turn("user", "Is it?"))
    chat = provider.build(PromptTask(turns, "Qwen/Qwen3-8B", 4, tokens=ids))
    shown = record("sglang/tokenize_messages")
    assert prompt_body(chat) == shown["request"]
    kept = record("sglang/score")
    assert score_body(chat, shown["response"]["tokens"]) == kept["request"]
    for reply in (kept["response"], {**kept["response"], "token_logprobs": None}):
        evidence = provider.parse(PromptTask(turns, "m", 4, tokens=ids), reply).evidence
        assert read(evidence, yes_no_labels()).label_mass == near(0.9676, abs=1e-4)
        assert evidence.text == "Yes"


@pytest.mark.parametrize(
    ("reply", "task"),
    [
        ({"tokens": [[1]]}, TokenTask(("A",), "m")),
        ({"tokens": [[1], ["x"]]}, TokenTask(("A",), "m")),
        ({}, TokenTask(("A",), "m")),
        ({"scores": []}, PromptTask((), "m", 4, tokens={"A": 1})),
        ({"scores": [[0.1, 0.2]]}, PromptTask((), "m", 4, tokens={"A": 1})),
        ({"scores": [["x"]]}, PromptTask((), "m", 4, tokens={"A": 1})),
        ({"scores": [[0.5]], "usage": 3}, PromptTask((), "m", 4, tokens={"A": 1})),
    ],
    ids=str,
)
def test_junk_in_place_of_numbers_and_scores_is_unreadable(reply, task):
    with pytest.raises(UnreadableReply, match=r"/(tokenize|score)"):
        connected("sglang", None).parse(task, reply)


def test_a_score_of_nothing_is_no_probability_and_null_is_not_one():
    reply = {"scores": [[0.0, 0.7]], "token_logprobs": [[None, math.log(0.7)]]}
    top = completion_of_scores(reply, {"A": 1, "B": 2}).positions[0].top
    assert [candidate.logprob for candidate in top] == [near(math.log(0.7)), None]
    top = completion_of_scores({"scores": [[0.0, 0.7]]}, {"A": 1, "B": 2}).positions[0].top
    assert top[1].logprob == -math.inf
