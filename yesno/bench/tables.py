"""The tables of a report, as texts: a page, a Markdown file and a terminal show the same ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from yesno.bench.reporting import Comparison, Report
from yesno.bench.scoring import FLOOR, METRICS, Cell
from yesno.calibration.intervals import Difference

__all__ = ["Figure", "Table", "difference_text", "notes", "reasons_text", "tables_of", "verdict"]

NOTHING = "–"
MORE_IS_BETTER = ("accuracy", "answered")


@dataclass(frozen=True, slots=True)
class Figure:
    """What stands in one place of a table."""

    text: str
    small: str = ""
    """What qualifies it, such as an interval."""
    mark: str = ""
    """`better` or `worse`, where a difference is shown to be one."""

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.small, self.mark) if part)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the first columns are names, the others numbers."""

    id: str
    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Figure, ...], ...]
    names: int = 2
    """How many columns hold names."""


def tables_of(report: Report) -> list[Table]:
    """Return the tables of a report, without those that would be empty."""
    found = [_scores(report), _answers(report), _costs(report), _differences(report)]
    return [table for table in found if table.rows]


def _scores(report: Report) -> Table:
    scales = any("rps" in cell.scores for cell in report.cells)
    areas = any("auroc" in cell.scores for cell in report.cells)
    columns = ["set", "model", "items", "log loss", "Brier", *(["RPS"] if scales else []), "smooth ECE"]
    columns += ["ECE by chance", *(["AUROC"] if areas else []), "accuracy"]
    rows = []
    for cell in report.cells:
        row = [*_names(report, cell), Figure(f"{cell.outcomes.get('answer', 0):,}")]
        row += [_score(cell, "log_loss"), _score(cell, "brier")]
        row += [_score(cell, "rps")] if scales else []
        noise = cell.noise
        chance = Figure(NOTHING) if noise is None else Figure(f"{noise.mean:.3f}", f"up to {noise.high:.3f}")
        row += [Figure(NOTHING if cell.ece is None else f"{cell.ece:.3f}"), chance]
        row += [_score(cell, "auroc")] if areas else []
        rows.append((*row, _score(cell, "accuracy")))
    note = (
        "Of the items that have an answer, with 95 % intervals. Less is better, but for AUROC and accuracy."
    )
    return Table("scores", "Scores", note, tuple(columns), tuple(rows))


def _answers(report: Report) -> Table:
    columns = ("set", "model", "asked", "answered", "undecided", "refused", "failed", "label mass", "read by")
    rows = [
        (
            *_names(report, cell),
            Figure(f"{cell.asked:,}"),
            *(Figure(_percent(cell.share(kind))) for kind in ("answer", "undecided", "refusal", "error")),
            Figure(NOTHING if cell.label_mass is None else f"{cell.label_mass:.3f}"),
            Figure(", ".join(cell.methods if len(cell.methods) == 1 else _counted(cell.methods)) or NOTHING),
        )
        for cell in report.cells
    ]
    note = "An item without an answer is in no score: compare scores only beside the share that was answered."
    return Table("answers", "Answers", note, columns, tuple(rows))


def _costs(report: Report) -> Table:
    columns = (
        *("set", "model", "median", "95 %", "tokens in", "cached", "out", "requests", "kept replies", "cost"),
        "per 1,000",
    )
    rows = []
    for cell in report.cells:
        latency, (tokens_in, cached, out) = cell.latency, cell.tokens
        each = None if cell.cost_usd is None else cell.cost_usd / cell.asked * 1000
        rows.append(
            (
                *_names(report, cell),
                Figure(NOTHING if latency is None else f"{latency.median:.3g} s"),
                Figure(NOTHING if latency is None else f"{latency.p95:.3g} s"),
                *(Figure(f"{number:,}") for number in (tokens_in, cached, out)),
                Figure(f"{cell.requests:,}"),
                Figure(f"{cell.cache_hits:,}"),
                Figure("unknown" if cell.cost_usd is None else _dollars(cell.cost_usd)),
                Figure(NOTHING if each is None or cell.cache_hits else _dollars(each)),
            )
        )
    note = (
        "Seconds per item, with as many under way at once as the run allowed; items for which a kept reply was used "
        "have none. “Cached” tokens came from a cache of the provider, “kept replies” from the run's own."
    )
    return Table("costs", "Time and cost", note, columns, tuple(rows))


