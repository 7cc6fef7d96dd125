import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.routers.contract import RouterContract
from tests.routers.support import ASKED, FAILURE, RESULT, Judge, Target, likely, pick, said
from tests.shells import Async
from yesno import (
    AsyncDecisionModel,
    ChoiceAnswer,
    FakeProvider,
    Message,
    Refusal,
    Undecided,
    YesNo,
    ask,
    gather,
)
from yesno.errors import (
    AsyncUnsupported,
    ConfigError,
    NoProbabilities,
    ProviderRejected,
    QuestionError,
    Refused,
    UndecidedError,
)
from yesno.flow import Ask
from yesno.providers.base import Provider
from yesno.routers import ChatRouter, Route, RouteChoice

ROUTES = {"small": "quick factual questions", "large": "proofs and long code"}
GOOD = {"route": pick(small=0.7, large=0.3)}


def router(routes=ROUTES, default="large", **settings):
    return ChatRouter(routes, default=default, **settings)


def choose(shell, messages="hello", answers=GOOD, **settings):
    judge = Judge(shell, answers)
    return judge, judge.run(router(**settings).route(messages))


class TestContract(RouterContract):
    router = "chat"
    answers = GOOD

    def make(self, **settings):
        return router(**settings)


def test_case_141_the_conversation_is_sent_and_one_question_named_route_lists_the_descriptions(shell):
    talk = [{"role": "system", "content": "Be kind."}, *said("hi", "hello", "prove it")]
    judge, choice = choose(shell, talk)
    (request,) = judge.requests
    assert [*request.questions] == ["route"]
    assert dict(request.questions["route"].options) == ROUTES
    assert judge.inputs == [
        {
            "messages": [
                {"role": "system", "text": "Be kind."},
                {"role": "user", "text": "hi"},
                {"role": "assistant", "text": "hello"},
                {"role": "user", "text": "prove it"},
            ]
        }
    ]
    assert choice == RouteChoice("small", {"small": 0.7, "large": 0.3})
    assert not choice.fell_back


@pytest.mark.parametrize(("minimum", "route"), [(0.71, "large"), (0.7, "small"), (0.0, "small")])
def test_case_142_below_the_minimum_is_the_default_route_and_at_it_the_best(shell, minimum, route):
    _, choice = choose(shell, min_probability=minimum)
    assert choice.route == route
    assert choice.fell_back is (route == "large")
    assert choice.why == ("below_minimum" if choice.fell_back else "chosen")
    assert choice.probabilities == {"small": 0.7, "large": 0.3}


def test_case_143_a_failing_model_gives_the_default_route_or_with_fail_its_error(shell):
    _, choice = choose(shell, answers=FAILURE)
    assert (choice.route, choice.why, choice.fell_back) == ("large", "failed", True)
    assert isinstance(choice.error, ProviderRejected)
    assert choice.probabilities == {}
    with pytest.raises(ProviderRejected):
        choose(shell, answers=FAILURE, fallback="fail")


def test_case_144_tool_calls_and_their_results_are_sent(shell):
    judge, _ = choose(shell, [*said("find it"), ASKED, RESULT])
    (shown,) = judge.inputs
    assert shown["messages"][1]["tool_calls"] == [{"name": "search", "arguments": "{}"}]
    assert shown["messages"][2] == {"role": "tool", "text": "found", "tool": "search"}


@pytest.mark.parametrize(
    "talk",
    [[], [{"role": "assistant", "content": "hi"}], said("  \n "), said("a real question", "an answer", " ")],
    ids=["nothing", "no user", "blank", "last is blank"],
)
def test_case_145_without_a_users_text_the_default_route_is_taken_and_nothing_asked(shell, talk):
    judge, choice = choose(shell, talk)
    assert (choice.route, choice.why) == ("large", "no_user_text")
    assert judge.requests == []


def test_case_146_an_asynchronous_model_is_awaited():
    judge = Judge(Async, GOOD)

    async def both():
        direct = await router(model=judge.model)("hello")
        return direct, await judge.model.run(router().route("hello"))

    assert [choice.route for choice in asyncio.run(both())] == ["small", "small"]


def test_case_147_one_candidate_is_taken_without_asking(shell):
    judge, choice = choose(shell, routes={"only": ["a", "b"]}, default="only")
    assert (choice.route, choice.why) == ("only", "only_route")
    assert judge.run(router().route("hello", among=["small"])).route == "small"
    assert judge.requests == []


def test_case_148_a_route_without_a_description_is_described_by_its_name(shell):
    judge, _ = choose(shell, routes={"small": None, "large": "proofs"})
    assert dict(judge.requests[0].questions["route"].options) == {"small": "small", "large": "proofs"}


def test_case_149_descriptions_of_one_route_are_numbered_options_that_add_up(shell):
    judge, choice = choose(
        shell,
        answers={"route": pick(**{"large#1": 0.3, "large#2": 0.3, "small": 0.4})},
        routes={"small": "chat", "large": ["proofs", "code"]},
        default="small",
        min_probability=0.55,
    )
    assert choice.route == "large"
    assert choice.probabilities == pytest.approx({"small": 0.4, "large": 0.6})
    options = judge.requests[0].questions["route"].options
    assert dict(options) == {"small": "chat", "large#1": "proofs", "large#2": "code"}


