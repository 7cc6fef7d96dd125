"""The report as Markdown."""

from __future__ import annotations

from benchmarks.packing.items import Item, load
from benchmarks.packing.scores import LEAST_INPUTS, Cost, Scores, cost_of, losses, score
from benchmarks.rows import Rows, date_of
from yesno.reading.packed import BEARABLE_PERCENT

__all__ = ["WAYS", "report"]

WAYS = ("separate", "packed")
HEAD = """| set | inputs | questions | way | log loss | Brier | AUROC | undecided | packed | requests | tokens in | tokens out | s |
|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""
COSTS = """| set | packed − separate, nats | 95 % interval | percent | 95 % interval | |
|---|---:|---:|---:|---:|---|"""


def report(rows: Rows, sets: dict[str, int], split: str, command: str, about: dict[str, str]) -> str:
    """Return tables of both ways' scores and of what packing costs, and the row for the model's profile.

    Args:
        rows: What was measured.
        sets: Most inputs of each set, by its name.
        split: `dev` or `heldout`.
        command: What made the report.
        about: `model`, `method` and `template` (of the packed prompt).
    """
    lines = [
        f"# Packing with `{about['model']}`, {split} inputs",
        "",
        f"Made by `{command}` on {date_of(rows)}, by {about['method']}, packed prompt `{about['template']}`.",
        "",
        HEAD,
    ]
    costs = [COSTS]
    pairs = []
    asked: list[Item] = []
    for name, limit in sets.items():
        items = [i for i in load(name, split, limit) if all((name, i.id, way) in rows for way in WAYS)]
        if not items:
            continue
        both = {way: [rows[name, item.id, way] for item in items] for way in WAYS}
        lines += [_line(name, items, way, score(found, items)) for way, found in both.items()]
        if len(items) < LEAST_INPUTS:
            costs.append(f"| {name} | – | – | – | – | fewer than {LEAST_INPUTS} inputs |")
            continue
        asked += items
        pairs.append((losses(both["separate"], items), losses(both["packed"], items)))
        costs.append(_cost_line(name, cost_of(pairs[-1:])))
    if not pairs:
        return "\n".join([*lines, "", *costs, ""])
    overall = cost_of(pairs)
    costs.append(_cost_line("all of these, each the same weight", overall))
    return "\n".join([*lines, "", *costs, "", *_row(overall, asked, about, date_of(rows)), ""])


def _line(name: str, items: list[Item], way: str, s: Scores) -> str:
    auroc = "–" if s.auroc is None else f"{s.auroc:.3f}"
    count = sum(len(item.questions) for item in items)
    return (
        f"| {name} | {len(items)} | {count} | {way} | {s.log_loss:.3f} | {s.brier:.3f} | {auroc} | {s.undecided:.3f} "
        f"| {s.packed:.3f} | {s.requests:.1f} | {s.tokens_in:,.0f} | {s.tokens_out:,.0f} | {s.seconds:.2f} |"
    )


def _cost_line(name: str, cost: Cost) -> str:
    if cost.high <= BEARABLE_PERCENT:
        verdict = f"at most {BEARABLE_PERCENT:g} %"
    elif cost.low > BEARABLE_PERCENT:
        verdict = f"more than {BEARABLE_PERCENT:g} %"
    else:
        verdict = "not settled"
    return (
        f"| {name} | {cost.nats:+.3f} | {cost.nats_low:+.3f} to {cost.nats_high:+.3f} "
        f"| {cost.percent:+.1f} | {cost.low:+.1f} to {cost.high:+.1f} | {verdict} |"
    )


def _row(cost: Cost, items: list[Item], about: dict[str, str], date: str) -> list[str]:
    most = max(len(item.questions) for item in items)
    return [
        "```toml",
        "[[model.packing]]",
        f'method = "{about["method"]}"',
        f'template = "{about["template"]}"',
        f"most = {most}",
        f"percent = {cost.percent:.1f}",
        f"low = {cost.low:.1f}",
        f"high = {cost.high:.1f}",
        f"questions = {sum(len(item.questions) for item in items)}",
        f"inputs = {len(items)}",
        f'date = "{date}"',
        "```",
    ]
