import asyncio
import logging
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.support import Native
from tests.filters.contract import PRIVATE, FilterContract
from tests.naming import stable
from tests.shells import REFUSED, UNDECIDED, Async, Scripted, Sync
from yesno import ChoiceAnswer, FakeProvider, Parameters, Scale, YesNo, YesNoAnswer
from yesno.errors import ConfigError, InvalidResponse, ProviderRejected, QuestionError
from yesno.evidence import NativeAnswers, Reply, Usage
from yesno.filters import Reranker
from yesno.flow import run
from yesno.questions import Refusal, Undecided
from yesno.templates.layers import layer_question

QUERY = "when does it open?"
DOWN = ProviderRejected("down", provider="fake", status=400)


class Endpoint(Native):
    """A decision endpoint that knows a probability per question text and counts tokens."""

    def __init__(self, probabilities=None, fail=()):
        self.model = "endpoint"
        self.probabilities, self.fail, self.sent = probabilities or {}, set(fail), []

    def build(self, task):
        questions = {name: question.text for name, question in task.request.questions.items()}
        return {"model": task.model_name, "input": dict(task.request.input), "questions": questions}

    def send(self, payload, *, timeout_s=None):
        self.sent.append(payload)
        if len(self.sent) in self.fail:
            raise DOWN
        return payload

    async def asend(self, payload):
        return self.send(payload)

    def parse(self, task, reply):
        answers = {name: YesNoAnswer(self._probability(text)) for name, text in reply["questions"].items()}
        usage = Usage(input_tokens=len(answers), requests=1)
        return Reply(NativeAnswers(answers), model=reply["model"], usage=usage)

    def _probability(self, text):
        return next((p for key, p in self.probabilities.items() if f"\n{key}\n" in text), 0.5)


def texts(count):
    return [f"passage {n}" for n in range(count)]


def test_case_168_scores_are_the_probabilities_in_order_and_each_document_has_its_own_question(shell):
    provider = Endpoint({"passage 0": 0.2, "passage 1": 0.9})
    scores = shell(provider).run(Reranker().score(QUERY, texts(2)))
    assert scores.values == (0.2, 0.9)
    (sent,) = provider.sent
    assert sent["input"] == {"query": QUERY}
    assert sent["questions"] == {
        f"document{n + 1}": layer_question("passage", document=text) for n, text in enumerate(texts(2))
    }


def test_case_169_three_documents_in_twos_are_two_requests_whose_numbering_begins_again(shell):
    model = Scripted(shell, {"passage 0": 0.1, "passage 1": 0.2, "passage 2": 0.3})
    reranker = Reranker(question_template="Is this it? {{ document }}", max_per_request=2)
    scores = model.run(reranker.score(QUERY, texts(3)))
    assert scores.values == pytest.approx((0.1, 0.2, 0.3))
    asked = [{name: q.text for name, q in request.questions.items()} for request in model.requests]
    assert sorted(asked, key=len, reverse=True) == [
        {"document1": "Is this it? passage 0", "document2": "Is this it? passage 1"},
        {"document1": "Is this it? passage 2"},
    ]


def test_case_170_fifty_documents_are_requests_of_20_20_and_10_in_one_round(shell):
    provider = Endpoint({f"passage {n}": n / 100 for n in range(50)})
    scores = shell(provider).run(Reranker().score(QUERY, texts(50)))
    assert scores.values == tuple(n / 100 for n in range(50))
    assert sorted(len(sent["questions"]) for sent in provider.sent) == [10, 20, 20]
    assert len(next(Reranker().score(QUERY, texts(50)))) == 50


def test_case_171_the_usage_of_all_requests_is_added_up(shell):
    scores = shell(Endpoint()).run(Reranker(max_per_request=2).score(QUERY, texts(5)))
    assert (scores.usage.input_tokens, scores.usage.requests) == (5, 3)
    ranking = shell(Endpoint()).run(Reranker().rerank(QUERY, texts(3)))
    assert ranking.usage.requests == 1


def test_case_172_without_documents_there_are_no_scores_and_no_call(shell):
    provider = Endpoint()
    assert shell(provider).run(Reranker().score(QUERY, [])).values == ()
    ranking = shell(provider).run(Reranker(refine=5).rerank(QUERY, [], 3))
    assert (ranking.documents, ranking.unscored, ranking.alarms) == ((), (), ())
    assert provider.sent == []


