"""What the sources of a model file share: one unfinished file, to which each can append.

All sources of a catalogue entry serve the same bytes, so a source can go on with what another one began;
the digest at the end decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import BinaryIO, TypeAlias

from yesno.errors import ModelFileError

__all__ = ["BLOCK", "Fetched", "Progress", "SourceFailed", "Target", "ensure_space", "no_space", "write"]

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes that are here and the bytes there will be (None while unknown)."""

BLOCK = 1 << 20
_SPARE = 16 << 20
"""Bytes to leave free on the disk."""


class SourceFailed(Exception):
    """A source did not bring the file; the message says why, and the next source may do better."""


@dataclass(frozen=True, slots=True)
class Target:
    """The file to write and what is known about it."""

    part: Path
    """The unfinished file."""
    size: int | None
    sha256: str | None
    progress: Progress = lambda _done, _total: None

    @property
    def tag(self) -> Path:
        """A note of the version that the hub was serving, for files without a known digest."""
        return self.part.with_name(self.part.name + ".etag")

    def have(self) -> int:
        """Return the bytes that are here."""
        return self.part.stat().st_size if self.part.exists() else 0

    def discard(self) -> None:
        """Delete the unfinished file."""
        self.part.unlink(missing_ok=True)
        self.tag.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A source has brought everything it has."""

    resumed: bool
    """Bytes of an earlier attempt were kept."""
    size: int | None = None
    sha256: str | None = None
    """The digest that the server itself states."""


def write(blocks: Iterable[bytes], target: Target, *, start: int, end: int | None, total: int | None) -> None:
    """Write blocks from `start` on, which have to end at `end`; `total` is the size of the whole file.

    Raises:
        SourceFailed: More or fewer bytes came.
    """
    done = start
    with _open_at(target.part, start) as file:
        for block in blocks:
            done += len(block)
            if end is not None and done > end:
                raise SourceFailed(f"more than the expected {end:,} bytes came")
            file.write(block)
            target.progress(done, total)
    if end is not None and done < end:
        raise SourceFailed(f"only {done:,} of {end:,} bytes came")


def _open_at(path: Path, start: int) -> BinaryIO:
    file = path.open("r+b" if path.exists() else "wb")
    file.truncate(start)
    file.seek(start)
    return file


def ensure_space(folder: Path, needed: int) -> None:
    """Check the free space of the disk.

    Raises:
        ModelFileError: Fewer than `needed` bytes and a little more are free.
    """
    free = disk_usage(folder).free
    if free < needed + _SPARE:
        raise ModelFileError(no_space(folder, needed + _SPARE, free))


def no_space(folder: Path, needed: int, free: int) -> str:
    """Say what is missing and what to do."""
    return (
        f"the disk of {str(folder)!r} is too small for the model: {needed:,} bytes are needed and {free:,} are free. "
        "Free some space, or choose another folder with YESNO_MODELS_DIR, and start again: "
        "what was fetched is kept"
    )
