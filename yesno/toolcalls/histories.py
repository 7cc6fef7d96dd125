"""The conversation before and after the calls of a reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from yesno.errors import QuestionError, ReplyError
from yesno.messages import Message, messages_of
from yesno.toolcalls.calls import CallResult, ToolCall
from yesno.toolcalls.canonical import digest_of
from yesno.toolcalls.replies import Reply
from yesno.toolcalls.texts import is_refusal

__all__ = ["History", "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """What was called since the user's last message, before the reply."""

    total: int = 0
    per_tool: Mapping[str, int] = field(default_factory=Counter)
    identical: Mapping[str, int] = field(default_factory=Counter, repr=False)
    rounds: int = 0
    denied: frozenset[str] = field(default=frozenset(), repr=False)
    """Identities of calls that a person refused."""


@dataclass(frozen=True)
class History:
    """A conversation in the caller's shapes, and what it says, without the reply."""

    given: list[Any] = field(repr=False)
    recent: tuple[Message, ...] = field(repr=False)
    """What was said from the user's last message on, or from some message before it."""
    has_reply: bool
    """Whether `given` ends with the reply."""

    @classmethod
    def read(cls, messages: Any, reply: Reply) -> History:  # noqa: ANN401 - any of many shapes
        """Read a conversation, which may end with the reply.

        Raises:
            QuestionError: It cannot be read, back to the user's last message.
            ReplyError: It ends with another reply that has the same call ids, has results of these calls already, or
                goes on after the reply.
        """
        given = _listed(messages)
        said = _recent(given)
        ids: set[str | None] = {call.id for call in reply.calls}
        for place in range(len(said) - 1, -1, -1):
            message = said[place]
            if message.role == "assistant":
                if not ids & {call.id for call in message.tool_calls}:
                    break
                same = _asked(message, ids) == _proposed(reply)
                if place + 1 == len(said):
                    if not same:
                        raise ReplyError(
                            "the conversation ends with another reply that has the same call ids"
                        )
                    return cls(given, said[:place], has_reply=True)
                if same and any(m.tool_call_id in ids for m in said[place + 1 :]):
                    raise ReplyError(
                        "the conversation has results of these calls already; they are not run again"
                    )
                break
            if message.role == "user":
                before = said[place - 1] if place else message
                if before.tool_calls and _asked(before, ids) == _proposed(reply):
                    raise ReplyError(
                        "the conversation goes on after the reply, before its calls have results; pass the messages up "
                        "to the reply, and put the later ones behind those that come back"
                    )
                break
        return cls(given, said, has_reply=False)

    @cached_property
    def said(self) -> tuple[Message, ...]:
        """All that was said.

        Raises:
            QuestionError: It cannot be read.
        """
        said = messages_of(self.given) if self.given else ()
        return said[:-1] if self.has_reply else said

    @property
    def number(self) -> int:
        """How many messages the user wrote so far; raises as `said`."""
        return sum(message.role == "user" for message in self.said)

    @property
    def turn(self) -> Turn:
        """The calls since the user's last message; of the whole conversation when there is none."""
        start, _ = self._asked
        per_tool: Counter[str] = Counter()
        identical: Counter[str] = Counter()
        denied: set[str] = set()
        by_id: dict[str | None, ToolCall] = {}
        rounds = 0
        for message in self.recent[start:]:
            rounds += bool(message.tool_calls)
            for call in message.tool_calls:
                asked = ToolCall(call.id or "", call.name, call.arguments)
                by_id[call.id] = asked
                per_tool[asked.name] += 1
                identical[asked.identity] += 1
            if message.role == "tool" and message.tool_call_id in by_id and is_refusal(message.text):
                denied.add(by_id[message.tool_call_id].identity)
        return Turn(per_tool.total(), per_tool, identical, rounds, frozenset(denied))

    @property
    def calls(self) -> list[str]:
        """Names of the calls since the user's last message, by which a turn is found again."""
        start, asked = self._asked
        calls = [call for message in self.recent[start:] for call in message.tool_calls]
        return [_named(asked, ToolCall(call.id or "", call.name, call.arguments)) for call in calls]

    def calls_of(self, reply: Reply) -> list[str]:
        """Return the names that the calls of a reply will have in `calls`."""
        _, asked = self._asked
        return [_named(asked, call) for call in reply.calls]

    @property
    def _asked(self) -> tuple[int, str]:
        """The place after the user's last message in `recent`, and its text."""
        place = max((i for i, message in enumerate(self.recent) if message.role == "user"), default=-1)
        return place + 1, self.recent[place].text if place >= 0 else ""

    def continued(self, reply: Reply, results: Sequence[CallResult]) -> tuple[list[Any], list[Any]]:
        """Return the whole conversation with reply and results, and what is new in it."""
        new = [*([] if self.has_reply else reply.items), *_SHAPES[reply.shape](reply, results)]
        return [*self.given, *new], new


