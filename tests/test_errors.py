import copy
import inspect
import pickle
import re

import pytest

from yesno import errors
from yesno.errors import (
    AuditError,
    DataError,
    DeadlineExceeded,
    NoAnswer,
    PendingStateError,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    QuestionError,
    Refused,
    RiskNotKept,
    TooFewLabels,
    ToolLimitExceeded,
    YesnoError,
)
from yesno.questions import Refusal

FIELDS = {"provider": "p", "status": 418, "request_id": "r-1", "retry_after": 2.5}


def classes():
    return [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, YesnoError) and value.__module__ == errors.__name__
    ]


def made(cls):
    if issubclass(cls, ProviderRejected):
        return cls("what happened", param="top_logprobs", **FIELDS)
    if issubclass(cls, ProviderError):
        return cls("what happened", **FIELDS)
    if issubclass(cls, NoAnswer):
        return cls("what happened", outcome=Refusal(category="bio"))
    if issubclass(cls, TooFewLabels):
        return cls("what happened", needed=45, given=5)
    if issubclass(cls, RiskNotKept):
        return cls("what happened", best=0.2)
    if issubclass(cls, DataError):
        return cls("what happened", value=1.5)
    if issubclass(cls, PendingStateError):
        return cls("what happened", reason="expired")
    if issubclass(cls, ToolLimitExceeded):
        return cls("what happened", tool_name="search", limit=2, partial=["a run"])
    if issubclass(cls, AuditError):
        return cls("what happened", partial=["a run"])
    return cls("what happened")


def pickled(error):
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes


def tree():
    """Return class -> parent as the docstring draws them."""
    parents, stack = {}, {}
    for line in errors.__doc__.splitlines():
        found = re.match(r"(.*?)(\w+)(?:\s{2,}.*)?$", line)
        if found and hasattr(errors, found[2]) and (line[0] in "│├└ " or found[2] == "YesnoError"):
            depth = len(found[1]) // 4
            stack[depth] = found[2]
            parents[found[2]] = stack.get(depth - 1)
    return parents


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes():
    drawn = tree()
    assert drawn.pop("YesnoError") is None
    assert drawn == {cls.__name__: cls.__bases__[0].__name__ for cls in classes() if cls is not YesnoError}


def test_every_error_is_exported():
    assert errors.__all__ == sorted(cls.__name__ for cls in classes())


@pytest.mark.parametrize("cls", classes())
@pytest.mark.parametrize("clone", [pickled, copy.copy])
def test_every_error_survives_a_process_boundary_with_its_fields(cls, clone):
    error = made(cls)
    error.add_note("while testing")
    again = clone(error)
    assert type(again) is cls
    assert str(again) == "what happened"
    assert again.args == error.args
    assert vars(again) == vars(error)


def test_only_what_may_succeed_later_is_retryable():
    assert {cls for cls in classes() if getattr(cls, "retryable", False)} == {ProviderUnavailable}


def test_errors_are_caught_as_the_builtins_they_are():
    assert issubclass(QuestionError, ValueError)
    assert issubclass(DeadlineExceeded, TimeoutError)
    assert not issubclass(ProviderError, ValueError)


def test_a_refused_question_keeps_its_outcome():
    with pytest.raises(NoAnswer) as caught:
        raise Refused("no", outcome=Refusal("content_filter"))
    assert caught.value.outcome == Refusal("content_filter")


def test_a_provider_error_names_its_provider():
    with pytest.raises(TypeError, match="provider"):
        ProviderError("no provider given")
    error = ProviderUnavailable("down", provider="p")
    assert (error.status, error.request_id, error.retry_after) == (None, None, None)
