from __future__ import annotations

from pathlib import Path

import pytest

from yesno.models import cpu


def machine(folder: Path, siblings: list[str], quota: str = "") -> Path:
    for number, text in enumerate(siblings):
        path = folder / f"devices/system/cpu/cpu{number}/topology/thread_siblings_list"
        path.parent.mkdir(parents=True)
        path.write_text(text + "\n")
    if quota:
        path = folder / "fs/cgroup/cpu.max"
        path.parent.mkdir(parents=True)
        path.write_text(quota + "\n")
    return folder


@pytest.mark.parametrize(
    ("siblings", "quota", "threads"),
    [
        (["0", "1"], "", 2),
        (["0-1", "0-1", "2-3", "2-3"], "", 2),
        (["0", "1", "2", "3"], "max 100000", 4),
        (["0", "1", "2", "3"], "200000 100000", 2),
        (["0", "1", "2", "3"], "10000 100000", 1),
        (["0", "1"], "junk", 2),
    ],
)
def test_threads_are_the_cores_that_may_be_used(
    siblings: list[str], quota: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "_allowed", lambda: list(range(len(siblings))))
    assert cpu.default_threads(machine(tmp_path, siblings, quota)) == threads


def test_without_facts_every_processor_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert cpu.default_threads(tmp_path) == 3
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert cpu.default_threads(tmp_path) == 1