@pytest.mark.parametrize("query", ["", " \n", None, 3], ids=repr)
def test_case_172_a_blank_query_is_an_error_at_once(query):
    for call in (Reranker().score, Reranker().rerank):
        with pytest.raises(QuestionError, match="query"):
            call(query, texts(2))


def test_case_173_both_models_give_the_same_scores_and_usage_and_pass_on_the_models_name():
    found = []
    for kind in (Sync, Async):
        provider = Endpoint({"passage 1": 0.9})
        shell = kind(provider)
        flow = Reranker(max_per_request=2).score(QUERY, texts(3))
        found.append(shell.result(shell.model.run(flow, parameters=Parameters(model_name="other"))))
        assert {sent["model"] for sent in provider.sent} == {"other"}
    assert found[0] == found[1]


def test_case_174_a_response_without_the_answer_is_invalid(shell):
    class Silent(Endpoint):
        def parse(self, task, reply):
            return Reply(NativeAnswers({"document1": YesNoAnswer(0.5)}))

    with pytest.raises(InvalidResponse, match="'document2' has no answer"):
        shell(Silent()).run(Reranker().score(QUERY, texts(2)))


@pytest.mark.parametrize("question", ["Is it?", "{{ document }} {{ query }}", "{{ document", " "], ids=repr)
@pytest.mark.parametrize("levels", [None, ["bad", "good"]], ids=["yes_no", "graded"])
def test_case_175_a_question_without_the_document_or_with_another_variable_fails_at_once(question, levels):
    with pytest.raises(ConfigError, match="question_template"):
        Reranker(question_template=question, levels=levels)


def test_case_176_a_failure_is_raised_as_it_is(shell):
    with pytest.raises(ProviderRejected) as caught:
        shell(Endpoint(fail={1})).run(Reranker().rerank(QUERY, texts(2)))
    assert caught.value is DOWN


class Waiting(Endpoint):
    """Never answers, but for requests that hold a certain passage, which fail."""

    def __init__(self, failing="nothing"):
        super().__init__()
        self.failing, self.begun, self.cancelled = failing, 0, 0

    async def asend(self, payload):
        self.begun += 1
        if any(self.failing in text for text in payload["questions"].values()):
            while self.begun < 2:
                await asyncio.sleep(0)
            raise DOWN
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def test_case_177_cancelling_cancels_all_requests():
    async def go():
        provider = Waiting()
        shell = Async(provider)
        task = asyncio.create_task(shell.model.run(Reranker(max_per_request=1).score(QUERY, texts(3))))
        while provider.begun < 3:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return provider.cancelled

    assert asyncio.run(go()) == 3


def test_case_178_when_one_of_two_requests_fails_all_fails_and_the_other_is_cancelled():
    provider = Waiting("passage 0")
    with pytest.raises(ProviderRejected) as caught:
        Async(provider).run(Reranker(max_per_request=1).score(QUERY, texts(2)))
    assert caught.value is DOWN
    assert (provider.begun, provider.cancelled) == (2, 1)


def test_case_178_without_an_event_loop_what_has_not_begun_is_not_sent():
    provider = Endpoint(fail={1, 2})
    with pytest.raises(ProviderRejected):
        Sync(provider, concurrency=1).run(Reranker(max_per_request=1).score(QUERY, texts(50)))
    assert len(provider.sent) < 50


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "20"], ids=repr)
def test_case_179_a_request_of_no_questions_fails_at_once(value):
    with pytest.raises(ConfigError, match="max_per_request"):
        Reranker(max_per_request=value)


def test_case_179_without_a_model_there_is_a_flow_that_any_model_runs(shell):
    flow = Reranker().rerank(QUERY, texts(2))
    assert [ask.question for ask in next(flow)] == [
        YesNo(layer_question("passage", document=text)) for text in texts(2)
    ]


