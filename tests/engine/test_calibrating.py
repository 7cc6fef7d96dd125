"""Which answers a card changes, and which it leaves alone and says so."""

import logging
from dataclasses import replace

import pytest

from tests.engine.support import both
from yesno import (
    Choice,
    ChoiceAnswer,
    FakeProvider,
    Refusal,
    Scale,
    ScaleAnswer,
    SqliteCache,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.calibration import AskedQuestion, Calibration, Subject, save_calibration
from yesno.calibration.calibrators import Dirichlet, Identity, Platt, Temperature, Vector
from yesno.engine.calibrating import EVENT
from yesno.errors import ConfigError
from yesno.filters import ToolFilter
from yesno.reading.priors import PROBES, ModelPrior
from yesno.templates.sets import TemplateSet
from yesno.tools import Tool

QUESTION = YesNo("Is it?")
TEMPLATES = TemplateSet.load("default")


def subject(kind="yes_no", labels=(2, 2), **fields):
    template = TEMPLATES.template(kind).id
    return Subject("fake", "fake", "logprobs", fields.pop("template", template), kind, *labels, **fields)


CARD = Calibration(subject(), Platt(0.5, -1.0))
CALIBRATED = 1 / (1 + 3**-0.5 * 2.718281828459045)
"""What the card makes of 0.75."""


def sure(prompt="", yes=0.75):
    return {"Yes": yes, "No": 1 - yes}


def warnings(caplog):
    return [record.reason for record in caplog.records if record.getMessage() == EVENT]


@both
def test_an_answer_of_the_subject_is_calibrated_and_keeps_what_was_read(shell, caplog):
    answer = shell(FakeProvider(sure()), calibration=CARD).decide("x", QUESTION)
    assert answer.probability == pytest.approx(CALIBRATED)
    assert (answer.calibrated, answer.raw, answer.label_mass) == (True, 0.75, 1.0)
    assert answer.low == pytest.approx(answer.probability) == answer.high
    assert warnings(caplog) == []


@both
def test_bounds_are_calibrated_along(shell):
    plain = shell(FakeProvider({"Yes": 0.6, "No": 0.2})).decide("x", QUESTION)
    answer = shell(FakeProvider({"Yes": 0.6, "No": 0.2}), calibration=CARD).decide("x", QUESTION)
    for bound in ("low", "high"):
        before = getattr(plain, bound)
        assert getattr(answer, bound) == pytest.approx(
            CARD.calibrator((before, 1 - before), directed=True)[0]
        )
    assert answer.low < answer.probability < answer.high


@both
@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"provider": "openai"}, "the card is for model openai:fake"),
        ({"model": "other"}, "the card is for model fake:other"),
        ({"method": "sampled"}, "the card is for method 'sampled', and the answer was got by 'logprobs'"),
        ({"template": "default/yes_no@3#00000000"}, "the card is for template default/yes_no@3#00000000"),
        ({"kind": "scale"}, "the card is for scale questions, not yes_no"),
        ({"least_labels": 3, "most_labels": 5}, "the card is for 3 to 5 labels, and there are 2"),
        ({"question": AskedQuestion.of(YesNo("Is it not?"))}, "the card is for another question"),
        ({"prior": True}, "the card is for readings with a prior taken out"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_card_for_something_else_is_never_applied_and_that_is_told_once(shell, caplog, changed, why):
    card = Calibration(replace(subject(), **changed), Platt(0.5, -1.0))
    model = shell(FakeProvider(sure()), calibration=card)
    with caplog.at_level(logging.WARNING, "yesno"):
        answers = [model.decide(text, QUESTION) for text in ("x", "y", "z")]
    assert all((a.probability, a.calibrated) == (0.75, False) for a in answers)
    (told,) = warnings(caplog)
    assert why in told


def test_warnings_name_no_input_and_no_question(caplog):
    secret = YesNo("Is my private question asked?")
    card = Calibration(subject(question=AskedQuestion.of(YesNo("Another private one?"))), Platt(1.0, 0.0))
    from yesno import DecisionModel

    with caplog.at_level(logging.DEBUG, "yesno"):
        DecisionModel(FakeProvider(sure()), calibration=card).decide("my private input", secret)
    assert warnings(caplog)
    assert not any("private" in str(vars(record)) for record in caplog.records)


@both
def test_worked_examples_of_any_shape_are_no_obstacle(shell):
    question = YesNo("Is it?", examples=[({"a": [1, 2], "b": {"c": 1}}, True)])
    assert shell(FakeProvider(sure()), calibration=CARD).decide("x", question).calibrated


@both
def test_only_the_hash_of_a_template_counts(shell):
    digest = TEMPLATES.template("yes_no").digest
    card = Calibration(subject(template=f"copy/yes_no@9#{digest}"), Platt(0.5, -1.0))
    assert shell(FakeProvider(sure()), calibration=card).decide("x", QUESTION).calibrated


@both
def test_the_card_of_the_question_itself_comes_before_one_for_all(shell):
    own = Calibration(subject(question=AskedQuestion.of(QUESTION)), Platt(1.0, 5.0))
    model = shell(FakeProvider(sure()), calibration=[CARD, own])
    assert model.decide("x", QUESTION).probability > 0.99
    assert model.decide("x", YesNo("Is it not?")).probability == pytest.approx(CALIBRATED)


@both
def test_the_option_that_was_said_for_another_gets_its_due(shell):
    choice = Choice("Which?", ["a", "b", "c"])
    swap = Dirichlet(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)), (0.0, 0.0, 0.0))
    card = Calibration(subject("choice", (3, 3), question=AskedQuestion.of(choice)), swap)
    answer = shell(FakeProvider({"A": 0.1, "B": 0.7, "C": 0.2}), calibration=card).decide("x", choice)
    assert (answer.value, answer.raw) == ("c", pytest.approx({"a": 0.1, "b": 0.7, "c": 0.2}))
    assert answer.probabilities == pytest.approx({"a": 0.1, "b": 0.2, "c": 0.7})
    assert answer.bounds["c"] == pytest.approx((0.7, 0.7))


