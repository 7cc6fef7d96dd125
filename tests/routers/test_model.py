import asyncio
import json
import pickle
import threading

import pytest

from tests.routers.support import (
    ASKED,
    FAILURE,
    RESULT,
    AsyncTarget,
    Desk,
    Judge,
    Target,
    awaited,
    pick,
    said,
)
from tests.routers.test_chat import Blocking
from tests.shells import Async, Sync
from yesno import AsyncDecisionModel, Choice, DecisionModel, FakeProvider, Message, ask
from yesno.errors import AsyncUnsupported, ConfigError, ProviderRejected, QuestionError, RoutingError
from yesno.routers import (
    DEFAULT_ROUTE,
    AsyncRoutingChatModel,
    ChatRouter,
    QueryRouter,
    Route,
    RouteChoice,
    RoutingChatModel,
    current_route,
)

ROUTES = {"small": "quick questions", "large": "proofs"}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}


def by_length(request):
    return "small" if len(request.messages[-1]["content"]) < 10 else "large"


def targets():
    return {"small": Target("from small"), "large": Target("from large")}


def reply_that_calls(text="let me see"):
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    message = {"role": "assistant", "content": text, "tool_calls": [call]}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message}]}


def test_case_110_each_request_reaches_exactly_the_model_that_the_router_names(shell):
    models = targets()
    desk = Desk(shell, by_length, models, default="large")
    assert [desk(said("short")).response, desk(said("a longer one")).response] == ["from small", "from large"]
    assert [len(model.calls) for model in models.values()] == [1, 1]


def test_case_111_the_router_sees_the_routes_in_order_with_their_descriptions(shell):
    seen = []

    def router(request):
        seen.append([(route.name, route.descriptions) for route in request.routes])
        return "a"

    routes = [Route("b", ["one", "two"], target=Target()), Route("a", "three", target=Target())]
    Desk(shell, router, routes, default="a")()
    assert seen == [[("b", ("one", "two")), ("a", ("three",))]]


def test_case_112_the_word_for_the_default_route_reaches_it(shell):
    reply = Desk(shell, lambda request: DEFAULT_ROUTE, targets(), default="large")()
    assert (reply.response, reply.choice.why, reply.choice.fell_back) == ("from large", "default", False)
    assert repr(DEFAULT_ROUTE) == "DEFAULT_ROUTE"
    assert pickle.loads(pickle.dumps(DEFAULT_ROUTE)) is DEFAULT_ROUTE  # noqa: S301 - our own bytes


def test_case_113_none_from_the_router_is_an_error_that_says_what_to_return(shell):
    models = targets()
    with pytest.raises(RoutingError, match=r"returned None.*DEFAULT_ROUTE"):
        Desk(shell, lambda request: None, models, default="large")()
    assert [model.calls for model in models.values()] == [[], []]


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("medium", "'medium', which is unknown.*'small', 'large'"),
        (3, "an? int"),
        ("", "''"),
        (RouteChoice("x"), "'x'"),
    ],
    ids=repr,
)
def test_case_114_an_unknown_route_is_an_error_that_names_it(shell, answer, named):
    with pytest.raises(RoutingError, match=named):
        Desk(shell, lambda request: answer, targets(), default="large")()


@pytest.mark.parametrize("name", ["", "  ", None, 3], ids=repr)
def test_case_114_a_blank_route_cannot_be_made(name):
    with pytest.raises(ConfigError, match="blank"):
        RouteChoice(name)
    with pytest.raises(ConfigError, match="blank"):
        Route(name)


def test_case_115_whoever_listens_to_the_chosen_model_hears_the_call(shell):
    heard = []

    class Listened(Target):
        def __call__(self, messages, **options):
            heard.append(("request", options))
            reply = super().__call__(messages, **options)
            heard.append(("response", reply))
            return reply

    Desk(shell, by_length, {"small": Listened(), "large": Target()}, default="large")(said("hi"), seed=1)
    assert heard == [("request", {"seed": 1}), ("response", "ok")]


