"""Tune five sets and say what the rows held out show."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.runs import command, count
from benchmarks.tuning.sets import QUESTIONS, loaded
from yesno import DecisionModel, SqliteCache
from yesno.tuner import Tuned, document, plan_for, save, tune
from yesno.tuner.report import signed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; what a cache holds already is not asked again."""
    options = _options(arguments)
    names = options.sets.split(",") if options.sets else list(QUESTIONS)
    unknown = [name for name in names if name not in QUESTIONS]
    if unknown:
        raise SystemExit(f"there is no set {unknown[0]!r}, only {', '.join(QUESTIONS)}")
    settings = {} if options.threads is None else {"threads": options.threads}
    found: dict[str, Tuned] = {}
    with SqliteCache(options.cache) as cache, DecisionModel(options.model, cache=cache, **settings) as model:
        for name in names:
            start, rows = time.monotonic(), loaded(name)
            plan = plan_for(model, rows.items, calls=options.calls, data=rows.version)
            print(f"{name}: at most {plan.requests} calls", file=sys.stderr)
            found[name] = tune(plan, model)
            save(
                found[name],
                model.asking.templates,
                options.out / name,
                command=command("tuning", arguments),
            )
            print(f"{name}: {found[name].why} ({time.monotonic() - start:.0f} s)", file=sys.stderr)
            (options.out / "report.md").write_text(report(found, command("tuning", arguments)))
    print(report(found, command("tuning", arguments)))
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning", description=__doc__)
    parser.add_argument("--model", default="local", help="provider:model")
    parser.add_argument("--sets", help=f"by default all: {','.join(QUESTIONS)}")
    parser.add_argument("--calls", type=count, default=2100, help="most requests for each set")
    parser.add_argument("--threads", type=count, help="threads of a local model")
    parser.add_argument(
        "--cache", type=Path, default=Path("tuning-replies.db"), help="where replies are kept"
    )
    parser.add_argument("--out", type=Path, default=Path("tuning"), help="folder of the results")
    return parser.parse_args(arguments)


def report(found: dict[str, Tuned], made_by: str) -> str:
    """Return the table of all sets."""
    model = next(iter(found.values())).model
    lines = [
        f"# Tuning {model}",
        "",
        "```console",
        f"$ {shlex.join(shlex.split(made_by))}",
        "```",
        "",
        "Log loss (nats) on the rows held out, 95 % intervals. *today*: today's template as it is read; *result*: what comes "
        "out, with its calibration. *template*: how much the best other template is better when both are calibrated in "
        "the same way, and *as read* when neither is.",
        "",
        "| set | rows held out | today | result | lower by | best other template | template | as read | verdict | calls |",
        "|---|---:|---:|---:|---|---|---|---|---|---:|",
    ]
    return "\n".join([*lines, *(_line(name, tuned) for name, tuned in found.items()), ""])


def _line(name: str, tuned: Tuned) -> str:
    calls = document(tuned)["calls"]
    held, gain, winner = tuned.held_out, tuned.gain, tuned.winner
    cells = (
        name,
        str(len(tuned.plan.split.held_out)),
        *(
            ("", "", "")
            if gain is None
            else (f"{gain.loss + gain.value:.3f}", f"{gain.loss:.3f}", signed(gain))
        ),
        "none" if winner is None else winner.candidate.name,
        *(("", "") if held is None else (signed(held.calibrated), signed(held.raw))),
        tuned.verdict,
        f"{calls['sent'] + calls['cached']:,}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
