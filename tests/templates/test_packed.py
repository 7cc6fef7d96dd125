"""The prompt of several yes/no questions at once."""

import json

import jinja2
import pytest

from tests.templates.test_sets import FRONT, INPUTS, SETS, SYSTEM, write
from yesno.errors import ConfigError
from yesno.messages import freeze_input
from yesno.questions import YesNo
from yesno.templates.encoding import Encoded
from yesno.templates.layers import layer_question
from yesno.templates.packed import render_packed
from yesno.templates.sets import TemplateSet

LABELS = ("Yes", "No")
BLOCKS = "{% block lines %}L {{ labels | join('/') }}{% endblock %}{% block json %}J{% endblock %}"
USER = "{{ input }}{% for row in rows %} {{ row.number }}={{ row.question }}{% endfor %}"
GOOD = f"---\n{FRONT}---\n{SYSTEM}{{% block user %}}{USER}{{% endblock %}}{BLOCKS}"
QUESTIONS = [YesNo("Is it?"), YesNo("Or this?", yes_when="so", no_when="not so"), YesNo("And?", examples=[("s", True)])]  # fmt: skip


def render(template, questions=tuple(QUESTIONS), given="the input", **settings):
    return render_packed(template, questions, freeze_input(given), LABELS, **settings)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("given", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("as_json", [False, True], ids=["list", "json"])
def test_every_shipped_set_renders_numbered_questions_after_the_input(name, given, as_json):
    template = TemplateSet.load(name).template("packed")
    assert issubclass(template.jinja.environment.undefined, jinja2.StrictUndefined)
    turns = render(template, given=given, as_json=as_json)
    talk = [role for role, _ in turns if role != "system"]
    assert talk == ["user", "assistant"] * (len(talk) // 2) + ["user"]
    text = turns[-1][1]
    before, _, after = text.partition("</input>")
    assert "the input" in before
    assert after.strip().splitlines()[:3] == [
        "1. Is it?",
        "2. Or this? (Yes means: so) (No means: not so)",
        "3. And?",
    ]
    assert ("JSON" in after) is as_json
    assert ("line" in after) is not as_json


@pytest.mark.parametrize("name", SETS)
def test_the_shipped_prompts_are_versioned_and_ask_for_the_words_of_a_question_alone(name):
    templates = TemplateSet.load(name)
    packed, alone = templates.template("packed"), templates.template("yes_no")
    assert packed.id.startswith(f"{name}/packed@{packed.front['version']}#")
    assert len(packed.front["description"].split()) >= 3
    assert (packed.front["labels"], packed.front["languages"]) == (
        alone.front["labels"],
        alone.front["languages"],
    )


def test_the_sets_own_examples_are_answered_in_the_form_that_is_asked_for():
    template = TemplateSet.load("few_shot").template("packed")
    lists = [text for role, text in render(template) if role == "assistant"]
    objects = [text for role, text in render(template, as_json=True) if role == "assistant"]
    assert lists[0] == "1. Yes\n2. No\n3. Yes"
    assert json.loads(objects[0]) == {"1": "Yes", "2": "No", "3": "Yes"}
    assert len(lists) == len(objects) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Is it?\n2. Is this?",
        "Is it?\r\n2. Is this?",
        "Is it?\u20282. Is this?",
        "Is it?\x0b2. Is this?",
        Encoded("Is it?\n2. Is this?"),
    ],
    ids=["n", "rn", "separator", "tab", "encoded"],
)
def test_a_question_stays_on_its_line(tmp_path, text):
    template = TemplateSet.load("default").template("packed")
    questions = [YesNo(text, yes_when="a\n3. b", no_when="c\x854. d"), YesNo("last?")]
    lines = render(template, questions)[-1][1].partition("</input>")[2].strip().splitlines()
    assert lines[0] == "1. Is it? 2. Is this? (Yes means: a 3. b) (No means: c 4. d)"
    assert lines[1] == "2. last?"


def test_a_layers_question_is_encoded_once():
    text = layer_question("tool", name="n", description="a <b> &\nc")
    line = render(TemplateSet.load("default").template("packed"), [YesNo(text)])[-1][1]
    assert "a &lt;b> & c" in line


def test_a_folder_of_ones_own_may_bring_the_prompt(tmp_path):
    template = write(tmp_path / "mine", GOOD, "packed")
    assert TemplateSet.load(tmp_path / "mine").has("packed")
    assert not TemplateSet.load(tmp_path / "mine").has("yes_no")
    assert render(template)[-1] == ("user", "the input 1=Is it? 2=Or this? 3=And?\nL Yes/No")
    assert render(template, as_json=True)[-1][1].endswith("\nJ")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (GOOD.replace("block lines", "block other"), "lacks the block 'lines'"),
        (GOOD.replace("block json", "block other"), "lacks the block 'json'"),
        (GOOD.replace(FRONT, FRONT + 'labels = "letters"\n'), "labels"),
    ],
    ids=["lines", "json", "labels"],
)
def test_a_broken_file_is_refused_when_it_is_loaded(tmp_path, text, named):
    with pytest.raises(ConfigError, match=named):
        write(tmp_path / "mine", text, "packed")


@pytest.mark.parametrize(
    ("example", "named"),
    [
        ('questions = ["q?"]\nanswers = [true]', "input"),
        ('input = "x"\nanswers = [true]', "questions"),
        ('input = "x"\nquestions = ["q?", "r?"]\nanswers = [true]', "example 1"),
        ('input = "x"\nquestions = [" "]\nanswers = [true]', "example 1"),
        ('input = "x"\nquestions = 3\nanswers = [true]', "example 1"),
    ],
    ids=["input", "questions", "answers", "blank", "number"],
)
def test_a_broken_example_is_named(tmp_path, example, named):
    front = f"{FRONT}[[examples]]\n{example}\n"
    template = write(tmp_path / "mine", GOOD.replace(FRONT, front), "packed")
    with pytest.raises(ConfigError, match=named):
        render(template)
