"""What type checkers see; mypy reads this file, nobody runs it."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any, assert_type

from yesno import (
    AsyncDecisionModel,
    Budget,
    BudgetExceeded,
    Call,
    Choice,
    ChoiceAnswer,
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    Failure,
    FakeProvider,
    Flow,
    Listener,
    LoggingListener,
    Message,
    Parameters,
    RecordingProvider,
    RedisCache,
    Refusal,
    ReplayProvider,
    RetryPolicy,
    Scale,
    ScaleAnswer,
    SqliteCache,
    TemplateSet,
    Undecided,
    Usage,
    UsageListener,
    YesNo,
    YesNoAnswer,
    ask,
    ask_all,
    gather,
)
from yesno.engine.caching import Cache
from yesno.engine.diagnosis import Diagnosis
from yesno.filters import (
    Card,
    Check,
    FoundTools,
    Guardrails,
    Ranking,
    Reranker,
    Scores,
    ToolFilter,
    ToolSearch,
    ToolSelection,
    Verdict,
)
from yesno.flow import Outcomes, outcome_of, spent_on
from yesno.prices import Price
from yesno.questions import Answer, Outcome, Question
from yesno.routers import (
    AgentRouter,
    AgentState,
    AsyncRoutedStream,
    AsyncRoutingChatModel,
    ChatRouter,
    QueryRoute,
    QueryRouter,
    RouteChoice,
    RoutedResponse,
    RoutedStream,
    RoutingChatModel,
)
from yesno.toolcalls import (
    CallResult,
    Gate,
    JudgedCall,
    PendingCalls,
    Plan,
    RiskGate,
    SelectedCall,
    SelectionResult,
    ToolCallDecisions,
    ToolCallingManager,
    ToolRun,
    ToolSelector,
    arun_without_model,
    read_answers,
    run_without_model,
    tool,
)
from yesno.toolcalls import Tool as RunnableTool
from yesno.toolcalls import Verdict as GateVerdict
from yesno.tools import Tool

SPAM = YesNo("Is it spam?", yes_when="it sells", examples=[("buy now", True)])
TEAM = Choice("Which team?", {"billing": "payments", "support": None}, none="neither")
MOOD = Scale("How angry?", ["calm", "angry"])


class PickAnswer(Answer):
    """An answer type of one's own."""


class Pick(Question[PickAnswer]):
    """A question type of one's own."""


def guard(text: str, model: DecisionModel, documents: list[Path]) -> None:
    checks: list[str | Check] = ["prompt_injection", Check("off_topic", topic="cooking", threshold=0.8)]
    assert_type(Guardrails(checks, model=model).check_input(text), Verdict)
    assert_type(Guardrails({"rude": "Is it?"}).judge_output(text, user=text), Flow[Verdict])
    assert_type(model.run(Guardrails(checks).with_check("personal_data").judge_input(text)), Verdict)
    assert_type(Check("personal_data").card, Card | None)
    ranking = model.run(Reranker(text=lambda path: path.read_text()).rerank(text, documents, top_k=3))
    assert_type(ranking, Ranking[Path])
    assert_type(ranking.documents, tuple[Path, ...])
    assert_type(model.run(Reranker().score(text, documents), parameters=Parameters(model_name="m")), Scores)
    assert_type(spent_on(Outcomes()), Usage | None)


async def aguard(text: str, model: AsyncDecisionModel) -> None:
    assert_type(await Guardrails({"rude": SPAM}, model=model).check_input(text), Verdict)
    assert_type(await model.run(Guardrails({"rude": SPAM}).judge_input(text)), Verdict)


class Ear(Listener):
    def on_response(self, call: Call, response: DecisionResponse) -> None:
        assert_type(call.request, DecisionRequest)
        assert_type(response.usage, Usage | None)


def triage(text: str) -> Flow[str]:
    answer = yield from ask(TEAM, text)
    assert_type(answer, ChoiceAnswer)
    both = yield from gather([ask(SPAM, text), ask(SPAM, {"text": text})])
    assert_type(both, list[YesNoAnswer])
    several = yield from ask_all([SPAM, MOOD], text)
    assert_type(several, list[Outcome])
    one = yield from outcome_of(SPAM, text)
    assert_type(one, Outcome)
    own = yield from ask(Pick("where?"), text)
    assert_type(own, PickAnswer)
    return answer.value


