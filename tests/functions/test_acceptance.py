"""What typed decision functions do, in the order in which decision services of other languages state it."""

import asyncio
import inspect
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

import pytest

from tests.functions.support import (
    TICKET_ANSWERS,
    Async,
    Endpoint,
    Severity,
    Sync,
    Team,
    Ticket,
    both,
    chosen,
    yes,
)
from yesno import (
    AnswerError,
    AsyncDecisionModel,
    ChoiceAnswer,
    DecisionModel,
    DecisionResponse,
    FakeProvider,
    Parameters,
    QuestionError,
    Refusal,
    Refused,
    ScaleAnswer,
    YesNoAnswer,
)
from yesno.errors import InvalidResponse, NoProbabilities, ProviderUnavailable
from yesno.functions import Asks, Result, ThresholdContext, decide, implement, using


def spam(shell, *answers, **settings):
    """Return a function that decides about spam, and the endpoint behind it."""
    endpoint = Endpoint(*({"is_spam": yes(p)} if isinstance(p, float) else p for p in answers))

    @decide("Is this spam?", model=shell.kind(endpoint), **settings)
    @shell.form
    def is_spam(message: str, sender: str | None = None) -> bool: ...

    return is_spam, endpoint


@both
def test_case_195_a_bool_is_true_from_the_threshold_on_and_the_input_is_keyed_by_parameter(shell):
    is_spam, endpoint = spam(shell, 0.7, 0.49)
    assert shell.call(is_spam, "buy now", sender="a@b.test") is True
    assert shell.call(is_spam, "hello") is False
    assert [request.input for request in endpoint.asked] == [
        {"message": "buy now", "sender": "a@b.test"},
        {"message": "hello"},
    ]
    assert [list(request.questions) for request in endpoint.asked] == [["is_spam"]] * 2
    assert endpoint.asked[0].questions["is_spam"].text == "Is this spam?"


@both
def test_case_196_a_threshold_provider_is_asked_at_each_call_and_told_what_for(shell):
    thresholds, contexts = [0.8, 0.6, None], []

    def provider(context):
        contexts.append(context)
        return thresholds[len(contexts) - 1]

    is_spam, _ = spam(shell, 0.7, 0.7, 0.45, thresholds=provider)
    assert [shell.call(is_spam, "x") for _ in thresholds] == [False, True, False]
    assert set(contexts) == {ThresholdContext(__name__, "is_spam", "is_spam", "reported")}


@both
@pytest.mark.parametrize("threshold", [1.5, -0.1, float("nan"), True, "high"])
def test_case_197_an_impossible_threshold_names_question_and_function(shell, threshold):
    def provider(context):
        return threshold

    is_spam, _ = spam(shell, 0.7, thresholds=provider)
    with pytest.raises(QuestionError, match=r"question 'is_spam' of `is_spam` must be a number from 0 to 1"):
        shell.call(is_spam, "x")


def test_case_197_async_it_comes_through_the_awaitable():
    is_spam, _ = spam(Async, 0.7, thresholds=lambda context: 1.5)
    waiting = is_spam("x")
    assert inspect.isawaitable(waiting)

    async def awaited():
        return await waiting

    with pytest.raises(QuestionError, match="threshold"):
        asyncio.run(awaited())


@both
def test_case_198_a_failing_model_fails_the_call(shell):
    is_spam, _ = spam(shell, ProviderUnavailable("down", provider="x", retryable=False))
    with pytest.raises(ProviderUnavailable, match="down"):
        shell.call(is_spam, "x")


@both
def test_case_199_a_yes_no_answer_has_the_probability_for_any_threshold(shell):
    endpoint = Endpoint({"spam": yes(0.7)})

    @decide("Is this spam?", model=shell.kind(endpoint))
    @shell.form
    def spam(message: str) -> YesNoAnswer: ...

    answer = shell.call(spam, "x")
    assert (answer.probability, answer.is_yes(0.7), answer.is_yes(0.8)) == (0.7, True, False)


@both
def test_case_200_parameters_name_the_model_and_are_not_sent(shell):
    endpoint = Endpoint({"is_spam": yes(0.7)})

    @decide("Is this spam?", model=shell.kind(endpoint))
    @shell.form
    def is_spam(message: str, settings: Parameters | None = None) -> bool: ...

    shell.call(is_spam, "x", Parameters(model_name="other"))
    shell.call(is_spam, "x", None)
    shell.call(is_spam, "x")
    assert [request.parameters.model_name for request in endpoint.asked] == ["other", "default", "default"]
    assert {tuple(request.input) for request in endpoint.asked} == {("message",)}


