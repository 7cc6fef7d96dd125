import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routers.contract import RouterContract
from tests.routers.support import FAILURE, Desk, Judge, Target, likely, said
from yesno import Undecided
from yesno.errors import ConfigError
from yesno.prices import Price
from yesno.routers import CostRouter, Route, RoutingChatModel

CHEAP, MIDDLE, DEAR = Price(0.1, 0.4), Price(1, 4), Price(10, 40)


def routes():
    return [
        Route("dear", "proofs", price=DEAR),
        Route("cheap", ["small talk", "facts"], price=CHEAP),
        Route("middle", price=MIDDLE),
    ]


def suffices(dear, cheap, middle):
    return {f"suffices{n}": likely(p) for n, p in enumerate((dear, cheap, middle), start=1)}


def choose(shell, answers, messages="hello", **settings):
    judge = Judge(shell, answers)
    return judge, judge.run(CostRouter(routes(), default="dear", **settings).route(messages))


class TestContract(RouterContract):
    router = "cost"
    answers = suffices(0.9, 0.7, 0.85)

    def make(self, **settings):
        return CostRouter(routes(), default="dear", **settings)


@pytest.mark.parametrize(
    ("shares", "route", "why"),
    [
        ((0.99, 0.95, 0.97), "cheap", "chosen"),
        ((0.99, 0.79, 0.8), "middle", "chosen"),
        ((0.8, 0.5, 0.6), "dear", "chosen"),
        ((0.6, 0.5, 0.7), "middle", "none_suffices"),
        ((0.6, 0.6, 0.6), "cheap", "none_suffices"),
        ((0.0, 0.0, 0.0), "cheap", "none_suffices"),
    ],
    ids=str,
)
def test_the_cheapest_that_suffices_is_taken_else_the_best_else_the_cheapest_of_equal_ones(
    shell, shares, route, why
):
    judge, choice = choose(shell, suffices(*shares))
    assert (choice.route, choice.why, choice.fell_back) == (route, why, False)
    assert choice.probabilities == dict(zip(("dear", "cheap", "middle"), shares, strict=True))
    assert len(judge.requests) == 1


def test_each_route_is_judged_on_its_own_with_its_descriptions(shell):
    judge, _ = choose(shell, suffices(0.9, 0.9, 0.9))
    texts = [question.text for question in judge.requests[0].questions.values()]
    assert '"cheap" (small talk; facts)' in texts[1]
    assert '"middle"' in texts[2]
    assert "()" not in texts[2]
    judge, _ = choose(shell, suffices(0.9, 0.9, 0.9), question_template="Enough, {{ name }}?")
    assert judge.requests[0].questions["suffices1"].text == "Enough, dear?"


def test_the_expected_cost_counts_the_conversation_and_the_answer(shell):
    _, choice = choose(
        shell, suffices(0.9, 0.9, 0.9), said("x" * 4000, "y" * 4000, "z" * 4000), output_tokens=100
    )
    assert choice.expected_usd["middle"] == pytest.approx((3000 * 1 + 100 * 4) / 1e6)


def test_what_is_cheapest_depends_on_the_length_of_input_and_answer(shell):
    talkers = [Route("reads", price=Price(0.1, 10)), Route("writes", price=Price(2, 1))]
    judge = Judge(shell, {"suffices1": likely(0.9), "suffices2": likely(0.9)})

    def chosen(text, output_tokens):
        return judge.run(CostRouter(talkers, default="reads", output_tokens=output_tokens).route(text)).route

    assert chosen("short", 1000) == "writes"
    assert chosen("long " * 2000, 10) == "reads"


