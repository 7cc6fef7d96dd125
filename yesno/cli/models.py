"""The commands `models list` and `models pull`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.options import Json
from yesno.cli.progress import download_progress
from yesno.cli.session import OK
from yesno.cli.views import screen
from yesno.settings import Settings

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["list_models", "pull_model"]

WIDE = 140
"""Columns from which each model is one line."""


def list_models(as_json: Json = False) -> int:
    """List the models of the catalogue and which are here."""
    from yesno.models.catalogue import catalogue, default_name
    from yesno.models.store import installed

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
        return OK
    console = screen()
    console.print(_wide(rows) if console.width >= WIDE else _narrow(rows))
    console.print(f"[dim]`local` alone means local:{default_name()}[/]")
    console.print("[dim]Also: local:hf:OWNER/REPO/FILE.gguf and local:/path/to/file.gguf[/]")
    return OK


def _wide(rows: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("model", "size", "licence", "here"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "size" else "left")
    table.add_column("what it is")
    for row in rows:
        here = "yes" if row["path"] else "no"
        table.add_row(row["name"], _size(row), row["licence"], here, row["about"])
    return table


def _narrow(rows: list[dict[str, Any]]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("model", no_wrap=True)
    table.add_column("what it is")
    for row in rows:
        facts = [_size(row), row["licence"], "here" if row["path"] else "not here"]
        table.add_row(row["name"], f"{', '.join(facts)}\n[dim]{row['about']}[/]")
    return table


def _size(row: dict[str, Any]) -> str:
    return "size unknown" if row["megabytes"] is None else f"{row['megabytes']:,} MB"


def pull_model(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Such as qwen2.5-coder-1.5b, or hf:OWNER/REPO/FILE.gguf.")
    ],
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="You have read and accept the model's licence.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read a file that is here already and compare its digest.")
    ] = False,
    as_json: Json = False,
) -> int:
    """Fetch a model; an interrupted download goes on."""
    from yesno.models.download import pull

    path = pull(
        name,
        folder=Settings.from_env().models_dir,
        progress=download_progress(),
        accept_licence=accept_licence,
        verify=verify,
    )
    print(json.dumps({"name": name, "path": str(path)}) if as_json else path)
    return OK
