"""The result as a folder that is ready to use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yesno.templates.sets import TemplateSet
from yesno.tuner.folders import put_folder, whole_set
from yesno.tuner.report import document, markdown
from yesno.tuner.tuning import Tuned

__all__ = ["save", "usage_line"]

CARD = "calibration.json"


def save(
    tuned: Tuned,
    base: TemplateSet,
    folder: Path,
    *,
    command: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Write the chosen template, the rest of its set, its calibration, thresholds and the report; return how to use it.

    The folder holds `yes_no.j2`, `choice.j2`, `scale.j2` (those of today's set but for the tuned one),
    `calibration.json` where a calibration was shown to help, `thresholds.json`, `report.md` and `report.json`. It is
    whole, or as it was before.

    Args:
        tuned: The result.
        base: Today's set.
        folder: Where to put it.
        command: The command line that made it, for the report.
        settings: Arguments of `DecisionModel` that the answers depended on.

    Returns:
        A line of Python that opens the model in this way.

    Raises:
        ConfigError: It cannot be written.
    """
    files = whole_set(tuned.chosen.candidate, base)
    if tuned.chosen.card is not None:
        files[CARD] = tuned.chosen.card.to_json()
    line = usage_line(tuned, folder, settings or {})
    found = {**document(tuned), "use": line}
    thresholds = {"schema": "yesno.thresholds/1", "thresholds": found["thresholds"]}
    files["thresholds.json"] = _json(thresholds)
    files["report.json"] = _json(found)
    files["report.md"] = markdown(tuned, command=command, use=line)
    put_folder(files, folder)
    return line


def usage_line(tuned: Tuned, folder: Path, settings: Mapping[str, Any]) -> str:
    """Return the line of Python that opens the model with what was chosen."""
    given = {"template": str(folder)}
    if tuned.chosen.card is not None:
        given["calibration"] = str(folder / CARD)
    words = [repr(tuned.model), *(f"{name}={value!r}" for name, value in {**given, **settings}.items())]
    return f"DecisionModel({', '.join(words)})"


def _json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
