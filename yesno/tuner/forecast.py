"""What asking a model takes, told before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from yesno.engine.labelling import shown_labels
from yesno.engine.sync import DecisionModel
from yesno.errors import ConfigError
from yesno.labelled import Item, kind_of, options_of
from yesno.reading.labels import LETTERS
from yesno.reading.priors import PROBES
from yesno.templates.render import render_turns
from yesno.tuner.plan import CALLS, Plan, planned

__all__ = ["Forecast", "forecast", "plan_for"]

PER_TOKEN = 4
"""Characters of a token, about, in European languages."""
PER_TURN = 4
SAMPLES = 5
"""Requests of a decision that is sampled, at least."""
LEAST_HEAT = 4
GROWN = 6
"""Worked examples of an average template that has some."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a plan will use at most, as far as that can be told."""

    calls: int
    tokens: int
    """Input and output, estimated at four characters a token."""
    usd: float | None
    """None when the price is unknown."""


def plan_for(
    model: DecisionModel,
    items: Sequence[Item],
    *,
    calls: int = CALLS,
    seed: int = 0,
    data: str | None = None,
    proposals: int = 0,
) -> Plan:
    """Return the largest search that the rows, the calls and the model allow.

    Args:
        model: Whom to ask.
        items: Labelled rows with questions of one type.
        calls: Most requests to send.
        seed: Fixes what is drawn.
        data: SHA-256 of all rows, for the card.
        proposals: Wordings that another model will be asked for.

    Raises:
        ConfigError: As `planned` does, or the model has a calibration already.
    """
    if model.asking.calibrations.cards:
        raise ConfigError(
            "templates are compared as read; leave out `calibration`, tuning makes one of its own"
        )
    steps = model.ladder.steps(model.model_name)
    why_not = None
    if steps[0] == "native":
        why_not = f"{model.provider_name} answers with prompts of its own, so there is no template to tune"
    per = _per_decision(model, items, sampled=steps[0] == "sampled")
    return planned(
        items,
        calls=calls,
        seed=seed,
        per_decision=per,
        probes=_probes(model, items),
        why_not=why_not,
        data=data,
        proposals=proposals,
    )


def _per_decision(model: DecisionModel, items: Sequence[Item], *, sampled: bool) -> int:
    if sampled:
        return SAMPLES
    most = max(len(options_of(item.question)) for item in items)
    limit = min(len(LETTERS), max(LEAST_HEAT, model.provider.profile.top_logprobs))
    heats = 1 if most <= limit else -(-most // limit) + 1
    orders = model.asking.orders
    return heats * (orders if isinstance(orders, int) else 1)


def _probes(model: DecisionModel, items: Sequence[Item]) -> int:
    """Return the requests that measure the priors of a template."""
    asked, policy, facts = (
        Counter(item.question for item in items),
        model.priors.policy,
        model.provider.profile.prior,
    )
    if policy == "content_free":
        return len(PROBES) * len(asked)
    if policy == "off" or facts is None or kind_of(items[0].question) not in facts.standing:
        return 0
    return len(PROBES) * sum(count > 1 for count in asked.values())


def forecast(plan: Plan, model: DecisionModel) -> Forecast:
    """Return what a plan will use: its calls, and tokens and dollars by the length of today's prompts."""
    template = model.asking.templates.template(plan.kind)
    rows = (plan.split.select or plan.split.held_out)[:50]
    texts = [
        (len(turns), sum(len(text) for _, text in turns), sum(len(text) for role, text in turns[-1:]))
        for turns in (render_turns(template, row.question, row.input, shown_labels) for row in rows)
    ]
    plain = fmean(chars / PER_TOKEN + PER_TURN * turns for turns, chars, _ in texts)
    extra = 0.0 if plan.size is None else GROWN * fmean(last for *_, last in texts) / PER_TOKEN
    grown = 0 if plan.size is None else plan.size.made
    share = grown / plan.templates
    tokens = round(plan.requests * (plain + share * extra))
    price = model.delivery.price_of(model.model_name)
    usd = None if price is None else price.most(tokens, plan.requests)
    return Forecast(plan.requests, tokens + plan.requests, usd)
