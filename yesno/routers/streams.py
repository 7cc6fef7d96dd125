"""Answers that arrive in pieces; routing happens when the first piece is asked for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from types import TracebackType
from typing import Any, Self

from yesno.routers.chunks import Chunks
from yesno.routers.replies import RoutedResponse, routed
from yesno.routers.routes import RouteChoice

__all__ = ["AsyncRoutedStream", "RoutedStream"]


class _Stream:
    """What both kinds of streams know about their answer."""

    def __init__(self) -> None:
        self.choice: RouteChoice | None = None
        """The route and its probabilities; None before the first piece."""
        self.result: RoutedResponse | None = None
        """The whole answer with its messages; None before the end. Its `response` is None when the pieces are of an
        unknown shape."""
        self._chunks = Chunks()
        self._whole = True

    @property
    def route(self) -> str | None:
        """The name of the route; None before the first piece."""
        return None if self.choice is None else self.choice.route

    def _end(self) -> None:
        if self._whole and self.choice is not None and self.result is None:
            self.result = routed(self._chunks.response(), self.choice)


class RoutedStream(_Stream, Iterator[Any]):
    """Iterate over it for the pieces of an answer; leave it early with `close`, or use it as a context manager."""

    def __init__(self, pieces: Generator[RouteChoice | Any, None, None]) -> None:
        super().__init__()
        self._pieces = pieces

    def __next__(self) -> Any:  # noqa: ANN401 - what the target yields
        try:
            if self.choice is None:
                self.choice = next(self._pieces)
            piece = next(self._pieces)
        except StopIteration:
            self._end()
            raise
        except BaseException:
            self._whole = False
            raise
        self._chunks.add(piece)
        return piece

    def close(self) -> None:
        """Stop; a target that was not called yet is not called."""
        self._whole = False
        self._pieces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncRoutedStream(_Stream, AsyncIterator[Any]):
    """What `RoutedStream` is, for `async for`; leave it early with `aclose`, or with `async with`."""

    def __init__(self, pieces: AsyncGenerator[RouteChoice | Any, None]) -> None:
        super().__init__()
        self._pieces = pieces

    async def __anext__(self) -> Any:  # noqa: ANN401 - what the target yields
        try:
            if self.choice is None:
                self.choice = await anext(self._pieces)
            piece = await anext(self._pieces)
        except StopAsyncIteration:
            self._end()
            raise
        except BaseException:
            self._whole = False
            raise
        self._chunks.add(piece)
        return piece

    async def aclose(self) -> None:
        """Stop; a target that was not called yet is not called."""
        self._whole = False
        await self._pieces.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
