"""The hub source against a real server on this machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from yesno.errors import ModelFileError
from yesno.models import catalogue
from yesno.models.download import pull

BODY = b"GGUF" + bytes(range(256)) * 40_000

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]


class _Server(ThreadingHTTPServer):
    cut: int | None = None
    asked: list[str | None]


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        span = self.headers.get("range")
        self.server.asked.append(span)
        start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
        self.send_response(206 if span else 200)
        self.send_header("etag", '"v1"')
        self.send_header("content-length", str(len(BODY) - start))
        if span:
            self.send_header("content-range", f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")
        self.end_headers()
        self.wfile.write(BODY[start : self.server.cut])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    made = _Server(("127.0.0.1", 0), _Handler)
    made.asked = []
    monkeypatch.setattr(catalogue, "HUB", f"http://127.0.0.1:{made.server_port}")
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join(10)
    made.server_close()


def test_a_download_survives_a_broken_connection(server: _Server, tmp_path: Path) -> None:
    server.cut = 3_000_000
    with pytest.raises(ModelFileError, match=r"the connection broke after [0-9,]+ bytes"):
        pull("hf:acme/big/big.gguf", folder=tmp_path)
    part = tmp_path / "acme--big--big.gguf.part"
    have = part.stat().st_size
    assert 0 < have <= 3_000_000
    server.cut = None
    assert pull("hf:acme/big/big.gguf", folder=tmp_path).read_bytes() == BODY
    assert server.asked == [None, f"bytes={have}-"]
    assert not part.exists()


def test_a_server_that_is_not_there_fails_fast(
    server: _Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "HUB", "http://127.0.0.1:9")
    with pytest.raises(ModelFileError, match="no connection"):
        pull("hf:acme/big/big.gguf", folder=tmp_path)
