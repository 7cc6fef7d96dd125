"""What `yesno calibrate` prints: a line for each card, or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yesno.cli.views import counted, plain, screen, usage_text

if TYPE_CHECKING:
    from yesno.bench.fitting import Fitted, Made
    from yesno.calibration.cards import Candidate
    from yesno.calibration.subjects import Subject
    from yesno.evidence import Usage

__all__ = ["cards_document", "show_cards", "subject_text"]

HEADINGS = ("rows", "log loss", "change, 95 % interval", "ECE", "chance")
WIDTHS = (7, 13, 25, 13, 6)
"""Of the columns, so that a line fits into 80 of a terminal."""


def subject_text(subject: Subject) -> str:
    """Return in a few words what a card is for."""
    return f"{subject.model}, {subject.kind} by {subject.method}"


def show_cards(made: Made, written: list[Path], usage: Usage | None) -> None:
    """Print a line for each card, what is to be said of them, and their files."""
    console = screen()
    console.print(_line(*HEADINGS), style="bold", markup=False)
    for one in made.fitted:
        fit, chosen = one.fit, one.fit.chosen
        gap = (chosen or _best(one)).gap
        found = "none is better" if chosen is None else chosen.calibrator
        console.print(
            f"{', '.join(one.sets)} · {subject_text(one.card.subject)}: {found}", markup=False, soft_wrap=True
        )
        console.print(
            _line(
                f"{fit.rows:,}",
                f"{fit.before:.3f}" + ("" if chosen is None else f" → {fit.after:.3f}"),
                f"{gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})",
                f"{one.ece_before:.3f}" + ("" if chosen is None else f" → {one.ece_after:.3f}"),
                f"≤{one.noise.high:.3f}",
            ),
            markup=False,
        )
    for line in _notes(made):
        console.print(f"· {line}", markup=False, soft_wrap=True)
    if usage is not None:
        console.print(usage_text(usage), markup=False)
    for place in written:
        console.print(f"Card: {place}", markup=False, soft_wrap=True)


def _line(*cells: str) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def _best(one: Fitted) -> Candidate:
    return min(one.fit.candidates, key=lambda candidate: candidate.log_loss)


def _notes(made: Made) -> list[str]:
    notes = [
        f"{', '.join(one.sets)}: none of {', '.join(c.calibrator for c in one.fit.candidates)} was shown to do better "
        f"than what was read (the best: {_best(one).calibrator}), so the card changes nothing."
        for one in made.fitted
        if one.fit.chosen is None
    ]
    notes += [
        f"{', '.join(one.sets)}, {subject_text(one.subject)}: no card. {one.why}" for one in made.skipped
    ]
    if made.unanswered:
        notes.append(f"{counted(made.unanswered, 'row')} without an answer left out.")
    return notes


def cards_document(made: Made, written: list[Path], usage: Usage | None) -> dict[str, Any]:
    """Return the cards, and how well each does, as plain JSON values."""
    cards = [
        {
            "file": str(place),
            "sets": list(one.sets),
            "card": json.loads(one.card.to_json()),
            "improved": one.fit.chosen is not None,
            "ece_before": one.ece_before,
            "ece_after": one.ece_after,
            "ece_by_chance": one.noise.high,
        }
        for one, place in zip(made.fitted, written, strict=True)
    ]
    skipped = [
        {"sets": list(one.sets), "rows": one.rows, "why": one.why, "subject": asdict(one.subject)}
        for one in made.skipped
    ]
    return {"cards": cards, "skipped": skipped, "unanswered": made.unanswered, "usage": plain(usage)}
