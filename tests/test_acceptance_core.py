"""Questions, request, answers and response: behaviour that decision models of other languages share."""

import itertools
import math
import pickle
from dataclasses import FrozenInstanceError, dataclass
from enum import Enum

import pytest

from yesno.errors import AnswerError, NoProbabilities, QuestionError, Refused
from yesno.evidence import Usage
from yesno.questions import Choice, ChoiceAnswer, Question, Refusal, Scale, ScaleAnswer, YesNo, YesNoAnswer
from yesno.questions.base import Answer
from yesno.request import DecisionRequest, Parameters
from yesno.response import DecisionResponse, Metadata


def numbered():
    return (str(number) for number in itertools.count(1))


BILLING = YesNo("Is this about billing?")
TEAM = Choice("Which team?", ["billing", "support"])


@dataclass(frozen=True, slots=True)
class Pick(Question[Answer]):
    kind = "pick"


@dataclass(frozen=True, slots=True)
class Picked(Answer):
    place: int = 0


def test_case_001_a_question_of_text_alone_has_no_criteria():
    assert (BILLING.yes_when, BILLING.no_when) == (None, None)


def test_case_002_both_criteria_are_kept_as_given():
    question = YesNo("Urgent?", yes_when="money is blocked", no_when=" it can wait ")
    assert (question.yes_when, question.no_when) == ("money is blocked", " it can wait ")


@pytest.mark.parametrize(("field", "value"), [("yes_when", "  "), ("no_when", "")])
def test_case_003_a_blank_criterion_fails_and_is_named(field, value):
    with pytest.raises(QuestionError, match=field):
        YesNo("Urgent?", **{field: value})


@pytest.mark.parametrize(
    "make",
    [lambda t: YesNo(t), lambda t: Choice(t, ["a1", "b1"]), lambda t: Scale(t, ["l", "h"])],
    ids=numbered(),
)
@pytest.mark.parametrize("text", [None, "", " \n"], ids=numbered())
def test_case_004_a_question_without_text_fails_and_names_it(make, text):
    with pytest.raises(QuestionError, match="text"):
        make(text)


def test_case_005_options_keep_order_and_undescribed_ones_describe_themselves():
    question = Choice("Which?", {"c": "third", "a": None, "b": "second"})
    assert list(question.options.items()) == [("c", "third"), ("a", "a"), ("b", "second")]


def test_case_006_a_bulk_set_replaces_earlier_options():
    assert list(TEAM.with_option("sales").with_options({"x": "1", "y": None}).options) == ["x", "y"]


def test_case_007_a_list_of_names_equals_building_them_one_by_one():
    assert Choice("Which?", ["a", "b", "c"]) == Choice("Which?", ["a", "b"]).with_option("c")
    assert Choice("Which?", ["a", "b"]).options["a"] == "a"


@pytest.mark.parametrize(
    "make",
    [lambda: Choice("Which?", ["billing", "support", "billing"]), lambda: TEAM.with_option("billing")],
    ids=numbered(),
)
def test_case_008_a_duplicate_option_fails_and_is_named(make):
    with pytest.raises(QuestionError, match="billing"):
        make()


def test_case_009_one_option_fails_with_the_minimum():
    with pytest.raises(QuestionError, match="minimum of two"):
        Choice("Which?", ["only"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Choice("Which?", ["a", " "]),
        lambda: Choice("Which?", {"a": "", "b": None}),
        lambda: TEAM.with_option("sales", " "),
        lambda: TEAM.with_option("sales", None),
    ],
    ids=numbered(),
)
def test_case_010_blank_names_and_descriptions_fail(make):
    with pytest.raises(QuestionError):
        make()


def test_case_011_levels_keep_order_and_a_bulk_set_replaces_them():
    scale = Scale("How?", ["low", "mid", "high"])
    assert scale.levels == ("low", "mid", "high")
    assert scale.with_level("top").with_levels(["x", "y"]).levels == ("x", "y")