def test_documents_come_back_as_they_are_most_relevant_first_and_equals_in_the_order_given(shell):
    documents = [
        {"text": "passage 0"},
        SimpleNamespace(page_content="passage 1"),
        SimpleNamespace(content="passage 2"),
        "passage 3",
    ]
    model = Scripted(shell, {"passage 0": 0.3, "passage 1": 0.9, "passage 2": 0.3, "passage 3": 0.7})
    ranking = model.run(Reranker().rerank(QUERY, documents))
    assert [item.index for item in ranking.ranked] == [1, 3, 0, 2]
    assert all(item.document is documents[item.index] for item in ranking.ranked)
    assert ranking.documents[0] is documents[1]
    assert [item.score for item in ranking.ranked] == pytest.approx([0.9, 0.7, 0.3, 0.3])
    assert (ranking.unscored, ranking.alarms) == ((), ())


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"body": "passage 9"}, "body"),
        (SimpleNamespace(body="passage 9"), "body"),
        (("x", "passage 9"), lambda pair: pair[1]),
    ],
    ids=["key", "attribute", "function"],
)
def test_the_text_may_be_anywhere(shell, document, where):
    model = Scripted(shell, {"passage 9": 0.9})
    ranking = model.run(Reranker(text=where).rerank(QUERY, [document]))
    assert ranking.ranked[0].score == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("document", "where", "problem"),
    [
        ({"title": "secret"}, None, "2 has no text: it is a dict .*`text`, `page_content`, `content`"),
        (SimpleNamespace(text=3), None, "2 has no text: it is a SimpleNamespace"),
        ({"text": "secret"}, "body", "2 has no text: .* under `body`"),
        ({}, lambda given: given.get("body", 3), "2 has no text: the function `text` returned a int"),
        ({"text": " "}, None, "2 is blank"),
    ],
    ids=stable,
)
def test_a_document_without_text_is_named_by_its_number_and_not_shown(document, where, problem):
    good = {"body": "a", "text": "a"}
    with pytest.raises(QuestionError, match=f"document {problem}") as caught:
        Reranker(text=where).rerank(QUERY, [good, document])
    assert "secret" not in str(caught.value)


def test_a_refused_or_undecided_document_is_listed_apart_and_has_no_score(shell, caplog):
    model = Scripted(
        shell, {"passage 0": REFUSED, "passage 1": 0.01, "passage 2": UNDECIDED, "passage 3": 0.02}
    )
    with caplog.at_level(logging.WARNING, logger="yesno.filters"):
        ranking = model.run(Reranker().rerank(QUERY, texts(4)))
    assert ranking.documents == ("passage 3", "passage 1")
    assert [(item.document, item.index, type(item.outcome)) for item in ranking.unscored] == [
        ("passage 0", 0, Refusal),
        ("passage 2", 2, Undecided),
    ]
    assert ranking.alarms == ("unscored",)
    assert model.run(Reranker().score(QUERY, texts(4))).values == (
        None,
        pytest.approx(0.01),
        None,
        pytest.approx(0.02),
    )
    (record,) = caplog.records[:1]
    assert (record.msg, record.alarms, record.documents) == ("ranking_doubtful", ["unscored"], 4)
    assert "passage" not in str(vars(record))


def test_equal_scores_of_all_documents_are_an_alarm(shell):
    model = Scripted(shell, default=0.4)
    assert model.run(Reranker().rerank(QUERY, texts(3))).alarms == ("constant_scores",)
    assert model.run(Reranker().score(QUERY, texts(3))).alarms == ("constant_scores",)
    assert model.run(Reranker().rerank(QUERY, texts(1))).alarms == ()


def test_a_tie_at_the_cut_is_an_alarm_and_one_elsewhere_is_not(shell):
    model = Scripted(shell, {"passage 0": 0.9, "passage 1": 0.5, "passage 2": 0.5, "passage 3": 0.1})
    kept = {k: model.run(Reranker().rerank(QUERY, texts(4), k)) for k in (1, 2, 3, 4, 9)}
    assert {k: ranking.alarms for k, ranking in kept.items()} == {
        1: (),
        2: ("tie_at_cut",),
        3: (),
        4: (),
        9: (),
    }
    assert kept[2].documents == ("passage 0", "passage 1")


@pytest.mark.parametrize("value", [0, -1, 1.5, True], ids=repr)
def test_numbers_that_make_no_sense_fail_at_once(value):
    with pytest.raises(ConfigError, match="top_k"):
        Reranker().rerank(QUERY, texts(2), value)
    with pytest.raises(ConfigError, match="refine"):
        Reranker(refine=value or 1)


