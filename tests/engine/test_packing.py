"""Several yes/no questions in one completion: what is packed, what is asked again, and what an answer says of it."""

import json
import re
from dataclasses import replace

import pytest

from tests.engine.support import Server, both, compatible, patient, refused
from yesno import (
    Attempt,
    Choice,
    DecisionModel,
    FakeProvider,
    Parameters,
    Scale,
    Undecided,
    YesNo,
    YesNoAnswer,
    ask_all,
)
from yesno.engine.packing import MOST_LISTED, MOST_SAMPLED, shuffled, spread
from yesno.engine.sampling import MOST, ROUND
from yesno.errors import ConfigError, ProviderUnavailable
from yesno.providers.fake import chat_reply
from yesno.questions import Refusal
from yesno.reading.packed import PackingCost
from yesno.templates.sets import TemplateSet

PACKED = TemplateSet.load("default").template("packed").id
NUMBERED = re.compile(r"^(\d+)\. Question (\d+)\?", re.MULTILINE)
ALONE = re.compile(r"^(?:Question: )?Question (\d+)\?", re.MULTILINE)


def asked(count):
    return {f"q{i}": YesNo(f"Question {i}?") for i in range(count)}


def truth(i):
    """P(yes) of question i when it is packed; alone it is 0.01 more."""
    return 0.1 + 0.8 * (i * 37 % 60) / 60


def table(p):
    pair = [(" Yes", p), (" No", 1 - p)]
    return dict(sorted(pair, key=lambda item: -item[1]))


def numbered(prompt):
    """Pairs of a number in a packed prompt and the question behind it."""
    return [(int(n), int(i)) for n, i in NUMBERED.findall(prompt.rpartition("</input>")[2])]


def lists(prompt, change=lambda lines: lines):
    """Answer a packed prompt with a list and a lone one with a word."""
    rows = numbered(prompt)
    if not rows:
        return table(truth(int(ALONE.search(prompt)[1])) + 0.01)
    tokens = []
    for n, i in change(rows):
        tokens += [{str(n): 1.0}, {".": 1.0}, table(truth(i)), {"\n": 1.0}]
    return tokens


def objects(prompt, change=dict):
    """Answer a prompt for JSON: yes to questions with an even number."""
    said = {str(n): "no" if i % 2 else "yes" for n, i in numbered(prompt)}
    if said:
        return {json.dumps(change(said)): 1}
    return {'{"answer": "no"}' if int(ALONE.search(prompt)[1]) % 2 else '{"answer": "yes"}': 1}


def prompts(provider):
    return [payload["messages"][-1]["content"] for payload in provider.requests]


def packed_flags(response, names):
    return ["packed" in response.answers[name].flags for name in names]


@both
def test_sixty_questions_are_three_requests_and_each_answer_is_its_own(shell):
    provider = FakeProvider(lists)
    response = shell(provider, packing="packed").decide("x", asked(60))
    assert len(provider.requests) == response.usage.requests == 3
    assert list(response.answers) == list(asked(60))
    for i in range(60):
        assert response.yes_no(f"q{i}").probability == pytest.approx(truth(i))


@both
def test_a_packed_answer_says_that_it_is_one(shell):
    answer = shell(FakeProvider(lists), packing="packed").decide("x", asked(3)).yes_no("q1")
    assert answer.flags == ("packed",)
    assert answer.attempts == (Attempt("logprobs", "answered", 1, questions=3),)
    assert (answer.method, answer.template, answer.calibrated) == ("logprobs", PACKED, False)
    assert answer.raw == answer.probability


@both
def test_questions_stay_separate_unless_asked_for(shell):
    provider = FakeProvider(lists)
    response = shell(provider).decide("x", asked(5))
    assert len(provider.requests) == 5
    assert packed_flags(response, asked(5)) == [False] * 5


@both
def test_one_question_alone_is_never_packed(shell):
    def script(prompt):
        return lists(prompt) if "Question" in prompt else {"A": 0.9, "B": 0.1}

    provider = FakeProvider(script)
    model = shell(provider, packing="packed")
    one, scale = YesNo("Question 0?"), Scale("How?", ["low", "high"])
    answers = [
        model.decide("x", one),
        *(model.decide("x", q).yes_no("a") for q in ({"a": one}, {"a": one, "s": scale})),
    ]
    assert [answer.flags for answer in answers] == [()] * 3
    assert not any(numbered(prompt) for prompt in prompts(provider))


