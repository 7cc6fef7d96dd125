"""Model files on this machine: whether one can be trusted, and one writer at a time.

A file that was checked has a stamp beside it (`NAME.json`) with its size, time and digest, so that a start does
not read a gigabyte again. The lock is the operating system's own on an open file, which ends with its process:
no lock is ever left behind.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from yesno.models.catalogue import ModelEntry, catalogue
from yesno.models.resolve import ModelFile, models_folder, resolve

__all__ = ["WrongFile", "check", "installed", "is_checked", "locked", "stamp"]

_MAGIC = b"GGUF"
_BLOCK = 1 << 20
_WAIT_S = 0.2


class WrongFile(Exception):
    """A file is not what its entry says; the message says in which way."""


def installed(folder: Path | str | None = None) -> list[ModelFile]:
    """List the complete model files of the models folder, by name."""
    root = models_folder(folder)
    found = [_named(path, root) for path in root.glob("*.gguf") if path.is_file()] if root.is_dir() else []
    return sorted(found, key=lambda file: file.name)


def _named(path: Path, root: Path) -> ModelFile:
    # The name of a file from the hub is not in its file name unambiguously, so the stamp holds it.
    names = [entry.name for entry in catalogue().values() if entry.file == path.name]
    name = names[0] if names else _read_stamp(path).get("name")
    return resolve(name, folder=root) if isinstance(name, str) else ModelFile(path.stem, path)


def is_checked(path: Path, entry: ModelEntry) -> bool:
    """Whether the file was checked against the entry's digest and has not changed since."""
    try:
        state = path.stat()
    except OSError:
        return False
    seen = _read_stamp(path)
    return (
        (seen.get("bytes"), seen.get("changed_ns")) == (state.st_size, state.st_mtime_ns)
        and entry.size in (None, state.st_size)
        and entry.sha256 in (None, seen.get("sha256"))
    )


def check(path: Path, *, size: int | None, sha256: str | None) -> str:
    """Read the file and return its digest.

    Raises:
        WrongFile: The size or the digest is not the expected one, or this is no GGUF file.
    """
    actual = path.stat().st_size
    if size is not None and actual != size:
        raise WrongFile(f"wrong size: expected {size:,} bytes, found {actual:,}")
    digest = hashlib.sha256()
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
        digest.update(start)
        while block := file.read(_BLOCK):
            digest.update(block)
    if sha256 is not None and digest.hexdigest() != sha256:
        raise WrongFile(f"wrong checksum: expected SHA-256 {sha256}, found {digest.hexdigest()}")
    if start != _MAGIC:
        raise WrongFile(f"not a GGUF file: it begins with {start!r}")
    return digest.hexdigest()


def stamp(path: Path, entry: ModelEntry, sha256: str) -> None:
    """Remember that the file was checked; a folder that cannot be written means checking again next time."""
    state = path.stat()
    note = {
        "name": entry.name,
        "bytes": state.st_size,
        "changed_ns": state.st_mtime_ns,
        "sha256": sha256,
    }
    with contextlib.suppress(OSError):
        _stamp_path(path).write_text(json.dumps(note), "utf-8")


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def _read_stamp(path: Path) -> dict[str, Any]:
    try:
        note = json.loads(_stamp_path(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process or thread works on the file, and keep others out meanwhile."""
    # The lock file stays: deleting it would let two processes lock two files of one name.
    with path.with_name(path.name + ".lock").open("ab") as file:
        while not _try_lock(file.fileno()):
            time.sleep(_WAIT_S)
        try:
            yield
        finally:
            _unlock(file.fileno())


if sys.platform == "win32":  # pragma: no cover - the tests run on POSIX
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
