"""The report as Markdown, and the entries for the checks' cards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.guardrails.items import SETS, load
from benchmarks.guardrails.scores import MOST_FALSE, Scores, score
from yesno.filters import card

__all__ = ["Rows", "card_entry", "report", "scored"]

Rows = Mapping[tuple[str, str, str], dict[str, Any]]
"""(set, wording, item) -> what was measured."""
HEAD = f"""| set | wording | n (yes) | undecided | AUROC | log loss | base rate's | recall at ≤ {MOST_FALSE:.0%} false positives | s |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""


def report(rows: Rows, names: list[str], split: str, limit: int, command: str, model: str) -> str:
    """Return a table of every set and wording in the rows."""
    date = max((row["at"] for row in rows.values()), default="no rows")[:10]
    lines = [f"# Ready checks with `{model}`, {split} items", "", f"Made by `{command}` on {date}.", "", HEAD]
    for name in names:
        for wording in dict.fromkeys(key[1] for key in rows if key[0] == name):
            found = scored(rows, name, wording, split, limit)
            if found is not None:
                lines.append(_line(name, wording, *found))
    return "\n".join([*lines, ""])


def scored(rows: Rows, name: str, wording: str, split: str, limit: int) -> tuple[Scores, float] | None:
    """Return scores and the median of seconds of the measured items; None unless both labels are among them."""
    items = [item for item in load(name, split, limit) if (name, wording, item.id) in rows]
    labels = [item.rejects for item in items]
    if len(set(labels)) < 2:
        return None
    found = [rows[name, wording, item.id] for item in items]
    seconds = sorted(row["seconds"] for row in found)[len(found) // 2]
    return score([row["probability"] for row in found], labels, [item.group for item in items]), seconds


def card_entry(scores: Scores, name: str, model: str, date: str) -> str:
    """Return what stands in the front matter of the set's check."""
    lines = {
        "data": f'"{SETS[name].title}"',
        "model": f'"{model}"',
        "wording": f'"{card(SETS[name].check).wording}"',
        "date": date,
        "n": scores.n,
        "positives": scores.positives,
        "undecided": scores.undecided,
        "auroc": _rounded(scores.auroc),
        "log_loss": _rounded(scores.log_loss),
        "base_log_loss": round(scores.base_log_loss, 3),
        "recall": _rounded(scores.recall),
        "false_positive_rate": round(scores.false_positive_rate, 3),
        "threshold": round(scores.threshold, 4),
    }
    return "\n".join(["[[card.measured]]", *(f"{key} = {value}" for key, value in lines.items()), ""])


def _rounded(estimate: tuple[float, float, float]) -> list[float]:
    return [round(value, 3) for value in estimate]


def _line(name: str, wording: str, s: Scores, seconds: float) -> str:
    return (
        f"| {name} | {wording} | {s.n} ({s.positives}) | {s.undecided} | {_shown(s.auroc)} | {_shown(s.log_loss)} "
        f"| {s.base_log_loss:.2f} | {_shown(s.recall)} | {seconds:.1f} |"
    )


def _shown(estimate: tuple[float, float, float]) -> str:
    value, low, high = estimate
    return f"{value:.2f} ({low:.2f} to {high:.2f})"
