"""A decision model for LangChain (`langchain-core`): `pip install 'yesno[langchain]'`.

```python
from langchain_core.decisions import Choice, Noul

from yesno import DecisionModel, FakeProvider
from yesno.integrations.langchain import YesnoDecisions

model = YesnoDecisions(DecisionModel(FakeProvider({"Yes": 0.9, "No": 0.1})))
response = model.invoke(
    {
        "state": "I was charged twice",
        "questions": {"billing": Noul(instructions="Is this about billing?")},
    }
)
assert round(response.nouls["billing"].noul, 3) == 0.9
```

LangChain's `BaseDecisionModel` has no refusal: a question that is refused or undecided raises, for the whole call. The
error is LangChain's and yesno's at once.

Read in langchain-core 1.8.3 (2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from yesno.errors import DeadlineExceeded, ProviderError, QuestionError, Refused, UndecidedError, YesnoError
from yesno.integrations._decisions import answers_of, asked_in
from yesno.integrations._shared import Decider, adecided, checked, decided, missing
from yesno.messages import Message, messages_of
from yesno.response import DecisionResponse
from yesno.wire.decisions import Asked

try:
    from langchain_core import exceptions
    from langchain_core.decisions import BaseDecisionModel, ClassifierResponse, Question, State
    from langchain_core.messages import BaseMessage
    from pydantic import Field
except ImportError as error:
    raise missing("langchain") from error

__all__ = ["DecisionRefused", "DecisionUndecided", "YesnoDecisions"]

_MEDIA = {"image", "image_url", "audio", "video", "file"}
_SOURCES = {"base64", "url", "image_url", "file_id", "data", "source"}
_BY_STATUS = {
    401: exceptions.ModelAuthenticationError,
    403: exceptions.ModelPermissionDeniedError,
    404: exceptions.ModelNotFoundError,
    429: exceptions.ModelRateLimitError,
}


class DecisionRefused(exceptions.ModelRefusalError, Refused):
    """The provider declined a question."""


class DecisionUndecided(exceptions.ModelError, UndecidedError):
    """The evidence for a question did not suffice."""


class YesnoDecisions(BaseDecisionModel):
    """Any model of yesno as a decision model of LangChain.

    Args:
        decision_model: A `yesno.DecisionModel` or a `yesno.AsyncDecisionModel`. The blocking one serves `ainvoke` from
            a thread; the asynchronous one cannot serve `invoke`.
        model: The name that LangChain traces show; by default that of the decision model.

    States and questions are text: an image, a sound or a file in them raises, and so does a `Box`. Messages may stand
    anywhere in a state.

    Raises:
        QuestionError: What is asked cannot be asked.
        DecisionRefused, DecisionUndecided: A question has no answer.
        langchain_core.exceptions.ModelError: The provider failed; a subclass says how.
    """

    decision_model: Any = Field(exclude=True, repr=False)

    def __init__(self, decision_model: Decider, *, model: str | None = None, **fields: Any) -> None:
        name = model or checked(decision_model).model_name or decision_model.provider_name
        # the base's signature, which pydantic gives it, knows no field of a subclass
        super().__init__(decision_model=decision_model, model=name, **fields)  # type: ignore[call-arg]

    @property
    def _provider(self) -> str:
        return str(self.decision_model.provider_name)

    def _classify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        with _in_their_terms():
            asked = _asked(state, questions)
            return self._response(asked, decided(self.decision_model, asked.request))

    async def _aclassify(self, state: State, questions: dict[str, Question]) -> ClassifierResponse:
        with _in_their_terms():
            asked = _asked(state, questions)
            return self._response(asked, await adecided(self.decision_model, asked.request))

    def _response(self, asked: Asked, response: DecisionResponse) -> ClassifierResponse:
        used = response.usage
        usage = used and {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
        body = {"model": response.model or self.model, "answers": answers_of(asked, response), "usage": usage}
        return ClassifierResponse.model_validate(body)


def _asked(state: State, questions: Mapping[str, Question]) -> Asked:
    if isinstance(state, BaseMessage) or _are_messages(state):
        plain: Any = _dicts(state)
    else:
        plain = _plain(state, "state")
    asked = {name: _plain(question.model_dump(), f"questions.{name}") for name, question in questions.items()}
    return asked_in(plain, asked)


def _are_messages(state: Any) -> bool:  # noqa: ANN401 - any state
    several = isinstance(state, Sequence) and not isinstance(state, str) and len(state) > 0
    return several and all(isinstance(item, BaseMessage) for item in state)


def _dicts(state: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a message or several
    return [_text_only(message).as_dict() for message in messages_of(state)]


def _text_only(message: Message) -> Message:
    for part in message.content:
        if part.type == "attachment":
            raise _no_media("the state", part.kind)
    return message


def _plain(value: Any, where: str) -> Any:  # noqa: ANN401 - JSON, with messages at any depth
    if isinstance(value, BaseMessage):
        dicts = _dicts(value)
        return dicts[0] if len(dicts) == 1 else dicts
    if isinstance(value, Mapping):
        if value.get("type") in _MEDIA and _SOURCES & value.keys():
            raise _no_media(where, str(value["type"]))
        return {str(key): _plain(item, where) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item, where) for item in value]
    return value


def _no_media(where: str, kind: str) -> QuestionError:
    return QuestionError(f"{where} holds media of type {kind!r}, and yesno asks about text; put it in words")


@contextmanager
def _in_their_terms() -> Iterator[None]:
    try:
        yield
    except YesnoError as error:
        theirs = _theirs(error)
        if theirs is None:
            raise
        raise theirs from error


def _theirs(error: YesnoError) -> Exception | None:
    """Return the error in LangChain's terms; None where it has none, such as for a question that cannot be asked."""
    match error:
        case Refused():
            refused = DecisionRefused(str(error))
            refused.outcome = error.outcome
            return refused
        case UndecidedError():
            return DecisionUndecided(str(error), outcome=error.outcome)
        case DeadlineExceeded():
            return exceptions.ModelTimeoutError(str(error))
        case ProviderError(status=int(status)) if status >= 400:
            other = exceptions.ModelAPIError if status >= 500 else exceptions.ModelInvalidRequestError
            return _BY_STATUS.get(status, other)(str(error))
        case ProviderError():
            return (exceptions.ModelConnectionError if error.retryable else exceptions.ModelError)(str(error))
        case _:
            return None
