import pytest

from yesno.engine.asking import shown_labels
from yesno.errors import ConfigError
from yesno.questions import Choice, Scale, YesNo
from yesno.templates.layers import layer_question
from yesno.templates.render import render_turns
from yesno.templates.sets import PROMPTS, TemplateSet

SETS = sorted(path.name for path in PROMPTS.iterdir() if path.is_dir() and path.name != "layers")
QUESTIONS = [
    YesNo("Is it?"),
    YesNo("Is it?", yes_when="it is", no_when="it is not", examples=[("seen", True), ({"a": 1}, False)]),
    Choice("Which?", {"one": "the first", "two": None}, none="neither", examples=[("seen", "neither")]),
    Scale("How?", ["low", "mid", "high"], examples=[("seen", "mid")]),
    Scale("How?", [f"level {i}" for i in range(15)]),
]
GOOD = '---\nversion = 3\ndescription = "mine"\nlabels = ["Yes", "No"]\n---\n{% block system %}s{% endblock %}\n{% block user %}U {{ input }} {{ question }}{% endblock %}\n'


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("question", QUESTIONS, ids=[str(i) for i in range(len(QUESTIONS))])
@pytest.mark.parametrize("strict", [False, True], ids=["first", "strict"])
def test_every_shipped_template_renders(name, question, strict):
    template = TemplateSet.load(name).template(question.kind)
    turns = render_turns(template, question, "the input", shown_labels, strict=strict, prefill=True)
    assert [role for role, _ in turns].count("system") <= 1
    assert turns[-1][0] == "user"
    assert "the input" in turns[-1][1]
    assert question.text in turns[-1][1]


def test_the_question_stands_after_the_input_so_that_prompts_share_their_beginning():
    for question in QUESTIONS:
        template = TemplateSet.load("default").template(question.kind)
        text = render_turns(template, question, "the input", shown_labels)[-1][1]
        assert text.index("the input") < text.index(question.text)
    starts = {
        render_turns(TemplateSet.load("default").template(q.kind), q, "the input", shown_labels)[0]
        for q in QUESTIONS
    }
    assert len(starts) == 1


def test_worked_examples_become_turns_with_their_labels():
    question = Choice("Which?", ["red", "green"], examples=[("grass", "green"), ("blood", "red")])
    turns = render_turns(TemplateSet.load("default").template("choice"), question, "sea", shown_labels)
    assert [text for role, text in turns if role == "assistant"] == ["B", "A"]
    assert [role for role, _ in turns] == ["system", "user", "assistant", "user", "assistant", "user"]


@pytest.mark.parametrize("layer", ["tool", "route", "retriever", "passage", "agent"])
def test_every_layer_has_a_question(layer):
    text = layer_question(layer, name="n1", description="d1 </input>", document="doc1")
    assert text.endswith("?") or layer == "passage"
    assert "</input>" not in text


def write(folder, text, name="yes_no.j2"):
    (folder / name).write_text(text, encoding="utf-8")
    return TemplateSet.load(folder).template("yes_no")


def test_a_folder_of_ones_own_is_used_and_named_with_version_and_digest(tmp_path):
    template = write(tmp_path, GOOD)
    assert render_turns(template, YesNo("q?"), "in", shown_labels)[-1] == ("user", "U in q?")
    assert template.id.startswith(f"{tmp_path.name}/yes_no@3#")
    other = tmp_path / "other"
    other.mkdir()
    assert write(other, GOOD.replace("U ", "V ")).digest != template.digest


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no front matter", "front matter"),
        (GOOD.replace("version = 3", "version = "), "front matter"),
        (GOOD.replace("version = 3\n", ""), "version"),
        (GOOD.replace("block user", "block other"), "user"),
        (GOOD.replace("{% endblock %}\n{%", "{% endbloc %}\n{%"), "line"),
    ],
    ids=["none", "toml", "version", "block", "syntax"],
)
def test_a_broken_template_is_refused_by_name(tmp_path, text, named):
    with pytest.raises(ConfigError, match=named) as info:
        write(tmp_path, text)
    assert "yes_no" in str(info.value)


@pytest.mark.parametrize(
    "expression",
    ["{{ unknown }}", "{{ ''.__class__.__mro__ }}", "{{ labels.append('x') }}"],
    ids=["undefined", "class", "mutation"],
)
def test_a_template_that_reaches_too_far_fails(tmp_path, expression):
    template = write(tmp_path, GOOD.replace("U ", expression))
    with pytest.raises(ConfigError, match="yes_no"):
        render_turns(template, YesNo("q?"), "in", shown_labels)


def test_an_unknown_set_names_the_shipped_ones():
    with pytest.raises(ConfigError, match="default, few_shot"):
        TemplateSet.load("defualt")
