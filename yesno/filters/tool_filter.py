"""Offer a model only the tools that help with what the user asks for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar, get_args, overload

from yesno._log import get_logger
from yesno.errors import ConfigError, NoAnswer, ProviderError, YesnoError
from yesno.filters._selector import Judged, Selector
from yesno.filters._sources import is_dynamic, offered
from yesno.filters._verdicts import Reason, ToolSelection, ToolVerdict
from yesno.flow import Flow, Runner, run_with
from yesno.messages import Message, Window, as_input, last_user_message, messages_of, with_user_text
from yesno.tools import Tool, tools_of

__all__ = ["FilteredTools", "ToolFilter", "query_of"]

T = TypeVar("T")

Fallback: TypeAlias = Literal["all_tools", "no_tools", "fail"]


_SHORT = 40
"""Characters; a shorter message of the user may only point at earlier ones."""


class ToolFilter:
    """Keeps the tools that help with the user's last message, and their order.

    `model.run(ToolFilter().select(tools, messages))` gives the tools to send to the chat model; with `model=` it is
    `ToolFilter(model=model)(tools, messages)`. One yes/no question is asked per tool.

    Never asked about, and always kept: tools in `always_include`, tools marked always visible, and tools that the
    conversation calls, because some hosts refuse a conversation that calls a tool they are not given. When the user
    wrote no text, such as an image alone, all tools are kept and nothing is asked.

    Args:
        min_probability: Least probability (0..1) that a tool helps.
        max_results: Most tools to keep besides those always kept; the most probable, of equal ones the earlier.
        max_tools_per_request: Tools to ask about at once; batches follow each other. By default all are one batch.
        always_include: Names of tools to keep in any case; others may not be offered at all.
        max_messages, max_message_length, message_filter: The part of the conversation to ask about; see `Window`.
        fallback: What to keep when the model fails, refuses a question or says too little: `"all_tools"`,
            `"no_tools"` (those always kept) or `"fail"` (raise the error). The first two log a warning.
        question_template: Your own question in Jinja; it must name `{{name}}` and may name `{{description}}`.
        shortlist: Most tools to ask about, those whose words fit the user's messages best (BM25; extra `search`).
        model: The model to ask when the filter is called; a `DecisionModel` or an `AsyncDecisionModel`.

    Raises:
        ConfigError: A setting is impossible, or `shortlist` needs a package that is missing.
    """

    def __init__(
        self,
        *,
        min_probability: float = 0.5,
        max_results: int | None = None,
        max_tools_per_request: int | None = None,
        always_include: Collection[str] | None = (),
        max_messages: int = 10,
        max_message_length: int | None = 2000,
        message_filter: Callable[[Message], bool] | None = None,
        fallback: Fallback = "all_tools",
        question_template: str | None = None,
        shortlist: int | None = None,
        model: Runner | None = None,
    ) -> None:
        self.window = Window(max_messages, max_message_length, message_filter)
        self.always_include = _names(always_include)
        if fallback not in get_args(Fallback):
            raise ConfigError(f"`fallback` must be one of {', '.join(get_args(Fallback))}, not {fallback!r}")
        self.fallback: Fallback = fallback
        self._selector = Selector.checked(
            min_probability=min_probability,
            max_results=max_results,
            max_tools_per_request=max_tools_per_request,
            question_template=question_template,
            shortlist=shortlist,
        )
        self._model = model

    def __call__(self, tools: object, messages: object, *, user_message: str | None = None) -> Any:  # noqa: ANN401 - as `Runner.run`
        """Return what `model.run` gives for `select`: the tools, or an awaitable of them with an async model.

        Raises:
            ConfigError: The filter was made without a model.
        """
        return run_with(self._model, self.select(tools, messages, user_message=user_message))

    @overload
    def select(self, tools: None, messages: object, *, user_message: str | None = None) -> Flow[None]: ...
    @overload
    def select(
        self, tools: Iterable[T], messages: object, *, user_message: str | None = None
    ) -> Flow[list[T]]: ...
    @overload
    def select(
        self, tools: object, messages: object, *, user_message: str | None = None
    ) -> Flow[list[Any] | None]: ...
    def select(self, tools: object, messages: object, *, user_message: str | None = None) -> Flow[Any]:
        """Return the flow that picks the tools.

        Args:
            tools: Tools in any shape that `yesno.tools.tool_of` reads; or a function, or an object with `tools`,
                that gives them.
            messages: The conversation in any shape that `yesno.messages.messages_of` reads.
            user_message: What the user wrote, when the newest user message holds more, such as retrieved passages;
                it stands in for that message's text, or comes last when that message is answered already.

        Returns:
            The caller's own objects, in their order. None when `tools` gives None.

        Raises:
            ToolDefinitionError, QuestionError: A tool or a message cannot be read.
            YesnoError: The model failed, and `fallback` is `"fail"`.
        """
        given = offered(tools)
        if given is None:
            return None
        return (yield from self._explain(given, messages, user_message)).tools

    def explain(
        self,
        tools: object,
        messages: object,
        *,
        user_message: str | None = None,
    ) -> Flow[ToolSelection[Any]]:
        """Return the flow that does what `select` does and says why; its result prints as a table."""
        return (yield from self._explain(offered(tools) or [], messages, user_message))

    def over(self, source: object) -> FilteredTools:
        """Return a source of tools that is filtered by this filter."""
        return FilteredTools(self, source)

    def _explain(self, given: list[T], messages: object, user_message: str | None) -> Flow[ToolSelection[T]]:
        tools = tools_of(given)
        conversation = messages_of(messages)
        if user_message is not None and user_message.strip():
            conversation = with_user_text(conversation, user_message)
        kept_anyway = self._kept_anyway(tools, conversation)
        candidates = [place for place in range(len(tools)) if place not in kept_anyway]
        if not candidates:
            return _selection(given, tools, kept_anyway)
        newest = last_user_message(conversation)
        if newest is None or not newest.has_text:
            return _selection(given, tools, kept_anyway, others="no_user_text")
        seen = self.window.cut(conversation)
        if not any(message.content or message.tool_calls for message in seen):
            return _selection(given, tools, kept_anyway, others="nothing_to_show")
        try:
            judged = yield from self._selector.judge(
                [tools[place] for place in candidates], as_input(seen), query_of(seen, newest)
            )
        except YesnoError as error:
            if self.fallback == "fail":
                raise
            self._warn(error, len(candidates))
            return _selection(
                given, tools, kept_anyway, error=error, keep_others=self.fallback == "all_tools"
            )
        return _selection(given, tools, kept_anyway, judged=judged, candidates=candidates)

    def _kept_anyway(self, tools: Sequence[Tool], conversation: Iterable[Message]) -> dict[int, Reason]:
        called = {call.name for message in conversation for call in message.tool_calls}
        reasons: dict[int, Reason] = {}
        for place, tool in enumerate(tools):
            if tool.name in self.always_include:
                reasons[place] = "always_included"
            elif tool.always_visible:
                reasons[place] = "always_visible"
            elif tool.name in called:
                reasons[place] = "called_before"
        return reasons

    def _warn(self, error: YesnoError, count: int) -> None:
        outcome = error.outcome if isinstance(error, NoAnswer) else None
        get_logger("filters").warning(
            "tool_filter_fell_back",
            fallback=self.fallback,
            error=type(error).__name__,
            reason=getattr(outcome, "reason", None),
            status=error.status if isinstance(error, ProviderError) else None,
            tools=count,
        )


@dataclass(frozen=True, slots=True)
class FilteredTools:
    """A source of tools and the filter before it.

    `is_dynamic` says whether the source may offer other tools at its next call: then select again before every
    request to the chat model, otherwise once per message of the user.
    """

    filter: ToolFilter
    source: Any = field(repr=False)

    @property
    def is_dynamic(self) -> bool:
        """Whether the source says so itself; a function is dynamic, a list is not."""
        return is_dynamic(self.source)

    def select(self, messages: object, *, user_message: str | None = None) -> Flow[list[Any] | None]:
        """Ask the source for its tools and return the flow that picks from them; see `ToolFilter.select`."""
        return self.filter.select(self.source, messages, user_message=user_message)

    def explain(self, messages: object, *, user_message: str | None = None) -> Flow[ToolSelection[Any]]:
        """Do what `select` does and say why."""
        return self.filter.explain(self.source, messages, user_message=user_message)

    def __call__(self, messages: object, *, user_message: str | None = None) -> Any:  # noqa: ANN401 - as `Runner.run`
        """Return what the filter's model gives for `select`."""
        return self.filter(self.source, messages, user_message=user_message)