@both
def test_case_201_an_enum_is_a_choice_among_its_members(shell):
    endpoint = Endpoint({"team": chosen("SUPPORT")})

    @decide("Which team?", model=shell.kind(endpoint))
    @shell.form
    def team(message: str) -> Team: ...

    assert shell.call(team, "x") is Team.SUPPORT
    assert dict(endpoint.asked[0].questions["team"].options) == {
        "BILLING": "payments, payouts",
        "SUPPORT": "using the product",
        "OTHER": "OTHER",
    }


@both
def test_case_202_a_protocol_and_a_model_are_enough(shell):
    class Desk(Protocol):
        @Asks("Is this spam?")
        @shell.form
        def is_spam(self, message: str) -> bool: ...

    desk = implement(Desk, model=shell.kind(Endpoint({"is_spam": yes(0.7)})))
    assert shell.call(desk.is_spam, "x") is True


@both
def test_case_203_a_choice_answer_is_in_terms_of_the_enum(shell):
    endpoint = Endpoint({"team": ChoiceAnswer("BILLING", {"BILLING": 0.55}, confidence=0.3)})

    @decide("Which team?", model=shell.kind(endpoint))
    @shell.form
    def team(message: str) -> ChoiceAnswer[Team]: ...

    answer = shell.call(team, "x")
    assert answer.value is Team.BILLING
    assert answer.probabilities == {Team.BILLING: 0.55}
    assert (answer.probability_of(Team.BILLING), answer.probability_of(Team.OTHER)) == (0.55, 0)
    assert (round(answer.margin(), 9), answer.confidence) == (0.1, 0.3)
    assert answer.options == tuple(Team)
    with pytest.raises(AnswerError, match="not offered"):
        answer.probability_of(Severity.LOW)


@both
def test_case_203_options_need_no_enum_and_probabilities_need_not_be_there(shell):
    endpoint = Endpoint({"team": chosen("billing")})

    @decide("Which team?", model=shell.kind(endpoint))
    @shell.form
    def team(message: str) -> ChoiceAnswer[Literal["billing", "support"]]: ...

    answer = shell.call(team, "x")
    assert (answer.value, answer.options) == ("billing", ("billing", "support"))
    for read in (answer.margin, lambda: answer.probability_of("billing")):
        with pytest.raises(NoProbabilities):
            read()


@both
def test_case_204_an_option_that_was_not_offered_is_an_invalid_response(shell):
    @decide("Which team?", model=shell.kind(Endpoint({"team": chosen("SALES")})))
    @shell.form
    def team(message: str) -> Team: ...

    with pytest.raises(InvalidResponse, match="SALES"):
        shell.call(team, "x")


def severity_of(shell, answer):
    """Return the endpoint asked, and what a function that returns a scale made of the answer."""
    endpoint = Endpoint({"severity": answer})

    @decide("How severe?", model=shell.kind(endpoint))
    @shell.form
    def severity(message: str) -> ScaleAnswer[Severity]: ...

    return endpoint, shell.call(severity, "x")


@both
def test_case_205_a_scale_answer_is_in_terms_of_the_enum_and_its_levels_are_described(shell):
    endpoint, answer = severity_of(shell, ScaleAnswer(1.2, (0.2, 0.4, 0.4), confidence=0.1))
    assert endpoint.asked[0].questions["severity"].levels == ("LOW: can wait", "MEDIUM", "HIGH")
    assert (answer.mean, answer.confidence) == (1.2, 0.1)
    assert answer.most_likely() is Severity.MEDIUM
    assert answer.levels == tuple(Severity)
    assert answer.probability_of(Severity.LOW) == 0.2
    assert [answer.probability_at_least(level) for level in Severity] == [1.0, 0.8, 0.4]
    with pytest.raises(AnswerError, match="not offered"):
        answer.probability_at_least(Team.OTHER)


@both
def test_case_206_a_distribution_of_the_wrong_length_is_an_invalid_response(shell):
    with pytest.raises(InvalidResponse, match="2 probabilities for 3 levels"):
        severity_of(shell, ScaleAnswer(0.5, (0.5, 0.5)))


@both
def test_case_207_without_probabilities_the_level_nearest_the_mean_is_most_likely(shell):
    _, answer = severity_of(shell, ScaleAnswer(1.6))
    assert answer.most_likely() is Severity.HIGH
    assert severity_of(shell, ScaleAnswer(0.5))[1].most_likely() is Severity.MEDIUM
    assert severity_of(shell, ScaleAnswer(0.49))[1].most_likely() is Severity.LOW
    for read in (answer.probability_of, answer.probability_at_least):
        with pytest.raises(NoProbabilities):
            read(Severity.LOW)