def test_case_012_one_level_and_a_blank_level_fail():
    with pytest.raises(QuestionError, match="minimum of two"):
        Scale("How?", ["only"])
    with pytest.raises(QuestionError, match="level"):
        Scale("How?", ["a", "b"]).with_level(" ")


def test_case_013_shorthand_forms_equal_the_long_ones():
    assert (
        Choice("Which?", ["a", "b"])
        == Choice("Which?", {"a": "a", "b": "b"})
        == Choice("Which?", [("a", None), ("b", "b")])
    )
    assert Scale("How?", ["l", "h"]) == Scale("How?", ("l", "h"))


def test_case_014_a_built_question_cannot_be_changed():
    with pytest.raises(TypeError):
        TEAM.options["x"] = "y"
    with pytest.raises(FrozenInstanceError):
        TEAM.text = "other"
    names = ["a", "b"]
    question = Choice("Which?", names)
    names.append("c")
    assert list(question.options) == ["a", "b"]


def test_case_015_equality_and_hash_follow_the_fields():
    assert YesNo("q", yes_when="a") == YesNo("q", yes_when="a") != YesNo("q", yes_when="b")
    assert hash(YesNo("q", yes_when="a")) == hash(YesNo("q", yes_when="a"))
    assert Scale("q", ["a", "b"]) != Scale("q", ["b", "a"])
    assert hash(TEAM) == hash(Choice("Which team?", ["billing", "support"]))


@pytest.mark.parametrize("given", ["some text", {"a": 1, "b": [True, None, {"c": 1.5}]}], ids=numbered())
def test_case_016_the_input_is_readable_unchanged(given):
    assert DecisionRequest(given, {"q": BILLING}).input == given


@pytest.mark.parametrize("given", ["", "  ", {}, [], None], ids=numbered())
def test_case_017_a_missing_input_fails_and_is_named(given):
    with pytest.raises(QuestionError, match="input"):
        DecisionRequest(given, {"q": BILLING})


def test_case_018_a_request_without_questions_fails():
    with pytest.raises(QuestionError, match="question"):
        DecisionRequest("x", {})


def test_case_019_a_question_name_given_twice_fails_and_is_named():
    request = DecisionRequest("x", {"spam": BILLING})
    with pytest.raises(QuestionError, match="'spam'"):
        request.with_question("spam", TEAM)
    with pytest.raises(QuestionError, match="'spam'"):
        DecisionRequest("x", [("spam", BILLING), ("spam", TEAM)])


@pytest.mark.parametrize("name", ["", "  "])
def test_case_020_a_blank_question_name_fails(name):
    with pytest.raises(QuestionError, match="name"):
        DecisionRequest("x", {"q": BILLING}).with_question(name, TEAM)


def test_case_021_questions_are_read_back_in_order():
    assert list(DecisionRequest("x", [("c", BILLING), ("a", TEAM), ("b", BILLING)]).questions) == [
        "c",
        "a",
        "b",
    ]


def test_case_022_later_changes_by_the_caller_have_no_effect():
    given, questions = {"tags": ["a"]}, {"q": BILLING}
    request = DecisionRequest(given, questions)
    given["tags"].append("b")
    questions["r"] = TEAM
    assert request.input == {"tags": ["a"]}
    assert list(request.questions) == ["q"]
    with pytest.raises(TypeError):
        request.questions["r"] = TEAM


def test_case_023_parameters_are_empty_by_default_and_readable():
    assert DecisionRequest("x", {"q": BILLING}).parameters == Parameters(model_name=None)
    assert DecisionRequest("x", {"q": BILLING}, Parameters(model_name="m")).parameters.model_name == "m"


def test_case_024_a_question_type_of_ones_own_is_accepted():
    assert DecisionRequest("x", {"q": Pick("Which place?")}).questions["q"].text == "Which place?"


def test_case_025_parameters_are_overridden_by_what_is_set():
    default = Parameters(model_name="default", timeout_s=3)
    assert default.overridden_by(None) is default
    assert default.overridden_by(Parameters()) == default
    assert default.overridden_by(Parameters(model_name="other")) == Parameters(
        model_name="other", timeout_s=3
    )
    assert default.model_name == "default"


