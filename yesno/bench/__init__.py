"""Compare models, templates and strategies on labelled items.

`run` asks and keeps rows in a folder, `report_of` and `write_report` say what they show, `compare` tells what got worse
between two runs, `import_rows` makes a run of rows from elsewhere. `load_set` reads labelled items.

What needs numpy is imported when it is used: `pip install 'yesno[bench]'`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yesno.bench.comparing import compare
    from yesno.bench.importing import import_rows
    from yesno.bench.reporting import report_of
    from yesno.bench.running import run
    from yesno.bench.runs import load_run
    from yesno.bench.writing import write_report
    from yesno.labelled import load_set

__all__ = ["compare", "import_rows", "load_run", "load_set", "report_of", "run", "write_report"]

_HOMES = {
    "compare": "yesno.bench.comparing",
    "import_rows": "yesno.bench.importing",
    "load_run": "yesno.bench.runs",
    "load_set": "yesno.labelled",
    "report_of": "yesno.bench.reporting",
    "run": "yesno.bench.running",
    "write_report": "yesno.bench.writing",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module holds
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
