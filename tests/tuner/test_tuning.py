"""A whole run: what is better is accepted, what is not shown to be is not, and what was paid for is not paid again."""

import json

import pytest

from tests.tuner.build import MOOD, TEAM, rows, scripted
from yesno import BudgetExceeded, DecisionModel, FakeProvider
from yesno.engine.budget import Budget
from yesno.engine.sqlite_cache import SqliteCache
from yesno.errors import ConfigError, ProviderRejected, ProviderUnavailable
from yesno.tuner import document, forecast, markdown, plan_for, save, tune
from yesno.tuner.plan import planned

ITEMS = rows(150)


def better_with(text, *, otherwise=0.3, than=3.0, **settings):
    return scripted(lambda prompt: than if text in prompt else otherwise, **settings)


def tuned_with(provider, items=ITEMS, calls=600, **settings):
    model = DecisionModel(provider, **settings)
    return tune(plan_for(model, items, calls=calls), model), model


@pytest.fixture(scope="module")
def accepted():
    return tuned_with(better_with("Question:"))


@pytest.fixture(scope="module")
def kept():
    return tuned_with(scripted(lambda prompt: 1.0))


def test_a_better_template_is_accepted_on_rows_held_out(accepted):
    tuned, _ = accepted
    assert tuned.verdict == "accepted"
    assert tuned.held_out.calibrated.low > 0
    assert "Question:" in tuned.chosen.candidate.source
    assert tuned.chosen is tuned.winner


def test_the_gain_is_what_the_result_changes_against_what_is_read_today(accepted, kept):
    for tuned, _ in (accepted, kept):
        assert tuned.gain.n == len(tuned.plan.split.held_out)
        assert document(tuned)["gain"]["value"] == tuned.gain.value
    tuned, _ = accepted
    held = tuned.held_out
    read_today = held.raw.loss + held.raw.value
    assert tuned.gain.loss == pytest.approx(held.calibrated.loss)
    assert tuned.gain.loss + tuned.gain.value == pytest.approx(read_today)
    assert f"log loss {read_today:.3f} → {tuned.gain.loss:.3f}" in markdown(tuned)


def test_readings_that_are_kept_as_they_are_gain_nothing_and_no_sentence(kept):
    tuned, _ = kept
    assert tuned.chosen.card is None
    assert tuned.gain.value == 0.0
    assert "The result, " not in markdown(tuned)


def test_the_rows_held_out_are_asked_with_two_templates_only(accepted):
    tuned, model = accepted
    held = {row.input for row in tuned.plan.split.held_out}
    asked = [body["messages"] for body in model.provider.requests]
    about = [turns for turns in asked if any(text in turns[-1]["content"] for text in held)]
    assert len(about) == 2 * len(held)
    assert len({turns[0]["content"] for turns in about}) <= 2


def test_no_row_held_out_or_compared_on_is_a_worked_example(accepted):
    tuned, model = accepted
    train = {row.input for row in tuned.plan.split.train}
    for body in model.provider.requests:
        shown = [turn["content"] for turn in body["messages"][:-1] if turn["role"] == "user"]
        for content in (one for one in shown if " is kind" in one):
            assert any(text in content for text in train)


def test_nothing_better_keeps_what_there_is(kept):
    tuned, _ = kept
    assert tuned.verdict == "kept"
    assert tuned.chosen.candidate is tuned.today.candidate
    assert (tuned.winner, tuned.held_out) == (None, None)


@pytest.mark.parametrize("question", [TEAM, MOOD])
def test_choices_and_scales_are_tuned_as_well(question):
    tuned, _ = tuned_with(better_with("Options:", yes_no=False), rows(150, question))
    assert tuned.verdict == "accepted"
    assert "Options:" in tuned.chosen.candidate.source


def test_a_second_run_sends_nothing_and_says_the_same(tmp_path):
    provider = better_with("Question:")
    with SqliteCache(tmp_path / "replies.db") as cache:
        first, _ = tuned_with(provider, cache=cache)
        sent = len(provider.requests)
        second, _ = tuned_with(provider, cache=cache)
    assert len(provider.requests) == sent
    assert second.usage.requests == 0
    assert (second.why, second.calls) == (first.why, first.calls)


def test_no_run_goes_past_its_calls(accepted, kept):
    for tuned, model in (accepted, kept):
        assert len(model.provider.requests) <= 600
        assert sum(tuned.calls.values()) == tuned.usage.requests


def test_a_template_that_takes_two_requests_a_row_ends_the_search_in_time():
    provider = scripted(lambda prompt: 1.0)
    honest = provider._script
    provider._script = lambda prompt: honest(prompt) if "exactly one word" in prompt else {"Well": 1.0}
    model = DecisionModel(provider, budget=Budget(requests=700))
    tuned = tune(plan_for(model, rows(150), calls=700), model)
    assert len(provider.requests) <= 700
    assert tuned.stopped


def test_a_budget_that_ends_before_todays_template_was_asked_is_an_error():
    model = DecisionModel(scripted(lambda prompt: 1.0), budget=Budget(requests=50))
    with pytest.raises(BudgetExceeded, match="before today's template was asked about all"):
        tune(plan_for(model, ITEMS, calls=600), model)


