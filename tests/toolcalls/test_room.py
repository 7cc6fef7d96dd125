"""Where things may happen in this room."""

import ast
from pathlib import Path

import yesno.toolcalls

FILES = sorted(Path(yesno.toolcalls.__file__).parent.glob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_one_file_runs_tools_and_no_other_knows_threads_or_loops():
    found = {
        path.stem: {
            name for name in imported(path) if name.split(".")[0] in ("asyncio", "threading", "concurrent")
        }
        for path in FILES
    }
    allowed = {"threading.Lock"}
    assert {stem for stem, names in found.items() if names - allowed} == {"running"}


def test_every_exported_name_is_there_once_and_sorted():
    names = yesno.toolcalls.__all__
    assert len(set(names)) == len(names)
    assert names == sorted(names, key=lambda name: (name[0].islower(), name))
