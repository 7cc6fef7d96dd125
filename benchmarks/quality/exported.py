"""Turn the rows of this benchmark into files for `yesno bench import`: `python -m benchmarks.quality.exported ROWS OUT`."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.quality.items import SETS

__all__ = ["exported", "main"]


def exported(row: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return a row as `yesno bench import` takes it, the reader in the name of the model."""
    found = {
        "id": row["id"],
        "model": f"{model}, {row['reader']}",
        "method": "logprobs",
        "requests": row["requests"],
        "latency_s": round(row["seconds"], 4),
        "at": row["at"],
    }
    if row.get("mass") is not None:
        found["label_mass"] = row["mass"]
    if row["shares"] is None:
        return {**found, "outcome": "undecided", "reason": "not_read"}
    return {**found, "probabilities": row["shares"]}


def main() -> None:
    """Write a file for each set."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.exported", description=__doc__)
    parser.add_argument("rows", type=Path, help="what --rows of the benchmark has kept")
    parser.add_argument("out", type=Path, help="folder for one file per set")
    parser.add_argument("--model", default="local", help="the model that was asked")
    options = parser.parse_args()
    found: dict[str, list[str]] = defaultdict(list)
    for line in options.rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["set"]].append(json.dumps(exported(row, options.model)))
    options.out.mkdir(parents=True, exist_ok=True)
    for name in (name for name in SETS if name in found):
        (options.out / f"{name}.jsonl").write_text("\n".join(found[name]) + "\n", encoding="utf-8")
        print(f"{name}: {len(found[name])} rows")


if __name__ == "__main__":
    main()
