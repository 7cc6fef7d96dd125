import asyncio
import json
import pickle
import stat
from dataclasses import replace

import httpx2
import pytest

from tests.engine.support import Server, both, compatible, patient, refused
from tests.providers.contract import KEY, NATIVE_TASK, PRIVATE, QUESTIONS, TASK, ProviderContract, payload
from tests.providers.test_openai_chat import clients
from yesno import (
    AsyncDecisionModel,
    Choice,
    DecisionModel,
    FakeProvider,
    RecordingProvider,
    ReplayProvider,
    YesNo,
    YesNoAnswer,
)
from yesno.errors import (
    ConfigError,
    NotRecorded,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    UnreadableReply,
)
from yesno.evidence import NativeAnswers, Reply
from yesno.providers import PROVIDERS, load_provider
from yesno.providers.base import Provider
from yesno.providers.fake import chat_reply
from yesno.providers.profiles import Profile

GOOD = {"Yes": 0.70, "No": 0.25}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def good(_):
    return httpx2.Response(200, json=payload("openai_compatible/yes"))


class TestRecording(ProviderContract):
    provider = "openai-compatible"
    recorded = "openai_compatible/yes"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path):
        self.path = tmp_path / "run.jsonl"

    def make(self, body):
        return RecordingProvider(
            compatible(lambda _: httpx2.Response(200, json=body), api_key=KEY), self.path
        )


class TestReplay(TestRecording):
    def make(self, body):
        recorder = super().make(body)
        recorder.send(recorder.build(TASK))
        return ReplayProvider(self.path)


class Decisions(Provider):
    """A decision endpoint with JSON on its wire."""

    name = "mine"
    profile = Profile(strategies=("native",))

    def build(self, task):
        return {"input": str(task.request.input), "questions": list(task.request.questions)}

    def send(self, payload, *, timeout_s=None):
        return {"answers": dict.fromkeys(payload["questions"], 0.75)}

    async def asend(self, payload):
        return self.send(payload)

    def parse(self, task, reply):
        return Reply(NativeAnswers({name: YesNoAnswer(p) for name, p in reply["answers"].items()}))


@both
def test_a_recorded_run_is_played_back_alike(shell, path):
    questions = {"spam": YesNo("Is it spam?"), "team": Choice("Which team?", ["a", "b"])}
    script = lambda prompt: {"A": 0.6, "B": 0.3} if "Which team" in prompt else GOOD  # noqa: E731
    first = shell(RecordingProvider(FakeProvider(script), path)).decide("x", questions)
    for again in (shell(ReplayProvider(path)), shell(ReplayProvider(path))):
        assert again.decide("x", questions) == first
    assert len(lines(path)) == 3


def test_both_models_play_what_either_recorded(path):
    provider = RecordingProvider(compatible(good), path)
    one = DecisionModel(provider).decide("x", YesNo("q?"))
    assert asyncio.run(AsyncDecisionModel(ReplayProvider(path)).decide("x", YesNo("q?"))) == one


@both
def test_a_decision_endpoint_is_recorded_too(shell, path):
    questions = {"a": YesNo("a?"), "b": YesNo("b?")}
    first = shell(RecordingProvider(Decisions(), path)).decide("x", questions)
    again = shell(ReplayProvider(path, like=Decisions())).decide("x", questions)
    assert again == first
    assert first.yes_no("a").method == "native"
    with pytest.raises(ConfigError, match="like="):
        ReplayProvider(path)


@both
def test_errors_are_played_back_as_they_were(shell, path):
    server = Server(refused(503, "busy", headers={"retry-after": "7", "x-request-id": "req_1"}), GOOD)
    waits, again = [], []
    recorder = RecordingProvider(compatible(server), path)
    first = shell(recorder, retry=patient(waits)).decide("x", YesNo("q?"))
    assert shell(ReplayProvider(path), retry=patient(again)).decide("x", YesNo("q?")) == first
    assert waits == again == [7.0]
    error = lines(path)[1]["error"]
    assert (error["type"], error["status"], error["request_id"]) == ("ProviderUnavailable", 503, "req_1")


