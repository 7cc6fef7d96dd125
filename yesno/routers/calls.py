"""Call targets and take what they return: a value, or pieces of one."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from functools import partial
from inspect import isawaitable, isgenerator
from typing import Any

from yesno.errors import ConfigError, QuestionError
from yesno.messages import Message
from yesno.routers.chunks import Chunks
from yesno.routers.parallel import acalled

__all__ = ["END", "acollected", "checked_call", "collected", "each_of", "refuse_asynchronous"]

END = object()
"""Stands for the end of an iterator."""


def checked_call(messages: Any, options: Mapping[str, Any]) -> list[Any]:  # noqa: ANN401 - any conversation
    """Return a conversation as a list.

    Raises:
        QuestionError: There is no message.
        ConfigError: The options ask for a stream.
    """
    if "stream" in options:
        raise ConfigError("`stream` is no option here; call the method `stream`")
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping | Message):
        return [messages]
    given = list(messages)
    if not given:
        raise QuestionError("there is no message; give at least one")
    return given


def collected(answer: Any, route: str) -> Any:  # noqa: ANN401 - any answer
    """Return an answer whole, also when it comes as an iterator.

    Raises:
        ConfigError: It comes as an asynchronous iterator.
    """
    refuse_asynchronous(answer, route)
    if not isinstance(answer, Iterator):
        return answer
    chunks = Chunks(keep=True)
    for piece in answer:
        chunks.add(piece)
    return chunks.everything()


async def acollected(answer: Any) -> Any:  # noqa: ANN401 - any answer
    """Return an answer whole, also when it comes as an iterator of either kind."""
    if not isinstance(answer, AsyncIterator | Iterator):
        return answer
    chunks = Chunks(keep=True)
    async for piece in each_of(answer):
        chunks.add(piece)
    return chunks.everything()


async def each_of(pieces: AsyncIterator[Any] | Iterator[Any]) -> AsyncGenerator[Any, None]:
    """Yield from an iterator of either kind, a blocking one in threads, and close it in the end."""
    try:
        if isinstance(pieces, AsyncIterator):
            async for piece in pieces:
                yield piece
        else:
            while (piece := await acalled(partial(next, pieces, END))) is not END:
                yield piece
    finally:
        busy = isgenerator(pieces) and pieces.gi_running  # in a thread that nobody waits for any more
        for name in () if busy else ("aclose", "close"):
            close = getattr(pieces, name, None)
            if callable(close):
                told = close()
                if isawaitable(told):
                    await told
                break


def refuse_asynchronous(answer: Any, route: str) -> None:  # noqa: ANN401 - any answer
    """Raise `ConfigError` for an asynchronous iterator."""
    if isinstance(answer, AsyncIterator) and not isinstance(answer, Iterator):
        raise ConfigError(f"the target of route {route!r} is asynchronous; use AsyncRoutingChatModel")
