"""The ASGI application: which path does what, and how a response leaves."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from yesno._log import get_logger
from yesno.engine.aio import AsyncDecisionModel
from yesno.errors import RequestProblem, YesnoError
from yesno.serve.deciding import decided
from yesno.serve.exchange import Exchange, Protocol
from yesno.serve.listing import listed
from yesno.serve.metrics import Metrics
from yesno.serve.models import Models
from yesno.serve.openapi import document
from yesno.serve.problems import body_of, problem_of, status_of
from yesno.serve.settings import Settings

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["App", "create_app"]

Endpoint: TypeAlias = "Callable[[Scope, Receive, Send], Awaitable[None]]"
Routes: TypeAlias = Mapping[str, Mapping[str, Endpoint]]
"""Path -> method -> endpoint."""

JSON = b"application/json"
_OWN = os.urandom(8).hex()
"""Tells the requests of this process from those of others."""
_COUNT = count()
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


class App:
    """A server as an ASGI application.

    Attributes:
        models: What is served; put another `Models` in its place to change that while the server runs.
        settings: Limits for requests that begin from now on.
        chat_models: Names of models of `/v1/chat/completions`, for the list of models.
        ready: Whether `/readyz` says so; a server that is about to stop sets it to False.
        keys: Whether requests need a key, for the OpenAPI document; a middleware asks for it.
        routes: Path -> method -> ASGI endpoint. An endpoint may raise any `YesnoError`.
        metrics: What `/metrics` shows; further metrics go into its `registry`.
    """

    def __init__(
        self,
        models: Models,
        settings: Settings,
        *,
        middleware: Sequence[Middleware],
        routes: Routes,
        on_shutdown: Sequence[Callable[[], Awaitable[None]]],
    ) -> None:
        self.models = models
        self.settings = settings
        self.ready = True
        self.chat_models: Sequence[str] = ()
        self.keys = False
        self.metrics = Metrics()
        self.routes: dict[str, Mapping[str, Endpoint]] = {
            "/v1/decisions": {"POST": self._decide},
            "/v1/systemone": {"POST": self._decide},
            "/v1/models": {"GET": self._list},
            "/healthz": {"GET": partial(_send_word, b'{"status":"ok"}')},
            "/readyz": {"GET": self._tell_ready},
            "/metrics": {"GET": self._show_metrics},
            "/openapi.json": {"GET": self._show_document},
            **routes,
        }
        self._on_shutdown = on_shutdown
        self._stack: ASGIApp = self._dispatch
        for layer in reversed(middleware):
            self._stack = layer.cls(self._stack, *layer.args, **layer.kwargs)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or follow the life of the server."""
        if scope["type"] != "http":
            await self._live(scope, receive, send)
            return
        began = perf_counter()
        exchange = scope["yesno"] = self._exchange(scope)
        request_id = exchange.request_id.encode()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                own = [(b"x-request-id", request_id), (b"x-typesafe-request-id", request_id)]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        try:
            await self._stack(scope, receive, sending)
        except YesnoError as error:
            problem = problem_of(error, exchange.alias)
            if problem is not error and problem.status >= 500:
                get_logger("serve").warning(
                    "request_failed", request_id=exchange.request_id, alias=exchange.alias, error=str(error)
                )
            if exchange.status is None:
                await _send_problem(problem, exchange, sending)
        except Exception as error:  # noqa: BLE001 - the outermost seam: a server would log the message, which may hold content
            get_logger("serve").error("request_broke", request_id=exchange.request_id, error=_place_of(error))
            if exchange.status is None:
                await _send_problem(_BROKEN, exchange, sending)
        finally:
            exchange.seconds = perf_counter() - began
            self.metrics.note(scope["path"] if scope["path"] in self.routes else "other", exchange)

    def _exchange(self, scope: Scope) -> Exchange:
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _REQUEST_ID.fullmatch(given) else f"req_{_OWN}{next(_COUNT):08x}"
        protocol: Protocol = "systemone" if scope["path"] == "/v1/systemone" else "openai"
        return Exchange(request_id, protocol, self.settings, headers)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        methods = self.routes.get(scope["path"])
        if methods is None:
            known = ", ".join(sorted(self.routes))
            words = f"there is nothing at this path; this server has {known}"
            raise RequestProblem(words, status=404, kind="usage", code="not_found")
        method = scope["method"]
        endpoint = methods.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            allow = ", ".join(sorted({*methods, *(["HEAD"] if "GET" in methods else [])}))
            raise RequestProblem(
                f"this path takes {allow}, not {method}",
                status=405,
                kind="usage",
                code="method_not_allowed",
                headers=(("allow", allow),),
            )
        await endpoint(scope, receive, send)

    async def _decide(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send(send, 200, await decided(self.models, scope["yesno"], receive))

    async def _list(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send(send, 200, _json(listed(self.models, scope["yesno"].allowed, self.chat_models)))

    async def _tell_ready(self, scope: Scope, receive: Receive, send: Send) -> None:
        word = "ready" if self.ready else "stopping"
        await _send(send, 200 if self.ready else 503, _json({"status": word}))

    async def _show_metrics(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, kind = self.metrics.shown()
        await _send(send, 200, body, content_type=kind.encode())

    async def _show_document(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _send(
            send,
            200,
            _json(document(self.models, self.settings, keys=self.keys, chat_models=self.chat_models)),
        )

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":  # a WebSocket: closing it before it is accepted refuses it
            await send({"type": "websocket.close"})
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                for call in self._on_shutdown:
                    await call()
                await send({"type": "lifespan.shutdown.complete"})
                return


def create_app(
    models: Mapping[str, AsyncDecisionModel],
    *,
    settings: Settings | None = None,
    middleware: Sequence[Middleware] = (),
    routes: Routes | None = None,
    on_shutdown: Sequence[Callable[[], Awaitable[None]]] = (),
) -> App:
    """Return the server for some models; closing them is left to the caller, or to `on_shutdown`.

    Args:
        models: Alias -> model; a request's `model` names the alias. The first answers to `jev-latest` too.
        settings: Limits.
        middleware: Starlette's `Middleware` objects, the outermost first. Each finds an `Exchange` in
            `scope["yesno"]` and may raise a `RequestProblem`, which is sent in the form of the request's protocol.
        routes: Further paths, as in `App.routes`.
        on_shutdown: Awaited when the server has answered its last request.

    Raises:
        ConfigError: There is no model, or an alias is blank.
    """
    return App(
        Models(models),
        settings or Settings(),
        middleware=middleware,
        routes=routes or {},
        on_shutdown=on_shutdown,
    )


_BROKEN = RequestProblem(
    "the server made a mistake; its operator finds where in the log under this request's id",
    status=500,
    kind="server",
    code="internal_error",
)


def _place_of(error: Exception) -> str:
    """Return the type of an error and the place where it was raised, without its words."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__}{where}"


def _json(value: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps(value, ensure_ascii=False).encode()


async def _send_word(body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
    await _send(send, 200, body)


async def _send_problem(problem: RequestProblem, exchange: Exchange, send: Send) -> None:
    exchange.problem = problem.code or problem.kind
    more = [(name.encode(), value.encode()) for name, value in problem.headers]
    body = _json(body_of(problem, exchange.protocol))
    await _send(send, status_of(problem, exchange.protocol), body, more=more)


async def _send(
    send: Send,
    status: int,
    body: bytes,
    *,
    content_type: bytes = JSON,
    more: Sequence[tuple[bytes, bytes]] = (),
) -> None:
    length = str(len(body)).encode()
    headers = [(b"content-type", content_type), (b"content-length", length), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
