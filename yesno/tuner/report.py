"""What was tried and what came of it, as JSON values and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from yesno.evidence import Usage
from yesno.tuner.judging import Advantage
from yesno.tuner.plan import Plan
from yesno.tuner.search import Round, Track
from yesno.tuner.tuning import Tuned

__all__ = ["SCHEMA", "document", "dropped", "gained", "markdown", "money", "ordered", "signed"]

SCHEMA = "yesno.tuning/1"


def signed(advantage: Advantage, *, digits: int = 3) -> str:
    """Return a difference with its interval."""
    value, low, high = (f"{v:+.{digits}f}" for v in (advantage.value, advantage.low, advantage.high))
    return f"{value} ({low} to {high})"


def money(usage: Usage) -> str:
    """Return a price in words."""
    return "unknown price" if usage.cost_usd is None else f"${usage.cost_usd:.4f}".rstrip("0").rstrip(".")


def dropped(track: Track, tuned: Tuned) -> str:
    """Return where a template's way ended."""
    if track.candidate is tuned.today.candidate:
        return "today's"
    if tuned.winner is not None and track.candidate is tuned.winner.candidate:
        return tuned.verdict if tuned.verdict == "accepted" else "not accepted"
    if track.unfinished or not track.rounds:
        return "calls used up"
    last = track.rounds[-1]
    if not last.advantage.covers:
        return f"{last.name}: {last.advantage.answered:.0%} answered"
    return f"{last.name}: {last.rank} of {last.of}"


def document(tuned: Tuned) -> dict[str, Any]:
    """Return all of it as JSON values; texts and labels of rows are not among them, but for worked examples' ids."""
    plan, usage = tuned.plan, tuned.usage
    held = tuned.held_out
    return {
        "schema": SCHEMA,
        "verdict": tuned.verdict,
        "why": tuned.why,
        "model": tuned.model,
        "template": tuned.chosen.candidate.name,
        "today": tuned.today.candidate.name,
        "question_type": plan.kind,
        "rows": _rows(plan),
        "seed": plan.seed,
        "data": plan.data,
        "calls": {
            "allowed": plan.calls,
            "planned": plan.requests,
            "sent": usage.requests,
            "cached": usage.cache_hits,
        },
        "tokens": {"input": usage.input_tokens, "output": usage.output_tokens},
        "cost_usd": usage.cost_usd,
        "stopped": tuned.stopped,
        "held_out": None
        if held is None
        else {"calibrated": asdict(held.calibrated), "as_read": asdict(held.raw)},
        "gain": None if tuned.gain is None else asdict(tuned.gain),
        "calibration": tuned.chosen.why,
        "thresholds": [line.document() for line in tuned.thresholds],
        "templates": [_entry(track, tuned) for track in tuned.tracks],
    }


def _rows(plan: Plan) -> dict[str, int]:
    parts = plan.split
    return {"examples": len(parts.train), "comparing": len(parts.select), "held_out": len(parts.held_out)}


def _entry(track: Track, tuned: Tuned) -> dict[str, Any]:
    candidate = track.candidate
    return {
        "name": candidate.name,
        "about": candidate.about,
        "ended": dropped(track, tuned),
        "calls": tuned.calls.get(candidate.name, 0),
        "examples": [example.id for example in candidate.examples],
        "rounds": [_round(one) for one in track.rounds],
    }


def _round(one: Round) -> dict[str, Any]:
    return {"name": one.name, "rank": one.rank, "of": one.of, "kept": one.kept, **asdict(one.advantage)}