def _names(names: Collection[str] | None) -> frozenset[str]:
    if names is None:
        return frozenset()
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"`always_include` must be a list of tools' names, not {names!r}")
    return frozenset(names)


def query_of(seen: Sequence[Message], newest: Message) -> str:
    """Return the words that a shortlist looks for: the newest message of the user.

    When it is as short as "yes, the second one", the user's earlier messages come along, and it counts three times.
    """
    said = [message.text for message in seen if message.role == "user"]
    if not said:
        return "\n".join(message.text for message in seen)
    if newest.text not in said:  # the message filter took it
        newest = Message("user", said[-1])
    return newest.text if len(newest.text) >= _SHORT else "\n".join([*said, newest.text, newest.text])


def _selection(
    given: list[T],
    tools: Sequence[Tool],
    kept_anyway: Mapping[int, Reason],
    *,
    others: Reason = "fallback",
    keep_others: bool = True,
    judged: Judged | None = None,
    candidates: Sequence[int] = (),
    error: YesnoError | None = None,
) -> ToolSelection[T]:
    found = {} if judged is None else _judged_verdicts(tools, candidates, judged)
    verdicts = []
    for place, tool in enumerate(tools):
        if place in kept_anyway:
            verdicts.append(ToolVerdict(tool.name, kept=True, reason=kept_anyway[place]))
        else:
            verdicts.append(found.get(place) or ToolVerdict(tool.name, kept=keep_others, reason=others))
    kept = [item for item, verdict in zip(given, verdicts, strict=True) if verdict.kept]
    return ToolSelection(kept, tuple(verdicts), error)


def _judged_verdicts(
    tools: Sequence[Tool], candidates: Sequence[int], judged: Judged
) -> dict[int, ToolVerdict]:
    verdicts, kept = {}, frozenset(judged.kept)
    for number, place in enumerate(candidates):
        reason: Reason = "improbable"
        if number in judged.cut:
            reason = "over_max_results"
        elif number not in judged.probabilities:
            reason = "not_shortlisted"
        elif number in kept:
            reason = "probable"
        verdicts[place] = ToolVerdict(
            tools[place].name, reason == "probable", reason, judged.probabilities.get(number)
        )
    return verdicts