@pytest.mark.parametrize("mean", [None, 2.5, -0.5, float("nan")])
def test_case_208_a_mean_that_is_missing_or_off_the_levels_makes_no_answer(mean):
    with pytest.raises(AnswerError, match="mean"):
        ScaleAnswer(mean, levels=tuple(Severity))


def test_case_208_the_ends_are_valid_and_probabilities_are_probabilities():
    assert [ScaleAnswer(mean, levels=tuple(Severity)).mean for mean in (0, 2)] == [0, 2]
    with pytest.raises(AnswerError, match="probabilities"):
        ScaleAnswer(1.0, (1.5, 0, 0), levels=tuple(Severity))


@both
def test_case_208_a_model_that_says_so_fails_the_call(shell):
    with pytest.raises(InvalidResponse, match=r"2\.5"):
        severity_of(shell, ScaleAnswer(2.5))


@both
def test_case_209_a_class_asks_one_question_per_field_in_one_request(shell):
    endpoint = Endpoint(TICKET_ANSWERS)

    @decide(model=shell.kind(endpoint))
    @shell.form
    def triage(message: str) -> Ticket: ...

    ticket = shell.call(triage, "x")
    (request,) = endpoint.asked
    assert list(request.questions) == ["urgent", "team", "severity"]
    assert (ticket.urgent, ticket.team) == (True, Team.SUPPORT)
    assert ticket.severity.most_likely() is Severity.HIGH


@both
def test_case_209_fields_have_thresholds_of_their_own(shell):
    @dataclass(frozen=True)
    class Checks:
        spam: Annotated[bool, Asks("Is this spam?", threshold=0.8)]
        rude: Annotated[bool, Asks("Is this rude?", threshold=0.3)]
        late: Annotated[bool, Asks("Is this late?")]

    endpoint = Endpoint({"spam": yes(0.7), "rude": yes(0.4), "late": yes(0.5)})
    contexts = []

    @decide(model=shell.kind(endpoint), thresholds=lambda context: contexts.append(context))
    @shell.form
    def check(message: str) -> Checks: ...

    assert shell.call(check, "x") == Checks(spam=False, rude=True, late=True)
    assert [(context.function, context.question) for context in contexts] == [
        ("check", "spam"),
        ("check", "rude"),
        ("check", "late"),
    ]


@both
def test_case_210_a_result_holds_content_response_model_and_usage(shell):
    @decide("Is this spam?", model=shell.kind(Endpoint({"is_spam": yes(0.7)})))
    @shell.form
    def is_spam(message: str) -> Result[bool]: ...

    result = shell.call(is_spam, "x")
    assert result.content is True
    assert result.response.yes_no("is_spam").probability == 0.7
    assert (result.model, result.usage.requests) == ("reported", 1)


def test_case_211_async_only_the_asynchronous_door_is_used():
    class Awaited(Endpoint):
        async def asend(self, payload):
            return await super().asend({**payload, "awaited": True})

        def send(self, payload, *, timeout_s=None):
            assert payload["awaited"]
            return super().send(payload)

    @decide("Is this spam?", model=AsyncDecisionModel(Awaited({"is_spam": yes(0.7)})))
    async def is_spam(message: str) -> Result[bool]: ...

    assert asyncio.run(is_spam("x")).content is True


def test_case_211_arguments_that_are_none_fail_when_awaited():
    is_spam, endpoint = spam(Async, 0.7)
    waiting = is_spam(None)

    async def awaited():
        return await waiting

    with pytest.raises(QuestionError, match="`message`"):
        asyncio.run(awaited())
    assert endpoint.asked == []


def test_case_211_cancelling_reaches_the_model():
    happened = []

    class Hanging(FakeProvider):
        async def asend(self, payload):
            happened.append("asked")
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                happened.append("cancelled")
                raise

    @decide("Is this spam?", model=AsyncDecisionModel(Hanging()))
    async def is_spam(message: str) -> bool: ...

    async def given_up():
        task = asyncio.create_task(is_spam("x"))
        while not happened:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(given_up())
    assert happened == ["asked", "cancelled"]


@both
def test_case_212_arguments_that_are_all_none_are_named(shell):
    is_spam, endpoint = spam(shell, 0.7)
    with pytest.raises(QuestionError, match=r"every argument of `is_spam` is None.*`message` and `sender`"):
        shell.call(is_spam, None)
    assert endpoint.asked == []


@dataclass
class Order:
    number: int
    team: Team
    lines: list["Order"]