def _named(asked: str, call: ToolCall) -> str:
    return digest_of([asked, call.id, call.identity])


def _recent(given: list[Any]) -> tuple[Message, ...]:
    """Read a conversation backwards as far as the user's last message: a long one would take longer than its calls."""
    size = 4
    while size < len(given):
        try:
            said = messages_of(given[-size:])
        except QuestionError:
            break  # reading all of it says where
        if any(message.role == "user" for message in said[1:]):  # with the message before it
            return said
        size *= 4
    return messages_of(given) if given else ()


def _listed(messages: Any) -> list[Any]:  # noqa: ANN401 - any of many shapes
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        for key in ("messages", "input"):
            if key in messages:
                return _listed(messages[key])
        return [messages]
    if isinstance(messages, Message):
        return [messages]
    if not isinstance(messages, Iterable) or isinstance(messages, bytes):
        raise QuestionError(
            f"a conversation must be a text or a list of messages, not {type(messages).__name__}"
        )
    return list(messages)


def _asked(message: Message, ids: Collection[str | None]) -> list[tuple[str | None, str, str]]:
    return [
        (call.id, call.name, ToolCall("", call.name, call.arguments).identity)
        for call in message.tool_calls
        if call.id in ids  # others are calls that the provider ran itself
    ]


def _proposed(reply: Reply) -> list[tuple[str | None, str, str]]:
    return [(call.id, call.name, call.identity) for call in reply.calls]


def _chat(reply: Reply, results: Sequence[CallResult]) -> list[Any]:
    return [{"role": "tool", "tool_call_id": r.call.id, "content": r.content} for r in results]


def _plain(reply: Reply, results: Sequence[CallResult]) -> list[Any]:
    return [
        {"role": "tool", "tool_call_id": r.call.id, "name": r.call.name, "content": r.content}
        for r in results
    ]


def _message(reply: Reply, results: Sequence[CallResult]) -> list[Any]:
    return [Message("tool", r.content, tool_call_id=r.call.id, name=r.call.name) for r in results]


def _responses(reply: Reply, results: Sequence[CallResult]) -> list[Any]:
    return [
        {
            "type": "custom_tool_call_output" if r.call.id in reply.custom else "function_call_output",
            "call_id": r.call.id,
            "output": r.content,
        }
        for r in results
    ]


def _anthropic(reply: Reply, results: Sequence[CallResult]) -> list[Any]:
    blocks = []
    for result in results:
        block = {"type": "tool_result", "tool_use_id": result.call.id, "content": result.content}
        blocks.append(block if result.ok else {**block, "is_error": True})
    return [{"role": "user", "content": blocks}]


def _langchain(reply: Reply, results: Sequence[CallResult]) -> list[Any]:
    try:
        from langchain_core.messages import ToolMessage
    except (
        ImportError
    ):  # a message object without its package, such as a copy of it: LangChain reads dicts too
        return _plain(reply, results)
    return [
        ToolMessage(
            content=r.content,
            tool_call_id=r.call.id,
            name=r.call.name,
            status="success" if r.ok else "error",
        )
        for r in results
    ]


_SHAPES: Mapping[str, Callable[[Reply, Sequence[CallResult]], list[Any]]] = {
    "chat": _chat,
    "plain": _plain,
    "message": _message,
    "responses": _responses,
    "anthropic": _anthropic,
    "langchain": _langchain,
}
