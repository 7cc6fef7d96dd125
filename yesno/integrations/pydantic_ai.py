"""A decision model and a tool filter for pydantic-ai (`pydantic-ai-slim`): `pip install 'yesno[pydantic-ai]'`.

```python
import asyncio

from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.capabilities import PrepareTools

from yesno import DecisionModel, FakeProvider
from yesno.integrations.pydantic_ai import YesnoModel, prepare_tools


class Ticket(BaseModel):
    billing: bool = Field(description="Is this about billing?")


model = DecisionModel(FakeProvider({"Yes": 0.9, "No": 0.1}))
agent = Agent(YesnoModel(model), output_type=Ticket)
assert asyncio.run(agent.run("I was charged twice")).output == Ticket(billing=True)

# an agent on any chat model, whose model sees only the tools that help
helper = Agent("test", capabilities=[PrepareTools(prepare_tools(model=model))])
```

`toolset.prepared(prepare_tools(model=model))` filters one toolset alone. pydantic-ai has a class `DecisionModel` of its
own, the base of `YesnoModel`; where this file says `yesno.DecisionModel` it means ours.

Read in pydantic-ai-slim 2.68.0 (2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import asdict
from typing import Any, ClassVar

from yesno.errors import (
    AsyncUnsupported,
    BudgetExceeded,
    ConfigError,
    ProviderError,
    QuestionError,
    Refused,
    UnreadableReply,
    YesnoError,
)
from yesno.filters import ToolFilter
from yesno.flow import Runner
from yesno.integrations._decisions import answers_of, asked_in
from yesno.integrations._shared import Decider, adecided, aran, checked, missing
from yesno.messages import Attachment, Message, ToolCall
from yesno.questions.choice import MAX_OPTIONS
from yesno.questions.scale import MAX_LEVELS

try:
    from pydantic_ai import RunContext, exceptions, messages
    from pydantic_ai.models import decision
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.usage import RequestUsage
except ImportError as error:
    raise missing("pydantic_ai") from error

__all__ = ["YesnoModel", "messages_of_run", "prepare_tools"]


class YesnoModel(decision.DecisionModel[None]):
    """Any model of yesno as a decision model of pydantic-ai: an agent's output type becomes questions.

    Args:
        decision_model: A `yesno.AsyncDecisionModel`, or a `yesno.DecisionModel`, which works in a thread.
        settings: Defaults of pydantic-ai; of what is sent, `timeout` counts (seconds for the whole decision).

    A refusal raises pydantic-ai's `ContentFilterError`. An undecided question raises `ModelAPIError`, as does a
    provider's failure (`ModelHTTPError` where there is a status), so that a `FallbackModel` goes on to the next
    model; a question that cannot be asked raises `UserError`, an unreadable reply `UnexpectedModelBehavior`. Images
    are refused. A `BudgetExceeded` goes through as it is.
    """

    max_choice_options: ClassVar[int | None] = MAX_OPTIONS
    max_score_levels: ClassVar[int | None] = MAX_LEVELS
    unsupported_settings = decision.DecisionModel.unsupported_settings | {
        "extra_body",
        "extra_headers",
        "max_retries",
    }

    def __init__(self, decision_model: Decider, *, settings: ModelSettings | None = None) -> None:
        self._decider = checked(decision_model)
        super().__init__(settings=settings)

    @property
    def model_name(self) -> str:
        """The model asked, as its provider calls it."""
        return self._decider.model_name or self._decider.provider_name

    @property
    def system(self) -> str:
        """The provider asked, as yesno calls it."""
        return self._decider.provider_name

    async def decide(
        self, request: decision.DecisionRequest, model_settings: decision.DecisionModelSettings
    ) -> decision.DecisionResponse:
        """Answer the questions of one request; pydantic-ai calls this."""
        if request.images:
            raise exceptions.UserError("yesno asks about text; describe the images in words")
        state: Any = request.state
        if not isinstance(state, str | dict | list):
            state = json.dumps(state)
        timeout = model_settings.get("timeout")
        try:
            asked = asked_in(
                state,
                {name: asdict(question) for name, question in request.questions.items()},
                timeout_s=timeout if isinstance(timeout, int | float) else None,
            )
            response = await adecided(self._decider, asked.request)
            answers = {name: _answer(answer) for name, answer in answers_of(asked, response).items()}
        except BudgetExceeded:
            raise  # or a `FallbackModel` would spend on
        except YesnoError as error:
            raise _theirs(error, self.model_name) from error
        used = response.usage
        usage = (
            RequestUsage()
            if used is None
            else RequestUsage(input_tokens=used.input_tokens, output_tokens=used.output_tokens)
        )
        return decision.DecisionResponse(
            answers=answers, model_name=response.model or self.model_name, usage=usage
        )


def _answer(answer: dict[str, Any]) -> decision.DecisionAnswer:
    match answer["type"]:
        case "noul":
            return decision.NoulAnswer(noul=answer["noul"])
        case "choice":
            return decision.ChoiceAnswer(
                choice=answer["choice"],
                confidence=answer["confidence"],
                probabilities=answer["probabilities"],
            )
        case _:
            return decision.ScoreAnswer(
                score=answer["score"],
                confidence=answer["confidence"],
                probabilities={int(level): share for level, share in answer["probabilities"].items()},
                legend={int(level): words for level, words in answer["legend"].items()},
            )


def _theirs(error: YesnoError, model_name: str) -> Exception:
    """Return the error in pydantic-ai's terms."""
    match error:
        case Refused():
            return exceptions.ContentFilterError(f"Content filter triggered: {error}")
        case QuestionError() | ConfigError() | AsyncUnsupported():
            return exceptions.UserError(str(error))
        case UnreadableReply():
            return exceptions.UnexpectedModelBehavior(str(error))
        case ProviderError(status=int(status)) if status >= 400:
            return exceptions.ModelHTTPError(
                status, model_name, hint=str(error), retry_after=error.retry_after
            )
        case _:
            return exceptions.ModelAPIError(model_name, str(error))


