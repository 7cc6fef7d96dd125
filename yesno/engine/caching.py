"""What a cache of replies is, what a reply is kept under, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

from yesno.evidence import Completion, NativeAnswers, Reply
from yesno.providers.base import Payload
from yesno.questions import Refusal

__all__ = ["Cache", "key_of", "payload_of", "text_of", "value_of"]

VERSION = 1
"""Part of every key: to be raised when the same payload means something else."""


@runtime_checkable
class Cache(Protocol):
    """Keeps replies: any object with these two methods.

    `AsyncDecisionModel` calls them from a thread, except that it reads in place when the object has a true
    attribute `reads_at_once`. An exception that comes out of them is logged once and changes nothing.
    """

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key (40 hexadecimal digits), or None."""

    def put(self, key: str, value: bytes) -> None:
        """Keep a value (a JSON object) under a key."""


def text_of(payload: Payload) -> bytes | None:
    """Return a payload as JSON that is equal for equal payloads; None when it is not JSON."""
    try:
        text = _canonical(payload)
    except (TypeError, ValueError, RecursionError):
        return None
    return text.encode("utf-8", "surrogatepass")


def key_of(provider: str, address: str | None, text: bytes) -> str:
    """Return the key of a request: a hash of where it goes and of its whole payload, without credentials."""
    return blake2b(_place(provider, address) + text, digest_size=20).hexdigest()


@lru_cache(maxsize=64)
def _place(provider: str, address: str | None) -> bytes:
    return json.dumps([VERSION, provider, address]).encode() + b"\n"


def value_of(raw: Payload, reply: Reply) -> bytes | None:
    """Return what to keep of a reply; None for one that is not JSON, and for a refusal.

    A refusal is the verdict of a filter that changes while the payload stays the same.
    """
    evidence = reply.evidence
    if isinstance(evidence, Completion) and (
        evidence.refusal is not None or evidence.finish in ("refusal", "content_filter")
    ):
        return None
    if isinstance(evidence, NativeAnswers) and any(isinstance(a, Refusal) for a in evidence.answers.values()):
        return None
    try:
        value = json.dumps(raw, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return None
    return value if payload_of(value) == raw else None


def payload_of(value: Any) -> Payload | None:  # noqa: ANN401 - whatever a store gives
    """Return the reply that a kept value holds; None when it holds none."""
    if not isinstance(value, bytes):
        return None
    try:
        payload = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError


_canonical = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain
).encode