@pytest.mark.parametrize(
    ("route", "why"),
    [
        (Route("new", model="openai:gpt-nobody"), "'openai:gpt-nobody' is not in"),
        (Route("new"), "names no model"),
        (Route("new", model="gpt-5.4-mini"), "is not in"),
    ],
    ids=repr,
)
def test_an_unknown_price_is_refused_with_the_routes_name_and_never_nothing(route, why):
    with pytest.raises(ConfigError, match=f"price of route 'new' is unknown.*{why}.*Price"):
        CostRouter([*routes(), route], default="dear")
    CostRouter([*routes(), Route("new", price=Price(0, 0))], default="dear")


def test_prices_come_from_the_table_and_ones_own_wins():
    known = Route("jev", model="systemone:jev-latest")
    own = Route("mine", model="systemone:jev-latest", price=DEAR)
    router = CostRouter([known, own, Route("here", model="local:smollm2")], default="jev")
    assert (router.prices["jev"].input, router.prices["mine"]) == (0.042, DEAR)
    assert router.prices["here"].most(1000, 1000) == 0


def test_probabilities_of_ones_own_are_used_and_nothing_is_asked(shell):
    given_ = {"dear": 0.9, "cheap": 0.2, "middle": 0.85}
    seen = []

    def estimate(messages):
        seen.append([message.text for message in messages])
        return given_

    for probabilities in (given_, estimate):
        judge, choice = choose(shell, FAILURE, said("a", "b", "c"), probabilities=probabilities)
        assert (choice.route, choice.probabilities) == ("middle", given_)
        assert judge.requests == []
    assert seen == [["a", "b", "c"]]
    targets = {route.name: Target(route.name) for route in routes()}
    desk = Desk(shell, CostRouter(routes(), default="dear", probabilities=given_), targets)
    assert desk().response == "middle"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"probabilities": {"dear": 0.5, "cheap": 0.5}}, "lacks the route 'middle'"),
        ({"probabilities": {"dear": 2, "cheap": 0, "middle": 0}}, "'dear'"),
        ({"probabilities": [0.5]}, "mapping"),
        ({"min_probability": 1.1}, "min_probability"),
        ({"output_tokens": -1}, "output_tokens"),
        ({"question_template": "Enough?"}, "must hold"),
        ({"default": "free"}, "'free'"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_impossible_settings_are_refused_by_name(settings, named):
    with pytest.raises(ConfigError, match=named):
        CostRouter(routes(), **{"default": "dear", **settings})


def test_one_answer_that_is_missing_takes_the_default_route_rather_than_count_as_no(shell):
    answers = {**suffices(0.9, 0.9, 0.9), "suffices2": Undecided("truncated")}
    _, choice = choose(shell, answers)
    assert (choice.route, choice.why, choice.probabilities) == ("dear", "undecided", {})


def test_a_routing_model_asks_it_about_what_it_was_given(shell):
    judge = Judge(shell, suffices(0.9, 0.9, 0.9))
    reply = judge.chat(
        CostRouter(routes(), default="dear"), {route.name: Target(route.name) for route in routes()}
    )()
    assert (reply.response, reply.choice.expected_usd["cheap"] > 0) == ("cheap", True)


def test_it_needs_a_model_unless_probabilities_are_given():
    targets = {route.name: Target() for route in routes()}
    with pytest.raises(ConfigError, match=r"model="):
        RoutingChatModel(CostRouter(routes(), default="dear"), targets)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=2, max_size=6),
    st.floats(0, 1),
)
def test_no_other_route_that_suffices_is_cheaper(facts, minimum):
    shares = {str(n): share for n, (share, _) in enumerate(facts)}
    made = [Route(str(n), price=Price(rate, rate)) for n, (_, rate) in enumerate(facts)]
    flow = CostRouter(made, default="0", min_probability=minimum, probabilities=shares).route("hello")
    with pytest.raises(StopIteration) as ended:
        next(flow)
    choice = ended.value.value
    enough = [name for name, share in shares.items() if share >= minimum]
    if enough:
        assert choice.expected_usd[choice.route] <= min(choice.expected_usd[name] for name in enough)
    else:
        assert shares[choice.route] == pytest.approx(max(shares.values()))
