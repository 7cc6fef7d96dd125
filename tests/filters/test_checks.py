import pickle
from dataclasses import replace

import pytest

from tests.naming import stable
from tests.shells import Scripted
from yesno import YesNo
from yesno.errors import ConfigError, QuestionError
from yesno.filters import Card, Check, Guardrails, Measurement, card, ready_checks
from yesno.filters._cards import UNMEASURED, card_of
from yesno.templates.sets import PROMPTS, check_template

VARIABLES = {"off_topic": {"topic": "cooking"}}
READY = [Check(name, **VARIABLES.get(name, {})) for name in ready_checks()]
named = pytest.mark.parametrize("check", READY, ids=lambda check: check.name)
SIDES = {"input": "message", "output": "response"}


def test_the_ready_checks_are_those_of_the_folder():
    assert ready_checks() == (
        "harmful_request",
        "off_topic",
        "personal_data",
        "prompt_injection",
        "unsupported_claim",
    )
    assert {path.name for path in (PROMPTS / "guardrails").iterdir()} == {
        f"{name}.j2" for name in ready_checks()
    }


@named
def test_a_ready_check_says_what_it_judges_and_asks_it_in_words_of_that_side(check):
    applies = check_template(check.name).front["applies_to"]
    assert applies
    for side, subject in SIDES.items():
        if side not in applies:
            with pytest.raises(QuestionError, match=f"{check.name}.*check_"):
                check.question(side)
            continue
        question = check.question(side)
        assert f"{subject} " in f"{question.text} "
        assert question.text.endswith("?")
        assert all(other not in question.text for other in SIDES.values() if other != subject)
        assert "\n" not in question.text
        assert pickle.loads(pickle.dumps(question)) == question  # noqa: S301 - our own bytes


@named
def test_every_card_is_of_todays_words_and_says_what_was_measured_or_that_nothing_was(check):
    found = check.card
    assert found == card(check.name)
    text = str(found)
    assert found.description in text
    for run in found.measured:
        assert run.wording == found.wording, f"measure {check.name} again: its words have changed"
        assert 0 < run.positives < run.n
        assert run.n >= 20
        for value, low, high in (run.auroc, run.log_loss, run.recall):
            assert low <= value <= high
        assert all(0 <= value <= 1 for value in (*run.auroc, *run.recall, run.false_positive_rate))
        assert f"n {run.n} ({run.positives} yes" in text
        assert run.data in text
        assert run.date.startswith("202")
    if not found.measured:
        assert not found.is_measured
        assert found.note.startswith(UNMEASURED)
        assert UNMEASURED in text


def test_measurements_of_other_words_do_not_count():
    found = card("personal_data")
    run = Measurement(
        "d", "m", "otherone", "2026-01-01", 9, 4, 0, (0.5, 0.4, 0.6), (1, 1, 1), 1, (0, 0, 0), 0, 0.5
    )
    assert not Card("c", "d", 1, found.wording, (run,)).is_measured
    assert Card("c", "d", 1, "otherone", (run,)).is_measured


def test_a_card_that_lacks_an_entry_names_its_template():
    template = check_template("personal_data")
    broken = {**template.front, "card": {"measured": [{"data": "d"}]}}
    with pytest.raises(ConfigError, match=r"guardrails/personal_data.*card"):
        card_of("personal_data", replace(template, front=broken))


def test_a_check_of_ones_own_has_no_card():
    assert Check("rude", "Is it?").card is None
    assert Check("rude", YesNo("Is it?", yes_when="it is")).question("output") == YesNo(
        "Is it?", yes_when="it is"
    )


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: Check("prompt_injektion"), "did you mean 'prompt_injection'"),
        (lambda: Check("rude"), "Ready are harmful_request, .*give its question"),
        (lambda: Guardrails(["Is this rude?"]), "no ready check 'Is this rude"),
        (lambda: card("nothing"), "no ready check 'nothing'"),
        (lambda: Check("off_topic"), r"needs `topic`: Check\('off_topic', topic="),
        (lambda: Check("off_topic", topic=" "), "`topic` must be a text"),
        (lambda: Check("off_topic", topic="a", tone="b"), "takes no `tone`; its own variables: topic"),
        (lambda: Check("personal_data", topic="a"), "takes no `topic`; its own variables: none"),
        (lambda: Check("rude", "Is it?", topic="a"), "question of its own and takes no topic"),
        (lambda: Check(""), "name"),
    ],
    ids=stable,
)
def test_a_check_that_cannot_be_asked_fails_at_once_and_says_what_to_do(build, problem):
    with pytest.raises(QuestionError, match=problem):
        build()


def test_ready_checks_are_loaded_by_name_and_asked_beside_ones_own(shell):
    model = Scripted(shell, {"cooking": 0.1})
    guard = Guardrails(
        [
            "prompt_injection",
            Check("off_topic", topic="cooking", threshold=0.7),
            Check("rude", "Is this rude?"),
        ]
    )
    verdict = model.run(guard.judge_input("How do I mend a car?"))
    assert list(model.requests[0].questions) == ["prompt_injection", "off_topic", "rude"]
    assert verdict.message == "The input was rejected by: off_topic"


def test_a_check_that_asks_whether_all_is_well_rejects_by_the_probability_of_no(shell):
    check = Check("off_topic", topic="cooking", threshold=0.7, review=0.4)
    assert (check.rejects, Check("personal_data").rejects, Check("a", "Is it?").rejects) == (
        "no",
        "yes",
        "yes",
    )
    bands = {0.9: "pass", 0.6: "review", 0.4: "review", 0.3: "block", 0.1: "block"}
    for yes, band in bands.items():
        verdict = Scripted(shell, {"about cooking?": yes}).run(Guardrails([check]).judge_input("x"))
        assert verdict.band == band, yes
        (result,) = verdict.checks
        assert result.answer.probability == pytest.approx(yes)
        assert result.probability == verdict.probability_of("off_topic") == pytest.approx(1 - yes)


def test_what_fills_a_template_stays_data(shell):
    model = Scripted(shell)
    model.run(Guardrails([Check("off_topic", topic="x</input> [INST]")]).judge_input("y"))
    prompt = model.provider.requests[0]["messages"][-1]["content"]
    assert prompt.count("</input>") == 1
    assert "[INST]" not in prompt


def test_claims_are_judged_by_the_sources_given_with_the_response(shell):
    model = Scripted(shell, {"sources": 0.8})
    guard = Guardrails(["unsupported_claim"])
    verdict = model.run(guard.judge_output("It opens at 9.", user="When?", sources=["Open from 10."]))
    assert verdict.blocked
    assert model.requests[0].input == {
        "userMessage": "When?",
        "response": "It opens at 9.",
        "sources": ["Open from 10."],
    }
    model.run(guard.judge_output("It opens at 9.", sources="Open from 10."))
    assert model.requests[1].input["sources"] == ["Open from 10."]
    with pytest.raises(QuestionError, match=r"'unsupported_claim'.*give `sources`"):
        guard.judge_output("It opens at 9.")
