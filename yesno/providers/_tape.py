"""Exchanges with a provider as lines of JSON: one line says who is recorded, each other one is an exchange."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from yesno._frozen import FrozenDict
from yesno.errors import (
    ConfigError,
    InvalidResponse,
    NotRecorded,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    UnreadableReply,
)
from yesno.providers.profiles import Profile

__all__ = [
    "Exchange",
    "Header",
    "TapeWriter",
    "facts_of",
    "key_of",
    "profile_with",
    "read_tape",
    "scrubbed",
]

VERSION = 1
NO_JSON = "what was exchanged is not JSON and cannot be recorded ({})"
MEASURED = {"prior", "packing"}
"""Fields of a profile that hold measurements of the model."""
_HIDDEN = {
    "authorization",
    "proxy-authorization",
    "api_key",
    "apikey",
    "api-key",
    "x-api-key",
    "headers",
    "cookie",
}
"""Names of fields that are never written."""
_LEAST_SECRET = 8
"""A shorter secret is a word like any other and is not looked for in texts."""

_ERRORS: dict[str, type[ProviderError]] = {
    kind.__name__: kind
    for kind in (
        ProviderError,
        ProviderUnavailable,
        ProviderRejected,
        UnreadableReply,
        InvalidResponse,
        NotRecorded,
    )
}


@dataclass(frozen=True, slots=True)
class Header:
    """Who is recorded."""

    provider: str
    model: str
    address: str | None
    """Where the requests went, when not to the vendor's own server."""
    facts: Mapping[str, Any]
    """The profile's fields as JSON, without what was measured of the model."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One body sent, and the body or the error that came back."""

    key: str
    """What `key_of` says of the body as it was sent."""
    payload: Mapping[str, Any]
    """The body as it was written, without keys and headers."""
    reply: Mapping[str, Any] | None
    error: ProviderError | None


def scrubbed(value: Any, secrets: Iterable[str] = ()) -> Any:  # noqa: ANN401 - JSON
    """Return JSON without fields for keys and headers, and with secrets masked in texts."""
    hidden = [secret for secret in secrets if len(secret) >= _LEAST_SECRET]

    def clean(part: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(part, Mapping):
            return {clean(k): clean(v) for k, v in part.items() if str(k).lower() not in _HIDDEN}
        if isinstance(part, list | tuple):
            return [clean(item) for item in part]
        if isinstance(part, str):
            for secret in hidden:
                part = part.replace(secret, "***")
        return part

    return clean(value)


def key_of(payload: Mapping[str, Any]) -> str:
    """Return a digest that is equal for equal bodies, what is not written of them included."""
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()


class TapeWriter:
    """Appends to a file that only its owner may read; safe to share between threads.

    Raises:
        ConfigError: The file cannot be written, or holds the recording of another provider or model.
    """

    def __init__(self, path: Path, header: Header, secrets: Iterable[str]) -> None:
        self._path = path
        self._secrets = tuple(secrets)
        self._lock = threading.Lock()
        if path.exists() and path.stat().st_size:
            held = next(_lines(path))
            begun = _header(path, held)
            if (begun.provider, begun.model) != (header.provider, header.model):
                raise ConfigError(
                    f"{str(path)!r} is a recording of {begun.provider}:{begun.model}; "
                    f"record {header.provider}:{header.model} into another file"
                )
        else:
            first = {"yesno": VERSION, "provider": header.provider, "model": header.model}
            self._write({**first, "address": header.address, "profile": header.facts})

    def add(self, payload: Mapping[str, Any], outcome: Mapping[str, Any] | ProviderError) -> None:
        """Append one exchange."""
        answer = {"error": _written(outcome)} if isinstance(outcome, ProviderError) else {"reply": outcome}
        try:
            key = key_of(payload)
        except (TypeError, ValueError) as error:
            raise ConfigError(NO_JSON.format(type(error).__name__)) from None
        self._write({"sha256": key, "payload": payload, **answer})

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            data = (json.dumps(scrubbed(line, self._secrets)) + "\n").encode()
        except (TypeError, ValueError) as error:
            raise ConfigError(NO_JSON.format(type(error).__name__)) from None
        try:
            with self._lock, open(self._path, "ab", opener=_private) as file:
                file.write(data)
        except OSError as error:
            raise ConfigError(f"cannot write to {str(self._path)!r}: {error.strerror}") from error


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def read_tape(path: Path) -> tuple[Header, list[Exchange]]:
    """Return who was recorded and all exchanges in their order.

    Raises:
        ConfigError: The file cannot be read, or is not such a recording.
    """
    lines = _lines(path)
    header = _header(path, next(lines, None))
    exchanges = []
    for number, line in enumerate(lines, start=2):
        try:
            error = line.get("error")
            exchanges.append(
                Exchange(
                    str(line["sha256"]),
                    dict(line["payload"]),
                    dict(line["reply"]) if error is None else None,
                    None if error is None else _read_error(error, header.provider),
                )
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ConfigError(f"line {number} of {str(path)!r} is not a recorded exchange") from None
    return header, exchanges


def _lines(path: Path) -> Iterator[Any]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    yield json.loads(line)
                except ValueError:
                    yield None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"cannot read the recording {str(path)!r}: {reason}") from error


def _header(path: Path, line: Any) -> Header:  # noqa: ANN401 - JSON
    if not isinstance(line, dict) or line.get("yesno") != VERSION:
        raise ConfigError(f"{str(path)!r} is not a recording of RecordingProvider")
    try:
        return Header(str(line["provider"]), str(line["model"]), line.get("address"), dict(line["profile"]))
    except (KeyError, TypeError, ValueError):
        raise ConfigError(f"the first line of {str(path)!r} does not say who was recorded") from None


def _written(error: ProviderError) -> dict[str, Any]:
    kind: type[ProviderError] = next(base for base in type(error).__mro__ if base in _ERRORS.values())
    names = ("status", "request_id", "retry_after", "param", "code")
    own = {"retryable": error.retryable} if error.retryable != kind.retryable else {}
    held = {name: getattr(error, name, None) for name in names}
    return {
        "type": kind.__name__,
        "message": str(error),
        **{name: value for name, value in held.items() if value is not None},
        **own,
    }


def _read_error(held: Mapping[str, Any], provider: str) -> ProviderError:
    kind = _ERRORS[held["type"]]
    names = {"status", "request_id", "retry_after", "retryable"}
    names |= {"param", "code"} if issubclass(kind, ProviderRejected) else set()
    return kind(held["message"], provider=provider, **{name: held[name] for name in names & set(held)})


def facts_of(profile: Profile) -> dict[str, Any]:
    """Return a profile as JSON, without what was measured of the model: that comes with the model's name."""
    facts: dict[str, Any] = {}
    for field in fields(profile):
        if field.name in MEASURED:
            continue
        value = getattr(profile, field.name)
        if isinstance(value, frozenset):
            value = sorted(value)
        elif isinstance(value, tuple):
            value = list(value)
        elif isinstance(value, Mapping):
            value = dict(value)
        facts[field.name] = value
    return facts


def profile_with(profile: Profile, facts: Mapping[str, Any]) -> Profile:
    """Return a profile with what `facts_of` kept; fields that there are no more are passed over.

    Raises:
        TypeError: A value has another type than its field.
    """
    kinds = {"strategies": tuple, "refuses": frozenset, "extra": FrozenDict}
    known = {field.name for field in fields(profile)} - MEASURED
    return replace(
        profile,
        **{name: kinds.get(name, _same)(value) for name, value in facts.items() if name in known},
    )


def _same(value: Any) -> Any:  # noqa: ANN401 - JSON
    return value