class Colour(Enum):
    RED = 1


@pytest.mark.parametrize(("value", "named"), [(object(), "object"), (Colour.RED, "Colour"), (b"x", "bytes")])
def test_case_026_another_type_inside_the_mapping_fails_and_is_named(value, named):
    with pytest.raises(QuestionError, match=named):
        DecisionRequest({"a": [{"b": value}]}, {"q": BILLING})


def test_case_027_nested_containers_are_copied_and_read_only():
    inner = {"list": [1, 2]}
    request = DecisionRequest({"inner": inner}, {"q": BILLING})
    inner["list"].append(3)
    assert request.input == {"inner": {"list": [1, 2]}}
    with pytest.raises(TypeError):
        request.input["inner"]["list"][0] = 9


def test_case_028_the_text_form_hides_the_input_but_shows_the_questions():
    shown = repr(DecisionRequest({"iban": "DE00"}, {"spam": BILLING}, Parameters(model_name="m")))
    assert "DE00" not in shown
    assert "iban" not in shown
    assert "spam" in shown
    assert "billing" in shown
    assert "'m'" in shown


@pytest.mark.parametrize("value", [0, 1], ids=numbered())
def test_case_029_zero_and_one_are_probabilities(value):
    assert YesNoAnswer(value).probability == value


def test_case_030_is_yes_compares_with_a_threshold_in_range():
    answer = YesNoAnswer(0.7)
    assert answer.is_yes(0.7)
    assert not answer.is_yes(0.8)
    for threshold in (1.5, -0.1, math.nan, "0.5"):
        with pytest.raises(QuestionError, match="threshold"):
            answer.is_yes(threshold)


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf, None], ids=numbered())
def test_case_031_what_is_no_probability_fails(value):
    with pytest.raises(AnswerError, match="probability"):
        YesNoAnswer(value)
    with pytest.raises(TypeError):
        YesNoAnswer()


def test_case_032_a_choice_answer_keeps_order_and_confidence():
    answer = ChoiceAnswer("b", {"b": 0.6, "a": 0.4}, confidence=0.3)
    assert list(answer.probabilities) == ["b", "a"]
    assert (answer.value, answer.confidence) == ("b", 0.3)


def test_case_033_the_margin_and_an_unreported_option():
    answer = ChoiceAnswer("a", {"a": 0.55, "b": 0.40}, options=("a", "b", "c"))
    assert answer.margin() == pytest.approx(0.15)
    assert answer.probability_of("c") == 0


def test_case_034_unreported_probability_counts_as_a_rival():
    assert ChoiceAnswer("a", {"a": 0.55}).margin() == pytest.approx(0.10)


def test_case_035_without_probabilities_there_is_no_margin():
    answer = ChoiceAnswer("a")
    assert (answer.probabilities, answer.confidence) == ({}, None)
    with pytest.raises(NoProbabilities):
        answer.margin()
    with pytest.raises(NoProbabilities):
        answer.probability_of("a")


@pytest.mark.parametrize(
    "make",
    [
        lambda: ChoiceAnswer(None),
        lambda: ChoiceAnswer(" "),
        lambda: ChoiceAnswer("a", {"a": 1.5}),
        lambda: ChoiceAnswer("a", {"a": math.nan}),
        lambda: ChoiceAnswer("a", {"a": 0.5}, confidence=math.nan),
    ],
    ids=numbered(),
)
def test_case_036_a_choice_answer_that_makes_no_sense_fails(make):
    with pytest.raises(AnswerError):
        make()


def test_case_037_a_scale_answer_is_readable_and_its_distribution_optional():
    full = ScaleAnswer(1.2, (0.1, 0.6, 0.3), confidence=0.4)
    assert (full.mean, full.probabilities, full.confidence) == (1.2, (0.1, 0.6, 0.3), 0.4)
    assert (ScaleAnswer(1.0).probabilities, ScaleAnswer(1.0).confidence) == ((), None)


