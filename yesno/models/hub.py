"""Fetch a model file from the model hub, going on where an earlier attempt stopped."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import TYPE_CHECKING

from yesno.models.catalogue import HubSource
from yesno.models.sources import Fetched, SourceFailed, Target, ensure_space, write

if TYPE_CHECKING:
    import httpx2

__all__ = ["fetch_from_hub"]

_CONNECT_S = 5.0
"""Short, so that a machine without internet soon tries the next source."""
_READ_S = 60.0
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


def fetch_from_hub(source: HubSource, target: Target, *, client: httpx2.Client | None = None) -> Fetched:
    """Stream a file of the model hub.

    Raises:
        SourceFailed: No connection, a status that is not a success, or a connection that broke.
        ModelFileError: The disk is too small.
    """
    import httpx2

    timeout = httpx2.Timeout(_READ_S, connect=_CONNECT_S)
    try:
        with httpx2.Client(timeout=timeout) if client is None else nullcontext(client) as http:
            return _stream(http, source.url, target)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise SourceFailed(_broken(error, target)) from error


def _broken(error: Exception, target: Target) -> str:
    import httpx2

    reason = str(error) or type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return f"no connection ({reason})"
    return f"the connection broke after {target.have():,} bytes ({reason})"


def _stream(http: httpx2.Client, url: str, target: Target) -> Fetched:
    have = target.have()
    if target.size is not None and have >= target.size:
        if have == target.size:
            return Fetched(resumed=True)
        target.discard()
        have = 0
    headers = _range_headers(target, have)
    with http.stream("GET", url, headers=headers, follow_redirects=True) as response:
        if response.status_code == 416:  # what is here is longer than the file there
            target.discard()
            raise SourceFailed("HTTP 416: the unfinished file did not fit and was deleted; try again")
        start, total = _span(response, have if "range" in headers else 0)
        if target.size not in (None, total) and total is not None:
            raise SourceFailed(f"the file there has {total:,} bytes instead of {target.size:,}")
        total = total if target.size is None else target.size
        _keep_tag(response, target)
        ensure_space(target.part.parent, (total or 0) - start)
        write(response.iter_raw(), target, start=start, end=total, total=total)
        return Fetched(start > 0, total, _stated_digest(response))


def _range_headers(target: Target, have: int) -> dict[str, str]:
    headers = {"accept-encoding": "identity"}
    tag = target.tag.read_text("utf-8") if target.tag.exists() else ""
    if have and (tag or target.sha256):
        headers["range"] = f"bytes={have}-"
        if tag:
            headers["if-range"] = tag
    return headers


def _span(response: httpx2.Response, have: int) -> tuple[int, int | None]:
    """Return where the body begins in the file, and the size of the file where it is told."""
    if response.status_code == 200:
        length = response.headers.get("content-length", "")
        return 0, int(length) if length.isdigit() else None
    if response.status_code == 206:
        match = _RANGE.fullmatch(response.headers.get("content-range", ""))
        if match and have and int(match[1]) == have:
            return have, int(match[2])
        raise SourceFailed(
            f"asked for the bytes from {have:,}, got {response.headers.get('content-range')!r}"
        )
    hints = {401: ": it wants a login", 403: ": it wants a login", 404: ": there is no such file"}
    raise SourceFailed(f"HTTP {response.status_code}{hints.get(response.status_code, '')}")


def _keep_tag(response: httpx2.Response, target: Target) -> None:
    tag = response.headers.get("etag", "")
    if tag.startswith('"'):  # a weak one does not promise equal bytes
        target.tag.write_text(tag, "utf-8")
    else:
        target.tag.unlink(missing_ok=True)


def _stated_digest(response: httpx2.Response) -> str | None:
    tags = [step.headers.get("x-linked-etag", "") for step in (*response.history, response)]
    matches = [match[1] for tag in tags if (match := _SHA256.fullmatch(tag))]
    return matches[-1] if matches else None
