"""What was learned is kept for other runs, and never used where it does not hold."""

import asyncio
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.doctored import ChatHost, error, hasty, provider_for
from tests.engine.support import both
from tests.engine.test_priors import QUESTION, biased
from yesno import (
    AsyncDecisionModel,
    Choice,
    DecisionModel,
    FakeProvider,
    FolderMemory,
    Scale,
    SqliteCache,
    TemplateSet,
    YesNo,
)
from yesno.engine.memory import KEPT_S, Facts, Keeper
from yesno.errors import ConfigError
from yesno.providers.profiles import Profile
from yesno.reading.priors import PROBES, Prior

SECRET = "pass-word-4711"  # noqa: S105 - made up
PRIVATE = "Mrs. Jones was charged twice"


class Store(dict):
    """A memory in a dictionary."""

    def put(self, key, value):
        self[key] = value


@pytest.fixture
def store():
    return Store()


def probed(store, **faults):
    host = ChatHost(**faults)
    model = DecisionModel(provider_for(host), memory=store)
    model.probe()
    return host


def bodies_after(store, **settings):
    host = ChatHost(cap=5)
    model = DecisionModel(provider_for(host), memory=store, **settings)
    model.decide("x", YesNo("Does it land on heads?"))
    return host.bodies


@both
def test_what_a_probe_found_is_known_to_a_later_model_object(shell, store):
    probed(store, cap=5)
    host = ChatHost(cap=5, strict_cap=True)
    shell(provider_for(host), memory=store).decide("x", YesNo("Does it land on heads?"))
    assert [body["top_logprobs"] for body in host.bodies] == [5]


@both
def test_an_async_probe_is_kept_too(shell, store):
    asyncio.run(AsyncDecisionModel(provider_for(ChatHost(cap=5)), memory=store).probe())
    host = ChatHost(cap=5)
    shell(provider_for(host), memory=store).decide("x", YesNo("q?"))
    assert host.bodies[0]["top_logprobs"] == 5


@both
def test_a_model_without_log_probabilities_is_sampled_at_once_and_says_so(shell, store, caplog):
    probed(store, silent=True)
    host = ChatHost(silent=True)
    model = shell(provider_for(host), memory=store)
    response = model.decide("x", {"q": YesNo("Does it land on heads?")})
    assert response.outcome("q").method == "sampled"
    assert not any("logprobs" in body for body in host.bodies)
    assert response.usage.fallbacks == {"logprobs_unsupported": 1}
    assert "sampled_instead" in caplog.text


def test_a_probe_checks_again_what_was_remembered(store):
    probed(store, silent=True)
    found = DecisionModel(provider_for(ChatHost()), memory=store).probe()
    assert {check.name: check.status for check in found.checks}["log-probabilities"] == "ok"
    assert bodies_after(store)[0]["top_logprobs"] == 20


def test_without_a_memory_nothing_is_remembered_and_nothing_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DecisionModel(provider_for(ChatHost(cap=5))).probe()
    assert bodies_after(None)[0]["top_logprobs"] == 20
    assert list(tmp_path.rglob("*")) == []


def test_a_host_that_failed_teaches_nothing(store):
    probed(store, cap=5)
    kept = dict(store)
    DecisionModel(provider_for(lambda _: error(401, "bad key")), memory=store, retry=hasty()).probe()
    assert store == kept


@pytest.mark.parametrize(
    "changes",
    [{"model": "another"}, {"base_url": "http://elsewhere.test/v1"}, {"profile": {"top_logprobs": 7}}],
    ids=["model", "address", "facts"],
)
def test_facts_hold_only_where_they_were_found(store, changes):
    probed(store, cap=5)
    host = ChatHost(cap=5)
    facts = changes.pop("profile", {})
    provider = provider_for(host, **changes)
    provider.profile = replace(provider.profile, **facts)
    DecisionModel(provider, memory=store)
    assert provider.profile.top_logprobs == facts.get("top_logprobs", 20)


def test_facts_are_learned_anew_after_a_month(store):
    provider = provider_for(ChatHost())
    Keeper(store, provider).keep_facts(Facts(replace(provider.profile, top_logprobs=3)))
    at = time.time()
    assert Keeper(store, provider, lambda: at + KEPT_S - 60).facts().profile.top_logprobs == 3
    assert Keeper(store, provider, lambda: at + KEPT_S + 60).facts() is None


@given(st.dictionaries(st.sampled_from(["at", "learned", "blind", "x"]), st.none() | st.text() | st.floats()))
def test_facts_of_another_shape_are_a_miss(kept):
    store = Store()
    provider = FakeProvider()
    keeper = Keeper(store, provider)
    keeper.keep_facts(Facts(provider.profile))
    (key,) = store
    store[key] = json.dumps(kept).encode()
    assert Keeper(store, provider).facts() is None