def test_a_replayed_error_is_another_object_each_time_and_pickles(path):
    recorder = RecordingProvider(
        compatible(lambda _: refused(400, "no such thing", param="messages", code="odd")), path
    )
    body = recorder.build(TASK)
    with pytest.raises(Exception) as first:  # noqa: PT011 - whatever the SDK raises
        recorder.send(body)
    known = recorder.classify(first.value)
    replayed = ReplayProvider(path)
    caught = []
    for _ in range(2):
        with pytest.raises(ProviderRejected) as info:
            replayed.send(body)
        caught.append(info.value)
    assert caught[0] is not caught[1]
    assert (str(caught[0]), vars(caught[0])) == (str(known), vars(known))
    assert vars(pickle.loads(pickle.dumps(caught[0]))) == vars(known)  # noqa: S301 - our own bytes


@both
def test_several_answers_to_one_body_come_in_their_order_and_the_last_stays(shell, path):
    recorder = shell(RecordingProvider(FakeProvider([{"Yes": 0.9}, {"Yes": 0.6, "No": 0.3}]), path))
    first = [recorder.decide("x", YesNo("q?")).probability for _ in range(2)]
    player = shell(ReplayProvider(path))
    assert [player.decide("x", YesNo("q?")).probability for _ in range(4)] == [*first, first[1], first[1]]


def limited(request):
    body = json.loads(request.content)
    for name, value in (("temperature", None), ("top_logprobs", 5)):
        if name in body and body[name] != value:
            return refused(400, f"{name} must be <= 5", param=name)
    return httpx2.Response(200, json=chat_reply(GOOD))


@both
@pytest.mark.parametrize(("recorded", "played"), [(1, 1), (1, 8), (8, 1)])
def test_what_400s_taught_is_learned_again_in_any_order(shell, path, recorded, played):
    items = [f"item {number}" for number in range(12)]
    first = shell(RecordingProvider(compatible(limited), path), concurrency=recorded).map(items, YesNo("q?"))
    again = shell(ReplayProvider(path), concurrency=played).map(items, YesNo("q?"))
    assert [one.probability for one in again] == [one.probability for one in first]


def test_a_rejection_that_leads_nowhere_recorded_is_not_played(path):
    DecisionModel(RecordingProvider(compatible(limited), path)).decide("x", YesNo("q?"))
    player = ReplayProvider(path)
    before = player.profile
    with pytest.raises(NotRecorded):
        DecisionModel(player).decide("another", YesNo("q?"))
    assert player.profile == before


def test_many_threads_record_and_play(path):
    items = [f"item {number}" for number in range(60)]
    script = lambda prompt: {"Yes": 0.5 + 0.001 * len(prompt) % 0.4, "No": 0.1}  # noqa: E731
    with DecisionModel(RecordingProvider(FakeProvider(script), path), concurrency=8) as model:
        first = list(model.map(items, YesNo("q?")))
    assert len(lines(path)) == 61
    with DecisionModel(ReplayProvider(path), concurrency=8) as model:
        assert list(model.map(items, YesNo("q?"))) == first


@both
def test_what_was_not_recorded_is_an_error_that_shows_no_content(shell, path):
    shell(RecordingProvider(FakeProvider(), path)).decide("x", YesNo("q?"))
    with pytest.raises(NotRecorded, match="differs in messages") as info:
        shell(ReplayProvider(path)).decide(PRIVATE, YesNo("q?"))
    assert PRIVATE not in str(info.value)
    assert not info.value.retryable
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)  # noqa: S301 - our own bytes


def test_an_empty_recording_says_so(path):
    RecordingProvider(FakeProvider(), path)
    with pytest.raises(NotRecorded, match="holds none"):
        ReplayProvider(path).send({"a": 1})


