"""Each pathology of a host gets its own row and advice."""

import asyncio
import json
from dataclasses import replace

import httpx2
import pytest

from tests.engine.doctored import KEY, ChatHost, error, hasty, provider_for
from tests.engine.support import SHELLS
from yesno import Budget, BudgetExceeded, Choice, FakeProvider, RecordingProvider, YesNo, YesNoAnswer
from yesno.errors import ProviderUnavailable
from yesno.providers.fireworks import Fireworks
from yesno.providers.llamacpp import LlamaCpp
from yesno.providers.mistral import Mistral

both = pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell.name)
ROWS = [
    "reachable",
    "reply format",
    "answers",
    "log-probabilities",
    "alternatives",
    "label mass",
    "temperature",
    "degenerate",
    "reasoning",
    "prompt cache",
    "repeats",
]


def probed(model):
    result = model.probe()
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def check(provider, shell=SHELLS[0], **settings):
    """Return the diagnosis, its rows by name and the model."""
    model = shell(provider, retry=hasty(), **settings).model
    diagnosis = probed(model)
    rows = {row.name: row for row in diagnosis.checks}
    assert list(rows) == ROWS
    for row in rows.values():
        assert bool(row.advice) == (row.status != "ok" and not row.value.startswith("not asked: ")), row
    assert KEY not in repr(diagnosis)
    assert diagnosis.requests <= 12
    json.dumps([dict(row.numbers) for row in diagnosis.checks], allow_nan=False)
    return diagnosis, rows, model


def host(kind=None, **faults):
    server = ChatHost(**faults)
    return (provider_for(server) if kind is None else provider_for(server, kind)), server


def differing(rows, status):
    return {name for name, row in rows.items() if row.status == status}


@both
def test_a_good_host_is_ok_in_every_row(shell):
    provider, server = host(caching=True)
    diagnosis, rows, _ = check(provider, shell)
    assert differing(rows, "ok") == set(ROWS)
    assert (diagnosis.verdict, diagnosis.model, diagnosis.strategy) == ("ok", "m-2026", "logprobs")
    assert diagnosis.requests == len(server.bodies) == diagnosis.usage.requests == 8
    assert diagnosis.usage.input_tokens > 2000
    assert "0.564 even, 0.937 obvious" in rows["answers"].value
    assert rows["alternatives"].numbers == {"listed": 20, "asked_for": 20}


@both
def test_a_host_without_logprobs_is_a_warning_and_is_not_asked_for_them_again(shell):
    provider, server = host(silent=True)
    diagnosis, rows, model = check(provider, shell)
    assert rows["log-probabilities"].status == "warn"
    assert "sampled" in rows["log-probabilities"].advice
    assert "sampled" in rows["answers"].value
    for name in ("alternatives", "label mass", "temperature", "degenerate", "repeats"):
        assert rows[name].value == "not asked: there are no log-probabilities"
    assert diagnosis.verdict == "ok"
    assert provider.profile.strategies == ("sampled",)
    sent = len(server.bodies)
    assert answered(model, YesNo("Is it?")).method == "sampled"
    assert all("response_format" in body for body in server.bodies[sent:])


def answered(model, question):
    result = model.decide("x", question)
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def test_a_host_that_refuses_logprobs_with_nothing_else_to_try_gives_no_answer():
    refusing = lambda request: error(400, "no", param="logprobs")  # noqa: E731
    diagnosis, rows, _ = check(provider_for(refusing), strategy="logprobs")
    assert rows["log-probabilities"].status == "fail"
    assert "logprobs_unsupported" in rows["log-probabilities"].value
    assert rows["answers"].status == "fail"
    assert (diagnosis.verdict, diagnosis.requests) == ("no_answer", 1)


@pytest.mark.parametrize("strict", [True, False], ids=["refused", "clipped"])
def test_a_cap_of_five_is_learned_and_kept(strict):
    provider, server = host(cap=5, strict_cap=strict)
    _, rows, model = check(provider)
    row = rows["alternatives"]
    assert (row.status, row.numbers["listed"]) == ("warn", 5)
    assert "more than 5 options" in row.advice
    assert provider.profile.top_logprobs == 5
    sent = len(server.bodies)
    model.decide("x", {"q": Choice("Which?", [f"name {i}" for i in range(5)])})
    assert server.bodies[sent]["top_logprobs"] == 5


def test_a_host_that_lists_more_than_its_profile_says_is_asked_for_more():
    provider, server = host(Fireworks)
    _, rows, _ = check(provider)
    assert rows["alternatives"].value == "20 of 20 asked for"
    assert provider.profile.top_logprobs == 20
    assert [body["top_logprobs"] for body in server.bodies[:2]] == [5, 20]


