import pickle

import jinja2
import pytest

from yesno import AsyncDecisionModel, DecisionModel, FakeProvider
from yesno.engine.labelling import shown_labels
from yesno.errors import ConfigError
from yesno.messages import Message, freeze_input
from yesno.questions import Choice, Scale, YesNo
from yesno.templates.layers import layer_question
from yesno.templates.render import render_turns
from yesno.templates.sets import PROMPTS, TemplateSet, layer_template, shipped_sets

SETS = shipped_sets()
LAYERS = sorted(path.stem for path in (PROMPTS / "layers").glob("*.j2"))
QUESTIONS = {
    "yes_no": YesNo("Is it?"),
    "yes_no_full": YesNo(
        "Is it?", yes_when="it is", no_when="it is not", examples=[("seen", True), ({"a": 1}, False)]
    ),
    "choice": Choice("Which?", ["one", "two"]),
    "choice_full": Choice(
        "Which?", {"one": "the first", "two": None}, none="neither", examples=[("seen", "neither")]
    ),
    "choice_letters": Choice("Which?", ["B", "A"]),
    "scale": Scale("How?", ["low", "mid", "high"]),
    "scale_full": Scale("How?", ["low", "mid", "high"], examples=[("seen", "mid")]),
    "scale_long": Scale("How?", [f"level {i}" for i in range(15)]),
}
INPUTS = {
    "text": "the input",
    "mapping": {"the input": [1, None, {"b": True}]},
    "messages": [Message("user", "the input"), {"role": "assistant", "content": "hi"}],
}
FRONT = 'version = 3\ndescription = "mine"\n'
SYSTEM = "{% block system %}s{% endblock %}\n"
GOOD = f"---\n{FRONT}---\n{SYSTEM}{{% block user %}}U {{{{ input }}}} {{{{ question }}}}{{% endblock %}}\n"


def write(folder, text, kind="yes_no"):
    folder.mkdir(exist_ok=True)
    (folder / f"{kind}.j2").write_text(text, encoding="utf-8", newline="")
    return TemplateSet.load(folder).template(kind)


def render(template, question, given="in", **settings):
    return render_turns(template, question, freeze_input(given), shown_labels, **settings)


def test_every_set_has_a_file_per_question_type_and_nothing_else():
    for name in SETS:
        assert sorted(path.name for path in (PROMPTS / name).iterdir()) == [
            "choice.j2",
            "packed.j2",
            "scale.j2",
            "yes_no.j2",
        ]
    assert "default" in SETS
    assert {path.name for path in PROMPTS.iterdir()} == {*SETS, "layers", "guardrails", "tuning"}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("strict", [False, True], ids=["first", "strict"])
def test_every_shipped_template_renders_with_and_without_its_optional_parts(name, question, given, strict):
    template = TemplateSet.load(name).template(question.kind)
    assert issubclass(template.jinja.environment.undefined, jinja2.StrictUndefined)
    turns = render(template, question, given, strict=strict, prefill=True)
    roles = [role for role, _ in turns]
    assert roles.count("system") <= 1
    assert "system" not in roles[1:]
    talk = roles[roles.count("system") :]
    assert talk == ["user", "assistant"] * (len(talk) // 2) + ["user"]
    assert "the input" in turns[-1][1]
    assert question.text in turns[-1][1]
    assert all(text == text.strip() != "" for _, text in turns)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["yes_no", "choice", "scale"])
def test_every_shipped_template_has_front_matter_and_a_json_block(name, kind):
    template = TemplateSet.load(name).template(kind)
    assert template.front["version"] >= 1
    assert len(template.front["description"].split()) >= 3
    assert (
        template.front["labels"] == ["Yes", "No"]
        if kind == "yes_no"
        else template.front["labels"] == "letters"
    )
    assert "JSON" in template.render("json", {})
    assert template.id.startswith(f"{name}/{kind}@{template.front['version']}#")


@pytest.mark.parametrize("name", SETS)
def test_optional_parts_appear_only_when_given(name):
    templates = TemplateSet.load(name)
    shown = {key: render(templates.template(q.kind), q)[-1][1] for key, q in QUESTIONS.items()}
    assert "Yes means: it is\n" in shown["yes_no_full"]
    assert "No means: it is not\n" in shown["yes_no_full"]
    assert "means" not in shown["yes_no"]
    assert "A. one: the first\nB. two\nC. neither\n" in shown["choice_full"]
    assert "A. one\nB. two\nAnswer" in shown["choice"]
    assert "A. low\nB. mid\nC. high\nAnswer" in shown["scale"]


@pytest.mark.parametrize("name", SETS)
def test_the_second_prompt_is_the_first_one_with_more_at_its_end(name):
    for question in QUESTIONS.values():
        template = TemplateSet.load(name).template(question.kind)
        *before, (_, first) = render(template, question)
        *same, (_, second) = render(template, question, strict=True)
        assert before == same
        assert second.startswith(first)
        assert "exactly one" in second[len(first) :]


@pytest.mark.parametrize("name", SETS)
def test_the_question_stands_after_the_input_so_that_prompts_share_their_beginning(name):
    for question in QUESTIONS.values():
        text = render(TemplateSet.load(name).template(question.kind), question, "the input")[-1][1]
        assert text.index("the input") < text.index(question.text)


