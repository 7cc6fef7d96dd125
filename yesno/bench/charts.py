"""Drawings for a report: plain SVG that takes its colours from the page, so that it is legible in print and at night."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from yesno.calibration.curves import ReliabilityPoint

__all__ = ["DASHES", "Line", "reliability_svg", "risk_svg"]

SIDE = 200
"""Length of an axis, in the drawing's own units."""
LEFT, TOP, RIGHT, BOTTOM = 56, 10, 12, 40
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "1 2", "12 4", "6 2 1 2")
"""How lines are told apart where colours are not."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Line:
    """A curve with a name."""

    name: str
    points: Sequence[tuple[float, float]]
    number: int
    """Of its colour and dashes, from 0."""


def reliability_svg(
    points: Sequence[ReliabilityPoint], *, title: str, number: int, across: str, up: str
) -> str:
    """Return a reliability diagram: what was said against what came true, with intervals and the diagonal.

    Args:
        points: From the least probability to the greatest.
        title: What is read to those who do not see it.
        number: Of the colour.
        across: Name of the axis from left to right.
        up: Name of the other.
    """
    most = max((point.n for point in points), default=1)
    marks = []
    for point in points:
        x, y = _x(point.probability), _y(point.share)
        radius = 2.5 + 3.5 * (point.n / most) ** 0.5
        marks.append(
            f"<g><title>{point.n} items: said {point.probability:.3f}, came true {point.share:.3f} "
            f"({point.low:.3f} to {point.high:.3f})</title>"
            f'<line class="bar" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(point.low):.1f}" y2="{_y(point.high):.1f}"/>'
            f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/></g>'
        )
    path = _path([(point.probability, point.share) for point in points])
    diagonal = f'<line class="ideal" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>'
    body = f'{diagonal}<g class="way w{number % len(DASHES)}"><path class="curve thin" d="{path}"/>{"".join(marks)}</g>'
    return _framed(body, title=title, across=across, up=up)


def risk_svg(lines: Sequence[Line], *, title: str) -> str:
    """Return the share of wrong answers against the share of items acted on, the surest first, a line for each way."""
    highest = max((risk for line in lines for _, risk in line.points), default=0.0)
    top = next(limit for limit in (0.1, 0.25, 0.5, 1.0) if highest <= limit)
    curves = []
    for line in lines:
        scaled = [(coverage, risk / top) for coverage, risk in line.points]
        dashes = DASHES[line.number % len(DASHES)]
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        curves.append(
            f'<g class="way w{line.number % len(DASHES)}"><title>{escape(line.name)}</title>'
            f'<path class="curve" d="{_path(scaled)}"{style}/></g>'
        )
    return _framed(
        "".join(curves), title=title, across="share acted on, surest first", up="wrong among them", top=top
    )


def _framed(body: str, *, title: str, across: str, up: str, top: float = 1.0) -> str:
    width, height = LEFT + SIDE + RIGHT, TOP + SIDE + BOTTOM
    net = "".join(f"M{_x(tick):g} {_y(0):g}V{_y(1):g}M{_x(0):g} {_y(tick):g}H{_x(1):g}" for tick in TICKS)
    grid = [f'<path class="grid" d="{net}"/>']
    for tick in TICKS:
        x, y = _x(tick), _y(tick)
        grid.append(f'<text x="{x:g}" y="{_y(0) + 14:g}" text-anchor="middle">{tick:g}</text>')
        grid.append(f'<text x="{_x(0) - 6:g}" y="{y + 4:g}" text-anchor="end">{tick * top:.3g}</text>')
    middle = TOP + SIDE / 2
    names = (
        f'<text class="axis" x="{_x(0.5)}" y="{height - 6}" text-anchor="middle">{escape(across)}</text>'
        f'<text class="axis" transform="rotate(-90 11 {middle})" x="11" y="{middle + 4}" text-anchor="middle">'
        f"{escape(up)}</text>"
    )
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title, quote=True)}">'
        f"{''.join(grid)}{names}{body}</svg>"
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if place else 'M'}{_x(x):.1f} {_y(y):.1f}" for place, (x, y) in enumerate(points))


def _x(share: float) -> float:
    return LEFT + SIDE * share


def _y(share: float) -> float:
    return TOP + SIDE * (1 - share)