def test_asking_for_more_than_a_host_takes_leaves_its_profile_as_it_was():
    provider, _ = host(Fireworks, cap=5, strict_cap=True)
    diagnosis, rows, _ = check(provider)
    assert rows["alternatives"].value == "5 of 5 asked for; 20 were refused"
    assert provider.profile.top_logprobs == 5
    assert (diagnosis.verdict, diagnosis.requests) == ("ok", 9)


def test_temperature_that_scales_is_told_and_only_1_is_sent_from_then_on():
    provider, _ = host(LlamaCpp, scaled=True)
    assert provider.profile.temperature == 0.0
    _, rows, _ = check(provider)
    row = rows["temperature"]
    assert (row.status, row.numbers["kind"]) == ("warn", "scaled")
    assert row.numbers["slope"] == pytest.approx(2)
    assert "sends 1 from now on" in row.advice
    assert provider.profile.temperature == 1.0


def test_temperature_that_scales_is_fine_where_1_is_sent():
    provider, server = host(scaled=True)
    _, rows, _ = check(provider)
    assert (rows["temperature"].status, rows["temperature"].numbers["kind"]) == ("ok", "scaled")
    assert [body["temperature"] for body in server.bodies].count(0.5) == 1


def test_a_host_that_refuses_another_temperature_keeps_its_own():
    provider, server = host(only_default_temperature=True)
    diagnosis, rows, _ = check(provider)
    assert rows["temperature"].status == "unknown"
    assert "refuses" in rows["temperature"].value
    assert "temperature" not in provider.profile.refuses
    assert diagnosis.verdict == "ok"
    assert all("temperature" in body for body in server.bodies)


def test_certainty_about_a_coin_toss_is_degenerate():
    provider, _ = host(certain=True)
    diagnosis, rows, _ = check(provider)
    assert rows["degenerate"].status == "fail"
    assert rows["answers"].status == "warn"
    assert "speculative" in rows["degenerate"].advice
    assert rows["temperature"].status == "unknown"
    assert diagnosis.verdict == "no_answer"


@pytest.mark.parametrize(
    ("reply", "status", "verdict"),
    [
        ({"Yes": 1.0, "No": 0.0}, "fail", "no_answer"),
        ({"No": 1.0, "Yes": 0.0}, "fail", "no_answer"),
        ({"Yes": 0.9999995, "No": 5e-7}, "warn", "ok"),
        ({"Yes": 0.999, "No": 0.001}, "ok", "ok"),
    ],
    ids=["masked", "masked_no", "too_sure", "sure"],
)
def test_a_masked_rest_is_as_certain(reply, status, verdict):
    diagnosis, rows, _ = check(FakeProvider(reply))
    assert (rows["degenerate"].status, diagnosis.verdict) == (status, verdict)


def test_a_decision_endpoint_that_is_sure_of_a_coin_toss_is_a_warning():
    diagnosis, rows, _ = check(FakeProvider({"answer": YesNoAnswer(1.0)}, native=True))
    assert (rows["degenerate"].status, diagnosis.verdict) == ("warn", "ok")


def test_a_reasoning_span_is_seen_and_given_room_from_then_on():
    provider, server = host(thinking="span")
    _, rows, model = check(provider)
    assert rows["reasoning"].status == "warn"
    assert "turn thinking off" in rows["reasoning"].advice
    assert rows["answers"].status == "ok"
    assert provider.profile.min_tokens == 2048
    sent = len(server.bodies)
    assert model.decide("x", YesNo("Is it?")).method == "logprobs"
    assert len(server.bodies) == sent + 1


def test_reasoning_that_is_only_counted_is_seen_too():
    provider, _ = host(thinking="usage")
    _, rows, _ = check(provider)
    assert rows["reasoning"].status == "warn"
    assert rows["reasoning"].numbers["reasoning_tokens"] == 64 * 8


def test_a_host_that_reports_no_cached_tokens_is_a_warning():
    provider, _ = host()
    _, rows, _ = check(provider)
    row = rows["prompt cache"]
    assert row.status == "warn"
    assert row.numbers["cached_tokens"] == 0
    assert row.numbers["input_tokens"] > 1024


def test_a_long_prompt_that_does_not_fit_is_unknown():
    provider, _ = host(short_context=True)
    diagnosis, rows, _ = check(provider)
    assert rows["prompt cache"].status == "unknown"
    assert diagnosis.verdict == "ok"


def test_repeats_that_drift_are_a_warning_with_the_largest_difference():
    provider, _ = host(drift=0.05)
    _, rows, _ = check(provider)
    row = rows["repeats"]
    assert row.status == "warn"
    assert row.numbers["deviation"] > 0.05
    assert "threshold" in row.advice


def test_a_cache_never_answers_for_the_host():
    class Cache(dict):
        def put(self, key, value):
            self[key] = value

    provider, server = host()
    store = Cache()
    diagnosis, _, _ = check(provider, cache=store)
    assert diagnosis.requests == len(server.bodies)
    assert store == {}


