"""Targets for the clients of the `openai` and `anthropic` SDKs.

The caller makes the client; nothing here imports an SDK. With an asynchronous client the target is asynchronous.
Methods and arguments as in openai 3.57.0 and anthropic 2.14.0 (2026-11).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from inspect import iscoroutinefunction, unwrap
from typing import Any

from yesno.errors import ConfigError, QuestionError
from yesno.messages import Message, TextPart

__all__ = ["SDKTarget", "anthropic_messages", "openai_chat", "openai_responses"]


class SDKTarget:
    """One model behind a method of an SDK's client; called with messages and options, or streamed from."""

    def __init__(
        self,
        create: Callable[..., Any],
        *,
        place: str,
        defaults: dict[str, Any],
        shape: Callable[[Message], dict[str, Any]],
        open_stream: Callable[..., Any] | None = None,
    ) -> None:
        self._create = create
        self._place = place
        self._defaults = defaults
        self._open_stream = open_stream
        self._shape = shape
        self.is_coroutine = iscoroutinefunction(unwrap(create))
        """Whether a call has to be awaited."""

    def __call__(self, messages: Any, /, **options: Any) -> Any:  # noqa: ANN401 - an SDK's objects
        """Return the reply to a conversation, or an awaitable of it."""
        return self._create(**{**self._defaults, self._place: self._told(messages), **options})

    def stream(self, messages: Any, /, **options: Any) -> Any:  # noqa: ANN401 - an SDK's objects
        """Return an iterator, or an asynchronous one, of what arrives."""
        given = {**self._defaults, self._place: self._told(messages), **options}
        if self._open_stream is None:
            return self._create(**given, stream=True)
        manager = self._open_stream(**given)
        return _entered(manager) if hasattr(manager, "__enter__") else _aentered(manager)

    def _told(self, messages: Any) -> Any:  # noqa: ANN401 - an SDK's own shapes, or ours
        if isinstance(messages, list | tuple):
            return [self._shape(m) if isinstance(m, Message) else m for m in messages]
        return messages


def openai_chat(client: Any, model: str, **defaults: Any) -> SDKTarget:  # noqa: ANN401 - duck-typed
    """Answer with `client.chat.completions.create`.

    Args:
        client: An `openai.OpenAI` or `openai.AsyncOpenAI`, or one with the same methods.
        model: The model's name.
        defaults: Arguments of every call, such as `temperature`; a call's own win.

    Raises:
        ConfigError: The client has no such method.
    """
    return SDKTarget(
        _method(client, "chat.completions.create"),
        place="messages",
        defaults={"model": model, **defaults},
        shape=_chat_shape,
    )


def openai_responses(client: Any, model: str, **defaults: Any) -> SDKTarget:  # noqa: ANN401 - duck-typed
    """Answer with `client.responses.create`; the arguments are those of `openai_chat`."""
    return SDKTarget(
        _method(client, "responses.create"),
        place="input",
        defaults={"model": model, **defaults},
        shape=_text_shape,
    )


def anthropic_messages(
    client: Any,  # noqa: ANN401 - duck-typed
    model: str,
    *,
    max_tokens: int = 4096,
    **defaults: Any,
) -> SDKTarget:
    """Answer with `client.messages.create`, and stream with `client.messages.stream`.

    Args:
        client: An `anthropic.Anthropic` or `anthropic.AsyncAnthropic`, or one with the same methods.
        model: The model's name.
        max_tokens: Most tokens of an answer, which this API wants to know.
        defaults: Arguments of every call, such as `system`; a call's own win.

    Raises:
        ConfigError: The client has no such method.
    """
    return SDKTarget(
        _method(client, "messages.create"),
        place="messages",
        defaults={"model": model, "max_tokens": max_tokens, **defaults},
        shape=_text_shape,
        open_stream=_method(client, "messages.stream"),
    )


def _chat_shape(message: Message) -> dict[str, Any]:
    return {key: value for key, value in message.as_dict().items() if key != "attributes"}


def _text_shape(message: Message) -> dict[str, Any]:
    if (
        message.role == "tool"
        or message.tool_calls
        or not all(isinstance(p, TextPart) for p in message.content)
    ):
        raise QuestionError(
            "this API takes calls, results and attachments in its SDK's own shapes; give them as dicts in place of Message"
        )
    return {"role": message.role, "content": message.text}


def _method(client: Any, path: str) -> Callable[..., Any]:  # noqa: ANN401 - duck-typed
    found: Any = client
    for name in path.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise ConfigError(f"a {type(client).__name__} has no `{path}`; pass a client of the SDK")
    method: Callable[..., Any] = found
    return method


def _entered(manager: Any) -> Iterator[Any]:  # noqa: ANN401 - an SDK's object
    with manager as events:
        yield from events


async def _aentered(manager: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - an SDK's object
    async with manager as events:
        async for event in events:
            yield event