def markdown(tuned: Tuned, *, command: str | None = None, use: str | None = None) -> str:
    """Return the report for people.

    Args:
        tuned: What to report.
        command: The command line that made it, if there was one.
        use: The line of Python that opens the model with the result.
    """
    plan, usage, rows = tuned.plan, tuned.usage, _rows(tuned.plan)
    lines = [f"# Tuning {plan.kind.replace('_', '/')} for {tuned.model}", ""]
    if command:
        lines += ["```console", f"$ {command}", "```", ""]
    verdict = "**Accepted.**" if tuned.verdict == "accepted" else "**Keep what you have.**"
    lines += [f"{verdict} {tuned.why[:1].upper()}{tuned.why[1:]}.", ""]
    lines += _held_out(tuned)
    if told := gained(tuned):
        lines += [f"{told[:1].upper()}{told[1:]}.", ""]
    lines += [
        f"- Rows: {rows['examples']} for worked examples, {rows['comparing']} for comparing, {rows['held_out']} held out; "
        f"groups stay together (seed {plan.seed}).",
        f"- Calls: {usage.requests:,} sent, {usage.cache_hits:,} from the cache, of {plan.calls:,} allowed; "
        f"{usage.input_tokens + usage.output_tokens:,} tokens, {money(usage)}.",
        f"- Calibration of `{tuned.chosen.candidate.name}`: {tuned.chosen.why}.",
        *(f"- {line.sentence()}" for line in tuned.thresholds),
        "",
        *(["```python", use, "```", ""] if use else []),
        "## Templates",
        "",
        "*Better by* is how much the mean log loss is lower than that of today's template on the rows of the last round "
        "that the template saw, both calibrated on other folds, with a paired 95 % interval.",
        "Many were compared, so the best of them look better than they are; only the rows held out count.",
        "",
        *_table(
            ("template", "what it is", "rows", "log loss", "better by", "calls", "ended"),
            (_cells(track, tuned) for track in ordered(tuned.tracks)),
        ),
        "",
    ]
    return "\n".join(lines)


def _held_out(tuned: Tuned) -> list[str]:
    held = tuned.held_out
    if held is None:
        return []
    rows = []
    for name, one in (
        ("calibrated, each in the same way on the same rows", held.calibrated),
        ("as read", held.raw),
    ):
        loss = one.loss if one is held.calibrated else one.raw_loss
        rows.append((name, f"{loss + one.value:.3f}", f"{loss:.3f}", signed(one), str(one.n)))
    winner = "" if tuned.winner is None else tuned.winner.candidate.name
    return [
        *_table(
            ("log loss on the rows held out", tuned.today.candidate.name, winner, "better by", "rows"), rows
        ),
        "",
    ]


def gained(tuned: Tuned) -> str | None:
    """Return in words what those get who use the result; None where it is what they have."""
    gain, chosen = tuned.gain, tuned.chosen
    if gain is None or not gain.n or (tuned.verdict == "kept" and chosen.card is None):
        return None
    what = "today's template" if tuned.verdict == "kept" else chosen.candidate.name
    how = "as it is read" if chosen.card is None else "with its calibration"
    return (
        f"the result, {what} {how}, against today's template as it is read: log loss {gain.loss + gain.value:.3f} → "
        f"{gain.loss:.3f}, lower by {signed(gain)}, on {gain.n} rows held out"
    )


def ordered(tracks: Iterable[Track]) -> list[Track]:
    """Return the templates that got furthest first."""
    return sorted(tracks, key=lambda t: (-len(t.rounds), -t.rounds[-1].advantage.value if t.rounds else 0.0))


def _cells(track: Track, tuned: Tuned) -> tuple[str, ...]:
    candidate, calls = track.candidate, str(tuned.calls.get(track.candidate.name, 0))
    if not track.rounds:
        return (
            candidate.name,
            candidate.about,
            str(len(track.answers)),
            "",
            "",
            calls,
            dropped(track, tuned),
        )
    last = track.rounds[-1].advantage
    better = "" if candidate is tuned.today.candidate else signed(last)
    return (
        candidate.name,
        candidate.about,
        str(last.n),
        f"{last.loss:.3f}",
        better,
        calls,
        dropped(track, tuned),
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    marks = "|".join("---" if place < 2 else "---:" for place in range(len(heads)))
    lines = [heads, *([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return [shown[0], f"|{marks}|", *shown[1:]]
