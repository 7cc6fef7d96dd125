"""Which proxy the environment names for an address."""

from __future__ import annotations

import urllib.request
from urllib.parse import urlsplit

__all__ = ["proxy_for"]


def proxy_for(url: str) -> str | None:
    """Return the address of the proxy for an address; None when it is reached without one."""
    parts = urlsplit(url)
    if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
        return None
    return urllib.request.getproxies().get(parts.scheme)
