"""Replies in an SQLite file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, ClassVar, Self

from yesno._log import get_logger

__all__ = ["SqliteCache"]

BUSY_S = 5.0
"""Seconds to wait for another process that writes; then the value is not kept."""
_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value BLOB, checksum BLOB) WITHOUT ROWID"
_GET = "SELECT value, checksum FROM replies WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO replies (key, value, checksum) VALUES (?, ?, ?)"
_INHERITED: list[sqlite3.Connection] = []
"""Connections of a parent process: SQLite forbids a forked child to use them, or to close them."""


class _Held:
    """What belongs to one process."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.lock = Lock()
        self.connection: sqlite3.Connection | None = None


class SqliteCache:
    """Keeps replies in a file; share one object between models and threads, and one file between processes.

    The file holds the providers' replies as they came, which may repeat words of a prompt, under hashes of the
    requests. It holds no prompts, inputs or keys. It is made readable for its owner only, and it only grows:
    delete it to empty it.

    A damaged row is a miss, and so is a damaged file, which is logged once and left as it is. Nothing here raises.

    Args:
        path: The file; it is made with its folder at the first use.
    """

    reads_at_once: ClassVar[bool] = True
    """A reader never waits for writers, so that an event loop may read in place."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._held = _Held()
        self._warned = False

    def __repr__(self) -> str:
        return f"SqliteCache({str(self.path)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (SqliteCache, (self.path,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        held = self._own()
        if held.connection is not None:
            held.connection.close()

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key, or None."""
        rows = self._execute(_GET, (key,))
        if not rows:
            return None
        value, checksum = rows[0]
        intact = isinstance(value, bytes) and checksum == _checksum(key, value)
        return value if intact else None

    def put(self, key: str, value: bytes) -> None:
        """Keep a value under a key, in place of an older one."""
        self._execute(_PUT, (key, value, _checksum(key, value)))

    def close(self) -> None:
        """Close the file; it is opened again when it is used again."""
        held = self._own()
        with held.lock:
            if held.connection is not None:
                held.connection.close()
                held.connection = None

    def _execute(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        held = self._own()
        try:
            with held.lock:
                if held.connection is None:
                    held.connection = self._open()
                return held.connection.execute(statement, values).fetchall()
        except (sqlite3.Error, OSError, ValueError) as error:
            self._warn(error)
            return []

    def _own(self) -> _Held:
        held = self._held
        if held.pid != os.getpid():
            if held.connection is not None:
                _INHERITED.append(held.connection)
            held = self._held = _Held()
        return held

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @staticmethod
    def _prepare(connection: sqlite3.Connection) -> None:
        with suppress(sqlite3.OperationalError):  # another process is at it: the mode belongs to the file
            connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(_TABLE)

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            get_logger("engine").warning("cache_failed", cache="SqliteCache", error=type(error).__name__)


def _checksum(key: str, value: bytes) -> bytes:
    return blake2b(value, key=key.encode()[:64], digest_size=8).digest()
