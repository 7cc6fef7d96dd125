"""What `yesno map` writes: lines of JSONL or CSV, and at the end their count."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from yesno._rows import Format, Row
from yesno.cli.session import NO_ANSWER, OK, exit_code, in_options
from yesno.cli.views import counted, error_document, outcome_document, plain, usage_text
from yesno.evidence import Usage
from yesno.questions import (
    Choice,
    ChoiceAnswer,
    Outcome,
    Question,
    Refusal,
    Scale,
    ScaleAnswer,
    Undecided,
    YesNo,
    YesNoAnswer,
)
from yesno.response import DecisionResponse, Failure

__all__ = ["Questions", "Result", "Tally", "csv_header", "csv_line", "line_of"]

_COMMON = ("outcome", "reason", "low", "high", "label_mass", "method")
_OWN: dict[type[Question[Any]], tuple[str, ...]] = {
    YesNo: ("probability",),
    Choice: ("value", "probability"),
    Scale: ("level", "mean"),
}
Questions = Mapping[str, Question[Any]]
Result = DecisionResponse | Failure


def csv_header(questions: Questions, copied: Sequence[str]) -> list[str]:
    """Return the columns: `row`, what is copied, and `question.what` for each question."""
    columns = ["row", *copied]
    for name, question in questions.items():
        columns += [f"{name}.{part}" for part in (*_OWN[type(question)], *_COMMON)]
    return columns


def line_of(row: Row, result: Result, questions: Questions, copied: Sequence[str], to: Format) -> str:
    """Return the line for a row, its line break included."""
    kept = {name: _copied(row, name) for name in copied}
    match to:
        case "jsonl":
            head = {"row": row.number, **({"copied": kept} if copied else {})}
            return _utf8(json.dumps({**head, **_body(result)}, ensure_ascii=False, allow_nan=False)) + "\n"
        case "csv":
            cells: list[Any] = [row.number, *map(_cell, kept.values())]
            for name, question in questions.items():
                parts = _parts(question, result if isinstance(result, Failure) else result.outcome(name))
                cells += [parts.get(part, "") for part in (*_OWN[type(question)], *_COMMON)]
            return _utf8(csv_line(cells))
        case _:
            assert_never(to)


def csv_line(cells: Sequence[Any]) -> str:
    """Return cells as one line of CSV, which is several when a cell has line breaks."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _utf8(line: str) -> str:
    # half of a surrogate pair, which JSON can hold and UTF-8 cannot, becomes its escape
    return line.encode("utf-8", "backslashreplace").decode("utf-8")


def _copied(row: Row, name: str) -> Any:  # noqa: ANN401 - any JSON value
    return row.value.get(name) if isinstance(row.value, Mapping) else None


def _cell(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _body(result: Result) -> dict[str, Any]:
    if isinstance(result, Failure):
        return {"error": error_document(result.error)}
    answers = {name: outcome_document(outcome) for name, outcome in result.answers.items()}
    return {"answers": answers, "model": result.model, "usage": plain(result.usage)}


def _parts(question: Question[Any], outcome: Outcome | Failure) -> dict[str, Any]:
    match outcome:
        case Failure(error=error):
            return {"outcome": "error", "reason": f"{type(error).__name__}: {in_options(str(error))}"}
        case Refusal():
            return {"outcome": "refusal", "reason": outcome.category or outcome.reason}
        case Undecided():
            shown = {name: _number(getattr(outcome, name)) for name in ("low", "high", "label_mass")}
            return {"outcome": "undecided", "reason": outcome.reason, **shown}
    parts: dict[str, Any] = {"outcome": "answer", "method": outcome.method}
    parts |= {name: _number(getattr(outcome, name)) for name in ("low", "high", "label_mass")}
    match outcome:
        case YesNoAnswer():
            parts["probability"] = outcome.probability
        case ChoiceAnswer():
            share = outcome.none_probability if outcome.is_none else outcome.probabilities.get(outcome.value)
            parts |= {"value": outcome.value, "probability": _number(share)}
        case ScaleAnswer():
            levels = question.levels if isinstance(question, Scale) else ()
            parts |= {"level": levels[outcome.level()], "mean": outcome.mean}
    return parts


def _number(value: float | None) -> float | str:
    return "" if value is None else value


@dataclass(slots=True)
class Tally:
    """What became of the rows of one run."""

    rows: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """`answer`, `undecided`, `refusal` (one per question) and `error` (one per row) -> how many."""
    usage: Usage = field(default_factory=Usage)
    """What the replies count; what a row that failed had used is not known."""
    code: int = OK
    first_error: str | None = None

    def add(self, row: Row, result: Result) -> None:
        """Count one row."""
        self.rows += 1
        if isinstance(result, Failure):
            self.outcomes["error"] += 1
            self.code = max(self.code, exit_code(result.error))
            self.first_error = self.first_error or f"row {row.number}: {in_options(str(result.error))}"
            return
        self.usage += result.usage or Usage()
        for outcome in result.answers.values():
            kind = {Refusal: "refusal", Undecided: "undecided"}.get(type(outcome), "answer")
            self.outcomes[kind] += 1
            if kind != "answer":
                self.code = max(self.code, NO_ANSWER)

    def document(self) -> dict[str, Any]:
        """Return the tally as plain JSON values."""
        kinds = ("answer", "undecided", "refusal", "error")
        return {
            "rows": self.rows,
            "outcomes": {kind: self.outcomes[kind] for kind in kinds},
            "usage": plain(self.usage),
            "first_error": self.first_error,
            "exit_code": self.code,
        }

    def text(self) -> str:
        """Return the tally as a line or two for people."""
        nouns = {
            "answer": ("answer", "answers"),
            "undecided": ("undecided", "undecided"),
            "refusal": ("refusal", "refusals"),
            "error": ("failed row", "failed rows"),
        }
        shown = [counted(self.outcomes[kind], *nouns[kind]) for kind in nouns if self.outcomes[kind]]
        line = (
            f"{counted(self.rows, 'row')}: {', '.join(shown) or 'nothing asked'} · {usage_text(self.usage)}"
        )
        return line if self.first_error is None else f"{line}\nfirst failure, {self.first_error}"