def build() -> None:
    DecisionModel()
    DecisionModel("openai:gpt-5.4-mini", api_key="k", timeout_s=5, retry=RetryPolicy(attempts=2))
    DecisionModel(
        FakeProvider({"Yes": 0.9}), template="default", listeners=[Ear(), LoggingListener(), UsageListener()]
    )
    AsyncDecisionModel(FakeProvider([{"Yes": 0.9}]), template=Path("mine"), concurrency=4, min_label_mass=0.3)
    AsyncDecisionModel(
        FakeProvider({"q": YesNoAnswer(0.9)}, native=True), template=TemplateSet.load("default")
    )


def spend(response: DecisionResponse, error: BudgetExceeded) -> None:
    caches: list[Cache] = [
        SqliteCache("c.db"),
        SqliteCache(Path("c.db")),
        RedisCache("redis://host", ttl_s=60),
    ]
    budget = Budget(usd=0.5, requests=10, tokens=1000)
    DecisionModel(FakeProvider(), cache=caches[0], budget=budget, price=Price(0.1, 0.4, 0.01))
    assert_type(budget.spent.usd, float | None)
    assert_type(error.limit, str | None)
    if response.usage is not None:
        assert_type(response.usage.cost_usd, float | None)
        assert_type(response.usage.cache_hits, int)
        assert_type(response.usage.fallbacks, Mapping[str, int])


def sync(model: DecisionModel, texts: Iterator[str]) -> None:
    assert_type(model.decide("x", SPAM), YesNoAnswer)
    assert_type(model.decide({"a": 1}, TEAM), ChoiceAnswer)
    assert_type(model.decide([{"role": "user", "content": "x"}], MOOD), ScaleAnswer)
    assert_type(model.decide([Message("user", "x")], MOOD, parameters=Parameters(timeout_s=1)), ScaleAnswer)
    assert_type(model.decide("x", Pick("where?")), PickAnswer)
    assert_type(model.decide("x", {"q": SPAM, "r": MOOD}), DecisionResponse)
    assert_type(model.decide("x", [("q", SPAM), ("r", MOOD)]), DecisionResponse)
    assert_type(model.decide(DecisionRequest("x", {"q": SPAM})), DecisionResponse)
    assert_type(model.run(triage("x")), str)
    assert_type(model.run(gather([triage("x")])), list[str])
    assert_type(model.map(texts, SPAM), Iterator[YesNoAnswer | Refusal | Undecided | Failure])
    assert_type(model.map(["x"], TEAM, concurrency=2), Iterator[ChoiceAnswer | Refusal | Undecided | Failure])
    assert_type(model.map([{"a": 1}], {"q": SPAM}), Iterator[DecisionResponse | Failure])
    assert_type(model.probe(), Diagnosis)
    with model as entered:
        assert_type(entered, DecisionModel)
    model.close()


async def aio(model: AsyncDecisionModel, texts: AsyncIterator[str]) -> None:
    assert_type(await model.decide("x", SPAM), YesNoAnswer)
    assert_type(await model.decide({"a": 1}, TEAM), ChoiceAnswer)
    assert_type(await model.decide("x", MOOD, parameters=Parameters(model_name="m")), ScaleAnswer)
    assert_type(await model.decide("x", Pick("where?")), PickAnswer)
    assert_type(await model.decide("x", {"q": SPAM, "r": MOOD}), DecisionResponse)
    assert_type(await model.decide(DecisionRequest("x", {"q": SPAM})), DecisionResponse)
    assert_type(await model.run(triage("x")), str)
    assert_type(await model.probe(lambda number: None), Diagnosis)
    assert_type(model.map(["x"], SPAM), AsyncIterator[YesNoAnswer | Refusal | Undecided | Failure])
    assert_type(model.map(texts, MOOD), AsyncIterator[ScaleAnswer | Refusal | Undecided | Failure])
    assert_type(model.map(texts, {"q": SPAM}, concurrency=2), AsyncIterator[DecisionResponse | Failure])
    async for outcome in model.map(texts, SPAM):
        match outcome:
            case YesNoAnswer():
                assert_type(outcome.probability, float)
            case Failure():
                assert_type(outcome.error, Exception)
            case Refusal() | Undecided():
                assert_type(outcome, Refusal | Undecided)
    async with model as entered:
        assert_type(entered, AsyncDecisionModel)
    await model.close()


def read(response: DecisionResponse) -> None:
    assert_type(response.yes_no("q").is_yes(0.8), bool)
    assert_type(response.choice("c").value, str)
    assert_type(response.choice("c").probabilities, Mapping[str, float])
    assert_type(response.choice("c").margin(), float)
    assert_type(response.scale("s").mean, float)
    assert_type(response.scale("s").level(), int)
    assert_type(response.scale("s").levels, tuple[str, ...])
    assert_type(response.scale("s").most_likely(), str)
    assert_type(response.answer("p", PickAnswer), PickAnswer)
    assert_type(response.outcome("q"), Outcome)
    assert_type(response.model, str | None)
    assert_type(response.is_refused("q"), bool)