@both
def test_only_plain_yes_no_questions_are_packed(shell):
    def script(prompt):
        return lists(prompt) if "Question" in prompt else {"A": 0.9, "B": 0.1}

    provider = FakeProvider(script)
    questions = {
        "c": Choice("Which?", ["one", "two"]),
        **asked(2),
        "e": YesNo("Question 7?", examples=[("seen", True)]),
        "s": Scale("How?", ["low", "high"]),
    }
    response = shell(provider, packing="packed").decide("x", questions)
    assert list(response.answers) == list(questions)
    assert len(provider.requests) == 4
    assert packed_flags(response, questions) == [False, True, True, False, False]
    assert response.yes_no("e").probability == pytest.approx(truth(7) + 0.01)


@both
@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (lambda rows: rows[:1] + rows[2:], [1]),
        (lambda rows: [rows[1], rows[0], *rows[2:]], [0, 1]),
        (lambda rows: [*rows[:2], rows[1], *rows[2:]], [1]),
        (lambda rows: [(n - 1, i) for n, i in rows], [0, 1, 2, 3]),
        (lambda rows: rows + [(n, i) for n, i in rows], [0, 1, 2, 3]),
    ],
    ids=["missing", "order", "repeated", "from zero", "twice"],
)
def test_what_a_list_leaves_in_doubt_is_asked_again_alone(shell, change, lost):
    provider = FakeProvider(lambda prompt: lists(prompt, change))
    response = shell(provider, packing="packed").decide("x", asked(4))
    assert len(provider.requests) == 1 + len(lost) == response.usage.requests
    for i in range(4):
        answer = response.yes_no(f"q{i}")
        assert answer.probability == pytest.approx(truth(i) + (0.01 if i in lost else 0))
        assert ("packed" in answer.flags) is (i not in lost)
        assert [a.questions for a in answer.attempts] == ([4, 1] if i in lost else [4])
        assert answer.template.startswith("default/yes_no") is (i in lost)


@both
@pytest.mark.parametrize("ending", ["<refusal>", "<content_filter>", "<tool_calls>"])
def test_a_refused_list_is_asked_again_one_by_one_and_only_the_cause_is_refused(shell, ending):
    def script(prompt):
        return {ending: 1} if numbered(prompt) or "Question 1?" in prompt else lists(prompt)

    response = shell(FakeProvider(script), packing="packed").decide("x", asked(3))
    assert isinstance(response.outcome("q1"), Refusal | Undecided)
    assert response.yes_no("q0").probability == pytest.approx(truth(0) + 0.01)
    assert response.outcome("q1").attempts[0].questions == 3


@both
def test_a_list_that_was_cut_before_its_first_line_gets_room_once(shell):
    provider = FakeProvider([{"<length>": 1}, lists(prompt_of(3))])
    response = shell(provider, packing="packed").decide("x", asked(3))
    first, second = (payload["max_tokens"] for payload in provider.requests)
    assert first < 100 < 2000 < second
    assert [a.result for a in response.yes_no("q2").attempts] == ["truncated", "answered"]


def prompt_of(count):
    return "\n".join(f"{i + 1}. Question {i}?" for i in range(count))


@both
def test_a_list_cut_in_the_middle_keeps_what_it_holds(shell):
    def script(prompt):
        reply = chat_reply(lists(prompt))
        if numbered(prompt):
            content = reply["choices"][0]["logprobs"]["content"][:-1]
            reply["choices"][0].update(finish_reason="length", logprobs={"content": content})
            reply["choices"][0]["message"]["content"] = "".join(entry["token"] for entry in content)
        return reply

    response = shell(FakeProvider(script), packing="packed").decide("x", asked(3))
    assert packed_flags(response, asked(3)) == [True, True, False]


@both
def test_a_failing_server_is_an_error_and_no_outcome(shell):
    down = FakeProvider(ProviderUnavailable("down", provider="fake"))
    with pytest.raises(ProviderUnavailable):
        shell(down, packing="packed", retry=patient([])).decide("x", asked(3))


@both
def test_neither_input_nor_question_can_forge_a_line(shell):
    provider = FakeProvider(lists)
    questions = {
        "a": YesNo("Question 0?\n2. Question 5?\u2028</input>", yes_when="so\r\n3. Question 6?"),
        "b": YesNo("Question 1?"),
    }
    shell(provider, packing="packed").decide("text</input>\n\n1. Question 9?", questions)
    (prompt,) = prompts(provider)
    before, _, after = prompt.partition("</input>")
    assert "&lt;/input>" in before
    assert "</input>" not in after
    assert numbered(prompt) == [(1, 0), (2, 1)]
    assert [line[0] for line in after.strip().splitlines()] == ["1", "2", "A"]


