"""Read a body to its end, within a time for all of it."""

from __future__ import annotations

import time

import httpx2
import openai

__all__ = ["whole"]


def whole(response: httpx2.Response, end: float | None) -> bytes:
    """Return the body of a response that is not read yet, and give the connection back.

    httpx2 limits the time between two pieces of a body; one that drips for ever never meets that limit.

    Args:
        response: As it came, before its body.
        end: Reading of `time.monotonic` after which no further piece is waited for.

    Raises:
        openai.APITimeoutError, openai.APIConnectionError: As the SDK does when it reads a body itself.
    """
    pieces = []
    try:
        for piece in response.iter_bytes():
            pieces.append(piece)
            if end is not None and time.monotonic() > end:
                raise openai.APITimeoutError(request=response.request)
    except httpx2.TimeoutException as error:
        raise openai.APITimeoutError(request=response.request) from error
    except httpx2.RequestError as error:
        raise openai.APIConnectionError(request=response.request) from error
    finally:
        response.close()
    return b"".join(pieces)