def prepare_tools(
    tool_filter: ToolFilter | None = None, *, model: Runner
) -> Callable[[RunContext[Any], list[ToolDefinition]], Awaitable[list[ToolDefinition]]]:
    """Return a function for `PrepareTools` or `toolset.prepared` that keeps the tools that help.

    Args:
        tool_filter: The filter; by default `ToolFilter()`. What happens when the decision fails is its `fallback`.
        model: A `yesno.DecisionModel`, which works in a thread, or a `yesno.AsyncDecisionModel`.

    One question is asked per tool and step of the agent; a cache answers equal ones.
    """
    chosen = tool_filter or ToolFilter()

    async def kept(ctx: RunContext[Any], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        return await aran(model, chosen.select(tool_defs, messages_of_run(ctx)))

    return kept


def messages_of_run(ctx: RunContext[Any]) -> list[Message]:
    """Return the conversation of an agent's run, without thinking and what pydantic-ai notes for itself.

    The agent's `instructions` are no message. An image, a sound or a file is its `Attachment`. A prompt that is not among the messages yet comes last.
    """
    found: list[Message] = []
    for message in ctx.messages:
        if isinstance(message, messages.ModelRequest):
            found += [said for part in message.parts for said in _requested(part)]
        else:
            found += _responded(message)
    prompted = any(message.role == "user" for message in found)
    if not prompted and ctx.prompt:
        found.append(Message("user", list(_parts(ctx.prompt))))
    return found


def _requested(part: Any) -> Iterator[Message]:  # noqa: ANN401 - one of many parts
    match part:
        case messages.SystemPromptPart():
            yield Message("system", part.content)
        case messages.UserPromptPart():
            yield Message("user", list(_parts(part.content)))
        case messages.ToolReturnPart():
            yield Message(
                "tool", part.model_response_str(), tool_call_id=part.tool_call_id, name=part.tool_name
            )


def _responded(message: messages.ModelResponse) -> list[Message]:
    texts = [part.content for part in message.parts if isinstance(part, messages.TextPart)]
    calls = [
        ToolCall(part.tool_name, part.args_as_json_str(), part.tool_call_id)
        for part in message.parts
        if isinstance(part, messages.ToolCallPart)
    ]
    return [Message("assistant", texts, tool_calls=calls)] if texts or calls else []


def _parts(content: Any) -> Iterator[str | Attachment]:  # noqa: ANN401 - a text, or parts of many kinds
    for item in [content] if isinstance(content, str) else content:
        match item:
            case str():
                yield item
            case messages.TextContent():
                yield item.content
            case messages.ImageUrl():
                yield Attachment("image")
            case messages.AudioUrl():
                yield Attachment("audio")
            case messages.VideoUrl():
                yield Attachment("video")
            case messages.BinaryContent() if item.is_image or item.is_audio or item.is_video:
                yield Attachment("image" if item.is_image else "audio" if item.is_audio else "video")
            case messages.CachePoint():
                continue
            case _:
                yield Attachment("file")
