"""Which agents take a request; run them, and go on after an interruption."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import isawaitable
from typing import Any, ClassVar, TypeAlias

from yesno._frozen import FrozenDict
from yesno._log import get_logger
from yesno.errors import AnswerError, ConfigError, QuestionError
from yesno.flow import Flow, Runner, ask_all
from yesno.messages.plain import freeze_values, thawed
from yesno.questions import Choice, ChoiceAnswer, Question, YesNo
from yesno.response import unwrapped
from yesno.routers.agent_state import AgentState
from yesno.routers.base import Router, is_async, yes_of
from yesno.routers.parallel import arun_each, is_coroutine_function, run_each
from yesno.templates.layers import QuestionTemplate, layer_question

__all__ = ["Agent", "AgentRouter"]


@dataclass(frozen=True, slots=True)
class Agent:
    """A function that takes a request, with a description that the deciding model reads."""

    call: Callable[..., Any] = field(repr=False)
    """Called with the request's arguments by name; may be a coroutine function."""
    description: str = ""


VARIABLES = ("name", "description")

Save: TypeAlias = Callable[[AgentState], Any]


class AgentRouter(Router):
    """Let one agent, or all that a request concerns, take it.

    Without a threshold the model chooses one agent, whose output is returned. With one it judges each agent on its
    own; all that reach it run at the same time, and a dict of name -> output is returned, empty when none did.

    Args:
        agents: Name -> function or `Agent`, called with the request's arguments.
        threshold: Least probability, between 0 and 1, for an agent to run.
        question: The choice question; used without a threshold.
        question_template: Your own yes/no question in Jinja, which must name `{{name}}` or `{{description}}`; used
            with one.
        model: Whom to ask. With an `AsyncDecisionModel` a call is awaited, and functions that are not
            coroutines run in threads.

    A failed or refused decision is always raised. An agent's exception is raised when all others have ended.

    Raises:
        ConfigError: There is no agent, two have one name, one cannot be called, or a setting is impossible.
    """

    name: ClassVar[str] = "agent"

    def __init__(
        self,
        agents: Mapping[str, Callable[..., Any] | Agent] | Iterable[tuple[str, Callable[..., Any] | Agent]],
        *,
        threshold: float | None = None,
        question: str | None = None,
        question_template: str | None = None,
        model: Runner | None = None,
    ) -> None:
        super().__init__(model)
        self.agents = _checked_agents(agents)
        """Name -> agent, in the order configured."""
        self.threshold = _checked_inside(threshold)
        self._questions = self._asked_of(
            question, QuestionTemplate("agent", question_template, VARIABLES, VARIABLES)
        )
        self._refuse_coroutines()

    def __call__(
        self,
        given: Mapping[str, Any] | None = None,
        /,
        *,
        context: Mapping[str, Any] | None = None,
        save: Save | None = None,
        **arguments: Any,
    ) -> Any:  # noqa: ANN401 - what agents return, or an awaitable of it
        """Decide and run; return one agent's output, or name -> output with a threshold.

        Args:
            given: Arguments whose names are not free to be given as below.
            context: Further arguments of the agents that the deciding model does not see.
            save: Called with the `AgentState` after the decision and after each agent, to store it.
            arguments: What the decision is about and what the agents are called with: plain values.

        Raises:
            QuestionError: There is no argument, or one is not a plain value.
            Refused, UndecidedError, ProviderError: There is no decision.
        """
        named = {**(given or {}), **arguments}
        return self._start(self.decide(named), _apart(context, named), save)

    def resume(
        self,
        state: AgentState,
        *,
        context: Mapping[str, Any] | None = None,
        save: Save | None = None,
    ) -> Any:  # noqa: ANN401 - as `__call__`
        """Run the agents that have not finished and return what the first call would have; nothing is asked again.

        Raises:
            ConfigError: The state names an agent that is not configured.
        """
        for name in state.agents:
            if name not in self.agents:
                raise ConfigError(f"the state waits for agent {name!r}, which is not configured")
        if self.threshold is None and len(state.agents) != 1:
            raise ConfigError(
                f"the state holds {len(state.agents)} agents; without a threshold one takes a request"
            )
        return self._start(_settled(state), _apart(context, state.arguments), save)

    def decide(self, arguments: Mapping[str, Any]) -> Flow[AgentState]:
        """Choose agents for a request without running them.

        Raises:
            QuestionError: There is no argument, or one is not a plain value.
            Refused, UndecidedError, ProviderError: There is no decision.
        """
        if not isinstance(arguments, Mapping) or not arguments:
            raise QuestionError("there is nothing to decide about; give the request's arguments by name")
        return self._decided(freeze_values(arguments, "arguments"))

    def _decided(self, given: Mapping[str, Any]) -> Flow[AgentState]:
        if not self._questions:
            return AgentState(given, tuple(self.agents))
        outcomes = yield from ask_all(self._questions, given)
        if self.threshold is None:
            chosen, shares = _best(unwrapped(outcomes[0]))
        else:
            shares = dict(zip(self.agents, map(yes_of, outcomes), strict=True))
            chosen = [name for name, p in shares.items() if p >= self.threshold]
        get_logger("routers").info("agents_chosen", agents=chosen, probabilities=shares)
        return AgentState(given, tuple(chosen), FrozenDict(shares))

    def _start(self, deciding: Flow[AgentState], context: dict[str, Any], save: Save | None) -> Any:  # noqa: ANN401
        model = self._asked()
        run = _Run(self, context, save)
        return run.aend(model.run(deciding)) if is_async(model) else run.end(model.run(deciding))

    def _asked_of(self, question: str | None, template: QuestionTemplate) -> dict[str, Question[Any]]:
        texts = {name: agent.description for name, agent in self.agents.items()}
        if self.threshold is not None:
            return {
                f"agent{number}": YesNo(template.text(name=name, description=text))
                for number, (name, text) in enumerate(texts.items(), start=1)
            }
        if len(texts) == 1:
            return {}
        options = {name: text or None for name, text in texts.items()}
        try:
            return {"agent": Choice(question or layer_question("agents"), options)}
        except QuestionError as error:
            raise ConfigError(f"the agents cannot be offered: {error}") from error

    def _refuse_coroutines(self) -> None:
        if self.model is None or is_async(self.model):
            return
        for name, agent in self.agents.items():
            if is_coroutine_function(agent.call):
                raise ConfigError(
                    f"agent {name!r} is a coroutine function; it needs an AsyncDecisionModel as `model`"
                )


