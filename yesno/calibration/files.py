"""Cards in files and folders."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from yesno.calibration.cards import Calibration
from yesno.errors import ConfigError

__all__ = ["CardSource", "load_calibration", "load_calibrations", "save_calibration", "write_whole"]

CardSource: TypeAlias = (
    "Calibration | str | os.PathLike[str] | Sequence[Calibration | str | os.PathLike[str]]"
)
"""A card, its file, a folder of cards, or a list of these."""
_ANY_SCHEMA = "yesno.calibration/"


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read one card from its file.

    Raises:
        ConfigError: There is no such file, or it holds no card; the message names the field.
    """
    return Calibration.from_json(_read(Path(path)), where=f"card {os.fspath(path)!r}")


def load_calibrations(source: CardSource) -> tuple[Calibration, ...]:
    """Return all cards of a source; of a folder those in its `.json` files, by name, other JSON files left alone.

    Raises:
        ConfigError: A file is no card, or there is none.
    """
    if isinstance(source, Calibration):
        return (source,)
    if isinstance(source, str | os.PathLike):
        path = Path(source).expanduser()
        return _of_folder(path) if path.is_dir() else (load_calibration(path),)
    if not isinstance(source, Sequence):
        raise ConfigError(
            f"a calibration must be a card, a file, a folder or a list, not {type(source).__name__}"
        )
    return tuple(card for one in source for card in load_calibrations(one))


def save_calibration(card: Calibration, path: str | os.PathLike[str]) -> None:
    """Write a card to a file, in place of what was there; the file is whole or not there at all.

    Raises:
        ConfigError: It cannot be written.
    """
    write_whole(Path(path), card.to_json())


def write_whole(path: Path, text: str) -> None:
    """Write a file beside its place and then put it there.

    Raises:
        ConfigError: It cannot be written.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        with suppress(OSError):
            new.unlink()
        raise ConfigError(f"{str(path)!r} cannot be written: {error.strerror or error}") from error


def _of_folder(folder: Path) -> tuple[Calibration, ...]:
    cards = []
    for path in sorted(folder.glob("*.json")):
        text = _read(path)
        if _is_card(text, path):
            cards.append(Calibration.from_json(text, where=f"card {str(path)!r}"))
    if not cards:
        raise ConfigError(
            f"the folder {str(folder)!r} holds no calibration card; `yesno calibrate` makes one"
        )
    return tuple(cards)


def _is_card(text: str, path: Path) -> bool:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{str(path)!r} is no JSON: {error}") from None
    return isinstance(document, dict) and str(document.get("schema")).startswith(_ANY_SCHEMA)


def _read(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError(
            f"there is no calibration card {str(path)!r}; `yesno calibrate` makes one"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"calibration card {str(path)!r} cannot be read: {reason}") from error
