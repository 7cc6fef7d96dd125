"""What `yesno calibrate` prints: a line for each card, or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yesno.cli.views import counted, plain, screen, usage_text

if TYPE_CHECKING:
    from yesno.bench.fitting import Made
    from yesno.calibration.subjects import Subject
    from yesno.evidence import Usage

__all__ = ["cards_document", "show_cards", "subject_text"]


def subject_text(subject: Subject) -> str:
    """Return in a few words what a card is for."""
    return f"{subject.model}, {subject.kind} by {subject.method}"


def show_cards(made: Made, written: list[Path], usage: Usage | None) -> None:
    """Print a line for each card, what is to be said of them, and their files."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("set", overflow="fold")
    table.add_column("card", overflow="fold")
    for heading in ("rows", "log loss", "change", "ECE", "chance"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("calibrator", no_wrap=True)
    for one in made.fitted:
        fit, chosen = one.fit, one.fit.chosen
        gap = (chosen or min(fit.candidates, key=lambda candidate: candidate.log_loss)).gap
        table.add_row(
            Text(", ".join(one.sets)),
            Text(subject_text(one.card.subject)),
            f"{fit.rows:,}",
            f"{fit.before:.3f}" + ("" if chosen is None else f" → {fit.after:.3f}"),
            f"{gap.value:+.3f} ({gap.low:+.3f} to {gap.high:+.3f})",
            f"{one.ece_before:.3f}" + ("" if chosen is None else f" → {one.ece_after:.3f}"),
            f"≤{one.noise.high:.3f}",
            "none" if chosen is None else chosen.calibrator,
        )
    console = screen()
    console.print(table)
    for line in _notes(made):
        console.print(f"· {line}", markup=False, soft_wrap=True)
    if usage is not None:
        console.print(usage_text(usage), markup=False)
    for place in written:
        console.print(f"Card: {place}", markup=False, soft_wrap=True)


def _notes(made: Made) -> list[str]:
    notes = []
    for one in made.fitted:
        if one.fit.chosen is None:
            best = min(one.fit.candidates, key=lambda candidate: candidate.log_loss).calibrator
            notes.append(
                f"{', '.join(one.sets)}: none of {', '.join(c.calibrator for c in one.fit.candidates)} was shown to do "
                f"better than what was read (the best: {best}), so the card changes nothing."
            )
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
