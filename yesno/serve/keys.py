"""API keys: a file that holds their hashes, and nothing that could be used as a key."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from yesno.errors import ConfigError

__all__ = ["ApiKey", "KeyRing", "add_key", "read_keys", "revoke_key"]

PREFIX = "yesno-"
"""How every key begins, so that a scanner of leaked secrets can know one."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LINE = re.compile(rf"({_NAME.pattern})\s+sha256:([0-9a-f]{{64}})\s+(\d{{4}}-\d{{2}}-\d{{2}})")
_HEADING = "# API keys of `yesno serve`: name, hash of the key, day it was made. See `yesno keys --help`.\n"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key that is known by its hash alone."""

    name: str
    digest: bytes = field(repr=False)
    """SHA-256 of the key. A key is 256 random bits, so there is nothing for a slow hash to protect."""
    made: date

    def line(self) -> str:
        """Return its line in a file of keys."""
        return f"{self.name} sha256:{self.digest.hex()} {self.made.isoformat()}\n"


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys that may ask."""

    keys: tuple[ApiKey, ...]

    def holder(self, presented: str) -> str | None:
        """Return the name of the key that was presented; None when it is none of these.

        All hashes are compared, each in constant time, so the time taken says nothing about any of them.
        """
        digest = _digest(presented)
        found = None
        for key in self.keys:
            if hmac.compare_digest(digest, key.digest):
                found = key.name
        return found


def read_keys(path: Path) -> KeyRing:
    """Read a file of keys: one `name sha256:… day` per line; `#` begins a comment.

    Raises:
        ConfigError: The file cannot be read, a line is of another form, or two keys have one name or one hash.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"the file of keys {str(path)!r} cannot be read: {error.strerror or error}; "
            f"`yesno keys add NAME --file {path}` makes one"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file of keys {str(path)!r} is not UTF-8 text") from error
    keys: list[ApiKey] = []
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content:
            keys.append(_parsed(content, f"{path}, line {number}", keys))
    return KeyRing(tuple(keys))


def add_key(path: Path, name: str, today: date) -> str:
    """Make a key, add its hash to a file, and return the key, which is written down nowhere else.

    Raises:
        ConfigError: The name is taken or cannot be one, or the file cannot be read or written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot be the name of a key; take up to 64 letters, digits, dots, dashes and underscores, "
            "a letter or digit first"
        )
    text = _HEADING
    if path.exists():
        if any(key.name == name for key in read_keys(path).keys):
            raise ConfigError(f"there is a key named {name!r} already; revoke it first, or take another name")
        text = path.read_text(encoding="utf-8")
        text += "" if not text or text.endswith("\n") else "\n"
    key = PREFIX + secrets.token_urlsafe(32)
    _write(path, text + ApiKey(name, _digest(key), today).line())
    return key


def revoke_key(path: Path, name: str) -> None:
    """Take a key out of a file.

    Raises:
        ConfigError: There is no such key, or the file cannot be read or written.
    """
    known = [key.name for key in read_keys(path).keys]
    if name not in known:
        raise ConfigError(
            f"there is no key named {name!r}; there are {', '.join(known) if known else 'none'}"
        )
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    _write(path, "".join(line for line in lines if line.partition("#")[0].split()[:1] != [name]))


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _parsed(content: str, place: str, before: list[ApiKey]) -> ApiKey:
    match = _LINE.fullmatch(content)
    if match is None:
        hint = "; a key itself does not belong here" if PREFIX in content else ""
        raise ConfigError(f"{place}: this is not `NAME sha256:… DAY`, as `yesno keys add` writes it{hint}")
    name, digest, day = match.groups()
    try:
        key = ApiKey(name, bytes.fromhex(digest), date.fromisoformat(day))
    except ValueError as error:
        raise ConfigError(f"{place}: {day!r} is no day") from error
    for other in before:
        if other.name == key.name or other.digest == key.digest:
            raise ConfigError(f"{place}: {name!r} and an earlier key have one name or one hash; take one out")
    return key


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all, for its owner's eyes alone unless it was there with other rights."""
    temporary, path = None, path.resolve()
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            temporary = file.name
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
        raise ConfigError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error