FORMS = {
    "openai": lambda reply: [*reply.messages, RESULT],
    "stored": lambda reply: [*json.loads(json.dumps(reply.messages)), RESULT],
    "message": lambda reply: [
        Message("assistant", "", tool_calls=[{"name": "f"}], attributes={"chat_model_route": reply.route}),
        Message("tool", "found"),
    ],
    "anthropic": lambda reply: [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}],
            "attributes": {"chat_model_route": reply.route},
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "found"}]},
    ],
    "responses": lambda reply: [
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "f",
            "arguments": "{}",
            "attributes": {"chat_model_route": reply.route},
        },
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ],
    "langchain": lambda reply: [
        {
            "type": "ai",
            "data": {
                "content": "",
                "tool_calls": [{"name": "f", "args": {}, "id": "c1"}],
                "additional_kwargs": {"attributes": {"chat_model_route": reply.route}},
            },
        },
        {"type": "tool", "data": {"content": "found", "tool_call_id": "c1"}},
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_case_116_a_tools_result_goes_to_the_route_that_asked_for_it(shell, form):
    judge = Judge(shell, {"route": pick(small=0.9, large=0.1)})
    models = {"small": Target(reply_that_calls()), "large": Target("no")}
    desk = judge.chat(ChatRouter(ROUTES, default="large"), models)
    talk = said("find it")
    first = desk(talk)
    assert (first.route, len(judge.requests)) == ("small", 1)
    judge.answers = FAILURE
    second = desk([*talk, *FORMS[form](first)])
    assert (second.route, second.choice.why) == ("small", "tool_loop")
    assert len(judge.requests) == 1
    assert len(models["small"].calls) == 2


def test_case_116_several_results_and_rounds_stay_with_their_route(shell):
    judge = Judge(shell, {"route": pick(small=0.9, large=0.1)})
    desk = judge.chat(
        ChatRouter(ROUTES, default="large"), {"small": Target(reply_that_calls()), "large": Target()}
    )
    talk = said("find it")
    for _ in range(3):
        reply = desk(talk)
        talk += [*reply.messages, RESULT, {**RESULT, "tool_call_id": "c2"}]
    assert (reply.route, len(judge.requests)) == ("small", 1)


def test_the_model_never_sees_the_note_of_a_route(shell):
    models = {"small": Target(reply_that_calls()), "large": Target()}
    desk = Desk(shell, lambda request: "small", models, default="large")
    first = desk(said("find it"))
    assert first.messages[0]["attributes"] == {"chat_model_route": "small"}
    own = {"role": "user", "content": "x", "attributes": {"mine": 1}}
    desk([own, *first.messages, RESULT])
    sent = models["small"].calls[1][0]
    assert sent == [own, {k: v for k, v in first.messages[0].items() if k != "attributes"}, RESULT]
    assert first.response == reply_that_calls()


@pytest.mark.parametrize(
    "asked",
    [ASKED, {**ASKED, "attributes": {"chat_model_route": "gone"}}, {**ASKED, "attributes": {"other": 1}}],
    ids=["no route", "removed route", "other attributes"],
)
def test_case_117_without_a_route_that_is_there_the_router_is_asked(shell, asked):
    judge = Judge(shell, {"route": pick(small=0.1, large=0.9)})
    desk = judge.chat(ChatRouter(ROUTES, default="small"), targets())
    assert desk([*said("find it"), asked, RESULT]).route == "large"
    assert len(judge.requests) == 1


def test_case_117_a_new_user_message_ends_the_loop(shell):
    judge = Judge(shell, {"route": pick(small=0.1, large=0.9)})
    desk = judge.chat(ChatRouter(ROUTES, default="small"), targets())
    asked = {**ASKED, "attributes": {"chat_model_route": "small"}}
    assert desk([*said("find it"), asked, RESULT, *said("now prove it")]).route == "large"


def test_case_118_what_hears_of_the_call_can_tell_its_route_and_the_response_carries_it(shell):
    heard = []

    class Listened(Target):
        def __call__(self, messages, **options):
            heard.append((current_route(), options["metadata"]))
            return super().__call__(messages, **options)

    routes = {"small": Listened(), "large": Listened()}
    reply = Desk(shell, by_length, routes, default="large")(said("hi"), metadata={"user": "u"})
    assert heard == [("small", {"user": "u"})]
    assert current_route() is None
    assert reply.route == "small"
    assert reply.messages[-1] == {
        "role": "assistant",
        "content": "ok",
        "attributes": {"chat_model_route": "small"},
    }


def test_case_119_the_router_receives_the_callers_options(shell):
    seen = []

    def router(request):
        seen.append(dict(request.options))
        return "small"

    models = targets()
    Desk(shell, router, models, default="large")(temperature=0.5, tools=[])
    assert seen == [{"temperature": 0.5, "tools": []}]
    assert models["small"].calls[0][1] == {"temperature": 0.5, "tools": []}


def test_case_120_the_response_carries_route_and_probabilities(shell):
    judge = Judge(shell, {"route": pick(small=0.9, large=0.1)})
    reply = judge.chat(ChatRouter(ROUTES, default="large"), targets())()
    assert (reply.response, reply.route) == ("from small", "small")
    assert reply.probabilities == {"small": 0.9, "large": 0.1}


def test_case_121_an_asynchronous_router_in_a_blocking_model_fails_with_a_hint_and_calls_no_model():
    async def router(request):
        return "small"

    models = targets()
    with pytest.raises(ConfigError, match=r"the router.*is asynchronous"):
        Desk(Sync, router, models, default="large")()
    assert [model.calls for model in models.values()] == [[], []]


def test_case_121_a_blocking_router_does_not_block_the_event_loop_and_a_coroutine_is_awaited():
    async def coroutine(request):
        await asyncio.sleep(0)
        return "small"

    def blocking(request):
        return "small" if threading.current_thread() is not threading.main_thread() else "large"

    for router in (coroutine, blocking):
        assert Desk(Async, router, targets(), default="large")().route == "small"


def test_case_122_a_router_may_refuse_the_routes_with_an_error_of_its_own(shell):
    class Picky:
        def check(self, routes):
            raise LookupError(f"{routes[0].name} has no descriptions")

        def __call__(self, request):
            return "small"

    with pytest.raises(LookupError, match="small has no descriptions"):
        Desk(shell, Picky(), targets(), default="large")


def test_case_123_routes_and_default_can_be_read(shell):
    made = Desk(
        shell, ChatRouter(ROUTES, default="large"), targets(), model=shell(FakeProvider()).model
    ).model
    assert [(route.name, route.descriptions) for route in made.routes] == [
        ("small", ("quick questions",)),
        ("large", ("proofs",)),
    ]
    assert made.default == "large"


def able(*names):
    return [
        Route(n, target=Target(n), capabilities=["json_schema"] if n in names else ())
        for n in ("a", "b", "c")
    ]


def test_case_124_capabilities_are_those_of_all_routes(shell):
    assert Desk(shell, by_length, able("b"), default="a").model.capabilities == {"json_schema"}
    assert Desk(shell, by_length, able(), default="a").model.capabilities == frozenset()


class Model(type):
    """Stands for a class of a schema library."""


@pytest.mark.parametrize(
    "options",
    [
        {"response_format": SCHEMA},
        {"response_format": Model("M", (), {})},
        {"text": {"format": {"type": "json_schema", "name": "n", "schema": {}}}},
        {"text_format": Model("M", (), {})},
        {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
        {"output_format": {"type": "json_schema", "schema": {}}},
    ],
    ids=lambda options: f"{next(iter(options))}-{type(next(iter(options.values()))).__name__}",
)
def test_case_125_a_request_for_json_of_a_schema_is_offered_to_routes_that_can(shell, options):
    seen = []

    def router(request):
        seen.append([route.name for route in request.routes])
        return request.routes[-1].name

    desk = Desk(shell, router, able("b", "c"), default="b")
    desk(**options)
    for plain in ({}, {"response_format": {"type": "json_object"}}, {"text": {"format": {"type": "text"}}}):
        desk(**plain)
    assert seen == [["b", "c"], *[["a", "b", "c"]] * 3]


def test_case_125_a_chat_router_is_asked_about_capable_routes_only(shell):
    judge = Judge(shell, {"route": pick(b=0.9, c=0.1)})
    desk = judge.chat(ChatRouter(able("b", "c"), default="a"))
    assert desk(response_format=SCHEMA).route == "b"
    assert [*judge.requests[0].questions["route"].options] == ["b", "c"]


def test_case_126_a_router_that_picks_an_incapable_route_is_an_error(shell):
    with pytest.raises(RoutingError, match=r"'a'.*capability.*'b', 'c'"):
        Desk(shell, lambda request: "a", able("b", "c"), default="b")(response_format=SCHEMA)


def test_case_127_when_no_route_declares_the_capability_all_are_offered(shell):
    assert Desk(shell, lambda request: "a", able(), default="b")(response_format=SCHEMA).response == "a"


def test_case_128_an_incapable_default_gives_way_to_the_first_capable_route(shell):
    desk = Desk(shell, lambda request: DEFAULT_ROUTE, able("b", "c"), default="a")
    assert desk(response_format=SCHEMA).response == "b"
    failing = Judge(shell, FAILURE).chat(ChatRouter(able("b", "c"), default="a"))
    assert failing(response_format=SCHEMA).response == "b"


def test_case_129_a_decision_model_of_the_other_kind_is_refused_when_the_model_is_made():
    router = ChatRouter(ROUTES, default="large")
    with pytest.raises(ConfigError, match=r"AsyncDecisionModel here.*use RoutingChatModel"):
        AsyncRoutingChatModel(router, targets(), model=DecisionModel(FakeProvider()))
    with pytest.raises(ConfigError, match=r"a DecisionModel here.*use AsyncRoutingChatModel"):
        RoutingChatModel(router, targets(), model=AsyncDecisionModel(FakeProvider()))


def test_case_129_a_provider_without_an_asynchronous_form_fails_and_no_model_is_called():
    models = targets()
    router = ChatRouter(ROUTES, default="large", model=AsyncDecisionModel(Blocking()))
    with pytest.raises(AsyncUnsupported):
        Desk(Async, router, models)()
    assert [model.calls for model in models.values()] == [[], []]


def test_case_130_cancelling_while_routing_cancels_it_and_calls_no_model():
    models, seen = targets(), []

    async def scenario():
        started = asyncio.Event()

        async def router(request):
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("routing cancelled")
                raise

        running = asyncio.create_task(awaited(AsyncRoutingChatModel(router, models, default="large")("hi")))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())
    assert seen == ["routing cancelled"]
    assert [model.calls for model in models.values()] == [[], []]


def test_case_130_cancelling_later_cancels_the_model():
    seen = []

    async def scenario():
        started = asyncio.Event()

        async def slow(messages):
            started.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                seen.append("model cancelled")
                raise

        chat = AsyncRoutingChatModel(lambda request: "a", {"a": slow}, default="a")
        running = asyncio.create_task(awaited(chat("hi")))
        await started.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(scenario())
    assert seen == ["model cancelled"]


def test_case_131_the_answer_waits_for_the_router():
    models = targets()

    async def scenario():
        gate = asyncio.Event()

        async def router(request):
            await gate.wait()
            return "small"

        running = asyncio.create_task(awaited(AsyncRoutingChatModel(router, models, default="large")("hi")))
        await asyncio.sleep(0)
        assert not models["small"].calls
        gate.set()
        return await running

    assert asyncio.run(scenario()).response == "from small"


def test_case_131_what_fails_while_routing_is_raised_unchanged_and_no_model_is_called(shell):
    models, failure = targets(), OSError("no route to host")

    def router(request):
        raise failure

    with pytest.raises(OSError, match="no route") as info:
        Desk(shell, router, models, default="large")()
    assert info.value is failure
    judge = Judge(shell, FAILURE)
    with pytest.raises(ProviderRejected):
        judge.chat(ChatRouter(ROUTES, default="large", fallback="fail"), models)()
    assert [model.calls for model in models.values()] == [[], []]


@pytest.mark.parametrize(
    ("router", "settings", "named"),
    [
        (
            by_length,
            {"routes": [Route("a", target=Target()), Route("a", target=Target())], "default": "a"},
            "two.*'a'",
        ),
        (by_length, {"routes": {"a": Target()}, "default": "b"}, "'b'"),
        (by_length, {"routes": {"a": Target()}}, "default"),
        (None, {"routes": {"a": Target()}, "default": "a"}, "router is missing"),
        (3, {"routes": {"a": Target()}, "default": "a"}, "not a int"),
        (by_length, {"routes": {}, "default": "a"}, "no route"),
        (by_length, {"default": "a"}, "no route"),
        (by_length, {"routes": {"a": None}, "default": "a"}, "'a' has no target"),
        (by_length, {"routes": {"a": Target()}, "default": "a", "model": 3}, "model"),
        (ChatRouter(ROUTES, default="large"), {"routes": {"small": Target(), "large": Target()}}, "model="),
        (ChatRouter(ROUTES, default="large"), {"routes": {"small": Target(), "x": Target()}}, "'x'"),
        (ChatRouter(ROUTES, default="large"), {}, "'small' has no target"),
        (ChatRouter(ROUTES, default="large"), {"routes": targets(), "default": "small"}, "default"),
        (QueryRouter({"a": "b"}), {"routes": {"a": Target()}, "default": "a"}, "QueryRouter"),
    ],
    ids=range(14),
)
def test_case_132_what_is_missing_or_given_twice_is_refused_by_name(shell, router, settings, named):
    with pytest.raises(ConfigError, match=named):
        Desk(shell, router, **settings)


def test_a_router_may_be_a_flow_of_ones_own(shell):
    def router(request):
        answer = yield from ask(Choice("Which?", ["small", "large"]), request.messages[-1]["content"])
        return RouteChoice(answer.value, answer.probabilities)

    model = shell(FakeProvider({"B": 0.9, "A": 0.1})).model
    reply = Desk(shell, router, targets(), default="small", model=model)(said("prove it"))
    assert (reply.route, round(reply.probabilities["large"], 3)) == ("large", 0.9)
    with pytest.raises(ConfigError, match=r"model="):
        Desk(shell, router, targets(), default="small")(said("prove it"))


def test_targets_may_be_of_any_kind(shell):
    def pieces(messages):
        yield "in "
        yield "pieces"

    async def coroutine(messages):
        return "awaited"

    async def apieces(messages):
        yield "in async "
        yield "pieces"

    def answer(target):
        return Desk(shell, lambda request: "a", {"a": target}, default="a")().response

    assert answer(pieces) == "in pieces"
    assert answer(lambda messages: iter([1, 2])) == (1, 2)
    if shell is Async:
        assert answer(coroutine) == "awaited"
        assert answer(apieces) == "in async pieces"
        assert answer(AsyncTarget("an object")) == "an object"
    else:
        for target in (coroutine, apieces, AsyncTarget()):
            with pytest.raises(ConfigError, match="'a' is asynchronous"):
                answer(target)


def test_what_a_model_raises_is_raised_unchanged(shell):
    failure = OSError("down")

    def broken(messages):
        raise failure

    with pytest.raises(OSError, match="down") as info:
        Desk(shell, lambda request: "a", {"a": broken}, default="a")()
    assert info.value is failure


def test_of_nested_routing_models_the_outer_route_is_noted(shell):
    inner = Desk(shell, lambda request: "deep", {"deep": Target("from deep")}, default="deep").model
    reply = Desk(shell, lambda request: "inner", {"inner": inner}, default="inner")()
    assert (reply.response, reply.route) == ("from deep", "inner")
    assert reply.messages[0]["attributes"] == {"chat_model_route": "inner"}


def test_a_conversation_may_be_a_text_or_one_message_but_not_empty(shell):
    models = targets()
    desk = Desk(shell, lambda request: "small", models, default="large")
    desk("hi")
    desk({"role": "user", "content": "hi"})
    assert [call[0] for call in models["small"].calls] == [[{"role": "user", "content": "hi"}]] * 2
    with pytest.raises(QuestionError, match="no message"):
        desk([])
    with pytest.raises(ConfigError, match="method `stream`"):
        desk("hi", stream=True)


def test_neither_the_conversation_nor_the_answer_is_in_its_text(shell):
    reply = Desk(shell, lambda request: "small", {"small": Target("private")}, default="small")("secret")
    assert "private" not in repr(reply)
    seen = []
    Desk(shell, lambda request: seen.append(repr(request)) or "small", targets(), default="small")(
        "secret", key="k"
    )
    assert "secret" not in seen[0]


def test_a_route_can_be_chosen_without_calling_its_model(shell):
    models = targets()
    judge = Judge(shell, {"route": pick(small=0.9, large=0.1)})
    desk = judge.chat(ChatRouter(ROUTES, default="large"), models)
    choice = judge.result(desk.model.choose("hello"))
    assert (choice.route, judge.inputs) == ("small", ["hello"])
    assert [model.calls for model in models.values()] == [[], []]


def test_a_choice_reads_as_a_line():
    assert str(RouteChoice("a", {"a": 0.75, "b": 0.25})) == "a (a 0.750, b 0.250)"
    assert str(RouteChoice("a", why="no_user_text")) == "a (no user text)"
    assert str(RouteChoice("a", {"a": 0.4}, "below_minimum")) == "a (below minimum; a 0.400)"
    assert str(RouteChoice("a")) == "a"


def test_answers_with_a_failed_decision_travel_between_processes(shell):
    reply = Judge(shell, FAILURE).chat(ChatRouter(ROUTES, default="large"), targets())()
    again = pickle.loads(pickle.dumps(reply))  # noqa: S301 - our own bytes
    assert again == reply
    assert (again.choice.why, str(again.choice.error)) == ("failed", "the other side failed")
