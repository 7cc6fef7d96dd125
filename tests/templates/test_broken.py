"""A template that is wrong is a `ConfigError` that names the file and the problem, never anything else."""

import pytest

from tests.templates.test_sets import FRONT, GOOD, SYSTEM, render, write
from yesno import DecisionModel, FakeProvider
from yesno.errors import ConfigError
from yesno.questions import Choice, Scale, YesNo
from yesno.templates.sets import TemplateSet

ASKED = {"yes_no": YesNo("q?"), "choice": Choice("q?", ["one", "two"]), "scale": Scale("q?", ["low", "high"])}


def fronted(front, body="{{ input }} {{ question }}"):
    return f"---\n{FRONT}{front}---\n{SYSTEM}{{% block user %}}{body}{{% endblock %}}"


def example(**fields):
    return "[[examples]]\n" + "".join(f"{name} = {value}\n" for name, value in fields.items())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("no front matter", "front matter"),
        ("", "front matter"),
        ("x\n" + GOOD, "front matter"),
        (GOOD.replace("version = 3", "version = "), r"front matter.*line 1"),
        (GOOD.replace("version = 3\n", ""), "version"),
        (GOOD.replace('description = "mine"\n', ""), "description"),
        (GOOD.replace("block user", "block other"), "lacks the block 'user'"),
        (GOOD.replace("block system", "block other"), "lacks the block 'system'"),
        (GOOD.replace("{% endblock %}\n{%", "{% endbloc %}\n{%"), "line"),
        (GOOD.replace("{{ input }}", "{{ input "), "line"),
        (GOOD.replace("{{ input }}", "{{ input | nofilter }}"), "nofilter"),
    ],
    ids=[
        "none",
        "empty",
        "before",
        "toml",
        "version",
        "description",
        "user",
        "system",
        "syntax",
        "open",
        "filter",
    ],
)
def test_a_broken_file_is_refused_when_it_is_loaded(tmp_path, text, named):
    with pytest.raises(ConfigError, match=named) as info:
        write(tmp_path / "mine", text)
    assert "'mine/yes_no'" in str(info.value)


@pytest.mark.parametrize(
    ("kind", "front", "named"),
    [
        ("yes_no", 'labels = ["Ja"]\n', "labels"),
        ("yes_no", 'labels = "letters"\n', "labels"),
        ("yes_no", "labels = [1, 2]\n", "labels"),
        ("yes_no", 'labels = ["Ja", " "]\n', "labels"),
        ("yes_no", 'labels = ["Ja", "ja"]\n', "told apart"),
        ("yes_no", 'languages = "en"\n', "languages"),
        ("yes_no", 'languages = ["xx"]\n', r"'xx'.*known are en"),
        ("choice", 'labels = ["A", "B"]\n', "labels"),
        ("scale", 'labels = "numbers"\nfirst = "a"\n', "first"),
        ("scale", 'labels = "numbers"\nfirst = -1\n', "first"),
        ("yes_no", 'examples = "x"\n', "examples"),
        ("yes_no", example(question='"q"', answer="true"), "example 1 lacks 'input'"),
        ("yes_no", example(input='"x"', answer="true"), "example 1 lacks 'question'"),
        ("yes_no", example(input='"x"', question='"q"'), "example 1 lacks 'answer'"),
        ("yes_no", example(input='"x"', question='"q"', answer='"no"'), "example 1"),
        ("yes_no", example(input='" "', question='"q"', answer="true"), "example 1"),
        ("choice", example(input='"x"', question='"q"', answer="true"), "example 1 lacks 'options'"),
        ("choice", example(input='"x"', question='"q"', options='["a"]', answer='"a"'), "example 1"),
        (
            "choice",
            example(input='"x"', question='"q"', options='["a", "b"]', answer='"c"'),
            "example 1.*'c'",
        ),
        ("scale", example(input='"x"', question='"q"', levels='["a", "b"]', answer='"c"'), "example 1.*'c'"),
        ("scale", example(input='"x"', question='"q"', levels='"ab"', answer='"a"'), "example 1"),
    ],
)
def test_front_matter_that_makes_no_sense_is_refused(tmp_path, kind, front, named):
    def prompt():
        return render(write(tmp_path / "mine", fronted(front), kind), ASKED[kind])

    with pytest.raises(ConfigError, match=named) as info:
        prompt()
    assert f"'mine/{kind}'" in str(info.value)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("{{ unknown }}", "unknown"),
        ("{% if unknown %}x{% endif %}", "unknown"),
        ("{{ question.nothing }}", "nothing"),
        ("{{ ''.__class__.__mro__ }}", "__class__"),
        ("{{ question.format.__globals__ }}", "__globals__"),
        ("{{ rows.__class__ }}", "__class__"),
        ("{{ labels.append('x') }}", "append"),
        ("{{ 1 / 0 }}", "zero"),
        ("{{ labels[0] + 1 }}", "concatenate"),
        ("{{ range(1000000000) | list }}", "Range"),
        ("{{ '%(a)s' | format(b=1) }}", "a"),
        ("{{ rows | sum }}", "unsupported"),
        ("{% include 'other' %}", "loader"),
        ("{% import 'os' as os %}", "loader"),
    ],
)
def test_a_template_that_fails_or_reaches_too_far_is_refused(tmp_path, expression, named):
    template = write(tmp_path / "mine", fronted("", expression))
    with pytest.raises(ConfigError, match=named) as info:
        render(template, YesNo("q?"))
    assert "'mine/yes_no', block 'user'" in str(info.value)


def test_a_block_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"'mine/yes_no' has no block 'json'"):
        write(tmp_path / "mine", GOOD).render("json", {})


def test_a_missing_file_is_named_and_nothing_is_sent(tmp_path):
    write(tmp_path / "mine", GOOD)
    provider = FakeProvider()
    model = DecisionModel(provider, template=tmp_path / "mine")
    with pytest.raises(ConfigError, match="'mine/choice' cannot be read"):
        model.decide("x", Choice("q?", ["one", "two"]))
    assert provider.requests == []


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "yes_no.j2").write_bytes(b"---\n\xff\n---\n")
    with pytest.raises(ConfigError, match="UTF-8"):
        TemplateSet.load(tmp_path).template("yes_no")