def test_all_question_types_of_the_default_set_share_the_system_text():
    templates = TemplateSet.load("default")
    assert len({render(templates.template(q.kind), q)[0] for q in QUESTIONS.values()}) == 1


def test_worked_examples_become_turns_with_their_labels():
    question = Choice(
        "Which?", ["red", "green"], none="other", examples=[("grass", "green"), ("sky", "other")]
    )
    turns = render(TemplateSet.load("default").template("choice"), question, "sea")
    assert [text for role, text in turns if role == "assistant"] == ["B", "C"]
    assert [role for role, _ in turns] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "grass" in turns[1][1]
    shown = render(TemplateSet.load("default").template("yes_no"), QUESTIONS["yes_no_full"])
    assert [text for role, text in shown if role == "assistant"] == ["Yes", "No"]


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_has_a_question_that_holds_its_data(layer):
    text = layer_question(layer, name="n1", description="d1 </input>", document="doc1")
    whole = layer_template(layer).front["description"].endswith("No variables.")
    assert any(word in text for word in ("n1", "d1", "doc1")) is not whole
    assert "</input>" not in text
    bare = layer_question(layer, name="n1", description="", document="doc1")
    assert "()" not in bare
    assert pickle.loads(pickle.dumps(YesNo(text))) == YesNo(text)  # noqa: S301 - our own bytes


def test_the_layers_are_those_of_the_house():
    assert {"tool", "route", "retriever", "passage", "agent"} <= set(LAYERS)


def test_a_layer_that_does_not_exist_or_lacks_a_variable_is_named():
    with pytest.raises(ConfigError, match="layers/nobody"):
        layer_question("nobody")
    with pytest.raises(ConfigError, match=r"layers/tool.*name"):
        layer_question("tool", description="d")


def test_a_folder_of_ones_own_is_used(tmp_path):
    template = write(tmp_path / "mine", GOOD)
    assert render(template, YesNo("q?")) == (("system", "s"), ("user", "U in q?"))
    for kind in (DecisionModel, AsyncDecisionModel):
        for folder in (tmp_path / "mine", str(tmp_path / "mine"), TemplateSet.load(tmp_path / "mine")):
            assert kind(FakeProvider(), template=folder).asking.templates.name == "mine"


def test_the_id_holds_name_version_and_digest_and_changes_with_the_file(tmp_path):
    one = write(tmp_path / "one", GOOD)
    assert one.id == f"one/yes_no@3#{one.digest}"
    assert len(one.digest) == 8
    assert write(tmp_path / "two", GOOD).digest == one.digest
    assert write(tmp_path / "three", GOOD.replace("U ", "V ")).digest != one.digest
    assert write(tmp_path / "four", GOOD.replace("version = 3", "version = 4")).id.startswith(
        "four/yes_no@4#"
    )


def test_the_digest_of_the_words_leaves_the_front_matter_out(tmp_path):
    one = write(tmp_path / "one", GOOD)
    other = write(tmp_path / "two", GOOD.replace("mine", "yours"))
    assert one.digest != other.digest
    assert one.wording == other.wording != write(tmp_path / "three", GOOD.replace("U ", "V ")).wording


def test_an_answer_names_the_template_it_was_read_with(tmp_path):
    template = write(tmp_path / "mine", GOOD)
    assert (
        DecisionModel(FakeProvider(), template=tmp_path / "mine").decide("x", YesNo("q?")).template
        == template.id
    )


def test_labels_in_another_language_are_asked_for_and_read(tmp_path):
    front = f'{FRONT}labels = ["Ja", "Nein"]\nlanguages = ["de"]\n'
    text = f"---\n{front}---\n{SYSTEM}{{% block user %}}{{{{ labels | join('/') }}}}{{% endblock %}}"
    write(tmp_path / "german", text)
    provider = FakeProvider({"Ja": 0.7, "Nein": 0.2, "Yes": 0.1})
    answer = DecisionModel(provider, template=tmp_path / "german").decide("x", YesNo("q?"))
    assert provider.requests[0]["messages"][-1]["content"] == "Ja/Nein"
    assert answer.probability == pytest.approx(7 / 9)
    assert answer.label_mass == pytest.approx(0.9)


def test_levels_may_go_by_number(tmp_path):
    text = f'---\n{FRONT}labels = "numbers"\nfirst = 0\n---\n{SYSTEM}{{% block user %}}{{{{ labels | join }}}}{{% endblock %}}'
    write(tmp_path / "numbers", text, "scale")
    provider = FakeProvider({"0": 0.2, "2": 0.8})
    answer = DecisionModel(provider, template=tmp_path / "numbers").decide("x", Scale("q?", ["l", "m", "h"]))
    assert provider.requests[0]["messages"][-1]["content"] == "012"
    assert answer.mean == pytest.approx(1.6)


def test_line_ends_of_other_systems_make_no_difference(tmp_path):
    plain, windows = write(tmp_path / "a", GOOD), write(tmp_path / "b", GOOD.replace("\n", "\r\n"))
    assert render(plain, YesNo("q?")) == render(windows, YesNo("q?"))


@pytest.mark.parametrize("name", ["defualt", "layers", "no such", "few-shot", "../prompts/default/none"])
def test_an_unknown_set_names_the_shipped_ones(name):
    with pytest.raises(ConfigError, match="default, few_shot"):
        TemplateSet.load(name)
