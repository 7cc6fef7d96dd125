"""Which part of a conversation a question is asked about, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from yesno._checks import checked_count
from yesno._frozen import FrozenDict, FrozenList
from yesno.errors import ConfigError
from yesno.messages.inputs import Input
from yesno.messages.message import Attachment, Message, TextPart, ToolCall
from yesno.messages.shorten import shortened

__all__ = ["Window", "as_input", "last_user_message", "with_user_text"]

_SYSTEM = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Window:
    """The end of a conversation, short enough to ask about.

    Args:
        max_messages: Most messages, 1 or more. System and developer messages come in addition. An assistant's
            message counts once whatever it calls; each result of a tool counts once.
        max_message_length: Most characters of one message's text and of one call's arguments, 1 or more; longer
            ones keep their beginning and end around a note. System messages are never shortened. None for no limit.
        message_filter: Whether a message may be seen at all; by default all may.

    Raises:
        ConfigError: A limit is no whole number of at least 1, or the filter cannot be called.
    """

    max_messages: int = 10
    max_message_length: int | None = 2000
    message_filter: Callable[[Message], bool] | None = None

    def __post_init__(self) -> None:
        checked_count("max_messages", self.max_messages)
        if self.max_message_length is not None:
            checked_count("max_message_length", self.max_message_length)
        if self.message_filter is not None and not callable(self.message_filter):
            raise ConfigError(
                f"`message_filter` must be a function from a Message to a bool, not {self.message_filter!r}"
            )

    def cut(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        """Return the messages to ask about, shortened, in their order; none when the filter takes all.

        The filter comes first. Of what it leaves, the last `max_messages` stay, but for results of tools whose
        call is not among them, and all system messages, at their places. The newest user message is added when it
        came before these.
        """
        kept = [m for m in messages if self.message_filter is None or self.message_filter(m)]
        spoken = [place for place, message in enumerate(kept) if message.role not in _SYSTEM]
        last = spoken[-self.max_messages :]
        chosen = {place for place, message in enumerate(kept) if message.role in _SYSTEM}
        chosen.update(_answered(kept, last))
        newest = next((place for place in reversed(spoken) if kept[place].role == "user"), None)
        if newest is not None:
            chosen.add(newest)
        return tuple(self._shortened(kept[place]) for place in sorted(chosen))

    def _shortened(self, message: Message) -> Message:
        limit = self.max_message_length
        if limit is None or message.role in _SYSTEM:
            return message
        text = message.text
        calls = message.tool_calls
        if len(text) > limit:
            message = message.changed(content=shortened(text, limit))
        if any(len(call.arguments) > limit for call in calls):
            short = [ToolCall(call.name, shortened(call.arguments, limit), call.id) for call in calls]
            message = message.changed(tool_calls=short)
        return message


def _answered(messages: Sequence[Message], places: Iterable[int]) -> Iterable[int]:
    """Yield the places but those of tool results whose call is not among them before."""
    called: set[str] = set()
    after_assistant = False
    for place in places:
        message = messages[place]
        if message.role == "tool":
            known = after_assistant if message.tool_call_id is None else message.tool_call_id in called
            if not known:
                continue
        else:
            after_assistant = message.role == "assistant"
            called.update(call.id for call in message.tool_calls if call.id)
        yield place


def last_user_message(messages: Sequence[Message]) -> Message | None:
    """Return the newest message of the user, None when there is none."""
    return next((message for message in reversed(messages) if message.role == "user"), None)


def with_user_text(messages: Sequence[Message], text: str) -> tuple[Message, ...]:
    """Return a conversation whose current user message says this text.

    It stands in for the text of the newest user message while that is unanswered, such as one that retrieved
    passages were added to, also when tools were called since; its attachments stay. After an assistant's answer it is a new message at
    the end.
    """
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if message.role == "user":
            brought = [part for part in message.content if isinstance(part, Attachment)]
            said = message.changed(content=[TextPart(text), *brought])
            return (*messages[:place], said, *messages[place + 1 :])
        if message.role == "assistant" and not message.tool_calls:
            break
    return (*messages, Message("user", text))


def as_input(messages: Sequence[Message]) -> Input:
    """Write messages as the input of a question.

    One user message is its text. Others are `{"messages": [{"role", "text", "tool_calls": [{"name", "arguments"}],
    "tool"}]}` without what is empty; the role is system, user, assistant or tool, and `tool` names the tool whose
    result it is.
    """
    if len(messages) == 1 and messages[0].role == "user" and messages[0].text.strip():
        return messages[0].text
    return FrozenDict({"messages": FrozenList(_written(message) for message in messages)})


def _written(message: Message) -> FrozenDict[str, object]:
    fields: dict[str, object] = {"role": "system" if message.role in _SYSTEM else message.role}
    if message.text:
        fields["text"] = message.text
    if message.tool_calls:
        fields["tool_calls"] = FrozenList(
            FrozenDict({"name": call.name, "arguments": call.arguments}) for call in message.tool_calls
        )
    if message.role == "tool" and message.name:
        fields["tool"] = message.name
    return FrozenDict(fields)
