"""The cheapest model that suffices for a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias, Unpack

from yesno._checks import checked_share
from yesno._frozen import FrozenDict
from yesno.errors import ConfigError
from yesno.flow import Flow, ask_all
from yesno.messages import Input, Message
from yesno.prices import Price, price_for
from yesno.questions import YesNo
from yesno.routers.base import yes_of
from yesno.routers.chat import ROUNDING, ConversationRouter, ConversationSettings
from yesno.routers.routes import Route, RouteChoice, Routes
from yesno.templates.layers import QuestionTemplate

__all__ = ["CostRouter"]

BYTES_PER_TOKEN = 4
"""An estimate for the tokens of English text; other scripts need more, for all routes alike."""

Probabilities: TypeAlias = Mapping[str, float] | Callable[[tuple[Message, ...]], Mapping[str, float]]
"""Route -> probability that it suffices, or a function from the conversation to that."""


class CostRouter(ConversationRouter):
    """Choose the cheapest route that is likely to suffice for the user's last message.

    Each route is judged by a yes/no question of its own, all in one batch. Of those that reach `min_probability`
    the cheapest is taken; when none does, the most probable one, of equal ones the cheapest.

    Args:
        routes: Routes with a `price`, or with the name of a `model` whose price `yesno.prices` holds.
        min_probability: Least probability (0..1) of sufficing.
        probabilities: Route -> probability of sufficing, or a function from the conversation to that, from which
            the router chooses without asking; by default the model is asked.
        output_tokens: How long an answer is expected to be, for comparing prices; the input is estimated at four
            bytes per token of the messages.
        question_template: Your own question in Jinja; it must name `{{name}}` or `{{description}}`.
        settings: As for `ConversationRouter`.

    Raises:
        ConfigError: The price of a route is unknown, or a setting is impossible. An unknown price is never 0.
    """

    name: ClassVar[str] = "cost"

    def __init__(
        self,
        routes: Routes,
        *,
        min_probability: float = 0.8,
        probabilities: Probabilities | None = None,
        output_tokens: int = 500,
        question_template: str | None = None,
        **settings: Unpack[ConversationSettings],
    ) -> None:
        super().__init__(routes, **settings)
        self.min_probability = checked_share("min_probability", min_probability)
        if type(output_tokens) is not int or output_tokens < 0:
            raise ConfigError(f"`output_tokens` must be a whole number of at least 0, not {output_tokens!r}")
        self.output_tokens = output_tokens
        self.prices: Mapping[str, Price] = FrozenDict(
            {route.name: known_price(route) for route in self.routes}
        )
        """Route -> its price."""
        if probabilities is not None and not callable(probabilities):
            probabilities = self._checked(probabilities)
        self._given = probabilities
        names = ("name", "description")
        asked = QuestionTemplate("suffices", question_template, names, names)
        self._questions = {
            route.name: YesNo(asked.text(name=route.name, description="; ".join(route.descriptions)))
            for route in self.routes
        }

    @property
    def asks(self) -> bool:
        """Whether it needs a model to choose."""
        return self._given is None and len(self.routes) > 1

    def _answers(self, candidates: tuple[Route, ...], said: tuple[Message, ...], given: Input) -> Flow[Any]:
        if self._given is not None:
            shares = self._given if isinstance(self._given, Mapping) else self._checked(self._given(said))
            return {route.name: shares[route.name] for route in candidates}
        asked = {f"suffices{n}": self._questions[r.name] for n, r in enumerate(candidates, start=1)}
        outcomes = yield from ask_all(asked, given)
        return {route.name: yes_of(outcome) for route, outcome in zip(candidates, outcomes, strict=True)}

    def _choice(
        self, candidates: tuple[Route, ...], said: tuple[Message, ...], found: Mapping[str, float]
    ) -> RouteChoice:
        size = sum(len(part.encode("utf-8", "replace")) for message in said for part in _texts(message))
        costs = {
            route.name: self.prices[route.name].most(-(-size // BYTES_PER_TOKEN), self.output_tokens)
            for route in candidates
        }
        enough = [name for name, share in found.items() if share >= self.min_probability - ROUNDING]
        best = max(found.values())
        rivals = enough or [name for name, share in found.items() if share >= best - ROUNDING]
        chosen = min(rivals, key=lambda name: costs[name])
        return RouteChoice(
            chosen,
            FrozenDict(found),
            "chosen" if enough else "none_suffices",
            expected_usd=FrozenDict(costs),
        )

    def _checked(self, shares: Any) -> Mapping[str, float]:  # noqa: ANN401 - user input
        if not isinstance(shares, Mapping):
            raise ConfigError(f"`probabilities` must be a mapping of routes, not a {type(shares).__name__}")
        for route in self.routes:
            if route.name not in shares:
                raise ConfigError(f"`probabilities` lacks the route {route.name!r}")
        return FrozenDict(
            {r.name: checked_share(f"probabilities[{r.name!r}]", shares[r.name]) for r in self.routes}
        )


def known_price(route: Route) -> Price:
    """Return what a route's tokens cost.

    Raises:
        ConfigError: It is unknown.
    """
    provider, _, model = (route.model or "").partition(":")
    price = route.price or price_for(provider, model)
    if price is None:
        where = f"{route.model!r} is not in `yesno.prices`" if route.model else "it names no model"
        raise ConfigError(
            f"the price of route {route.name!r} is unknown ({where}); pass `price=Price(input, output)`, in dollars "
            "per million tokens"
        )
    return price


def _texts(message: Message) -> list[str]:
    return [message.text, *(call.arguments for call in message.tool_calls)]
