"""The commands `keys add`, `keys list` and `keys revoke`: who may ask a server."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from yesno.cli.options import Json
from yesno.cli.session import OK

__all__ = ["add", "list_keys", "revoke"]

KeysFile = Annotated[
    Path, typer.Option("--file", "-f", metavar="FILE", help="The file of keys that the server is given.")
]
KeyName = Annotated[str, typer.Argument(metavar="NAME", help="Whose key it is, for limits and the log.")]
DEFAULT = Path("keys.txt")


def add(name: KeyName, file: KeysFile = DEFAULT, as_json: Json = False) -> int:
    """Make a key and print it, once; the file keeps its hash alone.

    A running server takes it after SIGHUP.
    """
    from yesno.serve.keys import add_key

    key = add_key(file, name, datetime.now(UTC).date())
    print(json.dumps({"name": name, "key": key, "file": str(file)}) if as_json else key)
    if not as_json:
        print(f"yesno: this is the only time it is shown; {file} holds its hash", file=sys.stderr)
    return OK


def list_keys(file: KeysFile = DEFAULT, as_json: Json = False) -> int:
    """List the names of the keys and the days they were made."""
    from yesno.serve.keys import read_keys

    keys = read_keys(file).keys
    if as_json:
        print(json.dumps([{"name": key.name, "made": key.made.isoformat()} for key in keys]))
        return OK
    width = max((len(key.name) for key in keys), default=0)
    for key in keys:
        print(f"{key.name:<{width}}  {key.made.isoformat()}")
    if not keys:
        print(f"yesno: {file} holds no key", file=sys.stderr)
    return OK


def revoke(name: KeyName, file: KeysFile = DEFAULT) -> int:
    """Take a key away; a running server refuses it after SIGHUP."""
    from yesno.serve.keys import revoke_key

    revoke_key(file, name)
    print(f"yesno: {name} is revoked in {file}", file=sys.stderr)
    return OK
