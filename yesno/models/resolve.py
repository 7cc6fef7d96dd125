"""From what a user writes (`local`, `local:NAME`, `local:hf:…`, `local:/path`) to a model file."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from yesno.errors import ConfigError
from yesno.models.catalogue import HubSource, ModelEntry, catalogue, default_name

__all__ = ["ModelFile", "models_folder", "resolve"]

_HUB_FILE = re.compile(r"([\w-][\w.-]*/[\w-][\w.-]*)/((?:[\w-][\w.-]*/)*[\w-][\w.-]*\.gguf)", re.ASCII)
_SPLIT = re.compile(r"-\d{5}-of-\d{5}\.gguf$")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file: where it is, or will be, and how to use it."""

    name: str
    path: Path
    template: str = "default"
    """The template set that suits the model."""
    context: int | None = None
    """Tokens the model was trained for, where known."""
    entry: ModelEntry | None = None
    """Where it comes from; None for a file of the user's own."""

    @property
    def here(self) -> bool:
        """Whether the file is on this machine; its content is checked by `pull`."""
        return self.path.is_file()


def models_folder(folder: Path | str | None = None) -> Path:
    """Return the folder for model files: the one given, else one in the user's cache folder."""
    if folder is not None:
        return Path(folder).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("yesno") / "models"


def resolve(spec: str, *, folder: Path | str | None = None) -> ModelFile:
    """Find the model file that a name means. Nothing is fetched and nothing is opened.

    Args:
        spec: `local` or empty for the default model, a name of the catalogue, `hf:OWNER/REPO/FILE` for a file
            of the model hub, or the path of a `.gguf` file; each with or without `local:` before it.
        folder: Where fetched models lie; None for the user's cache folder.

    Raises:
        ConfigError: The name is unknown, or has none of these forms.
    """
    name = spec.strip().removeprefix("local:")
    if name in ("", "local"):
        name = default_name()
    if name.startswith("hf:"):
        return _in_folder(_hub_entry(name), folder)
    if name in catalogue():
        return _in_folder(catalogue()[name], folder)
    if _is_path(name):
        path = Path(name).expanduser()
        return ModelFile(path.stem, path)
    raise ConfigError(_unknown(name))


def _in_folder(entry: ModelEntry, folder: Path | str | None) -> ModelFile:
    path = models_folder(folder) / entry.file
    return ModelFile(entry.name, path, entry.template, entry.context, entry)


def _hub_entry(name: str) -> ModelEntry:
    match = _HUB_FILE.fullmatch(name.removeprefix("hf:"))
    if not match:
        raise ConfigError(
            f"the model {name!r} is not of the form hf:OWNER/REPO/FILE.gguf, such as "
            "hf:Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf"
        )
    if _SPLIT.search(name):
        raise ConfigError(f"the model {name!r} is one of several parts; choose a model that is one file")
    repo, file = match.groups()
    return ModelEntry(name, "--".join((*repo.split("/"), *file.split("/"))), (HubSource(repo, file),))


def _is_path(name: str) -> bool:
    return name.lower().endswith(".gguf") or "/" in name or "\\" in name or name.startswith("~")


def _unknown(name: str) -> str:
    names = list(catalogue())
    text = name.lower()
    close = [known for known in names if text in known] or difflib.get_close_matches(text, names, cutoff=0.5)
    hint = f"did you mean local:{close[0]}?" if close else f"known are {', '.join(names)}."
    return (
        f"the local model {name!r} is unknown; {hint} "
        "Other models work as local:hf:OWNER/REPO/FILE.gguf or local:/path/to/file.gguf"
    )
