"""Write the sets whose questions are those of the layers: `python -m benchmarks.sets`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.guardrails.items import load as guarded
from benchmarks.rerank.items import load as queries
from benchmarks.splits import split_of
from benchmarks.tools.items import load as requests
from yesno.filters import Guardrails, Reranker, ToolFilter
from yesno.flow import Ask
from yesno.questions import Question, Scale, YesNo

DATA = Path(__file__).parent / "data"
REQUESTS = 45
QUERIES = 8
GRADES = ("not relevant", "partly relevant", "an answer")


def tool_relevance() -> Iterator[dict[str, Any]]:
    """Yield a row for each tool on offer: is it needed for the request?"""
    for item in requests("own", "heldout", REQUESTS):
        asks = list(next(ToolFilter().select(item.tools, item.messages)))
        for name, ask in zip(item.names, asks, strict=True):
            yield row(f"{item.id}/{name}", item.id, ask, "yes" if name in item.relevant else "no")


def rerank() -> Iterator[dict[str, Any]]:
    """Yield a row for each passage: how well does it answer the query?"""
    for item in queries("heldout", QUERIES):
        asks = list(next(Reranker(levels=GRADES).rerank(item.query, item.documents)))
        for number, (ask, grade) in enumerate(zip(asks, item.grades, strict=True)):
            yield row(f"{item.id}/{number}", item.id, ask, grade)


def harmful_request() -> Iterator[dict[str, Any]]:
    """Yield a row for each request: is it harmful?"""
    for split in ("dev", "heldout"):
        for item in guarded("harmful_request", split):
            [ask] = next(Guardrails(["harmful_request"]).judge_input(item.text))
            yield row(item.id, item.group, ask, "yes" if item.rejects else "no", split)


SETS = {"tool_relevance": tool_relevance, "rerank": rerank, "harmful_request": harmful_request}


def row(id: str, group: str, ask: Ask, label: object, split: str | None = None) -> dict[str, Any]:
    """Return a row that `yesno bench` reads."""
    given = dict(ask.input) if isinstance(ask.input, Mapping) else ask.input
    return {
        "id": id,
        "group": group,
        "split": split or split_of(group),
        "input": given,
        "question": asked(ask.question),
        "label": label,
    }


def asked(question: Question[Any]) -> dict[str, Any]:
    """Return a question of a layer as a row has it."""
    match question:
        case YesNo():
            said = {"yes_when": question.yes_when, "no_when": question.no_when}
            return {
                "type": "yesno",
                "text": question.text,
                **{name: text for name, text in said.items() if text},
            }
        case Scale():
            return {"type": "scale", "text": question.text, "levels": [*question.levels]}
    raise TypeError(type(question).__name__)


def main() -> None:
    """Write all sets."""
    for name, rows in SETS.items():
        lines = [json.dumps(row, ensure_ascii=False) for row in rows()]
        (DATA / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{name}: {len(lines)} rows")


if __name__ == "__main__":
    main()
