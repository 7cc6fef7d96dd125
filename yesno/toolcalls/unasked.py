"""Run flows that ask nothing, such as those of a manager without a gate, where there is no model to run them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar, cast

from yesno.errors import ConfigError
from yesno.flow import Ask, Flow, Later, arun, run
from yesno.questions import Outcome

__all__ = ["arun_without_model", "run_without_model"]

T = TypeVar("T")


def run_without_model(flow: Flow[T]) -> T:
    """Run a flow to its end.

    Raises:
        ConfigError: It asks something after all, or has an end to await.
    """
    return run(flow, _answer)


async def arun_without_model(flow: Flow[Later[T]]) -> T:
    """Run a flow to its end, and await that; raises as `run_without_model`."""

    async def answer(asks: Sequence[Ask]) -> Sequence[Outcome]:
        _answer(asks)

    result: T = await arun(cast("Flow[Any]", flow), answer)
    return result


def _answer(asks: Sequence[Ask]) -> NoReturn:
    raise ConfigError("this flow asks a model; run it with model.run(...)")
