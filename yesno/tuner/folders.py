"""Template sets on disk: of candidates while they are tried, and of the one that is kept, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from yesno.engine.labelling import shown_in_json, shown_labels
from yesno.errors import ConfigError
from yesno.labelled import Asked
from yesno.questions import Choice, Scale, YesNo
from yesno.templates.render import render_turns
from yesno.templates.sets import TemplateSet
from yesno.tuner.candidates import Candidate

__all__ = ["check_place", "put_folder", "tried_set", "whole_set"]

_FILES = ("yes_no", "choice", "scale", "packed")


def tried_set(candidate: Candidate, place: Path, number: int) -> TemplateSet:
    """Write a candidate into a folder of its own and return it as a set.

    Raises:
        ConfigError: It is no template that renders.
    """
    folder = place / f"{number:03}"
    folder.mkdir()
    (folder / f"{candidate.kind}.j2").write_text(candidate.source, encoding="utf-8")
    templates = TemplateSet(candidate.name, folder)
    _render(templates, candidate.kind)
    return templates


def whole_set(candidate: Candidate, base: TemplateSet) -> dict[str, str]:
    """Return name -> text of the files of a set: the candidate's, and those of a set for the other question types."""
    files = {f"{candidate.kind}.j2": candidate.source}
    for kind in _FILES:
        if kind != candidate.kind and base.has(kind):
            files[f"{kind}.j2"] = (base.folder / f"{kind}.j2").read_text(encoding="utf-8")
    return files


def check_place(folder: Path, *, overwrite: bool) -> None:
    """Refuse a place that cannot take the result, before anything is spent.

    Raises:
        ConfigError: There is something already, or no folder can be made there.
    """
    if folder.is_dir() and any(folder.iterdir()):
        if not overwrite:
            raise ConfigError(
                f"there is something in {str(folder)!r} already; choose another folder, or overwrite it"
            )
        if not (folder / "report.json").is_file():
            raise ConfigError(f"{str(folder)!r} holds no result of `yesno tune`, so it is not overwritten")
    elif folder.exists() and not folder.is_dir():
        raise ConfigError(f"{str(folder)!r} is a file; the result is a folder")
    parent = _nearest(folder.absolute().parent)
    if not os.access(parent, os.W_OK):
        raise ConfigError(f"{str(folder)!r} cannot be made: {str(parent)!r} is not writable")


def put_folder(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder beside its place, then put it there in place of what was.

    Raises:
        ConfigError: It cannot be written; what was there is there still.
    """
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as work:
            made = Path(work) / "new"
            made.mkdir()
            for name, text in files.items():
                (made / name).write_text(text, encoding="utf-8")
            old = Path(work) / "old"
            if folder.exists():
                folder.rename(old)
            try:
                made.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
    except OSError as error:
        raise ConfigError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from error


def _nearest(folder: Path) -> Path:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _render(templates: TemplateSet, kind: str) -> None:
    asked: Asked
    match kind:
        case "choice":
            asked = Choice("Which?", {"one": "the first", "two": None})
        case "scale":
            asked = Scale("How much?", ["little", "much"])
        case _:
            asked = YesNo("Is it?", yes_when="it is", no_when="it is not")
    template = templates.template(kind)
    for strict in (False, True):
        render_turns(template, asked, "input", shown_labels, strict=strict)
    render_turns(template, asked, "input", shown_in_json, as_json=True)
