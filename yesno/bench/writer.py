"""Write the rows of a run so that a killed process loses at most the one it was writing."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from yesno.bench.rows import Row
from yesno.errors import ConfigError

__all__ = ["RowWriter"]


class RowWriter:
    """Appends rows to a file, each as one line that is handed to the system before `write` returns.

    What a killed process left of a last line is cut off first, so that a run goes on behind its last whole row.

    Args:
        path: The file; it is made when it is not there, its folder is not.

    Raises:
        ConfigError: It cannot be written, or another process is writing to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: IO[bytes] = path.open("a+b")
            _lock(self._file, path)
            self._cut()
        except OSError as error:
            raise self._unwritable(error) from error

    def _cut(self) -> None:
        size = self._file.seek(0, 2)
        end = size
        while end > 0:
            start = max(0, end - 65_536)
            self._file.seek(start)
            found = self._file.read(end - start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end < size:
            self._file.truncate(end)

    def write(self, row: Row) -> None:
        """Append one row.

        Raises:
            ConfigError: It cannot be written, as when the disk is full.
        """
        line = json.dumps(row.document(), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            self._file.write(line.encode("utf-8", "backslashreplace"))
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(f"{str(self.path)!r} cannot be written: {error.strerror or error}")


def _lock(file: IO[bytes], path: Path) -> None:
    """Keep others from writing to a file until it is closed, where the system can do that."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise ConfigError(f"another process is writing to {str(path)!r}; wait for its end") from None