@pytest.mark.parametrize(
    "learned",
    [
        {"top_logprobs": -1},
        {"top_logprobs": "20"},
        {"temperature": 9},
        {"cap_name": "tokens"},
        {"refuses": [1]},
        {"effort": 3},
        {"structured": "xml"},
        {"min_tokens": None},
    ],
)
def test_a_fact_that_no_profile_can_have_is_a_miss(store, learned):
    provider = FakeProvider()
    Keeper(store, provider).keep_facts(Facts(provider.profile))
    (key,) = store
    store[key] = json.dumps({"at": time.time(), "learned": learned, "blind": None}).encode()
    assert Keeper(store, provider).facts() is None


@given(
    st.builds(
        Profile,
        top_logprobs=st.integers(1, 100),
        exact_labels=st.integers(0, 128),
        temperature=st.floats(0, 2),
        cap_name=st.sampled_from(["max_tokens", "max_completion_tokens"]),
        min_tokens=st.integers(1, 5000),
        most_tokens=st.none() | st.integers(1, 5000),
        refuses=st.frozensets(st.sampled_from(["temperature", "system", "thinking"])),
        effort=st.none() | st.sampled_from(["none", "low"]),
        structured=st.sampled_from(["json_schema", "json_object", "tool", "none"]),
    ),
    st.none() | st.just("no_logprobs"),
)
def test_facts_come_back_as_they_were_kept(profile, blind):
    store, provider = Store(), FakeProvider()
    Keeper(store, provider).keep_facts(Facts(profile, blind))
    kept = Keeper(store, provider).facts()
    assert kept.blind == blind
    assert replace(provider.profile, **{n: getattr(profile, n) for n in ("refuses", "effort")}).refuses == (
        kept.profile.refuses
    )
    assert (kept.profile.top_logprobs, kept.profile.temperature) == (
        profile.top_logprobs,
        profile.temperature,
    )
    assert (kept.profile.structured, kept.profile.most_tokens) == (profile.structured, profile.most_tokens)


@both
def test_a_prior_is_measured_once_for_all_runs(shell, store):
    first, second = FakeProvider(biased), FakeProvider(biased)
    one = shell(first, prior="content_free", memory=store).decide("first", QUESTION)
    two = shell(second, prior="content_free", memory=store).decide("first", QUESTION)
    assert one.probabilities == pytest.approx(two.probabilities)
    assert (len(first.requests), len(second.requests)) == (1 + len(PROBES), 1)
    assert "prior" in two.flags


@both
def test_a_prior_that_could_not_be_measured_is_tried_again(shell, store):
    for _ in range(2):
        provider = FakeProvider(lambda prompt: {"A": 0.9} if "first" in prompt else {"Well": 1.0})
        shell(provider, prior="content_free", memory=store, strategy="logprobs").decide("first", QUESTION)
        assert len(provider.requests) == 1 + len(PROBES)


class Elsewhere(FakeProvider):
    """A fake at an address of its own, with a file of its own."""

    def __init__(self, address, identity, model):
        super().__init__(biased, model=model)
        self._place = (address, identity)

    address = property(lambda self: self._place[0])
    identity = property(lambda self: self._place[1])


class Other(Elsewhere):
    name = "other"


PLACES = st.builds(
    lambda kind, *place: (kind, place),
    st.sampled_from([Elsewhere, Other]),
    st.sampled_from([None, "http://a.test"]),
    st.sampled_from([None, "12-34"]),
    st.sampled_from(["m", "n"]),
)
ASKED = st.tuples(
    st.sampled_from(["default", "few_shot"]),
    st.sampled_from(
        [
            Choice("Which?", ["one", "two"]),
            Choice("Which?", ["two", "one"]),
            Choice("Which?", {"one": "described", "two": None}),
            Choice("What?", ["one", "two"]),
            Choice("Which?", ["one", "two"], none="neither"),
            Scale("Which?", ["one", "two"]),
            YesNo("Which?"),
        ]
    ),
)
SETS = {name: TemplateSet.load(name) for name in ("default", "few_shot")}


def probes_of(place, asked, store):
    """Ask a new model object a question and return how many requests measured its prior."""
    kind, fields = place
    provider = kind(*fields)
    template, question = asked
    model = DecisionModel(
        provider, prior="content_free", template=SETS[template], memory=store, strategy="logprobs"
    )
    response = model.decide("first", {"q": question})
    return sum(a.requests for a in response.outcome("q").attempts if a.result == "prior")


@given(PLACES, ASKED, PLACES, ASKED)
def test_a_prior_is_never_used_across_hosts_models_templates_or_questions(here, asked, there, later):
    store = Store()
    assert probes_of(here, asked, store) == len(PROBES)
    same = repr((here, asked)) == repr(
        (there, later)
    )  # equal questions may show their options in other orders
    assert probes_of(there, later, store) == (0 if same and store else len(PROBES))


@given(PLACES, ASKED)
def test_a_prior_is_used_again_for_the_same_question_of_the_same_model(here, asked):
    store = Store()
    probes_of(here, asked, store)
    assert probes_of(here, asked, store) == (0 if store else len(PROBES))
    listed = not isinstance(asked[1], YesNo) and getattr(asked[1], "none", None) is None
    assert bool(store) is listed


