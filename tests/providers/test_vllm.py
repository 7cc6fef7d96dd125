"""Exact labels on a vLLM server: its own tokens are asked for, and without them it goes on as with any other host."""

import json
import math
import re

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import both, patient
from tests.providers.contract import record
from tests.providers.test_hosts import connected
from yesno import Choice, DecisionModel, Scale, YesNo
from yesno.engine.exact import CODES, Vocabulary, forms_of
from yesno.errors import ProviderError
from yesno.evidence import Candidate, Completion, Position
from yesno.providers.base import PromptTask, TokenTask, Turn
from yesno.reading.labels import letter_labels, yes_no_labels
from yesno.reading.logprobs import read
from yesno.wire.vllm import token_ids_in, with_exactness

Q = YesNo("Is it?")
near = pytest.approx


class VLLMServer:
    """Answers as vLLM does: numbers for texts, and the listed tokens it is asked for.

    Its vocabulary holds every text of at most two letters, with or without a space; `chances` are those of the next
    token, and what is missing to 1 is that of other tokens.
    """

    def __init__(self, chances, *, ids="honoured", tokenizer="bpe", written=None):
        self.chances = chances
        self.ids = ids
        self.tokenizer = tokenizer
        self.written = written or next(iter(chances))
        self.bodies = []
        self.chats = []
        self.numbers = {}

    def __call__(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        if request.url.path.endswith("/tokenize"):
            assert request.url.path == "/tokenize"
            return self.tokens(body["prompt"])
        self.chats.append(body)
        if "logprob_token_ids" in body and self.ids == "refused":
            kept = record("vllm/token_ids_400")
            return httpx2.Response(kept["status"], json=kept["response"])
        return httpx2.Response(200, json=self.reply(body))

    def tokens(self, prompt):
        if self.tokenizer == "missing":
            return httpx2.Response(404, json={"detail": "Not Found"})
        if self.tokenizer == "busy":
            return httpx2.Response(500, json={"message": "tokenizer failed"})
        if self.tokenizer == "page":
            return httpx2.Response(200, content=b"<html>busy</html>")
        numbers, texts = [], []
        for line in prompt.split("\n")[1:]:
            pieces = [line] if len(line.strip()) <= 3 else [line[:2], line[2:]]
            numbers += [198, *(self.number(piece) for piece in pieces)]
            texts += ["\u010a", *(piece.replace(" ", "\u0120") for piece in pieces)]
        return httpx2.Response(200, json={"count": len(numbers), "tokens": numbers, "token_strs": texts})

    def number(self, text):
        return self.numbers.setdefault(text, 1000 + len(self.numbers))

    def reply(self, body):
        asked = body.get("logprob_token_ids")
        if asked and self.ids == "honoured":
            assert len(asked) <= 128
            texts = {number: text for text, number in self.numbers.items()}
            top = [self.written, *(texts[n] for n in asked if texts[n] != self.written)]
        else:
            top = sorted(self.chances, key=self.chances.get, reverse=True)[: body.get("top_logprobs", 0)]
        entries = [self.entry(text) for text in top]
        content = [{**self.entry(self.written), "top_logprobs": entries}]
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": self.written},
            "logprobs": {"content": content},
            "finish_reason": "stop",
        }
        return {"model": "m", "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}

    def entry(self, text):
        p = self.chances.get(text, 1e-9)
        return {"token": text, "logprob": math.log(p), "bytes": list(text.encode())}


def asked(shell, server, question, **settings):
    response = shell(connected("vllm", server), **settings).decide("x", {"q": question})
    return response.outcome("q"), response.usage


@both
def test_the_labels_own_tokens_are_read_with_their_mass(shell):
    server = VLLMServer({"Yes": 0.55, "No": 0.35, " Yes": 0.04, "no": 0.01})
    answer, usage = asked(shell, server, Q)
    assert answer.probability == near(0.59 / 0.95, abs=1e-6)
    assert answer.label_mass == near(0.95, abs=1e-6)
    assert (answer.method, "exact_labels" in answer.flags) == ("logprobs", True)
    assert answer.low == near(0.59, abs=1e-6)  # all that is not listed may be other spellings of no
    assert answer.high == near(0.64, abs=1e-6)
    assert usage.requests == 2


@both
def test_a_label_that_no_list_of_the_most_probable_would_hold_has_its_probability(shell):
    chances = {"No": 0.998, **{f"w{i}": 1e-5 for i in range(40)}, "Yes": 1e-7}
    answer, _ = asked(shell, VLLMServer(chances), Q)
    assert answer.probability == near(1e-7 / 0.998, rel=0.2)
    assert answer.missing == ()
    listed, _ = asked(shell, VLLMServer(chances, ids="ignored"), Q)
    assert listed.missing == ("yes",)


@both
def test_the_numbers_are_asked_for_once(shell):
    server = VLLMServer({"Yes": 0.9, "No": 0.1})
    model = shell(connected("vllm", server))
    for text in ("a", "b", "c"):
        model.decide(text, Q)
    assert len(server.bodies) - len(server.chats) == 1
    assert all(len(body["logprob_token_ids"]) == 8 for body in server.chats)


@both
@pytest.mark.parametrize("count", [27, 128, 129, 255])
def test_more_options_than_letters_need_no_tournament(shell, count):
    options = [f"option {i}" for i in range(count)]
    shares = [0.6, *[0.3 / (count - 1)] * (count - 1)]
    server = VLLMServer(dict(zip(CODES[:count], shares, strict=True)))
    answer, usage = asked(shell, server, Choice("Which?", options))
    assert answer.value == "option 0"
    assert answer.probabilities["option 0"] == near(2 / 3, abs=1e-6)
    assert answer.probabilities[options[-1]] == near(0.3 / 0.9 / (count - 1), abs=1e-6)
    assert answer.label_mass == near(0.9, abs=1e-6)
    assert answer.missing == ()
    assert "tournament" not in answer.flags
    assert usage.requests == 1 + math.ceil(count / 128)
    prompts = {json.dumps(body["messages"]) for body in server.chats}
    assert len(prompts) == 1


@both
def test_a_way_out_has_a_code_too(shell):
    options = [f"option {i}" for i in range(40)]
    server = VLLMServer({CODES[40]: 0.9, CODES[0]: 0.05})
    answer, _ = asked(shell, server, Choice("Which?", options, none="none of these"))
    assert answer.is_none
    assert answer.none_probability == near(0.9 / 0.95, abs=1e-4)


@both
@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize(
    ("ids", "tokenizer"),
    [("ignored", "bpe"), ("refused", "bpe"), ("honoured", "missing"), ("honoured", "page")],
)
def test_a_server_without_exact_labels_is_read_as_any_other_and_that_is_remembered(
    shell, ids, tokenizer, size
):
    options = [f"option {i}" for i in range(size)]
    server = VLLMServer({"A": 0.8, "B": 0.1}, ids=ids, tokenizer=tokenizer)
    model = shell(connected("vllm", server), retry=patient([]))
    for _ in range(2):
        answer = model.decide("x", Choice("Which?", options))
        assert answer.value == "option 0"
        assert ("tournament" in answer.flags) is (size == 40)
        assert "exact_labels" not in answer.flags
        before = len(server.bodies)
    model.decide("y", Choice("Which?", options))
    assert not any("logprob_token_ids" in body for body in server.bodies[before:])
    assert len(server.bodies) - len(server.chats) <= 4


@both
def test_a_scale_is_read_by_its_own_tokens(shell):
    answer, _ = asked(shell, VLLMServer({"C": 0.5, "B": 0.5}), Scale("How?", ["low", "mid", "high"]))
    assert answer.mean == near(1.5, abs=1e-6)
    assert "exact_labels" in answer.flags


@both
def test_a_reply_in_other_words_is_asked_again_for_the_most_probable(shell):
    server = VLLMServer({"Well": 0.97, "Yes": 0.02})
    outcome, _ = asked(shell, server, Q, strategy="logprobs")
    assert outcome.reason == "low_label_mass"
    assert ["logprob_token_ids" in body for body in server.chats] == [True, False]


@both
def test_a_tokenizer_that_is_busy_is_done_without_and_asked_the_next_time(shell):
    server = VLLMServer({"Yes": 0.9, "No": 0.1}, tokenizer="busy")
    model = shell(connected("vllm", server), retry=patient([]))
    assert "exact_labels" not in model.decide("x", Q).flags
    server.tokenizer = "bpe"
    assert "exact_labels" in model.decide("y", Q).flags


@both
def test_a_server_that_is_down_is_an_error(shell):
    model = shell(connected("vllm", lambda _: httpx2.Response(503)), retry=patient([]))
    with pytest.raises(ProviderError, match="503"):
        model.decide("x", Q)


def test_the_requests_on_file_are_what_is_sent_today():
    provider = connected("vllm", None, "Qwen/Qwen3-8B")
    texts = forms_of(yes_no_labels(), 128)
    kept = record("vllm/tokenize")
    assert provider.build(TokenTask(texts, "Qwen/Qwen3-8B")) == kept["request"]
    ids = provider.parse(TokenTask(texts, "m"), kept["response"]).evidence.ids
    exact = record("vllm/exact")
    turns = tuple(Turn(turn["role"], turn["content"]) for turn in exact["request"]["messages"])
    task = PromptTask(turns, "Qwen/Qwen3-8B", 4, tokens=ids)
    assert provider.build(task) == exact["request"]
    evidence = provider.parse(task, exact["response"]).evidence
    assert evidence.exact
    got = read(evidence, yes_no_labels())
    assert got.label_mass == near(0.96765, abs=1e-4)
    assert got.probabilities[0] == near(0.9061 / 0.96765, abs=1e-4)
    assert not provider.parse(PromptTask(turns, "m", 4), exact["response"]).evidence.exact


@pytest.mark.parametrize(
    ("reply", "ids"),
    [
        ({"tokens": [1, 2, 1, 3], "token_strs": ["\n", "A", "\n", "B"]}, {"A": 2, "B": 3}),
        (
            {"tokens": [9, 1, 2, 1, 3], "token_strs": ["\u2581", "<0x0A>", "A", "<0x0A>", "B"]},
            {"A": 2, "B": 3},
        ),
        ({"tokens": [1, 2, 4, 1, 3], "token_strs": ["\n", "A", "x", "\n", "B"]}, {"B": 3}),
        ({"tokens": [1, 2, 1, 3], "token_strs": ["\n", "\u2581A", "\n", "b"]}, {}),
        ({"tokens": [5, 3], "token_strs": ["\nA\n", "B"]}, {}),
        ({"tokens": [1, 2, 1, 3], "token_strs": None}, {}),
        ({"tokens": []}, {}),
    ],
    ids=["plain", "sentencepiece", "two tokens", "other texts", "merged", "no texts", "empty"],
)
def test_only_a_text_that_is_one_token_has_a_number(reply, ids):
    assert token_ids_in(reply, ("A", "B")) == ids


@pytest.mark.parametrize("junk", [{}, {"tokens": "x"}, {"tokens": [None]}, {"detail": "no"}])
def test_junk_numbers_are_unreadable(junk):
    provider = connected("vllm", None)
    with pytest.raises(ProviderError, match="/tokenize"):
        provider.parse(TokenTask(("A",), "m"), junk)


def test_no_code_is_a_word_or_begins_another():
    assert len(CODES) > 500
    assert all(re.fullmatch("[A-Z]{2}", code) for code in CODES)
    assert not {"NO", "IT", "AS", "SI", "DE"} & {*CODES}


def test_letters_ask_for_as_many_spellings_as_fit():
    assert len(forms_of(letter_labels([f"o{i}" for i in range(26)]), 128)) == 104
    assert forms_of(letter_labels(["a1", "b1"]), 2) == ("A", "B")


@given(st.lists(st.floats(1e-6, 0.4), min_size=2, max_size=5), st.floats(0.0, 0.2))
def test_what_an_exact_list_leaves_out_may_all_be_one_labels(parts, other):
    scale = (1 - other) / sum(parts)
    labels = letter_labels([f"option {i}" for i in range(len(parts))])
    tokens = {label.shown: i for i, label in enumerate(labels.labels)}
    top = tuple(Candidate(text, math.log(p * scale)) for text, p in zip(tokens, parts, strict=True))
    plain = Completion(top[0].token, (Position(top[0], top),))
    got = read(with_exactness(plain, tokens), labels, min_mass=0.0)
    for p, low, high, part in zip(got.probabilities, got.low, got.high, parts, strict=True):
        assert p == near(part / sum(parts))
        assert low <= part * scale + 1e-9
        assert high >= min(1.0, part * scale + other) - 1e-9
    assert got.label_mass == near(1 - other)


def test_old_numbers_are_forgotten_first():
    vocabulary = Vocabulary()
    for number in range(70):
        vocabulary.keep("m", (str(number),), {})
    assert vocabulary.known("m", ("0",)) is None
    assert vocabulary.known("m", ("69",)) == {}


def test_a_model_that_is_sampled_is_never_asked_for_numbers():
    server = VLLMServer({'{"answer": "yes"}': 1.0})
    answer = DecisionModel(connected("vllm", server), strategy="sampled").decide("x", Q)
    assert answer.is_yes()
    assert server.bodies == server.chats