@pytest.mark.parametrize(
    ("routes", "named"),
    [
        ([Route("large", ["a", "b"]), Route("large#1", "c")], "large#1"),
        ([Route("large#2", "c"), Route("large", ["a", "b"])], "large#2"),
        ([Route("Fast", "a"), Route("fast ", "b")], "fast "),
    ],
    ids=["after", "before", "look alike"],
)
def test_case_150_options_that_collide_are_refused_by_name(routes, named):
    with pytest.raises(ConfigError, match=named):
        router(routes, default=routes[0].name)


def test_case_151_a_minimum_without_probabilities_is_an_error_whatever_the_fallback(shell):
    bare = {"route": ChoiceAnswer(value="small")}
    for fallback in ("default_route", "fail"):
        with pytest.raises(NoProbabilities, match="min_probability"):
            choose(shell, answers=bare, min_probability=0.5, fallback=fallback)


class Blocking(Provider):
    """A provider without an asynchronous form."""

    name = "blocking"
    profile = FakeProvider().profile
    model = "m"

    def build(self, task):
        return {}


def test_case_152_a_provider_without_an_asynchronous_form_is_never_swallowed():
    with pytest.raises(AsyncUnsupported):
        asyncio.run(AsyncDecisionModel(Blocking()).run(router().route("hello")))


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def test_case_153_text_and_an_image_are_the_text_and_a_marker_and_an_image_alone_is_the_marker(shell):
    both = {"role": "user", "content": [{"type": "text", "text": "What is it?"}, IMAGE]}
    judge, _ = choose(shell, [*said("before", "reply"), both], max_messages=1)
    judge.run(router().route([{"role": "user", "content": [IMAGE]}]))
    assert judge.inputs == ["What is it?\n[attached image]", "[attached image]"]


def test_case_154_of_five_messages_the_last_three_are_sent(shell):
    judge, _ = choose(shell, said("1", "2", "3", "4", "5"), max_messages=3)
    assert [m["text"] for m in judge.inputs[0]["messages"]] == ["3", "4", "5"]


def test_case_154_ten_messages_are_sent_by_default_and_long_ones_are_shortened(shell):
    talk = said(*(str(n) for n in range(12)), "x" * 5000)
    judge, _ = choose(shell, talk)
    texts = [m["text"] for m in judge.inputs[0]["messages"]]
    assert texts[:-1] == ["3", "4", "5", "6", "7", "8", "9", "10", "11"]
    assert len(texts[-1]) < 2200


def test_a_filter_decides_what_the_model_may_see(shell):
    talk = said("secret plan", "hm", "what now?")
    judge, _ = choose(shell, talk, message_filter=lambda m: "secret" not in m.text)
    assert [m["text"] for m in judge.inputs[0]["messages"]] == ["hm", "what now?"]
    judge, choice = choose(shell, talk, message_filter=lambda m: False)
    assert (choice.why, judge.requests) == ("no_user_text", [])


