"""Seal records so that nobody else can make or change one."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from yesno.errors import ConfigError

__all__ = ["MIN_KEY_BYTES", "PendingSigner"]

MIN_KEY_BYTES = 16
"""Fewest bytes of a key; 32 random ones are a good key (`secrets.token_bytes(32)`)."""
_DOMAIN = b"yesno.toolcalls.pending.1\n"


class PendingSigner:
    """Signs records of waiting calls with HMAC-SHA256.

    What is signed can still be read by everybody who gets the record.

    Args:
        keys: One secret, or name -> secret; bytes or text of at least 16 bytes. The first signs, all are accepted: to
            change the key, put the new one first and drop the old one when its records have expired. A key given
            without a name is called by eight digits of its hash.

    Raises:
        ConfigError: There is no key, one is too short, or a name holds a colon.
    """

    __slots__ = ("_keys",)

    def __init__(self, keys: bytes | str | Mapping[str, bytes | str]) -> None:
        named = keys if isinstance(keys, Mapping) else {"": keys}
        self._keys: dict[str, bytes] = {}
        for name, key in named.items():
            secret = key.encode() if isinstance(key, str) else key
            if not isinstance(secret, bytes) or len(secret) < MIN_KEY_BYTES:
                raise ConfigError(
                    f"a signing key needs at least {MIN_KEY_BYTES} bytes; make one with secrets.token_bytes(32)"
                )
            if not isinstance(name, str) or ":" in name:
                raise ConfigError(f"the name of a signing key is a text without a colon, not {name!r}")
            self._keys[name or hashlib.sha256(secret).hexdigest()[:8]] = secret
        if not self._keys:
            raise ConfigError("there is no signing key; give one, such as secrets.token_bytes(32)")

    def __repr__(self) -> str:
        return f"PendingSigner({', '.join(self._keys)})"

    def sign(self, text: str) -> str:
        """Return the signature of a text, `key name:hexadecimal digits`."""
        name, key = next(iter(self._keys.items()))
        return f"{name}:{_mac(key, text)}"

    def verify(self, text: str, signature: str | None) -> bool:
        """Return whether a signature of a text was made with one of the keys; compared in constant time."""
        name, _, digits = (signature or "").rpartition(":")
        key = self._keys.get(name)
        if key is None:  # the names of keys are no secret
            return False
        return hmac.compare_digest(_mac(key, text).encode(), digits.encode("utf-8", "replace"))


def _mac(key: bytes, text: str) -> str:
    return hmac.new(key, _DOMAIN + text.encode(), hashlib.sha256).hexdigest()