def test_nothing_of_an_input_a_question_or_a_key_is_written(tmp_path):
    memory = FolderMemory(tmp_path)
    provider = provider_for(ChatHost(), base_url=f"http://user:{SECRET}@server.test/v1")
    model = DecisionModel(provider, memory=memory, prior="content_free")
    model.probe()
    question = Choice("Is Mrs. Jones angry?", {"Angry Jones": "Jones shouts", "calm": None})
    DecisionModel(FakeProvider(biased), memory=memory, prior="content_free").decide(PRIVATE, question)
    files = list(tmp_path.iterdir())
    assert len(files) >= 2
    for path in files:
        text = f"{path.name} {path.read_text()}"
        assert not any(word in text for word in ("Jones", "charged", SECRET, "user", "server.test", "Angry"))


def test_files_are_the_owners_and_none_is_left_half_written(tmp_path):
    memory = FolderMemory(tmp_path / "deep" / "folder")
    memory.put("ab", b'{"x": 1}')
    assert memory.get("ab") == b'{"x": 1}'
    (path,) = memory.folder.iterdir()
    assert path.name == "ab.json"
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
    memory.put("ab", b"{}")
    assert memory.get("ab") == b"{}"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "\x00" + text,
        lambda text: text.replace("20", "21"),
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: "[1]",
        lambda text: "[" * 100_000,
    ],
    ids=["cut", "empty", "binary", "changed", "version", "shape", "deep"],
)
def test_a_damaged_file_is_a_miss_and_is_replaced(tmp_path, spoil):
    memory = FolderMemory(tmp_path)
    memory.put("ab", b'{"n": 20}')
    (path,) = tmp_path.iterdir()
    path.write_text(spoil(path.read_text()))
    assert memory.get("ab") is None
    memory.put("ab", b"{}")
    assert memory.get("ab") == b"{}"


def test_a_file_under_another_name_is_a_miss(tmp_path):
    memory = FolderMemory(tmp_path)
    memory.put("ab", b"{}")
    (tmp_path / "ab.json").rename(tmp_path / "cd.json")
    assert memory.get("cd") is None


def test_a_folder_that_cannot_be_written_costs_one_warning(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    memory = FolderMemory(tmp_path / "file" / "folder")
    for _ in range(2):
        memory.put("ab", b"{}")
    assert memory.get("ab") is None
    assert caplog.text.count("memory_failed") == 1


def test_two_processes_keep_each_others_priors(store):
    one, two = (Keeper(store, FakeProvider()) for _ in range(2))
    one.note_prior("a", Prior((0.5, 0.5)))
    two.note_prior("b", Prior((0.2, 0.8)))
    one.flush()
    two.flush()
    third = Keeper(store, FakeProvider())
    assert third.prior("a", 2).shares == pytest.approx((0.5, 0.5))
    assert third.prior("b", 2).shares == pytest.approx((0.2, 0.8))
    assert third.prior("b", 3) is None


def test_the_oldest_priors_go_first(store):
    ticks = iter(range(10_000))
    start = time.time()
    keeper = Keeper(store, FakeProvider(), lambda: start + next(ticks) / 1000)
    for number in range(1100):
        keeper.note_prior(str(number), Prior((0.5, 0.5)))
    keeper.flush()
    kept = Keeper(store, FakeProvider())
    assert kept.prior("0", 2) is None
    assert kept.prior("1099", 2) is not None


def test_a_cache_can_be_the_memory(tmp_path):
    with SqliteCache(tmp_path / "c.db") as cache:
        probed(cache, cap=5)
        assert bodies_after(cache)[0]["top_logprobs"] == 5


def test_something_else_is_no_memory():
    with pytest.raises(ConfigError, match="`memory` must have the methods"):
        DecisionModel(FakeProvider(), memory=object())


PROGRAM = """
import sys
import yesno.engine.core as core
from yesno import FakeProvider
from yesno.cli.main import main

message = {"role": "assistant", "content": '{"answer": "yes", "confidence": 90}'}
silent = {"choices": [{"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}]}
provider = FakeProvider(silent, strategies=("logprobs", "sampled"))
core.load_provider = lambda spec, **options: provider
main(sys.argv[1:])
"""


def test_doctor_teaches_a_later_ask_in_another_process(tmp_path):
    def run(*words):
        environment = {**os.environ, "YESNO_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", PROGRAM, *words, "--json"],
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)

    asked = ("ask", "Is it?", "x", "--no-cache")
    assert [attempt["method"] for attempt in run(*asked)["attempts"]] == ["logprobs", "sampled"]
    assert run("doctor")["verdict"] == "ok"
    assert [attempt["method"] for attempt in run(*asked)["attempts"]] == ["sampled"]
    assert [attempt["method"] for attempt in run(*asked, "--no-memory")["attempts"]] == [
        "logprobs",
        "sampled",
    ]