def test_other_words_than_labels_are_a_warning():
    provider, _ = host(off=0.4)
    _, rows, _ = check(provider, min_label_mass=0.6)
    row = rows["label mass"]
    assert row.status == "warn"
    assert "few_shot" in row.advice


def test_no_answer_at_all_exits_as_one():
    diagnosis, rows, _ = check(FakeProvider({"Well": 0.9}))
    assert rows["answers"].status == "fail"
    assert "low_label_mass" in rows["answers"].value
    assert diagnosis.verdict == "no_answer"


@both
def test_a_wrong_key_says_so_and_never_shows_it(shell):
    provider = provider_for(lambda request: error(401, f"Incorrect API key provided: {KEY}"))
    diagnosis, rows, _ = check(provider, shell)
    assert rows["reachable"].status == "fail"
    assert "401" in rows["reachable"].value
    assert "key" in rows["reachable"].advice
    assert {row.value for name, row in rows.items() if name != "reachable"} == {
        "not asked: the provider failed"
    }
    assert (diagnosis.verdict, diagnosis.requests) == ("failed", 1)


def test_a_web_page_is_no_reply():
    page = lambda request: httpx2.Response(200, text="<html>hello</html>")  # noqa: E731
    diagnosis, rows, _ = check(provider_for(page))
    assert rows["reachable"].status == "ok"
    assert rows["reply format"].status == "fail"
    assert "not JSON" in rows["reply format"].value
    assert "/v1" in rows["reply format"].advice
    assert diagnosis.verdict == "failed"


def test_tries_that_fail_are_counted_as_requests():
    def down(request):
        raise httpx2.ConnectError("no")

    diagnosis, rows, _ = check(provider_for(down))
    assert rows["reachable"].status == "fail"
    assert "server" in rows["reachable"].advice
    assert diagnosis.requests == 2


def test_a_host_that_fails_on_the_way_keeps_the_rows_it_gave():
    server = ChatHost()
    failing = lambda request: server(request) if len(server.bodies) < 3 else error(500, "oh")  # noqa: E731
    diagnosis, rows, _ = check(provider_for(failing))
    assert "failed after 3 replies" in rows["reachable"].value
    assert rows["alternatives"].status == rows["temperature"].status == "ok"
    assert rows["repeats"].value == rows["prompt cache"].value == "not asked: the provider failed"
    assert diagnosis.verdict == "failed"


def test_a_budget_is_kept():
    provider, server = host()
    with pytest.raises(BudgetExceeded):
        check(provider, budget=Budget(requests=3))
    assert len(server.bodies) == 3


@both
def test_a_sampled_provider_is_asked_only_what_applies(shell):
    provider, server = host(Mistral, silent=True)
    diagnosis, rows, _ = check(provider, shell)
    assert diagnosis.strategy == "sampled"
    assert rows["answers"].value == "a sampled JSON answer was read"
    for name in [*ROWS[3:8], "repeats"]:
        assert rows[name].value == "not asked: this provider's answers are sampled"
    assert all("response_format" in body for body in server.bodies)
    assert diagnosis.requests == 3


@both
def test_a_native_provider_is_asked_only_what_applies(shell):
    provider = FakeProvider({"answer": YesNoAnswer(0.6)}, native=True)
    diagnosis, rows, _ = check(provider, shell)
    assert diagnosis.strategy == "native"
    assert "0.600 even" in rows["answers"].value
    for name in ROWS[3:7]:
        assert rows[name].value == "not asked: the endpoint answers with probabilities itself"
    assert (rows["degenerate"].status, rows["repeats"].status) == ("ok", "ok")
    assert diagnosis.verdict == "ok"


def test_a_scripted_provider_can_be_checked_without_a_network():
    _, rows, _ = check(FakeProvider({"Yes": 0.6, "No": 0.4}))
    assert differing(rows, "ok") >= {"reachable", "answers", "label mass", "degenerate", "repeats"}
    _, rows, _ = check(FakeProvider(ProviderUnavailable("down", provider="fake")))
    assert rows["reachable"].status == "fail"


def test_each_request_is_told_before_it_goes_out():
    provider, _ = host()
    told = []
    diagnosis = SHELLS[0](provider).model.probe(told.append)
    assert told == list(range(1, diagnosis.requests + 1))


def test_what_is_learned_through_a_recorder_is_learned_by_the_provider_behind_it(tmp_path):
    provider, _ = host(cap=5)
    check(RecordingProvider(provider, tmp_path / "run.jsonl"))
    assert provider.profile.top_logprobs == 5


def test_a_profile_that_was_right_stays_as_it_was():
    provider, _ = host()
    before = replace(provider.profile)
    check(provider)
    assert provider.profile == before
