"""Record real exchanges with a provider to a file, and play them back without a network or a key."""

from __future__ import annotations

import copy
import inspect
import threading
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

from yesno.errors import AsyncUnsupported, ConfigError, NotRecorded, ProviderError, ProviderRejected
from yesno.evidence import Reply
from yesno.providers import PROVIDERS
from yesno.providers._tape import (
    Exchange,
    Header,
    TapeWriter,
    facts_of,
    key_of,
    profile_with,
    read_tape,
    scrubbed,
)
from yesno.providers.base import Payload, Provider, Task
from yesno.providers.profiles import Profile
from yesno.settings import Settings

__all__ = ["RecordingProvider", "ReplayProvider"]

NOWHERE = "http://replayed.invalid/v1"
"""Where a replayed provider would send to; nothing is ever sent."""
MAX_CHANGES = 4
"""Most changes that recorded 400s may ask for before a recorded body must be reached; as many as the engine makes."""


class _Around(Provider):
    """A provider that leaves everything but sending to another one."""

    def __init__(self, inner: Provider, name: str, model: str) -> None:
        self._inner = inner
        self.name = name  # type: ignore[misc]  # the name of whoever answers
        self.model = model

    @property
    def profile(self) -> Profile:  # type: ignore[override]  # what is learned of a host is learned in one place
        """Facts about the model, with what was learned from 400s."""
        return self._inner.profile

    def learn(self, profile: Profile) -> None:
        """Let the other provider take over what replies have shown."""
        self._inner.learn(profile)

    @property
    def remote(self) -> bool:  # type: ignore[override]  # as above
        """The other provider's."""
        return self._inner.remote

    @property
    def merges(self) -> bool:  # type: ignore[override]  # as above
        """Whether equal bodies may be served by one request, as with the other provider."""
        return self._inner.merges

    @property
    def address(self) -> str | None:
        """Where the other provider's requests go."""
        return self._inner.address

    def build(self, task: Task) -> Payload:
        """Return the body that the other provider would send."""
        return self._inner.build(task)

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Read a body as the other provider does."""
        return self._inner.parse(task, reply)

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Change a body as the other provider does."""
        return self._inner.adapt(payload, error)


class RecordingProvider(_Around):
    """Sends through another provider and writes each exchange to a file as it happens.

    What is written is the body sent and the body that came back, or the typed error: prompts, inputs and answers
    in full. Making a recorder is how you ask for that; nothing else in yesno keeps content. Keys and headers are
    not written: bodies have none, fields that are called like one are left out, and the provider's key and all
    key variables are masked wherever they occur. Only the file's owner may read it.

    Args:
        inner: Who answers.
        path: A file of JSON lines; what it holds of the same provider and model is kept, and more is appended.

    Raises:
        ConfigError: The file cannot be written, or holds a recording of another provider or model.
    """

    def __init__(self, inner: Provider, path: str | Path) -> None:
        super().__init__(inner, inner.name, inner.model)
        secrets = {*inner.secrets(), *Settings.from_env().keys.values()}
        address = (
            inner.address if inner.address and "://" in inner.address else None
        )  # no path of this machine
        header = Header(inner.name, inner.model, address, facts_of(inner.profile))
        self._tape = TapeWriter(Path(path), header, secrets)

    @property
    def server(self) -> str | None:
        """The other provider's."""
        return self._inner.server

    @property
    def cancellable(self) -> bool:
        """Whether the other provider's requests are."""
        return self._inner.cancellable

    def classify(self, error: Exception) -> ProviderError | None:
        """Name an error as the other provider does."""
        return self._inner.classify(error)

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Send through the other provider and write down what came back."""
        try:
            reply = self._inner.send(payload, timeout_s=timeout_s)
        except Exception as error:
            self._note(payload, error)
            raise
        self._tape.add(payload, reply)
        return reply

    async def asend(self, payload: Payload) -> Payload:
        """Do what `send` does, awaited."""
        try:
            reply = await self._inner.asend(payload)
        except Exception as error:
            self._note(payload, error)
            raise
        self._tape.add(payload, reply)
        return reply

    def secrets(self) -> tuple[str, ...]:
        """Return the other provider's."""
        return self._inner.secrets()

    def close(self) -> None:
        """Close the other provider; the file is closed after every line."""
        self._inner.close()

    async def aclose(self) -> None:
        """Do what `close` does, awaited."""
        await self._inner.aclose()

    def _note(self, payload: Payload, error: Exception) -> None:
        known = self._inner.classify(error)
        if known is not None and not isinstance(known, AsyncUnsupported):
            self._tape.add(payload, known)