@both
def test_choices_and_scales_are_calibrated_by_label(shell):
    choice = Choice("Which?", ["a", "b"], none="neither")
    scale = Scale("How much?", ["little", "some", "much"])
    cards = [
        Calibration(
            subject("choice", (3, 3), question=AskedQuestion.of(choice)), Vector(1.0, (-3.0, 0.0, 3.0))
        ),
        Calibration(subject("scale", (3, 5)), Temperature(2.0)),
    ]
    first, second, third = 0.6, 0.3, 0.1

    def script(prompt):
        names = "ABC" if "A" in prompt.rpartition("</input>")[2] else "123"
        return dict(zip(names, (first, second, third), strict=True))

    model = shell(FakeProvider(script), calibration=cards)
    chosen = model.decide("x", choice)
    assert (chosen.value, chosen.calibrated, chosen.is_none) == ("neither", True, True)
    assert chosen.raw == pytest.approx({"a": first, "b": second})
    assert sum(chosen.probabilities.values()) + chosen.none_probability == pytest.approx(1)
    assert chosen.bounds["a"][0] <= chosen.probabilities["a"] <= chosen.bounds["a"][1]
    rated = model.decide("x", scale)
    assert rated.calibrated
    assert rated.raw == pytest.approx((first, second, third))
    roots = [p**0.5 for p in (first, second, third)]
    assert rated.probabilities == pytest.approx([root / sum(roots) for root in roots])
    assert rated.low <= rated.mean <= rated.high


@both
def test_refusals_and_undecided_questions_stay_what_they_are(shell):
    refused = shell(FakeProvider({"<refusal>": 1}), calibration=CARD).decide("x", {"q": QUESTION})
    assert isinstance(refused.outcome("q"), Refusal)
    script = {"Well": 0.9, "Yes": 0.05}
    plain = shell(FakeProvider(script)).decide("x", {"q": QUESTION}).outcome("q")
    unsure = shell(FakeProvider(script), calibration=CARD).decide("x", {"q": QUESTION}).outcome("q")
    assert isinstance(unsure, Undecided)
    assert unsure == plain


