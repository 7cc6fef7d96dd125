"""What every provider behind the official `openai` SDK has in common.

The SDK does keys, addresses, headers and errors. Retries are the engine's, so the clients have none.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from functools import cached_property
from time import time
from typing import TYPE_CHECKING, Any, cast

from yesno.errors import ProviderError, ProviderRejected, ProviderUnavailable, UnreadableReply
from yesno.evidence import Reply, Usage
from yesno.providers._replies import complaints_of, detail_of, private_texts
from yesno.providers.base import Payload, PromptTask, Provider, Task
from yesno.providers.profiles import Profile
from yesno.wire.completion import completion_from
from yesno.wire.openai_chat import (
    CAP_NAMES,
    PARAMETERS,
    allowed_top_logprobs,
    chat_body,
    json_body,
    named_parameter,
    without,
)

if TYPE_CHECKING:
    import httpx2
    import openai

    from yesno.providers._aio import AioPoster

__all__ = ["OpenAISDK"]

NO_KEY = "none"
"""What the SDK is given in place of a key where a server needs none."""
QUOTED = "(the server's message quotes the prompt and is left out)"
_OPTIONS: Any = {"idempotency_key": "unused"}
"""The SDK would draw 16 random bytes per request for a header that it does not send (openai 3.57.0)."""


@dataclass(frozen=True, slots=True)
class _AsyncSide:
    """What belongs to one event loop."""

    loop: asyncio.AbstractEventLoop
    client: openai.AsyncOpenAI
    poster: AioPoster | None
    """None when the caller brought an HTTP client, which then has to be used."""


class OpenAISDK(Provider):
    """Chat Completions through the official SDK, read from `top_logprobs`; other routes override what differs."""

    path: str = "/chat/completions"
    """Where bodies are posted, after the address."""

    def __init__(
        self,
        model: str,
        *,
        api_key: str,
        base_url: str | None,
        profile: Profile,
        http_client: httpx2.Client | None = None,
        async_http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        self.model = model
        self.profile = profile
        self._api_key = api_key
        self._base_url = base_url
        self._http_client = http_client
        self._async_http_client = async_http_client
        self._async_sides: dict[int, _AsyncSide] = {}
        self._lock = threading.Lock()

    @property
    def address(self) -> str | None:
        """The server's address, when it is not the vendor's own."""
        return None if self._base_url is None else self._place

    def build(self, task: Task) -> Payload:
        """Return the Chat Completions body for a prompt."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("Chat Completions has no decision endpoint")
        profile = self.profile
        if task.schema is not None:
            return json_body(
                [(turn.role, turn.content) for turn in task.turns],
                model=task.model_name,
                cap_name=profile.cap_name,
                cap=max(task.max_tokens, profile.min_tokens),
                schema=task.schema,
                structured=profile.structured,
                effort=profile.effort,
                refuses=profile.refuses,
            )
        return chat_body(
            [(turn.role, turn.content) for turn in task.turns],
            model=task.model_name,
            cap_name=profile.cap_name,
            cap=max(task.max_tokens, profile.min_tokens),
            temperature=profile.temperature,
            top_logprobs=profile.top_logprobs,
            effort=profile.effort,
            refuses=profile.refuses,
        )

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Return the text and token probabilities of a Chat Completions body."""
        try:
            usage = reply.get("usage") or {}
            details = usage.get("prompt_tokens_details") or {}
            return Reply(
                completion_from(reply),
                model=reply.get("model"),
                usage=Usage(
                    input_tokens=usage.get("prompt_tokens") or 0,
                    output_tokens=usage.get("completion_tokens") or 0,
                    cached_tokens=details.get("cached_tokens") or 0,
                    requests=1,
                ),
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise UnreadableReply(
                f"the reply of {self._place} is not a Chat Completions body ({type(error).__name__}: {error})",
                provider=self.name,
            ) from error

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Post one body through the SDK."""
        import httpx2

        options = dict(_OPTIONS) if timeout_s is None else {**_OPTIONS, "timeout": timeout_s}
        response = self._client.post(
            self.path, body=payload, cast_to=httpx2.Response, options=cast("Any", options)
        )
        return self._json(response.status_code, response.content)

    async def asend(self, payload: Payload) -> Payload:
        """Post one body as the SDK would, awaited; through the SDK itself when the caller brought a client."""
        side = self._async_side()
        if side.poster is not None:
            return self._json(*await side.poster.post(payload))
        import httpx2

        response = await side.client.post(self.path, body=payload, cast_to=httpx2.Response, options=_OPTIONS)
        return self._json(response.status_code, response.content)

    def classify(self, error: Exception) -> ProviderError | None:
        """Name the SDK's errors; a message that quotes the prompt or the key is left out."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._status_error(error)
        if isinstance(error, openai.APITimeoutError):
            return ProviderUnavailable(f"{self._place} did not answer in time", provider=self.name)
        if isinstance(error, openai.APIConnectionError):
            return ProviderUnavailable(
                f"cannot reach {self._place}; check that the server runs and the address is right",
                provider=self.name,
            )
        return error if isinstance(error, ProviderError) else None

    def adapt(self, payload: Payload, error: ProviderError) -> Payload | None:
        """Change or drop what a 400 names, and remember it for this provider object."""
        if (
            not isinstance(error, ProviderRejected)
            or error.status not in (400, 422)
            or error.param not in payload
        ):
            return None
        name = cast("str", error.param)
        if name == "top_logprobs":
            allowed = allowed_top_logprobs(str(error), payload[name])
            if allowed is None:
                return None
            self.profile = replace(self.profile, top_logprobs=allowed)
            return {**payload, name: allowed}
        if name in CAP_NAMES:
            other: Any = CAP_NAMES[1 - CAP_NAMES.index(name)]
            if other not in str(error):
                return None
            self.profile = replace(self.profile, cap_name=other)
            return {**without(payload, name), other: payload[name]}
        if name in ("temperature", "reasoning_effort", "response_format"):
            self.profile = replace(self.profile, refuses=self.profile.refuses | {name})
            return without(payload, name)
        return None

    def close(self) -> None:
        """Close the connections of the synchronous side."""
        if "_client" in self.__dict__:
            self._client.close()
            del self.__dict__["_client"]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        self.close()
        side = self._async_sides.pop(id(asyncio.get_running_loop()), None)
        if side is not None:
            if side.poster is not None:
                await side.poster.close()
            await side.client.close()

    @property
    def _place(self) -> str:
        if self._base_url is None:
            return "api.openai.com"
        scheme, slashes, rest = self._base_url.partition("//")
        host, slash, path = rest.partition("/")
        return f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        client = openai.OpenAI(
            api_key=self._api_key, base_url=self._base_url, max_retries=0, http_client=self._http_client
        )
        self._prepare(client)
        return client

    def _prepare(self, client: openai.OpenAI | openai.AsyncOpenAI) -> None:
        """Change a client before its first request."""

    def _async_side(self) -> _AsyncSide:
        loop = asyncio.get_running_loop()
        held = self._async_sides.get(id(loop))
        if held is not None and held.loop is loop:
            return held
        import openai

        from yesno.providers._aio import AioPoster

        client = openai.AsyncOpenAI(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            http_client=self._async_http_client,
        )
        self._prepare(client)
        side = _AsyncSide(
            loop, client, AioPoster(client, self.path) if self._async_http_client is None else None
        )
        with self._lock:
            self._async_sides = {k: v for k, v in self._async_sides.items() if not v.loop.is_closed()}
            self._async_sides[id(loop)] = side
        return side

    def _json(self, status: int, content: bytes) -> Payload:
        try:
            body = json.loads(content)
        except ValueError as error:
            raise UnreadableReply(
                f"{self._place} answered {status} with something that is not JSON",
                provider=self.name,
                status=status,
            ) from error
        if not isinstance(body, dict):
            raise UnreadableReply(
                f"{self._place} answered with a JSON {type(body).__name__} instead of an object",
                provider=self.name,
            )
        return body

    def _status_error(self, error: openai.APIStatusError) -> ProviderError:
        status = error.status_code
        message, param, code = _details(error.body)
        quoted = _quotes(message, error.request.content)
        shown = QUOTED if quoted else self._masked(message)[:300] or f"status {status}"
        known: dict[str, Any] = {
            "provider": self.name,
            "status": status,
            "request_id": error.request_id or error.response.headers.get("x-typesafe-request-id"),
            "retry_after": _retry_after(error.response.headers),
        }
        if (status in (408, 409, 429) or status >= 500) and code != "insufficient_quota":
            return ProviderUnavailable(f"{self._place} answered {status}: {shown}", **known)
        hint = {
            401: self._key_hint(),
            403: self._key_hint(),
            404: f"; is {self.model!r} the right model name?",
        }
        return ProviderRejected(
            f"{self._place} answered {status}: {shown}{hint.get(status, '')}",
            # words that may be the user's own must not change how anything is asked
            param=None if quoted else self._named(message, param) if status in (400, 422) else param,
            code=code,
            **known,
        )

    def _named(self, message: str, param: str | None) -> str | None:
        return named_parameter(message, param)

    def _key_hint(self) -> str:
        return "; check the API key"

    def _masked(self, message: str) -> str:
        key = self._api_key
        if key == NO_KEY:
            return message
        if len(key) < 8:
            return re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "***", message)
        return message.replace(key, "***")


def _quotes(message: str, sent: bytes, width: int = 20) -> bool:
    """Return whether a server's message holds a line of the prompt or `width` characters in a row of it."""
    pieces = {message[i : i + width] for i in range(min(600, len(message) - width + 1))}
    for content in private_texts(json.loads(sent)) if sent else ():
        lines = {line.strip() for line in content.splitlines()} - {*PARAMETERS}
        if any(len(line) > 5 and line in message for line in _spellings(lines)):
            return True
        if any(piece in text for text in _spellings([content]) for piece in pieces):
            return True
    return False