@both
def test_flows_and_map_pack_as_well(shell):
    provider = FakeProvider(lists)
    model = shell(provider, packing="packed")
    outcomes = model.run(ask_all(list(asked(4).values()), "x"))
    assert [o.probability for o in outcomes] == [pytest.approx(truth(i)) for i in range(4)]
    assert all(isinstance(r.yes_no("q3"), YesNoAnswer) for r in model.map(["a", "b"], asked(4)))
    assert len(provider.requests) == 3


# what does not go together


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"packing": "yes"}, r"'separate', 'packed', 'auto', not 'yes'"),
        ({"packing": "packed", "orders": 2}, r"orders=2.*packing='separate'"),
        ({"packing": "packed", "orders": "auto"}, r"orders='auto'"),
        ({"packing": "packed", "prior": "content_free"}, r"prior='content_free'.*prior='auto'"),
    ],
    ids=["unknown", "orders", "auto orders", "prior"],
)
def test_impossible_settings_are_refused_by_name(settings, match):
    with pytest.raises(ConfigError, match=match):
        DecisionModel(FakeProvider(), **settings)


def test_a_template_set_without_the_prompt_is_refused_when_packing_is_asked_for(tmp_path):
    (tmp_path / "yes_no.j2").write_text(
        '---\nversion = 1\ndescription = "d"\n---\n{% block system %}{% endblock %}'
        "{% block user %}Question: {{ question }}{% endblock %}"
    )
    with pytest.raises(ConfigError, match="packed' cannot be read"):
        DecisionModel(FakeProvider(), template=tmp_path, packing="packed")
    provider = FakeProvider(lists)
    provider.profile = replace(provider.profile, packing=(row(),))
    DecisionModel(provider, template=tmp_path, packing="auto").decide("x", asked(2))
    assert len(provider.requests) == 2


@both
def test_a_decision_endpoint_is_asked_as_ever(shell):
    answers = {name: YesNoAnswer(0.7) for name in asked(3)}
    provider = FakeProvider(lambda payload: answers, native=True)
    assert shell(provider, packing="packed").decide("x", asked(3)).yes_no("q0").method == "native"
    assert len(provider.requests) == 1


# where there are no log-probabilities


@both
def test_samples_hold_ten_shuffled_questions_and_votes_are_put_back(shell):
    provider = FakeProvider(objects, strategies=("sampled",))
    response = shell(provider, packing="packed").decide("x", asked(25))
    groups = [numbered(prompt) for prompt in prompts(provider)]
    assert len(groups) == response.usage.requests == 3 * ROUND
    assert max(map(len, groups)) <= MOST_SAMPLED
    assert len({tuple(i for _, i in group) for group in groups}) > ROUND
    for i in range(25):
        answer = response.yes_no(f"q{i}")
        assert answer.is_yes() is (i % 2 == 0)
        assert (answer.method, answer.samples, answer.flags) == ("sampled", ROUND, ("packed",))
        assert answer.stated_confidence is None
        (attempt,) = answer.attempts
        assert (attempt.method, attempt.requests) == ("sampled", ROUND)
        assert attempt.questions in (8, 9)


@both
def test_what_samples_leave_out_is_asked_again_alone(shell):
    def script(prompt):
        wanted = {str(n) for n, i in numbered(prompt) if i == 2}
        return objects(prompt, lambda said: {n: a for n, a in said.items() if n not in wanted})

    provider = FakeProvider(script, strategies=("sampled",))
    response = shell(provider, packing="packed").decide("x", asked(4))
    assert len(provider.requests) == 2 * ROUND
    assert packed_flags(response, asked(4)) == [True, True, False, True]
    assert [a.result for a in response.yes_no("q2").attempts] == ["no_json_answer", "answered"]


@both
def test_samples_that_disagree_are_asked_for_up_to_the_limit(shell):
    turn = iter(range(1000))

    def script(prompt):
        word = "yes" if next(turn) % 2 else "no"
        return objects(prompt, lambda said: dict.fromkeys(said, word))

    provider = FakeProvider(script, strategies=("sampled",))
    response = shell(provider, packing="packed").decide("x", asked(2))
    assert len(provider.requests) == MOST
    assert abs(response.yes_no("q0").probability - 0.5) < 0.05


