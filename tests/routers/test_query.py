import asyncio
import logging

import pytest

from tests.routers.contract import RouterContract
from tests.routers.support import FAILURE, Judge, likely, said
from tests.routers.test_chat import Blocking
from tests.shells import Async
from yesno import AsyncDecisionModel, Refusal
from yesno.errors import AsyncUnsupported, ConfigError, ProviderRejected, QuestionError
from yesno.routers import QueryRoute, QueryRouter

SOURCES = {"manual": "how to use the product", "web": "today's news"}


def answers(*probabilities):
    return {f"source{n}": likely(p) for n, p in enumerate(probabilities, start=1)}


def search(shell, found, query="How do I reset it?", memory=(), sources=SOURCES, **settings):
    judge = Judge(shell, found)
    return judge, judge.run(QueryRouter(sources, **settings).route(query, memory))


class TestContract(RouterContract):
    router = "query"
    answers = answers(0.9, 0.2)

    def make(self, **settings):
        return QueryRouter(SOURCES, **settings)


def test_case_159_only_the_source_that_is_likely_to_help_is_searched_with_the_query_as_input(shell):
    judge, route = search(shell, answers(0.9, 0.2))
    assert route == QueryRoute(("manual",), (0.9, 0.2))
    assert judge.inputs == [{"query": "How do I reset it?"}]
    assert [*judge.requests[0].questions] == ["source1", "source2"]
    texts = [question.text for question in judge.requests[0].questions.values()]
    assert all(description in text for description, text in zip(SOURCES.values(), texts, strict=True))


def test_case_160_two_messages_before_the_query_are_sent_and_the_query_once(shell):
    memory = said("1", "2", "3", "4", "How do I reset it?")
    judge, _ = search(shell, answers(0.9, 0.2), memory=memory)
    assert judge.inputs == [
        {
            "query": "How do I reset it?",
            "messages": [{"role": "user", "text": "3"}, {"role": "assistant", "text": "4"}],
        }
    ]


def test_case_160_memory_that_does_not_end_with_the_query_is_kept_and_other_roles_are_left_out(shell):
    memory = [
        {"role": "system", "content": "s"},
        *said("1", "2"),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "r"},
    ]
    judge, _ = search(shell, answers(0.9, 0.2), memory=memory)
    assert [m["text"] for m in judge.inputs[0]["messages"]] == ["1", "2"]


def test_case_161_with_a_limit_of_one_the_query_is_sent_alone(shell):
    judge, _ = search(shell, answers(0.9, 0.2), memory=said("1", "2"), max_messages=1)
    assert judge.inputs == [{"query": "How do I reset it?"}]


def test_case_162_all_that_reach_the_minimum_are_searched_in_their_order_or_none(shell):
    assert search(shell, answers(0.6, 0.7), min_probability=0.55)[1].sources == ("manual", "web")
    assert search(shell, answers(0.55, 0.54), min_probability=0.55)[1].sources == ("manual",)
    _, none = search(shell, answers(0.1, 0.1), min_probability=0.55)
    assert (none.sources, none.fell_back) == ((), False)


@pytest.mark.parametrize(
    "failure", [FAILURE, {"source1": Refusal(), "source2": likely(0.9)}], ids=["failed", "refused"]
)
def test_case_163_a_failed_decision_searches_none_all_or_raises(shell, failure):
    _, none = search(shell, failure)
    assert (none.sources, none.probabilities, none.fell_back) == ((), (), True)
    assert search(shell, failure, fallback="all")[1].sources == ("manual", "web")
    with pytest.raises(type(none.error)):
        search(shell, failure, fallback="fail")


def test_case_164_asynchronous_success_and_failure_are_the_same():
    async def both(found):
        judge = Judge(Async, found)
        return await QueryRouter(SOURCES, fallback="fail", model=judge.model)("q")

    assert asyncio.run(both(answers(0.9, 0.2))).sources == ("manual",)
    with pytest.raises(ProviderRejected):
        asyncio.run(both(FAILURE))


def test_case_165_a_provider_without_an_asynchronous_form_is_never_swallowed():
    for fallback in ("none", "all", "fail"):
        router = QueryRouter(SOURCES, fallback=fallback, model=AsyncDecisionModel(Blocking()))
        with pytest.raises(AsyncUnsupported):
            asyncio.run(router("q"))


def test_case_166_a_template_of_ones_own_is_used(shell):
    judge, _ = search(shell, answers(0.9, 0.2), question_template="Look into {{ description }}?")
    texts = [question.text for question in judge.requests[0].questions.values()]
    assert texts == ["Look into how to use the product?", "Look into today's news?"]


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("Is it?", r"must hold \{\{description\}\}"),
        ("{{ description }} {{ name }}", r"names 'name'.*description"),
    ],
    ids=["lacking", "unknown"],
)
def test_case_166_a_template_without_its_variable_or_with_another_is_refused(template, named):
    with pytest.raises(ConfigError, match=named):
        QueryRouter(SOURCES, question_template=template)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"min_probability": 1.5}, "min_probability"),
        ({"max_messages": 0}, "max_messages"),
        ({"fallback": "some"}, "fallback"),
        ({"sources": {}}, "no source"),
        ({"sources": {"manual": " "}}, "description of source 1"),
        ({"sources": [(None, "x")]}, "source 1 is None"),
        ({"sources": [("a", "x"), ("a", "y")]}, "source 2 is given twice"),
        ({"sources": ["manual"]}, "sources"),
        ({"sources": 3}, "sources"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_case_167_impossible_settings_are_refused_by_name(settings, named):
    with pytest.raises(ConfigError, match=named):
        QueryRouter(**{"sources": SOURCES, **settings})


def test_sources_may_be_retrievers_themselves(shell):
    manual, web = object(), {"an": "unhashable one"}
    _, route = search(shell, answers(0.2, 0.9), sources=[(manual, "a"), (web, "b")])
    assert route.sources == (web,)


def test_its_way_to_fall_back_can_be_replaced(shell):
    class First(QueryRouter):
        def fall_back(self, error):
            return QueryRoute(self.sources[:1], why="failed", error=error)

    judge = Judge(shell, FAILURE)
    assert judge.run(First(SOURCES).route("q")).sources == ("manual",)


def test_a_blank_query_is_refused_before_anything_is_asked(shell):
    judge = Judge(shell, answers(0.9, 0.2))
    for query in ("", " \n", None):
        with pytest.raises(QuestionError, match="query"):
            judge.run(QueryRouter(SOURCES).route(query))
    assert judge.requests == []


def test_each_probability_can_be_followed_at_debug_without_the_query(shell, caplog):
    with caplog.at_level(logging.DEBUG, "yesno.routers"):
        search(shell, answers(0.9, 0.2), query="private words")
    noted = [r for r in caplog.records if r.message == "source_judged"]
    assert [(r.number, r.probability) for r in noted] == [(1, 0.9), (2, 0.2)]
    assert "private" not in "".join(str(vars(record)) for record in noted)