def _spellings(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts as they are and as JSON and Python escape them."""
    for text in texts:
        yield from {text, *(escaped(text)[1:-1] for escaped in (json.dumps, repr, ascii))}


def _details(body: object) -> tuple[str, str | None, str | None]:
    """Return message, parameter and code of an error body in any of the shapes that servers use.

    Nested `error` (OpenAI), a flat object (vLLM), a list with one object (Gemini), the upstream's body as JSON
    text in `metadata.raw` (OpenRouter), and `detail` as object, list or text (TypeSafe); 2026-11.
    """
    inner: Any = body[0] if isinstance(body, list) and body else body
    if isinstance(inner, Mapping) and isinstance(inner.get("error"), Mapping | str):
        inner = inner["error"]
    if isinstance(inner, str):
        return inner, None, None
    if not isinstance(inner, Mapping):
        return "", None, None
    raw = (inner.get("metadata") or {}).get("raw") if isinstance(inner.get("metadata"), Mapping) else None
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        try:
            return _details(json.loads(raw))
        except ValueError:
            pass
    detail = inner.get("detail")
    if isinstance(detail, Mapping) and not inner.get("message"):
        return detail_of(detail)
    message = inner.get("message") or complaints_of(detail) or ""
    param, code = inner.get("param"), inner.get("code") or inner.get("type")
    return str(message), param if isinstance(param, str) else None, code if isinstance(code, str) else None


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that `retry-after-ms` or `retry-after` ask to wait; None without a usable one."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        try:
            return max(0.0, float(value))
        except ValueError:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError):
        return None
