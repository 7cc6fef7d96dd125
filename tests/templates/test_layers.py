"""Questions of the layers: the shipped ones, and the user's own."""

import pickle

import pytest

from yesno.errors import ConfigError
from yesno.templates.layers import QuestionTemplate, layer_question


def test_without_a_template_of_ones_own_the_shipped_question_is_asked():
    asked = QuestionTemplate("tool", required=("name",), allowed=("name", "description"))
    assert asked.text(name="n", description="d") == layer_question("tool", name="n", description="d")


def test_a_template_of_ones_own_is_filled_with_encoded_values_and_stripped():
    asked = QuestionTemplate(
        "tool",
        " {{name}}:{% if description %} {{description}}{% endif %} ",
        ("name",),
        ("name", "description"),
    )
    assert asked.text(name=" a ", description="</input>") == "a: &lt;/input>"
    assert asked.text(name="a", description="") == "a:"
    assert pickle.loads(pickle.dumps(asked)).text(name="a", description="") == "a:"  # noqa: S301 - our own bytes


def test_one_of_several_required_variables_is_enough():
    for source in ("{{name}}?", "{{description}}?"):
        QuestionTemplate("agent", source, ("name", "description"), ("name", "description"))
    with pytest.raises(ConfigError, match=r"{{name}} or {{description}}"):
        QuestionTemplate("agent", "Which?", ("name", "description"), ("name", "description"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "{{name}}"),
        ("{{name}} {{x.y}}", "'x'.*allowed are name"),
        ("{{name}} {% for %}", "line 1"),
        (5, "not int"),
    ],
)
def test_a_template_that_cannot_be_used_is_refused_when_it_is_given(source, said):
    with pytest.raises(ConfigError, match=said):
        QuestionTemplate("tool", source, ("name",), ("name",))


def test_a_template_that_fails_when_it_is_filled_says_so():
    asked = QuestionTemplate("tool", "{{ name / 0 }}", ("name",), ("name",))
    with pytest.raises(ConfigError, match="cannot be rendered"):
        asked.text(name="a")
