"""Measure the ready checks of guardrails on labelled texts: `python -m benchmarks.guardrails --help`."""

from __future__ import annotations

import argparse
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from benchmarks.guardrails.items import SETS, Item, load
from benchmarks.guardrails.report import card_entry, report, scored
from benchmarks.rows import Rows, keep, kept, now
from yesno import DecisionModel, YesNo, YesNoAnswer
from yesno.filters import Check

WORDINGS = Path(__file__).parent / "wordings.toml"
CURRENT = "shipped"
Asked = tuple[YesNo, str]
"""A question, and which answer to it means reject."""


def main() -> None:
    """Ask about every item, keep the rows, write the report."""
    options = arguments()
    names = [name for name in options.sets.split(",") if name]
    rows = measured(options, names)
    command = f"python -m benchmarks.guardrails {' '.join(sys.argv[1:])}"
    text = report(rows, names, options.split, options.limit, command, options.model)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    console = Console()
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    for name in names if options.cards else ():
        found = scored(rows, name, CURRENT, options.split, options.limit)
        if found is not None:
            date = max(row["at"] for key, row in rows.items() if key[0] == name)[:10]
            console.print(
                f"{SETS[name].check}:",
                card_entry(found[0], name, options.model, date),
                sep="\n",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guardrails", description=__doc__)
    parser.add_argument("--model", default="local", help="provider:model")
    parser.add_argument("--base-url")
    parser.add_argument("--threads", type=int, help="of an embedded model")
    parser.add_argument("--sets", default=",".join(SETS), help="names, separated by commas")
    parser.add_argument("--split", default="heldout", choices=["heldout", "dev"])
    parser.add_argument("--limit", type=int, default=60, help="items per set")
    parser.add_argument(
        "--wordings", action="store_true", help="ask the candidates of wordings.toml too, of dev items"
    )
    parser.add_argument("--rows", type=Path, help="JSON lines to keep results in and to resume from")
    parser.add_argument("--out", type=Path, help="write the report here")
    parser.add_argument("--cards", action="store_true", help="print the entries for the cards")
    options = parser.parse_args()
    if options.wordings and options.split != "dev":
        parser.error("--wordings is for choosing words, which is done on --split dev only")
    return options


def measured(options: argparse.Namespace, names: list[str]) -> Rows:
    """Return the row of each set, wording and item, asking what is not in the rows file yet."""
    rows = kept(options.rows, ("set", "wording", "id"))
    candidates = tomllib.loads(WORDINGS.read_text(encoding="utf-8")) if options.wordings else {}
    todo = [(name, item) for name in names for item in load(name, options.split, options.limit)]
    settings = {} if options.threads is None else {"threads": options.threads}
    with DecisionModel(options.model, base_url=options.base_url, **settings) as model:
        for name, item in track(todo, "asking", console=Console(stderr=True)):
            questions = asked(name, item, candidates.get(SETS[name].check, {}))
            new = {w: q for w, q in questions.items() if (name, w, item.id) not in rows}
            for wording, row in answered(model, item, new).items():
                rows[name, wording, item.id] = {"set": name, "wording": wording, "id": item.id, **row}
                keep(options.rows, rows[name, wording, item.id])
    return rows


def asked(name: str, item: Item, candidates: Mapping[str, Mapping[str, str]]) -> dict[str, Asked]:
    """Return the question of the shipped check, and those of other wordings, with the answer that rejects."""
    check = Check(SETS[name].check) if item.topic is None else Check(SETS[name].check, topic=item.topic)
    question = check.question("output" if item.sources else "input")
    questions: dict[str, Asked] = {CURRENT: (question, check.rejects)}
    for wording, words in candidates.items():
        filled = {key: text.format(topic=item.topic) for key, text in words.items()}
        question = YesNo(filled["question"], yes_when=filled.get("yes_when"), no_when=filled.get("no_when"))
        questions[wording] = (question, filled.get("rejects", "yes"))
    return questions


def answered(model: DecisionModel, item: Item, questions: Mapping[str, Asked]) -> dict[str, dict[str, Any]]:
    """Ask about one item, one question after the other."""
    rows = {}
    given = {"response": item.text, "sources": [*item.sources]} if item.sources else item.text
    for wording, (question, rejects) in questions.items():
        start = time.perf_counter()
        outcome = model.decide(given, {"q": question}).outcome("q")
        probability = outcome.probability if isinstance(outcome, YesNoAnswer) else None
        if probability is not None and rejects == "no":
            probability = 1 - probability
        rows[wording] = {
            "probability": probability,
            "seconds": round(time.perf_counter() - start, 3),
            "at": now(),
        }
    return rows


if __name__ == "__main__":
    main()