def recorded(path: Path) -> None:
    recorder = RecordingProvider(FakeProvider(), path)
    assert_type(DecisionModel(recorder).decide("x", SPAM), YesNoAnswer)
    assert_type(DecisionModel(ReplayProvider(path, like=recorder)).decide("x", SPAM), YesNoAnswer)


def wrong(model: DecisionModel, response: DecisionResponse) -> Any:
    model.decide("x")  # type: ignore[call-overload]  # there is no question
    model.decide(3, SPAM)  # type: ignore[call-overload]  # a number is no input
    model.decide("x", "Is it?")  # type: ignore[arg-type]  # a text is no question
    model.map(["x"])  # type: ignore[call-overload]  # there is no question
    return response.yes_no("q").value  # type: ignore[attr-defined]  # a choice has it


def filters(model: DecisionModel, tools: list[Tool]) -> None:
    """What filters give."""
    assert_type(model.run(ToolFilter().select(tools, "hi")), list[Tool])
    assert_type(model.run(ToolFilter().select(None, "hi")), None)
    assert_type(model.run(ToolFilter().select(lambda: tools, "hi")), list[Any] | None)
    assert_type(model.run(ToolFilter().explain(tools, "hi")), ToolSelection[Any])
    assert_type(model.run(ToolSearch().find("{}", tools)), FoundTools[Tool])


def routers(model: DecisionModel) -> None:
    router = ChatRouter({"small": "facts", "large": ["proofs", "code"]}, default="large")
    assert_type(model.run(router.route("x")), RouteChoice)
    assert_type(model.run(QueryRouter({"manual": "how to"}).route("x")), QueryRoute[str])
    assert_type(model.run(QueryRouter([(3, "how to")]).route("x", [Message("user", "x")])), QueryRoute[int])
    assert_type(model.run(AgentRouter({"a": print}).decide({"task": "x"})), AgentState)
    chat = RoutingChatModel(router, {"small": print, "large": print}, model=model)
    assert_type(chat("x", temperature=0), RoutedResponse)
    assert_type(chat.stream([Message("user", "x")]), RoutedStream)


async def async_routers(model: AsyncDecisionModel) -> None:
    router = ChatRouter({"small": "facts", "large": "proofs"}, default="large")
    assert_type(await model.run(router.route("x")), RouteChoice)
    chat = AsyncRoutingChatModel(router, {"small": print, "large": print}, model=model)
    assert_type(await chat("x"), RoutedResponse)
    assert_type(chat.stream("x"), AsyncRoutedStream)


def tool_calls(model: DecisionModel, manager: ToolCallingManager) -> None:
    """What a manager gives."""
    assert_type(model.run(manager.execute_tool_calls([], {}, tools=[])), ToolRun)
    assert_type(model.run(manager.plan([], {}, tools=[])), Plan)
    assert_type(run_without_model(manager.plan([], {}, tools=[])), Plan)
    selector = ToolSelector()
    result = model.run(selector.select_tools("x", []))
    assert_type(result, SelectionResult)
    assert_type(result[0], SelectedCall)
    assert_type(model.run(selector.execute_tool_decisions(result)), list[CallResult])
    assert_type(tool(print), RunnableTool)
    assert_type(tool(confirm=True)(print), RunnableTool)


async def async_tool_calls(model: AsyncDecisionModel, manager: ToolCallingManager) -> None:
    """What a manager gives, awaited."""
    assert_type(await model.run(manager.aexecute_tool_calls([], {}, tools=[])), ToolRun)
    assert_type(await arun_without_model(manager.aexecute_tool_calls([], {}, tools=[])), ToolRun)
    selector = ToolSelector()
    result = await model.run(selector.aselect_tools("x", []))
    assert_type(result, SelectionResult)
    assert_type(await model.run(selector.aexecute_tool_decisions(result)), list[CallResult])


def judging(model: DecisionModel, calls: list[JudgedCall], pending: PendingCalls) -> None:
    """What a gate gives, and what people answered."""
    assert_type(model.run(RiskGate().judge(calls, [])), list[GateVerdict])
    assert_type(ToolCallingManager(gate=RiskGate()).gate, Gate | None)
    assert_type(read_answers("{}", pending), ToolCallDecisions)
