"""The report as Markdown."""

from __future__ import annotations

from benchmarks.quality.items import load
from benchmarks.quality.scores import Scores, log_losses, paired_interval, score
from benchmarks.rows import Rows, date_of
from yesno import Choice, Scale, YesNo

__all__ = ["report"]

HEAD = """| set | n | reader | log loss | Brier | AUROC | accuracy | undecided | label mass | requests | s |
|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|"""


def report(rows: Rows, names: list[str], split: str, limit: int, command: str, model: str) -> str:
    """Return tables of both readers' scores and of the paired differences in log loss."""
    lines = [
        f"# Quality of `{model}`, {split} items",
        "",
        f"Made by `{command}` on {date_of(rows)}.",
        "",
        HEAD,
    ]
    differences = ["| set | log loss of yesno − naive | 95 % interval | |", "|---|---:|---:|---|"]
    for name in names:
        items = [
            i for i in load(name, split, limit) if all((name, i.id, r) in rows for r in ("naive", "yesno"))
        ]
        if not items:
            continue
        labels = [item.label for item in items]
        sizes = [_size(item.question) for item in items]
        yes_no = isinstance(items[0].question, YesNo)
        both = {r: [rows[name, item.id, r] for item in items] for r in ("naive", "yesno")}
        for reader, found in both.items():
            requests = sum(row["requests"] for row in found) / len(found)
            lines.append(
                _line(name, len(items), reader, score(found, labels, sizes, yes_no=yes_no), requests)
            )
        gap = log_losses(both["yesno"], labels, sizes) - log_losses(both["naive"], labels, sizes)
        shown, verdict = _judged(paired_interval(gap, [item.group for item in items]))
        differences.append(f"| {name} | {gap.mean():+.3f} | {shown} | {verdict} |")
    return "\n".join([*lines, "", *differences, ""])


def _judged(interval: tuple[float, float] | None) -> tuple[str, str]:
    if interval is None:
        return "–", "not said of so few groups"
    low, high = interval
    verdict = "better" if high < 0 else "worse" if low > 0 else "no difference shown"
    return f"{low:+.3f} to {high:+.3f}", verdict


def _size(question: YesNo | Choice | Scale) -> int:
    match question:
        case YesNo():
            return 2
        case Choice():
            return len(question.options)
        case Scale():
            return len(question.levels)


def _line(name: str, n: int, reader: str, s: Scores, requests: float) -> str:
    auroc = "–" if s.auroc is None else f"{s.auroc:.3f}"
    return (
        f"| {name} | {n} | {reader} | {s.log_loss:.3f} | {s.brier:.3f} | {auroc} | {s.accuracy:.3f} "
        f"| {s.undecided:.3f} | {s.mass:.3f} | {requests:.2f} | {s.seconds:.2f} |"
    )
