"""Put rows to a model with one template."""

from __future__ import annotations

import contextvars
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from functools import partial
from itertools import count
from threading import Event

from yesno.engine.batches import SINGLE
from yesno.engine.ending import ends_run
from yesno.engine.sync import DecisionModel
from yesno.errors import YesnoError
from yesno.labelled import Item
from yesno.questions import Outcome
from yesno.response import Failure

__all__ = ["asked"]

MOST_FAILED = 0.2
"""Share (0..1) of rows whose requests may fail, after retries, before the run ends."""
LEAST_FAILED = 4


def asked(
    model: DecisionModel, items: Sequence[Item], on_done: Callable[[], None]
) -> dict[str, Outcome | Failure]:
    """Return row id -> outcome, in the order of the rows; as many requests at once as the model allows.

    Raises:
        BudgetExceeded: A request does not fit into the budget.
        ConfigError, ProviderError: No row can be answered, or more than a fifth were not.
    """
    repeated = Counter(item.question for item in items)
    model.announce({str(i): question for i, question in enumerate(repeated) if repeated[question] > 1})

    hopeless, failed = Event(), count(1)

    def one(item: Item) -> Outcome | Failure:
        if hopeless.is_set():
            raise CancelledError
        try:
            found: Outcome | Failure = model.decide(item.input, {SINGLE: item.question}).outcome(SINGLE)
        except YesnoError as error:
            if ends_run(error) or next(failed) > max(LEAST_FAILED, MOST_FAILED * len(items)):
                hopeless.set()
                raise
            found = Failure(error)
        on_done()
        return found

    with ThreadPoolExecutor(model.concurrency, thread_name_prefix="yesno-tune") as pool:
        futures = [pool.submit(partial(contextvars.copy_context().run, one, item)) for item in items]
        wait(futures, return_when=FIRST_EXCEPTION)
        for future in futures:
            future.cancel()
    for error in (future.exception() for future in futures if not future.cancelled()):
        if error is not None and not isinstance(error, CancelledError):
            raise error
    outcomes = [future.result() for future in futures]
    return {item.id: outcome for item, outcome in zip(items, outcomes, strict=True)}