@both
def test_a_card_that_keeps_readings_as_they_are_is_no_reason_to_warn(shell, caplog):
    answer = shell(FakeProvider(sure()), calibration=Calibration(subject(), Identity())).decide("x", QUESTION)
    assert (answer.probability, answer.calibrated) == (0.75, False)
    assert warnings(caplog) == []


@both
def test_the_cache_keeps_what_was_read_so_another_card_asks_for_nothing(shell, tmp_path):
    other = Calibration(subject(), Platt(2.0, 0.0))
    seen = []
    for card in (CARD, other, None):
        with SqliteCache(tmp_path / "replies.db") as cache:
            provider = FakeProvider(sure())
            answer = shell(provider, calibration=card, cache=cache).decide("x", QUESTION)
            seen.append((answer.probability, len(provider.requests)))
    assert seen == [(pytest.approx(CALIBRATED), 1), (pytest.approx(0.9), 0), (0.75, 0)]


@both
def test_samples_have_a_card_of_their_own(shell):
    def say(prompt):
        return {'{"answer": "yes", "confidence": 90}': 1.0}

    card = Calibration(replace(subject(), method="sampled"), Temperature(2.0))
    both_cards = [CARD, card]
    provider = FakeProvider(say, strategies=("sampled",))
    answer = shell(provider, calibration=both_cards).decide("x", QUESTION)
    assert (answer.method, answer.calibrated) == ("sampled", True)
    assert answer.low < answer.probability < answer.high < 1
    assert answer.raw == pytest.approx(5.5 / 6)
    assert answer.probability == pytest.approx(11**0.5 / (1 + 11**0.5))


@both
def test_packed_questions_need_a_card_for_the_packed_prompt(shell, caplog):
    def line(number, yes):
        return [{f"{number}": 1.0}, {".": 1.0}, {" Yes": yes, " No": 1 - yes}, {"\n": 1.0}]

    def model(card):
        return shell(
            FakeProvider(lambda prompt: [*line(1, 0.75), *line(2, 0.5)]), packing="packed", calibration=card
        )

    asked = {"a": QUESTION, "b": YesNo("Really?")}
    with caplog.at_level(logging.WARNING, "yesno"):
        assert not model(CARD).decide("x", asked).yes_no("a").calibrated
    assert "template" in warnings(caplog)[0]
    card = Calibration(subject(template=TEMPLATES.template("packed").id), Platt(0.5, -1.0))
    answer = model(card).decide("x", asked).yes_no("a")
    assert answer.calibrated
    assert answer.probability == pytest.approx(CALIBRATED)


def native(answer, card, shell, question=QUESTION):
    provider = FakeProvider({"q": answer}, native=True)
    return shell(provider, calibration=card).decide("x", {"q": question}).outcome("q")


NATIVE = replace(subject(), method="native", template=None)


@both
def test_answers_of_a_decision_endpoint_have_a_card_without_a_template(shell, caplog):
    given = YesNoAnswer(1.0, low=0.995, high=1.0, flags=("rounded",))
    answer = native(given, Calibration(NATIVE, Platt(0.5, 0.0)), shell)
    assert (answer.method, answer.calibrated, answer.raw, answer.flags) == ("native", True, 1.0, ("rounded",))
    assert 0.9 < answer.low < answer.probability < answer.high < 1
    with caplog.at_level(logging.WARNING, "yesno"):
        assert native(given, CARD, shell).calibrated is False
    assert "method" in warnings(caplog)[0]


@both
def test_choices_and_scales_of_a_decision_endpoint_are_calibrated_too(shell):
    choice = Choice("Which?", ["a", "b", "c"])
    card = Calibration(replace(NATIVE, kind="choice", least_labels=3, most_labels=5), Temperature(2.0))
    given = ChoiceAnswer("a", {"a": 0.6, "b": 0.3, "c": 0.1}, options=("a", "b", "c"))
    answer = native(given, card, shell, choice)
    assert (answer.calibrated, answer.value, answer.raw) == (True, "a", {"a": 0.6, "b": 0.3, "c": 0.1})
    assert (answer.low, answer.high, answer.bounds) == (None, None, None)
    assert answer.probabilities["a"] < 0.6
    card = Calibration(replace(NATIVE, kind="scale", least_labels=3, most_labels=5), Temperature(2.0))
    scale = Scale("How?", ["l", "m", "h"])
    given = ScaleAnswer(0.5, (0.6, 0.3, 0.1), low=0.4, high=0.6, flags=("rounded",))
    answer = native(given, card, shell, scale)
    assert (answer.calibrated, answer.levels) == (True, ("l", "m", "h"))
    assert answer.low < answer.mean < answer.high
    assert answer.mean > 0.5


