"""llama.cpp inside the process: no key, no server to run, nothing leaves the machine."""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread

from yesno.errors import (
    ConfigError,
    ModelFileError,
    ProviderError,
    ProviderRejected,
    ProviderUnavailable,
    UnreadableReply,
)
from yesno.evidence import Completion, Reply, Usage
from yesno.models.cpu import default_threads
from yesno.models.download import pull
from yesno.models.resolve import resolve
from yesno.models.sources import Progress
from yesno.providers._line import Line
from yesno.providers.base import Payload, PromptTask, Provider, Task
from yesno.providers.profiles import Profile
from yesno.settings import Settings
from yesno.wire.completion import completion_from
from yesno.wire.openai_chat import chat_body

__all__ = ["LlamaError", "LocalProvider"]

_CONTEXT = 4096
"""Tokens to open a model for: more costs memory, and decisions are short."""
_ROW = Profile(
    strategies=("logprobs",),
    # llama.cpp has no cap; 100 instead of 20 took 12 ms more for four tokens of SmolLM2, on a busy machine.
    top_logprobs=100,
    temperature=0.0,  # llama.cpp reports the probabilities before its samplers
    concurrency=1,
    timeout_s=None,  # the first decision may have to fetch and open the model
    prefill=True,
    source="measured with xllamacpp 2026.10.11549",
    date="2026-11-30",
)
_CONTROL = re.compile(
    r"<(?=[|｜]|/?s>|(?:start|end)_of_turn>|(?:bos|eos|pad|unk|sop|eop)>|</?SYS>>)|\[(?=/?INST\])|[|｜](?=>)"
)
"""Where a text looks like a control token of some model's chat format."""


class LlamaError(Exception):
    """llama.cpp did not answer a request. Its own text is left out, since it may quote the prompt."""

    def __init__(self, kind: str, *, code: int = 400, prompt_tokens: int = 0, n_ctx: int = 0) -> None:
        super().__init__(kind)
        self.kind = kind
        self.code = code
        self.prompt_tokens = prompt_tokens
        self.n_ctx = n_ctx


