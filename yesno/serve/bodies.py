"""From the bytes of a request to the JSON it holds, with every size bounded before it is reached."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

from yesno._json import JSONFault, strict_json
from yesno.errors import RequestProblem
from yesno.serve.exchange import Exchange

if TYPE_CHECKING:
    from starlette.types import Receive

__all__ = ["json_of", "read_json"]

WINDOW = 8 * 1024 * 1024
"""Memory that a zstd frame may ask for; what RFC 8878 wants every decoder to support."""
MEMBERS = 16
"""Parts that a gzip body may be joined of: each costs a copy of all that comes behind it."""
SHOWN = 60
"""Characters of a name that an error shows."""


async def read_json(exchange: Exchange, receive: Receive) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON value of a request's body.

    Raises:
        RequestProblem: It is too large, of another type or encoding, or no JSON (see `json_of`).
    """
    headers, limit = exchange.headers, exchange.settings.max_body_bytes
    _check_type(headers.get(b"content-type", b"").decode("latin-1"))
    encoding = headers.get(b"content-encoding", b"identity").strip().lower()
    if encoding not in (b"identity", b"", b"gzip", b"x-gzip", b"zstd"):
        raise _unsupported(
            "the body's `content-encoding` must be gzip or zstd, or left out", "content_encoding"
        )
    told = headers.get(b"content-length", b"0")
    if told.isdigit() and int(told[:20]) > limit:
        raise _too_large(limit)
    data = await _read(receive, limit)
    if encoding == b"zstd":
        data = _unzstd(data, limit)
    elif encoding in (b"gzip", b"x-gzip"):
        data = _gunzip(data, limit)
    return json_of(data, exchange.settings.max_depth)


def _check_type(content_type: str) -> None:
    media = content_type.partition(";")[0].strip().lower()
    if media == "application/json" or (media.startswith("application/") and media.endswith("+json")):
        return
    if media.startswith("multipart/"):
        raise _unsupported(
            "a multipart body carries images, which this server does not take; send the request as "
            "application/json, without `assets`",
            "images_unsupported",
        )
    shown = f"not {media[:SHOWN]!r}" if media else "which it lacks"
    raise _unsupported(f"the body needs the header `content-type: application/json`, {shown}", "content_type")


def _unsupported(message: str, code: str) -> RequestProblem:
    return RequestProblem(message, status=415, kind="usage", code=code)


def _too_large(limit: int) -> RequestProblem:
    words = f"the body is larger than the {limit:,} bytes that this server takes; ask fewer questions at once"
    return RequestProblem(words, status=413, kind="usage", code="body_too_large")


async def _read(receive: Receive, limit: int) -> bytes:
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        return body
    chunks: list[bytes] = []
    size = 0
    while True:
        if message["type"] == "http.disconnect":
            raise RequestProblem("the body broke off", kind="usage", code="body_incomplete")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)
        message = await receive()


def _gunzip(data: bytes, limit: int) -> bytes:
    plain, members = b"", 0
    try:
        while data:
            members += 1
            if members > MEMBERS:
                raise _undecodable("gzip")
            stream = zlib.decompressobj(wbits=31)
            plain += stream.decompress(data, limit + 1 - len(plain))
            if len(plain) > limit:
                raise _too_large(limit)
            if not stream.eof:
                raise _undecodable("gzip")
            data = stream.unused_data
    except zlib.error:
        raise _undecodable("gzip") from None
    return plain


def _unzstd(data: bytes, limit: int) -> bytes:
    import zstandard

    reader = zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(
        BytesIO(data), read_across_frames=True
    )
    try:
        plain = reader.read(limit + 1)
    except zstandard.ZstdError:
        raise _undecodable("zstd") from None
    if len(plain) > limit:
        raise _too_large(limit)
    return plain


def _undecodable(encoding: str) -> RequestProblem:
    words = f"the body is not whole {encoding}, which its `content-encoding` says"
    return RequestProblem(words, kind="usage", code="content_encoding")


def json_of(data: bytes, max_depth: int) -> Any:  # noqa: ANN401 - JSON
    """Return the JSON value that bytes hold.

    Raises:
        RequestProblem: They are no UTF-8 or no JSON, a name is there twice in one object, a number is none or too
            large, a text holds half a character, or it is nested too deeply.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _bad(f"the body is not UTF-8 at byte {error.start}", "invalid_utf8") from None
    try:
        value = strict_json(text)
    except JSONFault as fault:
        raise _faulty(fault, max_depth) from None
    if data.count(b"[") + data.count(b"{") > max_depth:
        _check_depth(value, max_depth)
    if b"\\ud" in data or b"\\uD" in data:
        _check_characters(value)
    return value


def _faulty(fault: JSONFault, max_depth: int) -> RequestProblem:
    match fault.kind:
        case "syntax":
            return _bad(f"the body is not JSON: {fault}", "json_invalid")
        case "depth":
            return _too_deep(max_depth)
        case "twice":
            name = fault.name[:SHOWN]
            return _bad(f"the name {name!r} is there twice in one object; rename one", "duplicate_name")
        case _:
            return _bad(str(fault), "invalid_number")


def _bad(message: str, code: str) -> RequestProblem:
    return RequestProblem(message, code=code)


def _too_deep(max_depth: int) -> RequestProblem:
    return _bad(f"the body nests objects and arrays more than {max_depth} deep; make it flatter", "too_deep")


def _check_depth(value: Any, max_depth: int) -> None:  # noqa: ANN401 - JSON
    level, depth = [value], 0
    while level:
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, dict | list)]
        depth += 1
        if depth > max_depth:
            raise _too_deep(max_depth)


def _inside(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _check_characters(value: Any) -> None:  # noqa: ANN401 - JSON
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _bad("a text holds half of a surrogate pair, which is no character", "invalid_text") from None