@both
def test_an_endpoints_answer_without_a_whole_distribution_is_left_alone(shell, caplog):
    choice = Choice("Which?", ["a", "b", "c"])
    card = Calibration(replace(NATIVE, kind="choice", least_labels=3, most_labels=5), Temperature(2.0))
    with caplog.at_level(logging.WARNING, "yesno"):
        answer = native(ChoiceAnswer("a", {"a": 0.6}), card, shell, choice)
    assert not answer.calibrated
    assert "no whole distribution" in warnings(caplog)[0]


def likes_yes(prompt):
    return sure(yes=0.9) if any(f"<input>\n{probe}\n</input>" in prompt for probe in PROBES) else sure()


@both
@pytest.mark.parametrize(("prior", "requests"), [(True, 1 + len(PROBES)), (False, 1)])
def test_a_prior_is_taken_out_as_in_the_readings_of_the_card_whichever_input_comes_first(
    shell, prior, requests
):
    provider = FakeProvider(likes_yes)
    provider.profile = replace(provider.profile, prior=ModelPrior(standing=frozenset({"yes_no"})))
    model = shell(provider, calibration=Calibration(subject(prior=prior), Temperature(2.0)))
    first = model.decide("x", QUESTION)
    assert len(provider.requests) == requests
    assert (first.calibrated, first.raw) == (True, 0.75)
    assert ("prior" in first.flags) is prior
    second = model.decide("y", QUESTION)
    assert second.probability == first.probability


@both
def test_thresholds_of_filters_see_calibrated_probabilities(shell):
    tools = [Tool("search", "Search the web")]
    wanted = ToolFilter(min_probability=0.5)
    assert shell(FakeProvider(sure())).run(wanted.select(tools, "find it")) == tools
    strict = Calibration(subject(), Platt(1.0, -5.0))
    assert shell(FakeProvider(sure()), calibration=strict).run(wanted.select(tools, "find it")) == []


@both
def test_cards_come_from_files_and_folders(shell, tmp_path):
    save_calibration(CARD, tmp_path / "card.json")
    for source in (tmp_path / "card.json", str(tmp_path), tmp_path, [tmp_path / "card.json"]):
        assert shell(FakeProvider(sure()), calibration=source).decide("x", QUESTION).calibrated


@both
def test_two_cards_for_the_same_are_refused(shell):
    digest = TEMPLATES.template("yes_no").digest
    twin = Calibration(subject(template=f"renamed/yes_no@1#{digest}"), Temperature(2.0))
    with pytest.raises(ConfigError, match="two calibration cards are for fake:fake, yes_no by logprobs"):
        shell(FakeProvider(), calibration=[CARD, twin])


@both
def test_a_missing_card_is_an_error_before_anything_is_asked(shell, tmp_path):
    with pytest.raises(ConfigError, match=r"none\.json"):
        shell(FakeProvider(), calibration=tmp_path / "none.json")


@both
def test_map_calibrates_every_answer(shell):
    answers = shell(FakeProvider(sure()), calibration=CARD).map(["x", "y"], QUESTION)
    assert [(a.probability, a.calibrated) for a in answers] == [(pytest.approx(CALIBRATED), True)] * 2


def test_as_many_questions_as_there_are_do_not_fill_the_memory():
    from yesno.engine.calibrating import KEPT, Calibrations
    from yesno.reading.outcome import Reading

    cards = Calibrations([CARD], "fake")
    reading = Reading((0.75, 0.25), (0.75, 0.25), (0.75, 0.25), (0.75, 0.25), (0.0, 0.0), 0.0, 1.0)
    for number in range(KEPT + 50):
        found = cards.applied(reading, YesNo(f"{number}?"), "fake", TEMPLATES.template("yes_no").id)
        assert found.calibrated
    assert len(cards._found) <= KEPT