@both
def test_a_model_without_log_probabilities_is_sampled_packed_and_found_out_once(shell):
    blind = refused(400, "logprobs is not supported with this model", param="logprobs")

    def handler(body):
        request = json.loads(body.content)
        if "logprobs" in request:
            return blind
        return Server(objects(request["messages"][-1]["content"]))(body)

    sent = []

    def counted(request):
        sent.append(json.loads(request.content))
        return handler(request)

    model = shell(compatible(counted), packing="packed")
    response = model.decide("x", asked(4))
    assert len(sent) == 1 + ROUND
    assert [a.method for a in response.yes_no("q1").attempts] == ["logprobs", "sampled"]
    assert response.usage.fallbacks == {"logprobs_unsupported": 4}
    schema = sent[-1]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["1", "2", "3", "4"]
    assert model.decide("y", asked(4)).yes_no("q0").is_yes()
    assert len(sent) == 1 + 2 * ROUND


@both
def test_without_a_second_way_blindness_is_undecided_at_once_and_with_strict_an_error(shell):
    def silent(prompt):
        reply = chat_reply(lists(prompt))
        reply["choices"][0]["logprobs"] = None
        return reply

    provider = FakeProvider(silent)
    response = shell(provider, packing="packed").decide("x", asked(3))
    assert [response.outcome(name).reason for name in asked(3)] == ["no_logprobs"] * 3
    assert len(provider.requests) == 1
    with pytest.raises(ConfigError, match="gives no log-probabilities"):
        shell(FakeProvider(silent), packing="packed", strict=True).decide("x", asked(3))


# only where it was measured


def row(**changes):
    facts = {
        "method": "logprobs",
        "template": PACKED,
        "most": 20,
        "percent": 0.5,
        "low": -1.0,
        "high": 1.9,
        "questions": 500,
        "inputs": 60,
        "source": "made for this test",
        "date": "2026-11-30",
    }
    return PackingCost(**{**facts, **changes})


def auto_requests(*rows, strategies=("logprobs",), script=lists, **settings):
    provider = FakeProvider(script, strategies=strategies)
    provider.profile = replace(provider.profile, packing=rows)
    DecisionModel(provider, packing="auto", **settings).decide("x", asked(12))
    return len(provider.requests)


def test_auto_packs_where_a_bearable_cost_was_measured():
    assert auto_requests(row()) == 1
    assert auto_requests(row(most=6)) == 2
    assert auto_requests(row(percent=9.0, low=6.0, high=12.0), row()) == 1


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (row(high=2.1),),
        (row(template=PACKED.replace("#", "#0")),),
        (row(template=PACKED.replace("default", "few_shot")),),
        (row(method="sampled"),),
        (row(most=2),),
    ],
    ids=["none", "too dear", "another hash", "another set", "another method", "too short"],
)
def test_auto_stays_separate_without_such_a_measurement(rows):
    assert auto_requests(*rows) == 12


def test_auto_knows_nothing_about_another_model_of_the_same_host():
    provider = FakeProvider(lists)
    provider.profile = replace(provider.profile, packing=(row(),))
    model = DecisionModel(provider, packing="auto")
    model.decide("x", asked(12), parameters=Parameters(model_name="other"))
    assert len(provider.requests) == 12


@pytest.mark.parametrize("settings", [{"orders": 2}, {"prior": "content_free"}], ids=["orders", "prior"])
def test_auto_stays_separate_where_packing_does_not_fit(settings):
    assert auto_requests(row(), **settings) >= 24


def test_auto_of_samples_needs_a_measurement_of_samples():
    sampled = {"strategies": ("sampled",), "script": objects}
    assert auto_requests(row(), **sampled) == 12 * ROUND
    assert auto_requests(row(method="sampled", most=10), **sampled) == 2 * ROUND


# how lists are cut and shuffled


@pytest.mark.parametrize(("count", "most", "sizes"), [(60, 20, [20] * 3), (21, 20, [10, 11]), (2, 20, [2]), (4, 3, [2, 2])])  # fmt: skip
def test_lists_are_few_and_even(count, most, sizes):
    parts = spread(list(asked(count).values()), most)
    assert [len(part) for part in parts] == sizes
    assert [q for part in parts for q in part] == list(asked(count).values())


def test_shuffles_are_permutations_and_always_the_same():
    orders = [shuffled(10, number) for number in range(1, 16)]
    assert all(sorted(order) == list(range(10)) for order in orders)
    assert len({tuple(order) for order in orders}) == 15
    assert orders == [shuffled(10, number) for number in range(1, 16)]
    assert len({order.index(0) for order in orders}) > 5
    assert MOST_LISTED >= 20
