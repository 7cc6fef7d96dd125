"""A report as one HTML page that needs no other file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yesno.bench.charts import DASHES, Line, reliability_svg, risk_svg
from yesno.bench.markdown import sets_of
from yesno.bench.reporting import Report
from yesno.bench.scoring import FLOOR, Part
from yesno.bench.tables import notes, reasons_text, tables_of

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["page_of"]

PAGE = Path(__file__).with_name("report.html.j2")


def page_of(report: Report) -> str:
    """Return a report as one page; what comes from data is escaped, and no script is in it."""
    numbers = {way: number for number, way in enumerate(report.names)}
    return _template().render(
        title="Benchmark of " + ", ".join(sets_of(report)),
        runs=report.runs,
        sets=sets_of(report),
        rows=sum(cell.asked for cell in report.cells),
        tables=tables_of(report),
        notes=notes(report),
        reasons=reasons_text(report),
        ways=[
            (report.names[way], number % len(DASHES), DASHES[number % len(DASHES)])
            for way, number in numbers.items()
        ],
        pictures=[_pictures(report, part, numbers) for part in report.parts],
        disputes=[
            {
                "label": one.label,
                "part": one.part,
                "id": one.id,
                "text": one.text,
                "said": [(report.names[way], said) for way, said in one.said.items()],
            }
            for one in report.disputes
        ],
        floor=f"{FLOOR:.6f}",
    )


def _pictures(report: Report, part: Part, numbers: dict[Any, int]) -> dict[str, Any]:
    title = f"{part.set} ({part.kind.replace('_', '/')})"
    yes_no = part.kind == "yes_no"
    across, up = (
        ("probability of yes", "share of yes") if yes_no else ("probability of the answer", "share right")
    )
    drawn = [
        (
            report.names[cell.way],
            reliability_svg(
                cell.reliability,
                title=f"Reliability of {report.names[cell.way]} on {title}",
                number=numbers[cell.way],
                across=across,
                up=up,
            ),
        )
        for cell in report.of(part)
        if cell.reliability
    ]
    lines = [
        Line(report.names[cell.way], cell.risk, numbers[cell.way]) for cell in report.of(part) if cell.risk
    ]
    return {
        "title": title,
        "reliability": drawn,
        "risk": risk_svg(lines, title=f"Risk over coverage on {title}"),
    }


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.from_string(PAGE.read_text(encoding="utf-8"))