def test_case_155_a_question_of_ones_own_is_asked(shell):
    judge, _ = choose(shell, question="Who knows this?")
    assert judge.requests[0].questions["route"].text == "Who knows this?"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"min_probability": -0.1}, "min_probability"),
        ({"min_probability": True}, "min_probability"),
        ({"max_messages": 0}, "max_messages"),
        ({"max_message_length": 0}, "max_message_length"),
        ({"question": " "}, "question"),
        ({"fallback": "DEFAULT"}, "fallback"),
        ({"message_filter": 3}, "message_filter"),
        ({"model": "gpt"}, "DecisionModel"),
        ({"default": None}, "default route is missing.*'small', 'large'"),
        ({"default": "medium"}, "'medium'"),
        ({"routes": {}}, "no route"),
        ({"routes": "small"}, "routes"),
        ({"routes": [Route("a"), Route("a")], "default": "a"}, "two routes named 'a'"),
        ({"routes": {" ": "x"}}, "blank"),
        ({"routes": {"a": [" "], "b": None}, "default": "a"}, "description of route 'a'"),
        ({"routes": {"a": 3}, "default": "a"}, "descriptions of route 'a'"),
        ({"routes": dict.fromkeys(map(str, range(256))), "default": "0"}, "255"),
        ({"routes": {"a": Route("b")}, "default": "a"}, "'b'"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_case_155_impossible_settings_are_refused_by_name(settings, named):
    with pytest.raises(ConfigError, match=named):
        router(**settings)


def test_case_156_without_probabilities_and_minimum_the_value_is_the_route(shell):
    routes = {"small": "a", "large": ["b", "c"]}
    _, choice = choose(
        shell, answers={"route": ChoiceAnswer(value="large#2")}, routes=routes, default="small"
    )
    assert (choice.route, choice.probabilities) == ("large", {})


def test_case_157_a_tie_goes_to_the_route_that_was_configured_first(shell):
    answers = {"route": ChoiceAnswer(value="b", probabilities={"b": 0.5, "a#1": 0.2, "a#2": 0.3})}
    _, choice = choose(shell, answers=answers, routes={"a": ["x", "y"], "b": "z"}, default="b")
    assert choice.route == "a"


@pytest.mark.parametrize(
    ("outcome", "why", "error"),
    [
        (Refusal(), "refused", Refused),
        (Undecided("low_label_mass", label_mass=0.1), "undecided", UndecidedError),
    ],
    ids=["refused", "undecided"],
)
def test_case_158_a_refusal_or_too_little_evidence_is_a_failure(shell, outcome, why, error):
    _, choice = choose(shell, answers={"route": outcome})
    assert (choice.route, choice.why) == ("large", why)
    with pytest.raises(error):
        choose(shell, answers={"route": outcome}, fallback="fail")


def test_a_model_read_by_its_tokens_chooses_too(shell):
    model = shell(FakeProvider({"B": 0.6, "A": 0.3}))
    choice = model.run(router(default="small").route("Prove Fermat's last theorem"))
    assert (choice.route, round(choice.probabilities["large"], 3)) == ("large", 0.667)


def test_only_routes_among_which_to_choose_are_offered_and_unknown_ones_refused(shell):
    routes = {"a": "1", "b": "2", "c": "3"}
    judge = Judge(shell, {"route": pick(a=0.4, c=0.6)})
    choice = judge.run(router(routes, default="b", min_probability=0.9).route("hello", among=["c", "a"]))
    assert [*judge.requests[0].questions["route"].options] == ["a", "c"]
    assert (choice.route, choice.why) == ("a", "below_minimum")
    with pytest.raises(ConfigError, match="'d'"):
        judge.run(router(routes, default="b").route("hello", among=["a", "d"]))
    with pytest.raises(ConfigError, match="no route to choose"):
        judge.run(router(routes, default="b").route("hello", among=[]))


def test_wrong_shapes_of_messages_are_named_and_asked_of_no_model(shell):
    judge = Judge(shell, GOOD)
    loop = {"role": "user", "content": "x", "attributes": {}}
    loop["attributes"]["self"] = loop
    talks = [
        [{"no": "role"}],
        [3],
        {"role": "king", "content": "x"},
        7,
        [*said("x"), {"role": "user"}],
        [loop],
    ]
    for talk in talks:
        with pytest.raises(QuestionError):
            judge.run(router().route(talk))
    assert judge.requests == []


def test_a_conversation_that_ends_in_a_tools_result_is_about_the_users_message(shell):
    judge, choice = choose(shell, [*said("find it"), ASKED, RESULT], max_messages=1)
    assert choice.route == "small"
    assert judge.inputs == ["find it"]


def test_messages_and_routes_in_any_form_are_equal(shell):
    forms = [
        "hello",
        [Message("user", "hello")],
        said("hello"),
        {"messages": said("hello")},
        [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
        [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}],
    ]
    judge = Judge(shell, GOOD)
    for form in forms:
        judge.run(router([Route(name, text) for name, text in ROUTES.items()]).route(form))
    assert judge.inputs == ["hello"] * len(forms)


SHARES = st.lists(st.floats(0, 1), min_size=2, max_size=6).filter(lambda found: sum(found) > 0.01)


@given(SHARES, st.floats(0, 1), st.data())
def test_the_best_sum_wins_and_no_probability_is_lost_or_made(shares, minimum, data):
    names = [f"o{n}" for n in range(len(shares))]
    several = data.draw(st.integers(1, len(shares) - 1))
    routes = {"many": [f"d{n}" for n in range(several)], **dict.fromkeys(names[several:])}
    options = [f"many#{n}" for n in range(1, several + 1)] if several > 1 else ["many"]
    options += names[several:]
    probabilities = {option: share / sum(shares) for option, share in zip(options, shares, strict=True)}
    flow = ChatRouter(routes, default="many", min_probability=minimum).route("hello")
    (asked,) = next(flow)
    assert isinstance(asked, Ask)
    assert asked.name == "route"
    with pytest.raises(StopIteration) as ended:
        flow.send([ChoiceAnswer(value=options[0], probabilities=probabilities)])
    choice = ended.value.value
    assert sum(choice.probabilities.values()) == pytest.approx(1)
    best = max(choice.probabilities.values())
    if choice.fell_back:
        assert choice.route == "many"
        assert best < minimum
    else:
        assert choice.probabilities[choice.route] == pytest.approx(best)
        assert best >= minimum - 1e-6


def test_it_may_be_gathered_with_other_questions_about_the_conversation(shell):
    judge = Judge(shell, {**GOOD, "answer_1": likely(0.9)})
    choice, spam = judge.run(gather([router().route("hello"), ask(YesNo("Spam?"), "hello")]))
    assert (choice.route, spam.probability) == ("small", 0.9)
    assert len(judge.requests) == 1


def test_a_target_is_no_matter_for_a_router_alone(shell):
    routes = {"small": Route("small", "x", target=Target()), "large": None}
    assert choose(shell, routes=routes)[1].route == "small"
