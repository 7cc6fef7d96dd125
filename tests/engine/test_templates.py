"""One model with several prompts, and prompts of one's own."""

import pytest

from tests.engine.support import both
from yesno import Choice, ConfigError, FakeProvider, SqliteCache, YesNo
from yesno.evidence import Completion
from yesno.providers.base import PromptTask, Turn


def system_texts(provider):
    return [body["messages"][0]["role"] == "system" for body in provider.requests]


@both
def test_the_same_model_asks_with_other_prompts(shell):
    provider = FakeProvider()
    one = shell(provider, min_label_mass=0.9)
    other = one.model.with_template("few_shot")
    one.decide("x", YesNo("q?"))
    answer = one.result(other.decide("x", YesNo("q?")))
    assert system_texts(provider) == [True, False]
    assert answer.template.startswith("few_shot/yes_no@")
    assert one.decide("x", YesNo("q?")).template.startswith("default/yes_no@")


@both
def test_what_is_spent_and_learned_is_shared(shell):
    provider = FakeProvider({"Yes": 0.2, "Well": 0.8}, strategies=("logprobs", "sampled"))
    one = shell(provider, strategy="logprobs")
    other = one.model.with_template("few_shot")
    one.result(other.decide("x", {"q": YesNo("q?")}))
    assert one.model.usage.requests == other.usage.requests == len(provider.requests)
    assert other.limits is one.model.limits


@both
def test_a_decision_that_a_cache_gave_is_not_repeated_for_other_prompts(shell, tmp_path):
    def script(prompt):
        return {"Yes": 0.9, "No": 0.1} if "Question:" in prompt else {"Yes": 0.3, "No": 0.7}

    with SqliteCache(tmp_path / "replies.db") as cache:
        one = shell(FakeProvider(script), cache=cache)
        other = one.model.with_template("few_shot")
        for _ in range(3):
            assert not one.decide("x", YesNo("q?")).is_yes()
            assert one.result(other.decide("x", YesNo("q?"))).is_yes()


@both
def test_packing_goes_on_with_the_prompt_of_the_other_set(shell):
    def line(number):
        return [{f"{number}": 1.0}, {".": 1.0}, {" Yes": 0.9, " No": 0.1}, {"\n": 1.0}]

    provider = FakeProvider(lambda prompt: [*line(1), *line(2)])
    one = shell(provider, packing="packed")
    other = one.model.with_template("few_shot")
    response = one.result(other.decide("x", {"a": YesNo("a?"), "b": YesNo("b?")}))
    assert response.yes_no("a").template.startswith("few_shot/packed@")
    assert len(provider.requests) == 1


@both
def test_a_set_that_is_not_there_is_named(shell):
    with pytest.raises(ConfigError, match="there is no template set 'nope'"):
        shell(FakeProvider()).model.with_template("nope")


@both
def test_a_prompt_of_ones_own_is_sent_and_counted_like_a_decision(shell, tmp_path):
    provider = FakeProvider(lambda prompt: {f"you said {prompt}": 1.0})
    with SqliteCache(tmp_path / "replies.db") as cache:
        one = shell(provider, cache=cache)
        task = PromptTask((Turn("user", "hello"),), "fake", 100)
        for _ in range(2):
            reply = one.result(one.model.reply(task))
            assert isinstance(reply.evidence, Completion)
            assert reply.evidence.text == "you said hello"
    assert len(provider.requests) == 1
    assert (one.model.usage.requests, one.model.usage.cache_hits) == (1, 1)


@both
def test_a_set_of_ones_own_may_ask_for_no_where_yes_is_meant(shell, tmp_path):
    (tmp_path / "yes_no.j2").write_text(
        '---\nversion = 1\ndescription = "Negated."\nlabels = ["No", "Yes"]\nlanguages = ["en", "de"]\n---\n'
        "{% block system %}{% endblock %}{% block user %}{{ input }} Is it wrong: {{ question }}{% endblock %}"
    )
    said = {"Yes": 0.5, "ja": 0.2, "true": 0.1, "No": 0.1, "nein": 0.1}
    answer = shell(FakeProvider(said), template=tmp_path).decide("x", YesNo("q?"))
    assert answer.probability == pytest.approx(0.2)


@both
def test_an_example_of_a_set_may_have_the_way_out_for_its_answer(shell, tmp_path):
    (tmp_path / "choice.j2").write_text(
        '---\nversion = 1\ndescription = "One."\nlabels = "letters"\n[[examples]]\ninput = "?"\nquestion = "Which?"\n'
        'options = ["a1", "b1"]\nnone = "neither"\nanswer = "neither"\n---\n'
        "{% block system %}{% endblock %}{% block user %}{{ question }}{% endblock %}"
    )
    provider = FakeProvider({"A": 0.9, "B": 0.1})
    shell(provider, template=tmp_path).decide("x", Choice("Which?", ["one", "two"]))
    assert provider.requests[0]["messages"][1] == {"role": "assistant", "content": "C"}