class ReplayProvider(_Around):
    """Plays back what a `RecordingProvider` wrote; sends nothing and needs no key.

    A body is looked for by its content. Several answers to the same body are played in the order they were
    recorded, and the last one from then on. Errors are raised again as they were; with a `retry_after` of their
    time, so give a `RetryPolicy` that does not wait. Safe to share between threads and event loops.

    Args:
        path: The recording.
        like: A provider whose `build`, `parse` and `adapt` are used; needed when the recorded one is not one of
            yesno's, or was set up in a way that changes its bodies.

    Raises:
        ConfigError: The file is not a recording, or no provider can be made to read it with.
    """

    def __init__(self, path: str | Path, *, like: Provider | None = None) -> None:
        self._path = Path(path)
        header, exchanges = read_tape(self._path)
        super().__init__(like or _twin(header), header.provider, header.model)
        self._address = header.address
        self._lock = threading.Lock()
        self._left: dict[str, list[Exchange]] = defaultdict(list)
        for exchange in exchanges:
            self._left[exchange.key].append(exchange)
        self._bodies = {key: held[0].payload for key, held in self._left.items()}
        rejected = (e.error for e in exchanges if isinstance(e.error, ProviderRejected))
        self._rejections = list({str(error): error for error in rejected}.values())

    @property
    def address(self) -> str | None:
        """Where the recorded requests went."""
        return self._address

    def classify(self, error: Exception) -> ProviderError | None:
        """Return the errors that were recorded as what they are."""
        return error if isinstance(error, ProviderError) else None

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Return the recorded answer to a body, or raise the recorded error.

        Raises:
            NotRecorded: This body was not recorded.
        """
        with self._lock:
            held = self._left.get(key_of(payload))
            if held:
                exchange = held.pop(0) if len(held) > 1 else held[0]
                error = exchange.error
            else:
                error = self._rejection_on_the_way(payload)
                if error is None:
                    raise NotRecorded(self._missing(scrubbed(payload)), provider=self.name)
        if error is not None:
            raise copy.copy(error)
        return copy.deepcopy(exchange.reply or {})

    async def asend(self, payload: Payload) -> Payload:
        """Do what `send` does, awaited."""
        return self.send(payload)

    def _rejection_on_the_way(self, payload: Payload) -> ProviderRejected | None:
        """Return a recorded 400 after which this body becomes a recorded one.

        Only the first requests of a recorded run may have met it; in another order, others do.
        """
        kept = self._inner.profile
        try:
            return next(
                (error for error in self._rejections if self._leads(payload, error, MAX_CHANGES)), None
            )
        finally:
            self._inner.profile = kept

    def _leads(self, payload: Payload, error: ProviderRejected, changes: int) -> bool:
        adapted = self._inner.adapt(payload, error) if changes else None
        if adapted is None:
            return False
        return key_of(adapted) in self._left or any(
            self._leads(adapted, other, changes - 1) for other in self._rejections
        )

    def _missing(self, body: Payload) -> str:
        words = f"this request is not in the recording {str(self._path)!r}"
        if not self._bodies:
            return f"{words}, which holds none"
        differing = min((_differing(body, other) for other in self._bodies.values()), key=len)
        return (
            f"{words}; the nearest of its {len(self._bodies)} bodies differs in "
            f"{', '.join(differing) or 'what is not written'}. "
            "Record it with RecordingProvider, or ask as it was recorded"
        )


def _differing(one: Payload, other: Payload) -> list[str]:
    """Return the names of the fields in which two bodies differ."""
    absent = object()
    return sorted(name for name in {*one, *other} if one.get(name, absent) != other.get(name, absent))


def _twin(header: Header) -> Provider:
    """Return a provider that builds and reads bodies as the recorded one did, without a key or an address."""
    if header.provider not in PROVIDERS:
        raise ConfigError(
            f"the recording is of {header.provider!r}, which is not one of yesno's providers; "
            "pass like= with such a provider"
        )
    module, _, attribute = PROVIDERS[header.provider].partition(":")
    kind = getattr(import_module(module), attribute)
    options: dict[str, Any] = {
        "model": header.model,
        "api_key": "replayed",
        "base_url": NOWHERE,
        "native": header.facts.get("strategies") == ["native"],
    }
    taken = inspect.signature(kind).parameters
    try:
        twin: Provider = kind(**{name: value for name, value in options.items() if name in taken})
        twin.profile = profile_with(twin.profile, header.facts)
    except (ConfigError, TypeError) as error:
        raise ConfigError(
            f"cannot make a provider {header.provider!r} to read the recording with: {error}; pass like="
        ) from error
    return twin