@pytest.mark.parametrize(
    "make",
    [lambda: ScaleAnswer(None), lambda: ScaleAnswer(math.nan), lambda: ScaleAnswer(1, (-0.1, 1))],
    ids=numbered(),
)
def test_case_038_a_scale_answer_that_makes_no_sense_fails(make):
    with pytest.raises(AnswerError):
        make()


def test_case_039_model_and_usage_are_in_the_metadata():
    response = DecisionResponse({"q": YesNoAnswer(1)}, model="m", usage=Usage(3, 1))
    assert response.metadata == Metadata("m", Usage(3, 1))
    assert (response.model, response.usage) == ("m", Usage(3, 1))
    metadata = Metadata("n")
    assert DecisionResponse({"q": YesNoAnswer(1)}, metadata=metadata).metadata is metadata


def test_case_040_metadata_given_twice_and_no_answers_fail():
    with pytest.raises(AnswerError, match="metadata"):
        DecisionResponse({"q": YesNoAnswer(1)}, metadata=Metadata(), model="m")
    with pytest.raises(AnswerError, match="at least one"):
        DecisionResponse({})


def test_case_041_answers_are_a_read_only_copy():
    answers = {"q": YesNoAnswer(1)}
    response = DecisionResponse(answers)
    answers["r"] = YesNoAnswer(0)
    assert list(response.answers) == ["q"]
    with pytest.raises(TypeError):
        response.answers["r"] = YesNoAnswer(0)


MIXED = DecisionResponse(
    {"y": YesNoAnswer(0.9), "c": ChoiceAnswer("a"), "s": ScaleAnswer(1.0), "r": Refusal()}
)


def test_case_042_typed_and_generic_accessors_return_the_answers():
    assert MIXED.yes_no("y").probability == 0.9
    assert MIXED.choice("c").value == "a"
    assert MIXED.scale("s").mean == 1.0
    assert MIXED.answer("s", ScaleAnswer) is MIXED.scale("s")


def test_case_043_an_unknown_name_is_reported_with_the_known_ones():
    with pytest.raises(AnswerError, match=r"'z'.*'y', 'c', 's', 'r'"):
        MIXED.yes_no("z")


def test_case_044_a_wrong_type_is_reported_with_both_types():
    with pytest.raises(AnswerError, match=r"ChoiceAnswer.*YesNoAnswer"):
        MIXED.yes_no("c")


def test_case_045_an_answer_type_of_ones_own_is_accepted_and_compares_by_fields():
    response = DecisionResponse({"p": Picked(place=3)})
    assert response.answer("p", Picked).place == 3
    assert response == DecisionResponse({"p": Picked(place=3)}) != DecisionResponse({"p": Picked(place=4)})
    assert hash(response) == hash(DecisionResponse({"p": Picked(place=3)}))


def test_case_046_a_refused_question_says_so_and_its_accessor_raises():
    assert MIXED.is_refused("r")
    assert not MIXED.is_refused("y")
    with pytest.raises(Refused, match="'r'"):
        MIXED.yes_no("r")


@pytest.mark.parametrize(
    "value",
    [BILLING, TEAM, Scale("q", ["a", "b"]), MIXED, DecisionRequest({"a": [1]}, {"q": TEAM})],
    ids=numbered(),
)
def test_values_pickle_and_stay_equal(value):
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes


def test_256_options_fail_and_255_work():
    names = [f"option {i}" for i in range(256)]
    assert len(Choice("Which?", names[:255]).options) == 255
    with pytest.raises(QuestionError, match="at most 255"):
        Choice("Which?", names)


@pytest.mark.parametrize(
    "pair", [("billing", "Billing "), ("straße", "STRASSE"), ("a\u200bb", "ab"), ("ａ", "A")]
)
def test_options_that_look_alike_are_refused_by_name(pair):
    with pytest.raises(QuestionError, match="rename"):
        Choice("Which?", list(pair))


def test_an_option_of_another_type_than_text_is_refused():
    with pytest.raises(QuestionError, match="bool"):
        Choice("Which?", [("true", None), (True, None)])
