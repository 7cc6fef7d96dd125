"""Candidates are template files like any other, and are read as what they ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tuner.build import MOOD, SPAM, TEAM
from yesno import Choice, DecisionModel, FakeProvider
from yesno.errors import ConfigError
from yesno.templates.front import split_front
from yesno.templates.sets import TemplateSet
from yesno.tuner.candidates import KINDS, Candidate, Example, baseline, pool, proposed
from yesno.tuner.folders import tried_set

ASKED = {"yes_no": SPAM, "choice": TEAM, "scale": MOOD}
DEFAULT = TemplateSet.load("default")


def of(kind: str, name: str) -> Candidate:
    return next(one for one in pool(DEFAULT, kind) if one.name == name)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, one.name) for kind in KINDS for one in pool(DEFAULT, kind)]
)
def test_every_candidate_is_a_template_that_a_model_takes(kind, name, tmp_path):
    candidate = of(kind, name)
    fake = FakeProvider({"A": 0.5, "Yes": 0.2, "No": 0.2, "1": 0.1})
    model = DecisionModel(fake, template=tried_set(candidate, tmp_path, 1), min_label_mass=0.0)
    model.decide("the input", {"q": ASKED[kind]})
    prompt = fake.requests[0]["messages"][-1]["content"]
    assert "<input>\nthe input\n</input>" in prompt
    assert ASKED[kind].text in prompt


def test_todays_template_comes_first_and_keeps_its_hash(tmp_path):
    for kind in KINDS:
        first = pool(DEFAULT, kind)[0]
        assert tried_set(first, tmp_path / kind, 1).template(kind).digest == DEFAULT.template(kind).digest


@pytest.fixture(autouse=True)
def _folders(tmp_path):
    for kind in KINDS:
        (tmp_path / kind).mkdir()


def test_a_candidate_has_one_name_and_no_two_are_the_same_file():
    for kind in KINDS:
        candidates = pool(DEFAULT, kind)
        assert len({one.name for one in candidates}) == len(candidates)
        assert len({one.source for one in candidates}) == len(candidates)


def test_a_folder_that_is_called_like_a_wording_takes_no_name_away(tmp_path):
    (tmp_path / "labelled").mkdir()
    for path in DEFAULT.folder.glob("*.j2"):
        (tmp_path / "labelled" / path.name).write_text(path.read_text() + "\n")
    names = [one.name for one in pool(TemplateSet.load(tmp_path / "labelled"), "yes_no")]
    assert names[0] == "labelled"
    assert {"labelled-2", "default", "few_shot"} < set(names)
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("name", "reply", "expected"),
    [
        ("labelled", {"Yes": 0.9, "No": 0.1}, 0.9),
        ("negated", {"Yes": 0.9, "No": 0.1}, 0.1),
        ("negated", {"yes": 0.5, "ja": 0.4, "no": 0.1}, 0.1),
        ("true-false", {"True": 0.9, "False": 0.1}, 0.9),
        ("false-true", {"True": 0.9, "False": 0.1}, 0.1),
        ("false-true", {"wahr": 0.9, "falsch": 0.1}, 0.1),
        ("letters", {"A": 0.9, "B": 0.1}, 0.9),
        ("letters-no-first", {"A": 0.9, "B": 0.1}, 0.1),
    ],
)
def test_the_probability_is_that_of_yes_however_it_was_asked(name, reply, expected, tmp_path):
    model = DecisionModel(FakeProvider(reply), template=tried_set(of("yes_no", name), tmp_path, 1))
    assert model.decide("x", SPAM).probability == pytest.approx(expected, abs=0.01)


EXAMPLE = Example("r1", {"input": "buy now", "question": "Is it spam?", "answer": True})


def test_worked_examples_become_turns_with_the_labels_of_the_wording(tmp_path):
    fake = FakeProvider({"No": 0.9, "Yes": 0.1})
    grown = of("yes_no", "negated").with_examples([EXAMPLE], "negated+1a")
    DecisionModel(fake, template=tried_set(grown, tmp_path, 1)).decide("x", SPAM)
    roles = [(turn["role"], turn["content"]) for turn in fake.requests[0]["messages"]]
    assert [role for role, _ in roles] == ["system", "user", "assistant", "user"]
    assert "buy now" in roles[1][1]
    assert roles[2][1] == "No"  # the answer yes, asked whether no is right


def test_worked_examples_take_the_place_of_those_a_set_has():
    grown = baseline(TemplateSet.load("few_shot"), "yes_no").with_examples([EXAMPLE], "few_shot+1a")
    front, _ = split_front(grown.source, "x/yes_no")
    assert [one["input"] for one in front["examples"]] == ["buy now"]


def test_a_way_out_may_be_the_answer_of_an_example(tmp_path):
    fields = {
        "input": "hello",
        "question": "Which?",
        "options": ["one", "two"],
        "none": "neither",
        "answer": "neither",
    }
    grown = of("choice", "labelled").with_examples([Example("r", fields)], "labelled+1a")
    fake = FakeProvider({"A": 0.9, "B": 0.05, "C": 0.05})
    asked = Choice("Which?", ["one", "two"], none="neither")
    DecisionModel(fake, template=tried_set(grown, tmp_path, 1)).decide("x", asked)
    assert fake.requests[0]["messages"][-2]["content"] == "C"


@given(st.text(), st.text(min_size=1), st.booleans())
def test_whatever_an_example_says_the_file_holds_it(given_text, question, answer):
    fields = {"input": given_text, "question": question, "answer": answer}
    grown = of("yes_no", "labelled").with_examples([Example("r", fields)], "labelled+1a")
    front, body = split_front(grown.source, "x/yes_no")
    assert front["examples"] == [fields]
    assert body == of("yes_no", "labelled").body


def test_a_lone_surrogate_does_not_break_the_file():
    grown = of("yes_no", "labelled").with_examples([Example("r", {"input": "a\ud800b"})], "n")
    assert split_front(grown.source, "x/yes_no")[0]["examples"] == [{"input": "a?b"}]


def test_a_value_that_front_matter_cannot_hold_is_named():
    with pytest.raises(ConfigError, match=r"cannot hold 1\.5"):
        _ = of("yes_no", "labelled").with_examples([Example("r", {"input": 1.5})], "n").source


def test_a_wording_of_somebody_else_is_built_like_the_shipped_ones(tmp_path):
    candidate = proposed("scale", "mine", "<input>\n{{ input }}\n</input>\n{{ question }}", "mine")
    fake = FakeProvider({"A": 0.9, "B": 0.05, "C": 0.05})
    answer = DecisionModel(fake, template=tried_set(candidate, tmp_path, 1)).decide("x", MOOD)
    assert answer.level() == 0