def test_grades_give_the_expected_one_as_the_score(shell):
    replies = {"passage 0": {"C": 0.5, "B": 0.5}, "passage 1": {"A": 1.0, "B": 0.0}}
    model = Scripted(shell, replies)
    ranking = model.run(Reranker(levels=["off topic", "related", "answers it"]).rerank(QUERY, texts(2)))
    assert [(item.document, item.score) for item in ranking.ranked] == [
        ("passage 0", pytest.approx(1.5, abs=0.01)),
        ("passage 1", pytest.approx(0.0, abs=0.01)),
    ]
    (questions,) = [list(request.questions.values()) for request in model.requests]
    assert questions[0] == Scale(
        layer_question("grade", document="passage 0"), ["off topic", "related", "answers it"]
    )
    with pytest.raises(QuestionError, match="two levels"):
        Reranker(levels=["only"])


def judge_pairs(strengths, *, first=0.0):
    """Return a script that prefers the stronger passage, and the first one by so much more."""

    def script(prompt):
        if "better?" not in prompt:
            return {"Yes": 0.5, "No": 0.5} if "passage" in prompt else {"Yes": 0.1, "No": 0.9}
        one, other = (
            prompt.partition(f"{letter}. ")[2].splitlines()[0].partition(": ")[2] for letter in "AB"
        )
        p = min(0.99, max(0.01, 0.5 + (strengths[one] - strengths[other]) / 4 + first))
        return {"A": p, "B": 1 - p}

    return FakeProvider(script)


def test_the_best_are_compared_in_pairs_in_both_orders_so_that_a_liking_for_the_first_cancels(shell):
    strengths = {"passage 0": 0.1, "passage 1": 0.9, "passage 2": 0.5}
    for first in (0.0, 0.2, -0.2):
        provider = judge_pairs(strengths, first=first)
        ranking = shell(provider).run(Reranker(refine=3).rerank(QUERY, texts(3), 2))
        assert ranking.documents == ("passage 1", "passage 2")
        assert ranking.ranked[0].preference == pytest.approx(0.5 + (0.9 - 0.1 + 0.9 - 0.5) / 8)
        assert ranking.ranked[0].score == 0.5
        assert len(provider.requests) == 3 + 3 * 2 == ranking.usage.requests


@pytest.mark.parametrize(
    ("refine", "count", "pairs"), [(5, 8, 20), (10, 12, 90), (5, 3, 6), (2, 8, 2), (5, 1, 0)]
)
def test_pairs_cost_as_many_questions_as_documented(refine, count, pairs):
    sizes = []

    def answer(asks):
        sizes.append(len(asks))
        answers = {YesNo: lambda n: YesNoAnswer(n / 100)}
        return [
            answers.get(type(ask.question), lambda _: Undecided("empty"))(n) for n, ask in enumerate(asks)
        ]

    run(Reranker(refine=refine).rerank(QUERY, texts(count)), answer)
    assert sizes == [count, pairs][: 2 if pairs else 1]


def test_only_the_best_are_compared_and_ties_keep_the_order_by_score(shell):
    strengths = dict.fromkeys(texts(4), 0.5)

    def script(prompt):
        if "better?" in prompt:
            return judge_pairs(strengths)._script(prompt)
        n = int(prompt.rpartition("passage ")[2][0])
        return {"Yes": n / 10, "No": 1 - n / 10}

    ranking = shell(FakeProvider(script)).run(Reranker(refine=2).rerank(QUERY, texts(4)))
    assert [item.index for item in ranking.ranked] == [3, 2, 1, 0]
    assert [item.preference for item in ranking.ranked] == [
        pytest.approx(0.5),
        pytest.approx(0.5),
        None,
        None,
    ]