class _Run:
    """One request on its way through its agents."""

    def __init__(self, router: AgentRouter, context: dict[str, Any], save: Save | None) -> None:
        self.router = router
        self.context = context
        self.save = save
        self.state: AgentState

    def end(self, state: AgentState) -> Any:  # noqa: ANN401 - what agents return
        self._keep(state)
        run_each(self._calls(), self._done)
        return self._result()

    async def aend(self, deciding: Awaitable[AgentState]) -> Any:  # noqa: ANN401 - what agents return
        told = self._keep(await deciding)
        if isawaitable(told):
            await told
        await arun_each(self._calls(), self._done)
        return self._result()

    def _calls(self) -> dict[str, Callable[[], Any]]:
        arguments = {**thawed(self.state.arguments), **self.context}
        return {name: partial(self.router.agents[name].call, **arguments) for name in self.state.waiting}

    def _keep(self, state: AgentState) -> Any:  # noqa: ANN401 - what `save` returns
        self.state = state
        return None if self.save is None else self.save(state)

    def _done(self, name: str, output: Any) -> Any:  # noqa: ANN401 - what agents and `save` return
        return self._keep(replace(self.state, outputs=FrozenDict({**self.state.outputs, name: output})))

    def _result(self) -> Any:  # noqa: ANN401 - what agents return
        outputs = {name: self.state.outputs[name] for name in self.state.agents}
        return outputs[self.state.agents[0]] if self.router.threshold is None else outputs


def _settled(state: AgentState) -> Flow[AgentState]:
    yield from ()
    return state


def _best(answer: Any) -> tuple[list[str], dict[str, float]]:  # noqa: ANN401 - checked by the doorman
    if not isinstance(answer, ChoiceAnswer):
        raise AnswerError(f"agents were chosen by a {type(answer).__name__}, not by a choice")
    return [answer.value], dict(answer.probabilities)


def _apart(context: Mapping[str, Any] | None, arguments: Mapping[str, Any]) -> dict[str, Any]:
    for name in context or {}:
        if name in arguments:
            raise QuestionError(f"{name!r} is an argument and in `context` too; give it once")
    return dict(context or {})


def _checked_inside(threshold: Any) -> float | None:  # noqa: ANN401 - user input
    if threshold is None:
        return None
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold < 1:
        raise ConfigError(f"`threshold` must be a number between 0 and 1, neither of them, not {threshold!r}")
    return float(threshold)


def _checked_agents(agents: Any) -> Mapping[str, Agent]:  # noqa: ANN401 - user input
    found: dict[str, Agent] = {}
    try:
        pairs = [(name, agent) for name, agent in (agents.items() if isinstance(agents, Mapping) else agents)]
    except (TypeError, ValueError):
        raise ConfigError("`agents` must be a mapping of names to functions, or pairs of them") from None
    if not pairs:
        raise ConfigError("there is no agent; give at least one")
    for name, given in pairs:
        agent = given if isinstance(given, Agent) else Agent(given)
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"an agent's name must be a text that is not blank, not {name!r}")
        if name in found:
            raise ConfigError(f"there are two agents named {name!r}; rename one")
        if not callable(agent.call):
            raise ConfigError(f"agent {name!r} must be a function, not a {type(agent.call).__name__}")
        if not isinstance(agent.description, str):
            raise ConfigError(f"the description of agent {name!r} must be a text")
        found[name] = agent
    return FrozenDict(found)
