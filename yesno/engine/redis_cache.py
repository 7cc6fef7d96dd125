"""Replies in a Redis server."""

from __future__ import annotations

import time
from threading import Lock
from typing import Any, cast

from yesno._log import get_logger
from yesno.errors import ConfigError

__all__ = ["RedisCache"]

PAUSE_S = 30.0
"""Seconds without a cache after a failure: a server that is down must not slow every decision."""
TIMEOUT_S = 1.0
"""Longest wait for the server."""


class RedisCache:
    """Keeps replies in a Redis server, shared by all machines that reach it; needs `pip install 'yesno[redis]'`.

    The server holds the providers' replies as they came, which may repeat words of a prompt, under hashes of the
    requests. It holds no prompts, inputs or keys.

    When the server fails, that is logged once, and decisions go on without a cache; after 30 seconds it is tried
    again. Nothing but the constructor raises.

    Args:
        url: Such as `redis://127.0.0.1:6379/0`, `rediss://…` or `unix://…`.
        prefix: What the names of all keys begin with.
        ttl_s: Seconds after which a reply is forgotten; None for never.

    Raises:
        ConfigError: The package is missing, or the address is none.
    """

    def __init__(self, url: str, *, prefix: str = "yesno:", ttl_s: int | None = None) -> None:
        if isinstance(ttl_s, bool) or (ttl_s is not None and (not isinstance(ttl_s, int) or ttl_s < 1)):
            raise ConfigError(f"`ttl_s` must be a whole number of at least 1, or None, not {ttl_s!r}")
        try:
            import redis
        except ImportError as error:
            raise ConfigError("a Redis cache needs redis: run `pip install 'yesno[redis]'`") from error
        try:
            self._client = redis.Redis.from_url(
                url, socket_timeout=TIMEOUT_S, socket_connect_timeout=TIMEOUT_S
            )
        except (ValueError, TypeError, AttributeError):
            # the address may hold a password, and so may the error
            raise ConfigError(
                "the address of the Redis server must begin with redis://, rediss:// or unix://"
            ) from None
        self._failures = (redis.RedisError, OSError)
        self._prefix = prefix
        self._ttl_s = ttl_s
        self._down_until = 0.0
        self._warned = False
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"RedisCache(prefix={self._prefix!r})"

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key, or None."""
        if self._is_down():
            return None
        try:
            value = cast("Any", self._client.get(self._prefix + key))
        except self._failures as error:
            self._failed(error)
            return None
        return value if isinstance(value, bytes) else None

    def put(self, key: str, value: bytes) -> None:
        """Keep a value under a key, in place of an older one."""
        if self._is_down():
            return
        try:
            self._client.set(self._prefix + key, value, ex=self._ttl_s)
        except self._failures as error:
            self._failed(error)

    def close(self) -> None:
        """Close the connections; they are opened again when they are needed."""
        self._client.close()

    def _is_down(self) -> bool:
        return self._down_until > time.monotonic()

    def _failed(self, error: Exception) -> None:
        with self._lock:
            self._down_until = time.monotonic() + PAUSE_S
            warned, self._warned = self._warned, True
        if not warned:
            get_logger("engine").warning("cache_failed", cache="RedisCache", error=type(error).__name__)
