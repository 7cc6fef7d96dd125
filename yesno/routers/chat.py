"""Which model should answer a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from typing import Any, ClassVar, Literal, Required, TypeAlias, TypedDict, Unpack

from yesno._checks import checked_share
from yesno._frozen import FrozenDict
from yesno.errors import AnswerError, ConfigError, NoProbabilities, QuestionError
from yesno.flow import Flow, Runner, outcome_of
from yesno.messages import Input, Message, Window, as_input, last_user_message, messages_of
from yesno.questions import Choice, ChoiceAnswer
from yesno.response import unwrapped
from yesno.routers.base import Router, attempt, checked_word, failure_word, warn
from yesno.routers.routes import Route, RouteChoice, Routes, checked_default, routes_of
from yesno.templates.layers import layer_question

__all__ = ["ROUNDING", "ChatRouter", "ConversationRouter", "ConversationSettings", "best_of"]

Fallback: TypeAlias = Literal["default_route", "fail"]

ROUNDING = 1e-9
"""Sums of probabilities are equal up to this."""


class ConversationSettings(TypedDict, total=False):
    """What all routers of conversations can be given; see `ConversationRouter`."""

    default: Required[str]
    fallback: Fallback
    max_messages: int
    max_message_length: int | None
    message_filter: Callable[[Message], bool] | None
    model: Runner | None


class ConversationRouter(Router):
    """What routers of conversations share: routes, a default among them, and what the model sees.

    Args:
        routes: Name -> description, descriptions or None; or a list of `Route` and names.
        default: The route for when there is nothing to decide about or the decision fails.
        fallback: `"default_route"`, or `"fail"` to raise what went wrong with the decision.
        max_messages: Most messages that the deciding model sees, system messages and the newest of the user apart.
        max_message_length: Most characters of each that it sees, system messages apart.
        message_filter: Whether it may see a message at all.
        model: For calling the router directly.
    """

    def __init__(
        self,
        routes: Routes,
        *,
        default: str | None = None,
        fallback: Fallback = "default_route",
        max_messages: int = 10,
        max_message_length: int | None = 2000,
        message_filter: Callable[[Message], bool] | None = None,
        model: Runner | None = None,
    ) -> None:
        super().__init__(model)
        self.routes = routes_of(routes)
        """What was configured, in order."""
        self.default = checked_default(default, self.routes)
        """The name of the default route."""
        self.fallback = checked_word("fallback", fallback, ("default_route", "fail"))
        self.window = Window(max_messages, max_message_length, message_filter)

    def __call__(self, messages: Any) -> Any:  # noqa: ANN401 - see `Runner`
        """Return the `RouteChoice` for a conversation; to be awaited when the model is asynchronous."""
        return self._run(self.route(messages))

    def route(self, messages: Any, among: Iterable[str] | None = None) -> Flow[RouteChoice]:  # noqa: ANN401
        """Choose a route for a conversation.

        Args:
            messages: A text, or messages in any shape that `messages_of` reads.
            among: Names of the routes that can be chosen; by default all.

        Raises:
            QuestionError: A message is of an unknown shape.
            ConfigError: `among` names no route, or an unknown one.
            NoProbabilities: There is a minimum, and the provider reports no probabilities.
            Refused, UndecidedError, ProviderError: With `fallback="fail"`.
        """
        candidates = self.among(among)
        if len(candidates) == 1:
            return RouteChoice(candidates[0].name, why="only_route")
        said = messages_of(messages)
        last = last_user_message(said)
        seen = self.window.cut(said) if last is not None and last.text.strip() else ()
        if all(message.role in ("system", "developer") for message in seen):
            return RouteChoice(self._default_of(candidates), why="no_user_text")
        found = yield from attempt(self._answers(candidates, said, as_input(seen)))
        if not isinstance(found, Exception):
            return self._choice(candidates, said, found)
        if self.fallback == "fail":
            raise found
        warn(self.name, "default_route", found)
        return RouteChoice(self._default_of(candidates), why=failure_word(found), error=found)

    @property
    def asks(self) -> bool:
        """Whether it needs a model to choose."""
        return len(self.routes) > 1

    def among(self, names: Iterable[str] | None) -> tuple[Route, ...]:
        """Return the routes of these names, in the order configured."""
        if names is None:
            return self.routes
        wanted = set(names)
        found = tuple(route for route in self.routes if route.name in wanted)
        unknown = sorted(wanted - {route.name for route in found})
        if unknown or not found:
            known = ", ".join(repr(route.name) for route in self.routes)
            raise ConfigError(
                f"there is no route {', '.join(map(repr, unknown)) or 'to choose'}; there are {known}"
            )
        return found

    def _default_of(self, candidates: Sequence[Route]) -> str:
        names = [route.name for route in candidates]
        return self.default if self.default in names else names[0]

    def _answers(self, candidates: tuple[Route, ...], said: tuple[Message, ...], given: Input) -> Flow[Any]:
        raise NotImplementedError

    def _choice(self, candidates: tuple[Route, ...], said: tuple[Message, ...], found: Any) -> RouteChoice:  # noqa: ANN401
        raise NotImplementedError


class ChatRouter(ConversationRouter):
    """Choose the route that is right for the user's last message, by one choice question.

    Args:
        routes: Name -> description, descriptions or None; or a list of `Route` and names. A route with one
            description, or none, is an option of its name; one with several has the options `name#1`, `name#2` and
            so on, and the sum of their probabilities.
        min_probability: Least probability (0..1) of the best route; below it the default route is taken. None
            always takes the best.
        question: Text of the question.
        settings: As for `ConversationRouter`.

    Ties go to the route that was configured first. A refusal, or too little evidence, is a failure of the decision.

    Raises:
        ConfigError: There is no route, two options have names that cannot be told apart, or a setting is impossible.
    """

    name: ClassVar[str] = "chat"

    def __init__(
        self,
        routes: Routes,
        *,
        min_probability: float | None = None,
        question: str | None = None,
        **settings: Unpack[ConversationSettings],
    ) -> None:
        super().__init__(routes, **settings)
        if question is not None and (not isinstance(question, str) or not question.strip()):
            raise ConfigError(f"`question` must be a text with something in it, not {question!r}")
        self.min_probability = (
            None if min_probability is None else checked_share("min_probability", min_probability)
        )
        self.question = layer_question("route") if question is None else question
        _options(self.routes)
        self._of_all = self._asking(self.routes) if len(self.routes) > 1 else None

    def _asking(self, candidates: tuple[Route, ...]) -> Choice:
        try:
            return Choice(self.question, [(name, text) for name, (_, text) in _options(candidates).items()])
        except QuestionError as error:
            raise ConfigError(f"the routes cannot be offered: {error}") from error

    def _answers(
        self, candidates: tuple[Route, ...], said: tuple[Message, ...], given: Input
    ) -> Flow[ChoiceAnswer]:
        asking = self._of_all if candidates == self.routes and self._of_all else self._asking(candidates)
        outcome = yield from outcome_of(asking, given, name="route")
        answer = unwrapped(outcome)
        if not isinstance(answer, ChoiceAnswer):
            raise AnswerError(f"the route was chosen by a {type(answer).__name__}, not by a choice")
        return answer

    def _choice(
        self, candidates: tuple[Route, ...], said: tuple[Message, ...], found: ChoiceAnswer
    ) -> RouteChoice:
        owners = {option: owner for option, (owner, _) in _options(candidates).items()}
        if not found.probabilities:
            if self.min_probability is not None:
                raise NoProbabilities(
                    "`min_probability` is set, and the provider reports no probabilities; set it to None"
                )
            return RouteChoice(owners[found.value])
        shares = {
            route.name: min(
                1.0, fsum(found.probabilities.get(o, 0.0) for o in owners if owners[o] == route.name)
            )
            for route in candidates
        }
        best = best_of(shares)
        if self.min_probability is not None and shares[best] < self.min_probability - ROUNDING:
            return RouteChoice(self._default_of(candidates), FrozenDict(shares), "below_minimum")
        return RouteChoice(best, FrozenDict(shares))


def best_of(shares: Mapping[str, float]) -> str:
    """Return the name with the greatest share; of equal ones the first."""
    most = max(shares.values())
    return next(name for name, share in shares.items() if share >= most - ROUNDING)


def _options(routes: Iterable[Route]) -> dict[str, tuple[str, str]]:
    """Return option -> the route it belongs to and its description."""
    found: dict[str, tuple[str, str]] = {}
    for route in routes:
        several = len(route.descriptions) > 1
        for number, text in enumerate(route.descriptions or (route.name,), start=1):
            option = f"{route.name}#{number}" if several else route.name
            if option in found:
                raise ConfigError(
                    f"the option {option!r} stands for the routes {found[option][0]!r} and {route.name!r}; "
                    "rename one of them"
                )
            found[option] = (route.name, text)
    return found