@both
def test_case_213_an_object_is_sent_as_a_mapping_of_its_fields(shell):
    endpoint = Endpoint({"late": yes(0.7)})

    @decide("Is it late?", model=shell.kind(endpoint))
    @shell.form
    def late(order: Order, severity: Severity) -> bool: ...

    shell.call(late, Order(1, Team.OTHER, [Order(2, Team.BILLING, [])]), Severity.LOW)
    assert endpoint.asked[0].input == {
        "order": {
            "number": 1,
            "team": "OTHER",
            "lines": [{"number": 2, "team": "BILLING", "lines": []}],
        },
        "severity": "LOW",
    }


@both
def test_case_214_a_model_that_does_not_say_its_name_has_the_one_asked_for(shell):
    contexts = []
    endpoint = Endpoint({"is_spam": yes(0.7)}, reports=None)

    @decide("Is this spam?", model=shell.kind(endpoint), thresholds=lambda context: contexts.append(context))
    @shell.form
    def is_spam(message: str, settings: Parameters | None = None) -> bool: ...

    shell.call(is_spam, "x", Parameters(model_name="other"))
    shell.call(is_spam, "x")
    assert [context.model for context in contexts] == ["other", "default"]


@both
def test_case_214_a_response_without_a_name_leaves_the_one_asked_for_too(shell):
    contexts = []

    def answered(self, request):
        return DecisionResponse({"is_spam": yes(0.7)})

    async def answered_later(self, request):
        return answered(self, request)

    class Nameless:
        model_name = "default"
        decide = answered if shell is Sync else answered_later

    @decide("Is this spam?", model=Nameless(), thresholds=lambda context: contexts.append(context))
    @shell.form
    def is_spam(message: str, settings: Parameters | None = None) -> bool: ...

    assert shell.call(is_spam, "x", Parameters(model_name="other")) is True
    assert shell.call(is_spam, "x") is True
    assert [context.model for context in contexts] == ["other", "default"]


@both
def test_case_215_inherited_fields_are_asked_too(shell):
    @dataclass
    class Escalation(Ticket):
        legal: Annotated[bool, Asks("Does it mention a lawyer?")]

    endpoint = Endpoint({**TICKET_ANSWERS, "legal": yes(0.2)})

    @decide(model=shell.kind(endpoint))
    @shell.form
    def escalate(message: str) -> Escalation: ...

    assert shell.call(escalate, "x").legal is False
    assert list(endpoint.asked[0].questions) == ["urgent", "team", "severity", "legal"]


def test_case_216_a_method_with_a_body_is_kept_and_may_call_the_others():
    class Desk(Protocol):
        @Asks("Is this spam?")
        def is_spam(self, message: str) -> bool: ...

        def kept(self, messages: list[str]) -> list[str]:
            return [message for message in messages if not self.is_spam(message)]

    model = DecisionModel(FakeProvider(lambda prompt: {"Yes": 0.9} if "buy" in prompt else {"No": 0.9}))
    desk = implement(Desk, model=model)
    assert desk.kept(["buy now", "hello"]) == ["hello"]


def test_case_216_async_a_method_with_a_body_may_await_the_others():
    class Desk(Protocol):
        @Asks("Is this spam?")
        async def is_spam(self, message: str) -> bool: ...

        async def verdict(self, message: str) -> str:
            return "out" if await self.is_spam(message) else "in"

    desk = implement(Desk, model=AsyncDecisionModel(FakeProvider()))
    assert asyncio.run(desk.verdict("x")) == "out"


@both
def test_case_216_equality_hash_and_repr_work(shell):
    class Desk(Protocol):
        @Asks("Is this spam?")
        @shell.form
        def is_spam(self, message: str) -> bool: ...

    model = shell.kind(FakeProvider())
    one, other = implement(Desk, model=model), implement(Desk, model=model)
    assert one == one
    assert one != other
    assert {one: 1, other: 2}[one] == 1
    assert "Desk" in repr(one)
    assert Desk in type(one).__mro__


@both
def test_a_refused_question_fails_the_call(shell):
    @decide(model=shell.kind(Endpoint({**TICKET_ANSWERS, "team": Refusal()})))
    @shell.form
    def triage(message: str) -> Ticket: ...

    with pytest.raises(Refused, match="'team'"):
        shell.call(triage, "x")


@both
def test_the_probability_is_read_from_log_probabilities_too(shell):
    @decide("Which team?")
    @shell.form
    def team(message: str) -> ChoiceAnswer[Team]: ...

    with using(shell.kind(FakeProvider({"B": 0.6, "A": 0.2}))):
        answer = shell.call(team, "x")
    assert (answer.value, round(answer.probabilities[Team.SUPPORT], 3)) == (Team.SUPPORT, 0.6)
    assert (answer.method, list(answer.bounds), list(answer.raw)) == ("logprobs", list(Team), list(Team))