def test_passages_preferred_equally_keep_the_order_by_score_whatever_the_last_digit_says():
    pairs = [0.4, 0.9, 0.7]  # first over second, first over third, second over third, in the order by score

    def answer(asks):
        if len(asks) == 3 and isinstance(asks[0].question, YesNo):
            return [YesNoAnswer(0.5), YesNoAnswer(0.7), YesNoAnswer(0.6)]
        shares = [share for p in pairs for share in (p, round(1 - p, 1))]
        return [ChoiceAnswer("first", probabilities={"first": p, "second": 1 - p}) for p in shares]

    ranking = run(Reranker(refine=3).rerank(QUERY, texts(3)), answer)
    assert [item.index for item in ranking.ranked] == [1, 2, 0]
    assert [item.preference for item in ranking.ranked] == pytest.approx([0.65, 0.65, 0.2])


def test_a_tie_of_scores_on_both_sides_of_what_was_compared_is_an_alarm(shell):
    def script(prompt):
        return (
            {"A": 0.8, "B": 0.2}
            if "better?" in prompt
            else {"Yes": 0.9 if "passage 0" in prompt else 0.4, "No": 0.1}
        )

    two, three = (shell(FakeProvider(script)).run(Reranker(refine=n).rerank(QUERY, texts(3))) for n in (2, 3))
    assert (two.alarms, three.alarms) == (("tie_at_cut",), ())


def test_pairs_that_were_not_read_in_both_orders_do_not_count_and_are_told(shell):
    strengths = {"passage 0": 0.1, "passage 1": 0.9, "passage 2": 0.5}

    def script(prompt):
        if "A. first: passage 0\nB. second: passage 1\n" in prompt:
            return UNDECIDED
        return judge_pairs(strengths)._script(prompt)

    ranking = shell(FakeProvider(script)).run(Reranker(refine=3).rerank(QUERY, texts(3)))
    assert ranking.documents == ("passage 1", "passage 2", "passage 0")
    assert ranking.ranked[0].preference == pytest.approx(0.6)
    assert "unread_comparisons" in ranking.alarms


def test_without_any_comparison_of_a_document_the_order_by_score_stands(shell):
    def script(prompt):
        return REFUSED if "better?" in prompt else {"Yes": 0.2 if "passage 0" in prompt else 0.4, "No": 0.6}

    ranking = shell(FakeProvider(script)).run(Reranker(refine=2).rerank(QUERY, texts(2)))
    assert ranking.documents == ("passage 1", "passage 0")
    assert [item.preference for item in ranking.ranked] == [None, None]
    assert ranking.alarms == ("unread_comparisons",)


@given(st.lists(st.none() | st.integers(0, 10), max_size=30), st.integers(1, 30), st.integers(1, 7))
def test_a_ranking_is_a_stable_sort_of_what_has_a_score(grades, top_k, most):
    def answer(asks):
        return [
            Undecided("empty") if grade is None else YesNoAnswer(grade / 10)
            for grade, _ in zip(grades, asks, strict=True)
        ]

    ranking = run(Reranker(max_per_request=most).rerank(QUERY, texts(len(grades)), top_k), answer)
    scored = [(-grade, index) for index, grade in enumerate(grades) if grade is not None]
    assert [item.index for item in ranking.ranked] == [index for _, index in sorted(scored)][:top_k]
    assert [item.index for item in ranking.unscored] == [i for i, grade in enumerate(grades) if grade is None]


class TestReranker(FilterContract):
    filter = Reranker
    impossible = (
        ({"max_per_request": 0}, "max_per_request"),
        ({"refine": 1}, "refine"),
        ({"question_template": "Is it?"}, "question_template"),
    )

    def flow(self, made):
        return made.rerank(PRIVATE, texts(2))

    def call(self, made):
        return made(PRIVATE, texts(2))

    @pytest.mark.parametrize("reply", [REFUSED, UNDECIDED], ids=["refused", "undecided"])
    def test_a_model_without_an_answer_is_raised_or_falls_back_and_tells_nobody_the_input(
        self, shell, reply, caplog
    ):
        """Nothing is made up: without an answer a document is listed apart; a failure is raised (case 176)."""
        with caplog.at_level(logging.DEBUG, logger="yesno.filters"):
            ranking = Scripted(shell, default=reply).run(self.flow(self.make()))
        assert (len(ranking.unscored), ranking.ranked) == (2, ())
        assert [r.levelname for r in caplog.records if r.levelno >= logging.WARNING] == ["WARNING"]
        assert PRIVATE not in "".join(str(vars(record)) for record in caplog.records)
