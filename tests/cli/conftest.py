"""Run the program as a shell would, with scripted models."""

from __future__ import annotations

import io
import itertools

import pytest

from yesno import FakeProvider
from yesno.cli.main import main


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run the program: words and standard input in; exit code, output and errors out.

    Each run has a cache of its own, unless it is given the name of one.
    """
    fresh = itertools.count()

    def call(*words, stdin=None, cache=None):
        folder = tmp_path / "caches" / (cache or str(next(fresh)))
        monkeypatch.setenv("YESNO_CACHE_DIR", str(folder))
        if stdin is not None:
            data = stdin if isinstance(stdin, bytes) else stdin.encode()
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        with pytest.raises(SystemExit) as info:
            main([*map(str, words)])
        out, err = capsys.readouterr()
        return info.value.code, out, err

    return call


@pytest.fixture
def scripted(monkeypatch):
    """Make every model a fake with this script; return the fake."""

    def put(script, **settings):
        fake = FakeProvider(script, **settings)
        monkeypatch.setattr("yesno.engine.core.load_provider", lambda spec, **options: fake)
        return fake

    return put