class LocalProvider(Provider):
    """Answers with a model that runs in this process.

    The model is fetched and opened at the first request. Requests wait for one another in order: the model
    answers one at a time, and equal beginnings of prompts are then read only once.

    Args:
        model: What `yesno.models.resolve.resolve` takes: a name of the catalogue, `hf:OWNER/REPO/FILE`, or a path.
        n_ctx: Most tokens of a prompt with its answer; None for 4096, or what the model takes when that is less.
        threads: Threads to compute with; None for one per core. Another process that computes on the same cores
            makes llama.cpp many times slower: leave it some.
        folder: Where fetched models lie; None for `YESNO_MODELS_DIR`, else the user's cache folder.
        progress: Told about a download, as (bytes here, bytes in all or None).
        download: Fetch a model that is not here yet, instead of failing.
        reuse: Do not read the beginning of a prompt again that an earlier prompt had. What is read at once changes
            rounding: a prompt read after another gave probabilities up to 0.03 away from the same prompt alone; without
            reuse three repeats agreed to five digits (qwen2.5-coder-1.5b, xllamacpp 2026.10.11549; 2026-11).

    Raises:
        ConfigError: The model's name is unknown, or a number is not positive.
    """

    name: ClassVar[str] = "local"
    remote: bool = False

    def __init__(
        self,
        model: str = "qwen2.5-coder-1.5b",
        *,
        n_ctx: int | None = None,
        threads: int | None = None,
        folder: Path | str | None = None,
        progress: Progress | None = None,
        download: bool = True,
        reuse: bool = True,
    ) -> None:
        for label, value in (("n_ctx", n_ctx), ("threads", threads)):
            if value is not None and value < 1:
                raise ConfigError(f"{label} is {value}; it has to be at least 1")
        folder = folder or Settings.from_env().models_dir
        self._file = resolve(model, folder=folder)
        self.model = self._file.name
        entry = self._file.entry
        self.profile = replace(
            _ROW,
            template=self._file.template,
            prior=entry.prior if entry else None,
            packing=entry.packing if entry else (),
        )
        self._n_ctx = n_ctx or min(_CONTEXT, self._file.context or _CONTEXT)
        self._threads = threads
        self._spec = model
        self._folder = folder
        self._progress = progress
        self._download = download
        self._reuse = reuse
        self._line = Line()
        self._server: Any = None
        self._closed = False

    @property
    def address(self) -> str | None:
        """The path of a model file of the user's own: its name may be another one's too."""
        return None if self._file.entry is not None else str(self._file.path)

    @property
    def identity(self) -> str | None:
        """Size and time of a model file of the user's own, which may be replaced by another."""
        if self._file.entry is not None:
            return None
        try:
            state = self._file.path.stat()
        except OSError:
            return None
        return f"{state.st_size}-{state.st_mtime_ns}"

    def build(self, task: Task) -> Payload:
        """Return the chat body for a prompt; texts cannot write control tokens of the chat format."""
        if not isinstance(task, PromptTask):
            raise NotImplementedError("a local model has no decision endpoint")
        turns = task.turns
        if turns[-1].role == "assistant" and not turns[-1].content:
            turns = turns[:-1]  # llama.cpp opens a second assistant turn for an empty beginning
        profile = self.profile
        body = chat_body(
            [(turn.role, _plain(turn.content)) for turn in turns],
            model=task.model_name or self.model,
            cap_name=profile.cap_name,
            cap=task.max_tokens,
            temperature=profile.temperature,
            top_logprobs=profile.top_logprobs,
        )
        return {**body, "cache_prompt": self._reuse}

    def parse(self, task: Task, reply: Payload) -> Reply:
        """Read the text, the token probabilities and the token counts."""
        try:
            completion = _without_prefill(task, completion_from(reply))
            return Reply(completion, str(reply.get("model") or self.model), _usage(reply))
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise UnreadableReply(
                f"the reply of llama.cpp is not a chat completion ({type(error).__name__}); "
                "does this version of xllamacpp fit?",
                provider=self.name,
            ) from error

    def classify(self, error: Exception) -> ProviderError | None:
        """Name an error of llama.cpp."""
        if not isinstance(error, LlamaError):
            return super().classify(error)
        if error.kind == "exceed_context_size_error":
            return ProviderRejected(self._too_long(error), provider=self.name, status=error.code)
        said = f"llama.cpp did not answer for {self.model!r} ({error.code} {error.kind})"
        if error.code >= 500:
            return ProviderUnavailable(said, provider=self.name, status=error.code)
        return ProviderRejected(
            f"{said}; look for characters that are not valid text", provider=self.name, status=error.code
        )

    def _too_long(self, error: LlamaError) -> str:
        room = (error.prompt_tokens // 1024 + 1) * 1024
        most = self._file.context
        advice = f"shorten the input, or open the model with n_ctx={room} or more"
        if most is not None and room > most:
            advice = f"shorten the input: the model takes at most {most:,}"
        return f"the prompt has {error.prompt_tokens:,} tokens, and {self.model!r} was opened for {error.n_ctx:,}; {advice}"

    def send(self, payload: Payload, *, timeout_s: float | None = None) -> Payload:
        """Ask the model, after everyone who asked before; what it has begun it also ends."""
        return self._send(payload, timeout_s, threading.Event())

    async def asend(self, payload: Payload) -> Payload:
        """Ask the model from a thread. A cancelled request that has not begun never begins."""
        dropped = threading.Event()
        try:
            return await anyio.to_thread.run_sync(self._send, payload, None, dropped, abandon_on_cancel=True)
        finally:
            dropped.set()

    def close(self) -> None:
        """Free the model, after the request that is under way."""
        with self._line.turn():
            self._closed = True
            self._server = None

    async def aclose(self) -> None:
        """Do what `close` does, awaited."""
        await anyio.to_thread.run_sync(self.close)

    def _send(self, payload: Payload, timeout_s: float | None, dropped: threading.Event) -> Payload:
        with self._line.turn(timeout_s) as come:
            if not come:
                raise ProviderUnavailable(
                    f"{self.model!r} was busy with other requests for {timeout_s:.3g} s", provider=self.name
                )
            if dropped.is_set():
                return {}
            if self._closed:
                raise ProviderRejected(
                    f"the local model {self.model!r} is closed; make a new one", provider=self.name
                )
            if self._server is None:
                self._server = self._open()
            return _ask(self._server, payload)

    def _open(self) -> Any:  # noqa: ANN401 - xllamacpp has no types
        try:
            import xllamacpp
        except ImportError as error:
            raise ConfigError("local models need xllamacpp: run `pip install 'yesno[local]'`") from error
        if self._file.entry is not None and not self._download and not self._file.here:
            raise ModelFileError(
                f"the model {self.model!r} is not in {str(self._file.path.parent)!r}: "
                f"run `yesno models pull {self.model}`"
            )
        path = pull(self._spec, folder=self._folder, progress=self._progress)
        try:
            return xllamacpp.Server(self._params(xllamacpp.CommonParams(), path))
        except RuntimeError as error:
            raise ModelFileError(
                f"llama.cpp cannot open the model file {str(path)!r} for {self._n_ctx:,} tokens: it is damaged, of a "
                "kind that this version does not know, or needs more memory than there is; check it with "
                f"`yesno models pull {self.model} --verify`, or take a smaller n_ctx"
            ) from error

    def _params(self, params: Any, path: Path) -> Any:  # noqa: ANN401 - xllamacpp has no types
        threads = self._threads or default_threads()
        params.model.path = str(path)
        params.model_alias = {self.model}
        params.n_ctx = self._n_ctx
        params.n_parallel = 1
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.verbosity = -1
        # The server also listens on a port of this machine: nobody else gets to use it.
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.api_keys = [secrets.token_urlsafe(32)]
        params.ui = False
        params.endpoint_slots = False
        return params


def _ask(server: Any, payload: Payload) -> Payload:  # noqa: ANN401 - xllamacpp has no types
    try:
        reply = server.handle_chat_completions(dict(payload))
    except (RuntimeError, TypeError, ValueError) as error:
        raise LlamaError(type(error).__name__) from None  # its text may quote the prompt
    failure = reply.get("error")
    if not isinstance(failure, Mapping):
        return dict(reply)
    raise LlamaError(
        str(failure.get("type", "error")),
        code=int(failure.get("code", 500)),
        prompt_tokens=int(failure.get("n_prompt_tokens", 0)),
        n_ctx=int(failure.get("n_ctx", 0)),
    )


def _plain(text: str) -> str:
    # llama.cpp reads control tokens in message texts as such, so an input could end its turn and begin another.
    return _CONTROL.sub(r"\g<0> ", text)


def _without_prefill(task: Task, completion: Completion) -> Completion:
    """Take the beginning that was given away from the text: llama.cpp repeats it, without its tokens."""
    last = task.turns[-1] if isinstance(task, PromptTask) else None
    if last is None or last.role != "assistant" or completion.text is None:
        return completion
    return replace(completion, text=completion.text.removeprefix(_plain(last.content)))


def _usage(reply: Payload) -> Usage:
    counts = reply.get("usage") or {}
    details = counts.get("prompt_tokens_details") or {}
    return Usage(
        input_tokens=int(counts.get("prompt_tokens", 0)),
        output_tokens=int(counts.get("completion_tokens", 0)),
        cached_tokens=int(details.get("cached_tokens", 0)),
        requests=1,
    )