def _differences(report: Report) -> Table:
    metrics = [name for name in METRICS if any(name in one.differences for one in report.comparisons)]
    columns = ("set", "model", "against", "items", *(METRICS[name] for name in metrics))
    rows = [
        (
            Figure(one.part.set, _kind(one.part.kind)),
            Figure(report.names[one.second]),
            Figure(report.names[one.first]),
            Figure(f"{one.n:,}"),
            *(_difference(one, name) for name in metrics),
        )
        for one in report.comparisons
    ]
    note = (
        "The model's score minus that of the first one, on the items that both answered, with the 95 % interval of the "
        "paired difference. “Better” and “worse” stand only where the interval leaves 0 out."
    )
    return Table("differences", "Paired differences", note, columns, tuple(rows), names=3)


def _difference(one: Comparison, metric: str) -> Figure:
    found = one.differences.get(metric)
    if found is None:
        return Figure(NOTHING)
    return Figure(f"{found.value:+.3f}", f"({found.low:+.3f} to {found.high:+.3f})", verdict(found, metric))


def verdict(found: Difference, metric: str) -> str:
    """Return `better` or `worse` where a difference is shown to be one, for the first of the two."""
    if not found.excludes_zero:
        return ""
    return "better" if (found.value > 0) == (metric in MORE_IS_BETTER) else "worse"


def difference_text(found: Difference) -> str:
    """Return a difference with its interval."""
    return f"{found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def reasons_text(report: Report) -> list[str]:
    """Return why items have no answer, a line for each way that has such items."""
    found: dict[str, Counter[str]] = {}
    for cell in report.cells:
        found.setdefault(report.names[cell.way], Counter()).update(cell.reasons)
    return [f"{name}: {', '.join(_counted(reasons))}" for name, reasons in found.items() if reasons]


def notes(report: Report) -> list[str]:
    """Return what a reader has to know about these numbers."""
    said = []
    if report.unasked:
        said.append(f"{report.unasked:,} planned rows are not there: the run was stopped, or has not ended.")
    few = sorted({cell.part.set for cell in report.cells if cell.outcomes.get("answer", 0) < 500})
    if few:
        said.append(
            "Fewer than 500 items were answered of "
            + ", ".join(few)
            + ": a calibration error means little there; "
            "compare it with what chance makes of a calibrated model."
        )
    if any(cell.soft for cell in report.cells):
        said.append("Some labels are shares of people who disagree, so that not even the truth scores 0.")
    floored = sum(cell.floored for cell in report.cells)
    if floored:
        said.append(
            f"{floored:,} labels had a probability below {FLOOR:g}; the log loss takes them, and all others, to be at "
            f"least that."
        )
    return said


def _names(report: Report, cell: Cell) -> tuple[Figure, Figure]:
    return Figure(cell.part.set, _kind(cell.part.kind)), Figure(report.names[cell.way])


def _kind(kind: str) -> str:
    return kind.replace("_", "/")


def _score(cell: Cell, name: str) -> Figure:
    score, point = cell.scores.get(name), cell.points.get(name)
    if score is not None:
        return Figure(f"{score.value:.3f}", f"({score.low:.3f} to {score.high:.3f})")
    return Figure(NOTHING) if point is None else Figure(f"{point:.3f}", "too few groups")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _dollars(usd: float) -> str:
    return "$0" if usd == 0 else f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def _counted(counts: Mapping[str, int]) -> Sequence[str]:
    return [f"{name} {number:,}" for name, number in sorted(counts.items(), key=lambda pair: -pair[1])]