def test_neither_keys_nor_headers_are_written_and_only_the_owner_may_read(path, monkeypatch):
    monkeypatch.setenv("OTHER_API_KEY", "another-key-of-mine")
    body = {
        **payload("openai_compatible/yes"),
        "echo": [f"Bearer {KEY}", {"Authorization": "x", "headers": {"a": "b"}, "api_key": "y"}],
        "more": "another-key-of-mine",
    }
    provider = compatible(lambda _: httpx2.Response(200, json=body), api_key=KEY)
    recorder = RecordingProvider(provider, path)
    assert recorder.send(recorder.build(TASK)) == body
    text = path.read_text(encoding="utf-8")
    assert KEY not in text
    assert "another-key-of-mine" not in text
    assert lines(path)[1]["reply"]["echo"] == ["Bearer ***", {}]
    assert not any(word in text.lower() for word in ("authorization", '"headers"', "api_key"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert recorder.secrets() == (KEY,)


def test_a_body_with_a_field_called_like_a_key_is_found_again(path):
    recorder = RecordingProvider(FakeProvider(GOOD), path)
    body = {**recorder.build(TASK), "api_key": "z"}
    reply = recorder.send(body)
    player = ReplayProvider(path)
    assert player.send(body) == reply
    with pytest.raises(NotRecorded, match="what is not written"):
        player.send({**body, "api_key": "y"})


def test_a_changed_reply_changes_no_later_one(path):
    recorder = RecordingProvider(FakeProvider(), path)
    body = recorder.build(TASK)
    reply = recorder.send(body)
    player = ReplayProvider(path)
    player.send(body)["choices"].clear()
    assert player.send(body) == reply


def test_foreign_errors_and_the_lack_of_an_async_form_are_not_recorded(path):
    class Broken(FakeProvider):
        def send(self, payload, *, timeout_s=None):
            raise ZeroDivisionError

        asend = Provider.asend

    recorder = RecordingProvider(Broken(), path)
    with pytest.raises(ZeroDivisionError):
        recorder.send({})
    with pytest.raises(ProviderError):
        asyncio.run(recorder.asend({}))
    assert len(lines(path)) == 1


def test_an_error_of_ones_own_is_recorded_as_the_nearest_of_yesnos(path):
    class Busy(ProviderUnavailable):
        pass

    recorder = RecordingProvider(FakeProvider([Busy("later", provider="fake", retry_after=1.0)]), path)
    with pytest.raises(Busy):
        recorder.send({"a": 1})
    with pytest.raises(ProviderUnavailable, match="later") as info:
        ReplayProvider(path).send({"a": 1})
    assert info.value.retry_after == 1.0


def test_an_unreadable_reply_is_recorded_as_it_came(path):
    recorder = RecordingProvider(compatible(lambda _: httpx2.Response(200, content=b"<html>")), path)
    body = recorder.build(TASK)
    with pytest.raises(UnreadableReply, match="not JSON"):
        recorder.send(body)
    with pytest.raises(UnreadableReply, match="not JSON"):
        ReplayProvider(path).send(body)


def test_what_is_not_json_cannot_be_recorded(path):
    recorder = RecordingProvider(FakeProvider({"q": YesNoAnswer(0.5)}, native=True), path)
    with pytest.raises(ConfigError, match="not JSON"):
        recorder.send({"model": "m", "questions": ["q"]})


def test_a_second_recorder_appends_and_another_model_is_refused(path):
    for text in ("x", "y"):
        DecisionModel(RecordingProvider(FakeProvider(), path)).decide(text, YesNo("q?"))
    assert len(lines(path)) == 3
    player = DecisionModel(ReplayProvider(path))
    assert all(player.decide(text, YesNo("q?")).is_yes() for text in ("x", "y"))
    with pytest.raises(ConfigError, match="another file"):
        RecordingProvider(FakeProvider(model="other"), path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a recording"),
        ("hello\n", "not a recording"),
        ("[1]\n", "not a recording"),
        ('{"yesno": 2}\n', "not a recording"),
        ('{"yesno": 1}\n', "who was recorded"),
        ('{"yesno": 1, "provider": "fake", "model": "m", "profile": 3}\n', "who was recorded"),
        ('{"yesno": 1, "provider": "fake", "model": "m", "profile": {"refuses": 3}}\n', "cannot make"),
        ('{"yesno": 1, "provider": "openai", "model": "", "profile": {}}\n', "cannot make"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(path, text, words):
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        ReplayProvider(path)


@pytest.mark.parametrize(
    "line",
    [
        '{"payload": {}',
        "",
        "7",
        "{}",
        '{"payload": {}}',
        '{"payload": {}, "reply": {}}',
        '{"sha256": "", "payload": {}, "reply": 3}',
        '{"sha256": "", "payload": {}, "error": {"type": "ConfigError", "message": "m"}}',
        '{"sha256": "", "payload": {}, "error": {"type": "system", "message": "m"}}',
        '{"sha256": "", "payload": {}, "error": {"type": "ProviderError"}}',
    ],
)
def test_a_line_that_is_no_exchange_is_named(path, line):
    RecordingProvider(FakeProvider(), path)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="line 2"):
        ReplayProvider(path)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot read"):
        ReplayProvider(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="cannot write"):
        RecordingProvider(FakeProvider(), tmp_path / "none" / "run.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not text"):
        ReplayProvider(tmp_path / "binary")


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_every_provider_is_played_back_without_its_key_or_address(name, path, monkeypatch):
    options = {} if name in ("fake", "local") else {"api_key": KEY}
    if name in ("azure", "openai-compatible"):
        options["base_url"] = "https://server.test/v1"
    model = "qwen2.5-coder-1.5b" if name == "local" else "m"
    real = load_provider(f"{name}:{model}", **options)
    real.profile = replace(real.profile, top_logprobs=3, refuses=frozenset({"temperature"}))
    RecordingProvider(real, path)
    player = ReplayProvider(path)
    assert (player.name, player.model, player.profile) == (name, real.model, real.profile)
    task = NATIVE_TASK if real.profile.strategies == ("native",) else TASK
    assert player.build(task) == real.build(task)
    assert (player.address, player.merges) == (real.address, real.merges)


def test_a_path_of_ones_own_is_not_written(path):
    class Own(FakeProvider):
        address = "somewhere/of/mine.gguf"

    RecordingProvider(Own(), path)
    assert "of/mine" not in path.read_text(encoding="utf-8")


def test_learned_facts_and_closing_are_the_inner_providers(path):
    closed = []

    class Closing(FakeProvider):
        def close(self):
            closed.append(1)

    inner = Closing()
    recorder = RecordingProvider(inner, path)
    inner.profile = replace(inner.profile, top_logprobs=7)
    assert recorder.profile.top_logprobs == 7
    recorder.close()
    asyncio.run(recorder.aclose())
    assert closed == [1, 1]


@pytest.mark.parametrize("name", ["openai_decisions", "systemone"])
def test_a_vendors_decision_endpoint_is_played_back(path, name):
    handler = lambda _: httpx2.Response(200, json=payload(f"{name}/answers"))  # noqa: E731
    real = load_provider(f"{name.replace('_', '-')}:m", api_key=KEY, **clients(handler))
    first = DecisionModel(RecordingProvider(real, path)).decide("I was charged twice", QUESTIONS)
    assert DecisionModel(ReplayProvider(path)).decide("I was charged twice", QUESTIONS) == first


def test_an_openai_recording_is_played_with_its_own_wire(path):
    for name in ("openai", "openai-responses"):
        file = path.with_suffix(f".{name}")
        recorded = "openai/yes" if name == "openai" else "openai_responses/yes"
        handler = lambda _, recorded=recorded: httpx2.Response(200, json=payload(recorded))  # noqa: E731
        real = load_provider(f"{name}:gpt-5.4-mini", api_key=KEY, **clients(handler))
        first = DecisionModel(RecordingProvider(real, file)).decide("x", YesNo("q?"))
        assert DecisionModel(ReplayProvider(file)).decide("x", YesNo("q?")) == first


@both
def test_samples_of_one_prompt_are_played_back_each_in_its_turn(shell, path):
    says = ['{"answer": "yes", "confidence": 90}', '{"answer": "no", "confidence": 60}']
    script = [{says[number % 3 == 2]: 1.0} for number in range(15)]
    fake = FakeProvider(script, strategies=("sampled",))
    first = shell(RecordingProvider(fake, path)).decide("x", YesNo("q?"))
    assert first.method == "sampled"
    assert 0.5 < first.probability < 0.9
    assert shell(ReplayProvider(path)).decide("x", YesNo("q?")) == first


def test_what_a_provider_says_about_trying_again_is_recorded(tmp_path):
    path = tmp_path / "run.jsonl"
    error = UnreadableReply("cut short", provider="fake", retryable=True)
    once = patient([], attempts=1)
    for opened in (lambda: RecordingProvider(FakeProvider(error), path), lambda: ReplayProvider(path)):
        with pytest.raises(UnreadableReply) as info:
            DecisionModel(opened(), retry=once).decide("x", YesNo("Is it?"))
        assert info.value.retryable
