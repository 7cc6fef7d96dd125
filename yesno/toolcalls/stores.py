"""Remember which records of waiting calls were used, so that none is used twice."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Protocol

from yesno.errors import PendingStateError

__all__ = ["InMemoryPendingStore", "PendingStore", "SqlitePendingStore"]


class PendingStore(Protocol):
    """Three methods that make a record of waiting calls good for one use; must be safe between threads."""

    def issue(self, id: str, digest: str, expires: int | None) -> None:
        """Remember a record that was made, by the digest of all its fields."""

    def digest(self, id: str) -> str | None:
        """Return the digest of a record that was made here; None for one that was not."""

    def consume(self, id: str, expires: int | None) -> bool:
        """Mark a record as used, in one atomic step; False when it was used before."""


class InMemoryPendingStore:
    """Remembers records in this process, until they expire."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._issued: dict[str, tuple[str, int | None]] = {}
        self._used: dict[str, int | None] = {}
        self._forgotten = 0

    def issue(self, id: str, digest: str, expires: int | None) -> None:
        """Remember a record that was made."""
        with self._lock:
            self._forget()
            self._issued[id] = (digest, expires)

    def digest(self, id: str) -> str | None:
        """Return the digest of a record that was made here."""
        with self._lock:
            known = self._issued.get(id)
            return None if known is None else known[0]

    def consume(self, id: str, expires: int | None) -> bool:
        """Mark a record as used; False when it was used before."""
        with self._lock:
            if id in self._used or (expires is not None and expires <= self._forgotten):
                return False
            self._used[id] = expires
            return True

    def _forget(self) -> None:
        now = self._clock()
        for id in [id for id, (_, expires) in self._issued.items() if expires is not None and expires < now]:
            del self._issued[id]
        for id, expires in [*self._used.items()]:
            if expires is not None and expires < now:
                self._forgotten = max(self._forgotten, expires)  # should the clock go back, it stays used
                del self._used[id]


class SqlitePendingStore:
    """Remembers records in a file that threads and processes of one machine share.

    Args:
        path: The file; made when it is not there, readable by its owner alone.
        clock: Seconds since 1970; records that expired by it are forgotten.

    Raises:
        PendingStateError: (`"store"`) The file cannot be read or written; nothing ran.
    """

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path)
        self._clock = clock
        try:
            self.path.touch(mode=0o600)
        except OSError as error:
            raise _unusable(self.path, error) from error
        self._run(
            "CREATE TABLE IF NOT EXISTS pending (id TEXT PRIMARY KEY, digest TEXT NOT NULL, expires INTEGER)"
        )
        self._run("CREATE TABLE IF NOT EXISTS used (id TEXT PRIMARY KEY, expires INTEGER)")
        self._run("CREATE TABLE IF NOT EXISTS forgotten (one INTEGER PRIMARY KEY, expires INTEGER)")

    def issue(self, id: str, digest: str, expires: int | None) -> None:
        """Remember a record that was made."""
        now = int(self._clock())
        self._run("DELETE FROM pending WHERE expires < ?", now)
        # should the clock go back, what was used stays so: the time is written before the names go
        self._run(
            "INSERT INTO forgotten SELECT 1, MAX(expires) FROM used WHERE expires < ? GROUP BY 1 "
            "ON CONFLICT (one) DO UPDATE SET expires = MAX(expires, excluded.expires)",
            now,
        )
        self._run("DELETE FROM used WHERE expires < ?", now)
        self._run("INSERT INTO pending (id, digest, expires) VALUES (?, ?, ?)", id, digest, expires)

    def digest(self, id: str) -> str | None:
        """Return the digest of a record that was made here."""
        rows = self._run("SELECT digest FROM pending WHERE id = ?", id)[1]
        return str(rows[0][0]) if rows else None

    def consume(self, id: str, expires: int | None) -> bool:
        """Mark a record as used; False when it was used before."""
        return (
            self._run(
                "INSERT OR IGNORE INTO used (id, expires) SELECT ?, ? "
                "WHERE NOT EXISTS (SELECT 1 FROM forgotten WHERE expires >= ?)",
                *(id, expires, expires),
            )[0]
            == 1
        )

    def _run(self, statement: str, *values: str | int | None) -> tuple[int, list[tuple[object, ...]]]:
        # a connection per statement: cheap next to a person's answer, and safe between threads and after a fork
        try:
            with closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
                cursor = connection.execute(statement, values)
                return cursor.rowcount, cursor.fetchall()
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error


def _unusable(path: Path, error: Exception) -> PendingStateError:
    return PendingStateError(
        f"the store of waiting calls {path.name!r} cannot be used ({type(error).__name__}: {error}); nothing ran",
        reason="store",
    )
