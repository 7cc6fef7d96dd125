"""A report and a comparison as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from yesno.bench.comparing import Changes
from yesno.bench.reporting import Report
from yesno.bench.rows import Way
from yesno.bench.scoring import Cell, Part
from yesno.calibration.intervals import Difference, Interval

__all__ = ["changes_document", "report_document"]


def report_document(report: Report) -> dict[str, Any]:
    """Return the scores, answers, costs and paired differences of a report; what is unknown is None."""
    return {
        "runs": [str(run.folder) for run in report.runs],
        "sets": {
            name: {"items": held.items, "version": held.version}
            for run in report.runs
            for name, held in run.card.sets.items()
        },
        "unasked": report.unasked,
        "cells": [_cell(cell) for cell in report.cells],
        "differences": [
            {
                **_part(one.part),
                "model": _way(one.second),
                "against": _way(one.first),
                "items": one.n,
                "metrics": _differences(one.differences),
            }
            for one in report.comparisons
        ],
    }


def changes_document(changes: Changes) -> dict[str, Any]:
    """Return what changed between two runs."""
    return {
        "first": str(changes.first.folder),
        "second": str(changes.second.folder),
        "regressed": changes.regressed,
        "changes": [
            {
                **_part(one.part),
                "before": _way(one.before),
                "after": _way(one.after),
                "items": one.n,
                "metrics": _differences(one.differences),
                "regressions": [*one.regressions],
            }
            for one in changes.changes
        ],
        "unmatched": [*changes.unmatched],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    tokens_in, tokens_cached, tokens_out = cell.tokens
    return {
        **_part(cell.part),
        **_way(cell.way),
        "asked": cell.asked,
        "outcomes": dict(cell.outcomes),
        "reasons": dict(cell.reasons),
        "coverage": cell.coverage,
        "points": dict(cell.points),
        "scores": {name: _interval(score) for name, score in cell.scores.items()},
        "smooth_ece": cell.ece,
        "smooth_ece_by_chance": None if cell.noise is None else asdict(cell.noise),
        "soft_labels": cell.soft,
        "floored": cell.floored,
        "label_mass": cell.label_mass,
        "methods": dict(cell.methods),
        "latency_s": None if cell.latency is None else asdict(cell.latency),
        "tokens_in": tokens_in,
        "tokens_cached": tokens_cached,
        "tokens_out": tokens_out,
        "requests": cell.requests,
        "cache_hits": cell.cache_hits,
        "cost_usd": cell.cost_usd,
    }


def _part(part: Part) -> dict[str, Any]:
    return {"set": part.set, "type": part.kind}


def _way(way: Way) -> dict[str, Any]:
    return {"model": way.model, "template": way.template, "strategy": way.strategy}


def _interval(score: Interval | None) -> dict[str, Any] | None:
    return None if score is None else asdict(score)


def _differences(found: Mapping[str, Difference]) -> dict[str, Any]:
    return {name: {**asdict(one), "excludes_zero": one.excludes_zero} for name, one in found.items()}
