"""The commands `models list` and `models pull`."""

from __future__ import annotations

import json
from typing import Any

from yesno.cli.progress import download_progress
from yesno.models.catalogue import catalogue, default_name
from yesno.models.download import pull
from yesno.models.store import installed
from yesno.settings import Settings

__all__ = ["list_models", "pull_model"]


def list_models(*, as_json: bool) -> None:
    """Print the catalogue and which of it is here."""
    here = {file.name: file.path for file in installed(Settings.from_env().models_dir)}
    rows: list[dict[str, Any]] = [
        {
            "name": f"local:{entry.name}",
            "default": entry.name == default_name(),
            "megabytes": None if entry.size is None else round(entry.size / 1e6),
            "licence": entry.licence,
            "about": entry.about,
            "path": str(here[entry.name]) if entry.name in here else None,
        }
        for entry in catalogue().values()
    ]
    if as_json:
        print(json.dumps(rows, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("model", "size", "licence", "here"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what it is")
    for row in rows:
        table.add_row(
            row["name"],
            f"{row['megabytes']} MB",
            row["licence"],
            "yes" if row["path"] else "no",
            row["about"],
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(f"[dim]`local` alone means local:{default_name()}[/]")
    console.print("[dim]Also: local:hf:OWNER/REPO/FILE.gguf and local:/path/to/file.gguf[/]")


def pull_model(name: str, *, accept_licence: bool, verify: bool) -> None:
    """Fetch one model and print where it is."""
    path = pull(
        name,
        folder=Settings.from_env().models_dir,
        progress=download_progress(),
        accept_licence=accept_licence,
        verify=verify,
    )
    print(path)
