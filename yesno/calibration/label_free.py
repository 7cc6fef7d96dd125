"""Priors without labels, as flows: a model is asked, and what it favours goes on a card instead of into each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from yesno.calibration.applying import shares_read
from yesno.calibration.calibrators import LabelPrior
from yesno.calibration.cards import Calibration
from yesno.calibration.subjects import AskedQuestion, Kind, Subject, labels_in
from yesno.errors import ConfigError
from yesno.flow import Ask, Flow
from yesno.messages import InputLike
from yesno.questions import Answer, Choice, Outcome, Question, Scale, YesNo

__all__ = ["label_free_card"]


def label_free_card(
    question: YesNo | Choice | Scale, inputs: Iterable[InputLike], *, provider: str, model: str
) -> Flow[Calibration]:
    """Return the flow that asks a question of a batch of inputs and puts what the model favours on a card.

    The mean answer is taken for what the model says whatever the input is (batch calibration: Zhou et al. 2023, arXiv
    2309.17249). That is right where the labels are equally frequent among the inputs, and wrong where yes is rare; use
    labels when there are any. `DecisionModel(prior="content_free")` measures a prior of inputs without content instead.

    Run it with a model of `prior="off"`:
    `card = model.run(label_free_card(question, texts, provider=model.provider_name, model=model.model_name))`.

    Args:
        question: The only question that the card is for.
        inputs: What it is asked of; 20 to 50 will do.
        provider: Name of the provider that is asked.
        model: Name of the model that is asked.

    Raises:
        ConfigError: An input has no answer, an option was not listed, or answers were calibrated, had a prior taken
            out, or came about in different ways.
    """
    given = [*inputs]
    if not given:
        raise ConfigError("a prior needs at least one input to ask the question of")
    outcomes = yield [Ask(question, one) for one in given]
    shares = [_shares(question, outcome, number) for number, outcome in enumerate(outcomes, start=1)]
    subject = _subject(question, [o for o in outcomes if isinstance(o, Answer)], provider, model)
    return Calibration(subject, LabelPrior.of_batch(shares))


def _shares(question: Question[Any], outcome: Outcome, number: int) -> Sequence[float]:
    """Return the probabilities of all labels of an answer.

    Raises:
        ConfigError: It has none, a label was bounded and not read, or they are not as read.
    """
    where = f"input {number}"
    if not isinstance(outcome, Answer):
        raise ConfigError(f"{where} has no answer ({outcome.reason}); a prior needs one of every input")
    if outcome.missing:
        raise ConfigError(
            f"{where}: the provider did not list {outcome.missing[0]!r}, and a prior is no guess"
        )
    if outcome.calibrated or "prior" in outcome.flags:
        raise ConfigError(
            f"{where} was corrected already; ask a model without a calibration and with prior='off'"
        )
    shares = shares_read(question, outcome)
    if shares is None:
        raise ConfigError(f"{where} has an answer without the probability of each option")
    return shares


def _subject(question: Question[Any], answers: Sequence[Answer], provider: str, model: str) -> Subject:
    ways = {(answer.method, answer.template, "orders" in answer.flags) for answer in answers}
    if len(ways) > 1:
        raise ConfigError(
            "the answers came about in different ways; name one `strategy`, and a number of `orders`"
        )
    ((method, template, orders),) = ways
    if method is None:
        raise ConfigError("the answers do not say how they came about, and a card is for one method")
    kind: Kind = (
        "yes_no" if isinstance(question, YesNo) else "choice" if isinstance(question, Choice) else "scale"
    )
    count = labels_in(question)
    asked = AskedQuestion.of(question)
    return Subject(provider, model, method, template, kind, count, count, asked, prior=False, orders=orders)