def test_a_key_that_is_refused_ends_the_run_at_once():
    error = ProviderRejected("no", provider="fake", status=401)
    provider = FakeProvider(error)
    with pytest.raises(ProviderRejected):
        tuned_with(provider, concurrency=2)
    assert len(provider.requests) <= 4


def test_a_host_that_fails_for_most_rows_ends_the_run():
    from yesno import RetryPolicy

    provider = FakeProvider(ProviderUnavailable("down", provider="fake", status=503))
    with pytest.raises(ProviderUnavailable):
        tuned_with(provider, retry=RetryPolicy(attempts=1), concurrency=2)
    assert len(provider.requests) <= 75 * 0.2 + 3


def test_a_decision_endpoint_has_no_template_to_tune():
    provider = FakeProvider(lambda body: {"answer": {"type": "noul", "probability": 0.5}}, native=True)
    model = DecisionModel(provider)
    plan = plan_for(model, ITEMS)
    assert plan.size is None
    assert "prompts of its own" in str(plan.why_not)


def test_few_labels_get_a_calibration_of_todays_template():
    tuned, model = tuned_with(scripted(lambda prompt: 4.0), rows(100))
    assert tuned.verdict == "kept"
    assert "too few to compare templates" in tuned.why
    assert len(model.provider.requests) == 100
    assert tuned.chosen.fit is not None


def test_the_forecast_knows_calls_tokens_and_price():
    model = DecisionModel(scripted(lambda prompt: 1.0))
    plan = plan_for(model, ITEMS, calls=600)
    cost = forecast(plan, model)
    assert cost.calls == plan.requests <= 600
    assert 20 * cost.calls < cost.tokens < 1000 * cost.calls
    assert cost.usd == 0


def test_what_was_chosen_answers_from_its_folder_as_it_did_in_the_run(accepted, tmp_path):
    tuned, model = accepted
    folder = tmp_path / "spam"
    line = save(tuned, model.asking.templates, folder, command="yesno tune rows.jsonl")
    settings = {"template": str(folder)}
    if tuned.chosen.card is not None:
        settings["calibration"] = str(folder / "calibration.json")
    for name, value in settings.items():
        assert f"{name}={value!r}" in line
    ready = DecisionModel(better_with("Question:"), **settings)
    row = tuned.plan.split.held_out[0]
    answer = ready.decide(row.input, row.question)
    assert answer.calibrated == (tuned.chosen.card is not None)
    assert answer.template.rpartition("#")[2] == ready.asking.templates.template("yes_no").digest


def test_the_whole_set_is_in_the_folder_and_todays_files_are_as_they_were(kept, tmp_path):
    tuned, model = kept
    save(tuned, model.asking.templates, tmp_path / "kept")
    for kind in ("yes_no", "choice", "scale", "packed"):
        text = (tmp_path / "kept" / f"{kind}.j2").read_text()
        assert text == (model.asking.templates.folder / f"{kind}.j2").read_text()


def test_the_report_says_where_each_template_ended(accepted):
    tuned, _ = accepted
    report = document(tuned)
    json.dumps(report, allow_nan=False)
    assert len(report["templates"]) == len(tuned.tracks)
    assert all(entry["ended"] for entry in report["templates"])
    assert sum(entry["calls"] for entry in report["templates"]) == report["calls"]["sent"]
    text = markdown(tuned, command="yesno tune rows.jsonl")
    assert "**Accepted.**" in text
    for track in tuned.tracks:
        assert f"| {track.candidate.name} |" in text


def test_no_text_of_a_row_is_in_the_report(accepted):
    tuned, _ = accepted
    shown = json.dumps(document(tuned)) + markdown(tuned)
    assert not any(row.input in shown for row in ITEMS)


def test_a_sampled_model_counts_five_requests_a_decision():
    provider = FakeProvider(strategies=("sampled",))
    assert plan_for(DecisionModel(provider), ITEMS, calls=5000).per_decision == 5
    assert planned(ITEMS, calls=5000, per_decision=5).requests <= 5000


def test_a_model_with_a_calibration_is_refused(accepted, tmp_path):
    tuned, _ = accepted
    assert tuned.chosen.card is not None
    model = DecisionModel(FakeProvider(), calibration=tuned.chosen.card)
    with pytest.raises(ConfigError, match="leave out `calibration`"):
        plan_for(model, ITEMS)


def test_a_plan_for_one_template_alone_can_be_carried_out_within_its_calls():
    model = DecisionModel(scripted(lambda prompt: 1.0))
    plan = plan_for(model, rows(100), calls=101)
    assert (plan.size, plan.requests <= 101) == (None, True)
    assert tune(plan, model).verdict == "kept"
    assert model.usage.requests == plan.requests


def test_a_proposer_that_fails_costs_no_result(monkeypatch, caplog):
    def down(*_):
        raise ProviderUnavailable("down", provider="fake")

    monkeypatch.setattr("yesno.tuner.tuning.proposals_of", down)
    model = DecisionModel(better_with("Question:"))
    tuned = tune(plan_for(model, ITEMS, calls=900, proposals=2), model, proposer=model)
    assert tuned.verdict == "accepted"
    assert "proposals_left_out" in caplog.text
