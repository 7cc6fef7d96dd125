"""Say who asked for what, who allowed it, and what became of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import Any, TypeAlias

from yesno._log import get_logger
from yesno.errors import AuditError, ConfigError
from yesno.toolcalls.canonical import canonical

__all__ = ["EVENTS", "Audit", "ChainReport", "Event", "verify_chain"]

EVENTS = (
    "proposed",
    "rejected",
    "gate",
    "waiting",
    "decided",
    "started",
    "finished",
    "limit",
    "pending_refused",
)
"""`rejected` is a call that got its result unrun (unknown tool, bad arguments, refused before, blocked), `limit` one that
was over a limit; the others say what they are."""

Event: TypeAlias = dict[str, Any]


class Audit:
    """Writes one event per step of each call.

    An event is a dict of plain values: `event`, `time` (ISO 8601, UTC), `run`, `turn` (messages of the user so far),
    `call_id`, `tool`, `source`, `arguments_digest` (SHA-256), and where they are known `status`, `risk`, `method`,
    `why`, `by`, `decision`, `note`, `error`, `seconds`. Events of a call that waited for a person have one `run`.

    Args:
        sink: Called with each event; or a structlog or standard logger, whose `info` is called. By default the logger
            `yesno.toolcalls.audit`.
        include_arguments: Whether events hold `arguments` and `result`.
        redact: From a value (arguments as a dict, a result or an error as text) to what may be written. When it fails,
            the value is left out.
        chain: Whether each event holds `prev`, the SHA-256 of the one before, so that a missing or changed line shows
            in `verify_chain`.
        last: With `chain`, the last event of an earlier run, to go on from.
        clock: Gives the time in UTC.

    Raises:
        ConfigError: The sink cannot be called and has no `info`.
    """

    def __init__(
        self,
        sink: Any = None,  # noqa: ANN401 - a function or a logger
        *,
        include_arguments: bool = False,
        redact: Callable[[Any], Any] | None = None,
        chain: bool = False,
        last: Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._write = _writer(get_logger("toolcalls.audit") if sink is None else sink)
        self.include_arguments = include_arguments
        self._redact = redact
        self._chain = chain
        self._prev = "" if last is None else _hash(last)
        self._clock = clock
        self._lock = Lock()

    def event(self, name: str, *, required: bool, private: Mapping[str, Any], **fields: Any) -> None:
        """Write one event; a sink that fails is warned of.

        Args:
            name: One of `EVENTS`.
            required: Raise when the event cannot be written.
            private: Values that are written only with `include_arguments`, and an `error`, which always is.
            fields: The others.

        Raises:
            AuditError: It could not be written and is required.
        """
        try:
            event: Event = {"event": name, "time": self._clock().isoformat()}
            event.update({key: value for key, value in fields.items() if value is not None})
            for key, value in private.items():
                if value is not None and (self.include_arguments or key == "error"):
                    self._add_private(event, key, value)
            with self._lock:
                if self._chain:
                    event["prev"] = self._prev
                self._write(event)
                if self._chain:
                    self._prev = _hash(event)
        except Exception as error:
            if required:
                raise AuditError(
                    f"the event {name!r} could not be written ({type(error).__name__}), and `audit_required` is set; "
                    "no further tool was run"
                ) from error
            get_logger("toolcalls").warning("audit_sink_failed", step=name, error=type(error).__name__)

    def _add_private(self, event: Event, key: str, value: Any) -> None:  # noqa: ANN401 - plain values
        if self._redact is None:
            event[key] = value
            return
        try:
            event[key] = self._redact(value)
        except Exception as error:  # noqa: BLE001 - the caller's function; then nothing is written
            get_logger("toolcalls").warning("audit_redaction_failed", field=key, error=type(error).__name__)


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What `verify_chain` found; true when nothing is missing or changed."""

    count: int
    """Events that are in order, from the first on."""
    broken_at: int | None
    """Number of the first event (from 1) before which one is missing, or that does not follow on; None for none."""
    last: Mapping[str, Any] | None = None
    """The last event in order; compare it with one kept elsewhere to see that none is missing at the end."""

    def __bool__(self) -> bool:
        return self.broken_at is None


def verify_chain(events: Iterable[Mapping[str, Any] | str], *, first: str = "") -> ChainReport:
    """Check that each event names the hash of the one before it.

    A removed, changed, added or moved event breaks the chain where it is. Events missing at the end cannot be seen, nor
    can a chain that somebody made anew from its beginning: keep the last event in another place.

    Args:
        events: Events or lines of JSON, in order.
        first: `prev` of the first one; empty for a whole log.
    """
    prev, count = first, 0
    last: Mapping[str, Any] | None = None
    for number, given in enumerate(events, start=1):
        try:
            event = json.loads(given) if isinstance(given, str) else given
            if event["prev"] != prev:
                return ChainReport(count, number, last)
            prev = _hash(event)
        except (ValueError, KeyError, TypeError, RecursionError):
            return ChainReport(count, number, last)
        last, count = event, number
    return ChainReport(count, None, last)


def _hash(event: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical(event).encode("ascii")).hexdigest()


def _writer(sink: Any) -> Callable[[Event], Any]:  # noqa: ANN401 - a function or a logger
    info = getattr(sink, "info", None)
    if callable(info):

        def log(event: Event) -> None:
            fields = dict(event)
            info(fields.pop("event"), **fields)

        def log_standard(event: Event) -> None:
            info("%s", json.dumps(event, ensure_ascii=False, default=str))

        return log if hasattr(sink, "bind") else log_standard
    if callable(sink):
        return sink  # type: ignore[no-any-return]  # its result is not used
    raise ConfigError(f"`sink` must be a function or a logger, not a {type(sink).__name__}")
