"""The contract between the engine and one hosted API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from yesno._frozen import FrozenDict
from yesno.errors import AsyncUnsupported, ProviderError
from yesno.evidence import Reply
from yesno.providers.profiles import Profile
from yesno.request import DecisionRequest

__all__ = ["NativeTask", "Payload", "PromptTask", "Provider", "Task", "TokenTask", "Turn"]

Payload: TypeAlias = Mapping[str, Any]
"""A JSON object exactly as it travels on the wire."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class PromptTask:
    """A rendered prompt whose answer token is to be read."""

    turns: tuple[Turn, ...]
    """Ends with the user's turn, or with an assistant's turn to be continued (prefill)."""
    model_name: str
    max_tokens: int
    """Output tokens to ask for."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the reply that is wanted in place of log-probabilities."""
    sample: int = 0
    """Number, from 1, among samples of the same prompt: each is its own request, never merged or cached."""
    tokens: Mapping[str, int] = FrozenDict()
    """Text -> number of each token whose log-probability is wanted in place of those of the most probable."""


@dataclass(frozen=True, slots=True)
class TokenTask:
    """Texts whose numbers in the model's vocabulary are wanted, for those that are one token."""

    texts: tuple[str, ...]
    model_name: str
    max_tokens: int = 0


@dataclass(frozen=True, slots=True)
class NativeTask:
    """A whole request for a decision endpoint."""

    request: DecisionRequest
    model_name: str


Task: TypeAlias = PromptTask | NativeTask | TokenTask


class Provider:
    """One hosted API. `build`, `parse`, `classify` and `adapt` are pure; `send` and `asend` do the I/O.

    Subclasses override what they need. A provider without `asend` works in `DecisionModel` only.
    """

    name: ClassVar[str] = "other"
    model: str = ""
    """The model asked for when a request names none."""
    profile: Profile = Profile()
    merges: bool = True
    """Equal payloads may be served by one request; False when each plays its own reply."""
    remote: bool = True
    """Replies may get lost on their way, so a try is given up before the decision's time is; False where another
    try would only do the same work again."""

    @property
    def address(self) -> str | None:
        """Where requests go, without credentials; None when the provider's name says it all."""
        return None

    @property
    def identity(self) -> str | None:
        """What else tells the model from another of its name at this address; None when nothing does."""
        return None

    @property
    def server(self) -> str | None:
        """Whose limits requests count against: an address without credentials; None for this object's alone."""
        return None

    @property
    def cancellable(self) -> bool:
        """Whether a request of a thread may travel through `asend` too, where it can be cancelled."""
        return type(self).asend is not Provider.asend

    def build(self, task: Task) -> Payload:
        """Turn a task into the JSON body to send."""
        raise NotImplementedError

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Turn the JSON body that came back into evidence.

        Raises:
            UnreadableReply: The body has not the documented shape.
        """
        raise NotImplementedError

    def classify(self, error: Exception) -> ProviderError | None:
        """Name an error that `send` or `asend` raised; None when it is not this API's."""
        return error if isinstance(error, ProviderError) else None

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Return the payload without what a 400 complains about, once; None when nothing helps."""
        return None

    def learn(self, profile: Profile) -> None:
        """Take over facts that replies have shown, for the life of this object."""
        self.profile = profile

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Send one body and return the body that comes back, within `timeout_s` seconds if it can."""
        raise NotImplementedError

    async def asend(self, payload: Payload) -> Payload:
        """Do what `send` does, awaited."""
        raise AsyncUnsupported(
            f"provider {self.name!r} has no asynchronous form; use DecisionModel", provider=self.name
        )

    def secrets(self) -> tuple[str, ...]:
        """Return what must never be written anywhere, such as a key; a recorder masks it."""
        return ()

    def close(self) -> None:
        """Release connections and processes; calling it twice is fine."""

    async def aclose(self) -> None:
        """Do what `close` does, awaited."""
        self.close()
