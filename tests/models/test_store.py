from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.models.support import DATA, SHA256, entry
from yesno.models.catalogue import ModelEntry
from yesno.models.store import WrongFile, check, installed, is_checked, locked, stamp


def stamped(folder: Path) -> Path:
    path = folder / "tiny.gguf"
    path.write_bytes(DATA)
    stamp(path, entry(), SHA256)
    return path


def test_a_stamped_file_is_trusted_without_reading_it(tmp_path: Path) -> None:
    path = stamped(tmp_path)
    assert is_checked(path, entry())


def test_a_file_without_a_stamp_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    assert not is_checked(path, entry())
    path.write_bytes(DATA)
    assert not is_checked(path, entry())


@pytest.mark.parametrize("note", ["", "[]", "{broken", '{"bytes": 1}'])
def test_a_damaged_stamp_is_no_stamp(note: str, tmp_path: Path) -> None:
    path = stamped(tmp_path)
    path.with_name("tiny.gguf.json").write_text(note)
    assert not is_checked(path, entry())


def test_a_file_that_changed_since_is_not_trusted(tmp_path: Path) -> None:
    path = stamped(tmp_path)
    os.utime(path, ns=(1, 1))
    assert not is_checked(path, entry())


def test_a_stamp_for_another_digest_is_not_trusted(tmp_path: Path) -> None:
    assert not is_checked(stamped(tmp_path), entry(sha256="0" * 64))


def test_a_folder_that_cannot_be_written_costs_only_the_stamp(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(DATA)
    path.with_name("tiny.gguf.json").mkdir()
    stamp(path, entry(), SHA256)
    assert not is_checked(path, entry())


@pytest.mark.parametrize(
    ("data", "size", "sha256", "words"),
    [
        (DATA[:-1], len(DATA), SHA256, "wrong size: expected 10,000 bytes, found 9,999"),
        (DATA[:-1] + b"?", len(DATA), SHA256, f"expected SHA-256 {SHA256}, found "),
        (b"<html>", None, None, "not a GGUF file: it begins with b'<htm'"),
    ],
)
def test_a_wrong_file_is_named(
    data: bytes, size: int | None, sha256: str | None, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(WrongFile, match=words):
        check(path, size=size, sha256=sha256)


def test_a_right_file_gives_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    assert check(path, size=None, sha256=None) == SHA256


def test_installed_lists_complete_files_by_name(tmp_path: Path, known: Callable[[ModelEntry], None]) -> None:
    known(entry())
    stamped(tmp_path)
    (tmp_path / "mine.gguf").write_bytes(DATA)
    (tmp_path / "half.gguf.part").write_bytes(DATA)
    hub = tmp_path / "a--b--c.gguf"
    hub.write_bytes(DATA)
    stamp(hub, ModelEntry("hf:a/b/c.gguf", hub.name, ()), SHA256)
    assert [file.name for file in installed(tmp_path)] == ["hf:a/b/c.gguf", "mine", "tiny"]
    assert installed(tmp_path / "nowhere") == []


def test_one_at_a_time_works_on_a_file(tmp_path: Path) -> None:
    path, inside, most = tmp_path / "tiny.gguf", [0], [0]

    def work() -> None:
        with locked(path):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            threading.Event().wait(0.01)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert (inside, most) == ([0], [1])
