"""A memory of small files in a folder."""

from __future__ import annotations

import json
import os
import re
import tempfile
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from yesno._log import get_logger

__all__ = ["FolderMemory"]

VERSION = 1
_KEY = re.compile(r"[0-9a-f]{1,64}")


class FolderMemory:
    """Keeps what models have learned in a folder, for this and other processes.

    A file is written whole and then put in its place, so that nobody reads half of one; a file that is damaged, of
    another version or another's is a miss. It is readable for its owner only. Nothing here raises: what cannot be
    kept costs one warning.

    Args:
        folder: Where; by default `learned` in the user's cache folder of yesno.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = _default() if folder is None else Path(folder).expanduser()
        self._warned = False

    def __repr__(self) -> str:
        return f"FolderMemory({str(self.folder)!r})"

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key, or None."""
        try:
            kept = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if (
            not isinstance(kept, dict)
            or kept.get("version") != VERSION
            or not isinstance(kept.get("value"), str)
        ):
            return None
        value = kept["value"].encode("utf-8", "surrogatepass")
        return value if kept.get("checksum") == _checksum(key, value) else None

    def put(self, key: str, value: bytes) -> None:
        """Keep a value, which is text, under a key, in place of an older one."""
        path = self._path(key)
        kept = {"version": VERSION, "checksum": _checksum(key, value), "value": value.decode()}
        written: str | None = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, written = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".new")  # 0600
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(kept, file)
            Path(written).replace(path)
        except OSError as error:
            if written is not None:
                with suppress(OSError):
                    Path(written).unlink()
            self._warn(error)

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError(f"a key is made of hexadecimal digits, not {key!r}")
        return self.folder / f"{key}.json"

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            get_logger("engine").warning("memory_failed", memory="FolderMemory", error=type(error).__name__)


def _default() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("yesno") / "learned"


def _checksum(key: str, value: bytes) -> str:
    return blake2b(value, key=key.encode()[:64], digest_size=8).hexdigest()
