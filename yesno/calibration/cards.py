"""Cards: what was fitted, for what, and how well it did, as JSON that a person can read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from yesno._json import strict_json
from yesno.calibration._fields import Fields
from yesno.calibration.calibrators import CALIBRATORS, Calibrator
from yesno.calibration.subjects import AskedQuestion, Subject
from yesno.errors import ConfigError

__all__ = ["SCHEMA", "Calibration", "Candidate", "Evidence", "Gap"]

SCHEMA = "yesno.calibration/1"
"""What the first field of a card says; the number is raised when an old reader would misread a new card."""
METHODS = ("logprobs", "native", "sampled")
KINDS = ("yes_no", "choice", "scale")


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference of mean log losses (nats), with its interval; below 0 is better than the readings as they are."""

    value: float
    low: float
    high: float
    level: float = 0.95
    """Share (0..1) of such intervals that hold the true difference."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A calibrator that was tried, and what grouped cross-validation says of it."""

    calibrator: str
    log_loss: float
    """Mean of held-out rows, in nats."""
    gap: Gap
    """To the readings as they are."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a card was fitted to and how well it did."""

    rows: int
    groups: int
    """Groups of rows that were kept together, such as paraphrases."""
    date: str
    """Day of the fit, `2026-11-30`."""
    folds: int | None = None
    log_loss_before: float | None = None
    """Mean log loss (nats) of the readings as they are; None without labels, as the next two."""
    log_loss_after: float | None = None
    """The same, cross-validated, of the calibrator on the card."""
    gap: Gap | None = None
    candidates: tuple[Candidate, ...] = ()
    repeat_sd: float | None = None
    """Standard deviation of the first label's probability when the same question is asked again; None when unknown."""
    data: str | None = None
    """SHA-256 of the labelled items."""
    sets: tuple[str, ...] = ()
    """Names of the sets of labelled items."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibrator, what it is for, and the evidence that it helps.

    Raises:
        ConfigError: The calibrator holds for one question only and the subject names none, or not so many labels.
    """

    subject: Subject
    calibrator: Calibrator
    evidence: Evidence | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        count = self.calibrator.labels
        if count is None:
            return
        labels = {self.subject.least_labels, self.subject.most_labels}
        if self.subject.question is None or labels != {count}:
            raise ConfigError(
                f"calibrator {self.calibrator.name!r} has parameters for each label of one question, so its card must "
                f"name the question and exactly {count} labels"
            )

    def to_json(self) -> str:
        """Return the card as JSON, indented for people."""
        subject = self.subject
        document: dict[str, Any] = {
            "schema": SCHEMA,
            "provider": subject.provider,
            "model": subject.model,
            "method": subject.method,
            "template": subject.template,
            "question_type": subject.kind,
            "labels": {"least": subject.least_labels, "most": subject.most_labels},
            "question": None if subject.question is None else asdict(subject.question),
            "prior": subject.prior,
            "orders": subject.orders,
            "calibrator": self.calibrator.name,
            "parameters": self.calibrator.parameters(),
            "evidence": None if self.evidence is None else asdict(self.evidence),
        }
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, *, where: str = "the card") -> Calibration:
        """Return the card that a JSON text holds.

        Args:
            text: What `to_json` returned.
            where: How errors call it, such as a file's name.

        Raises:
            ConfigError: It is no card, of another schema, or a field is missing, unknown or impossible.
        """
        try:
            document = strict_json(text)
        except ValueError as error:
            raise ConfigError(f"{where} is no JSON: {error}") from None
        if not isinstance(document, dict):
            raise ConfigError(f"{where} must be a JSON object, not {type(document).__name__}")
        if document.get("schema") != SCHEMA:
            raise ConfigError(
                f"{where} has the schema {document.get('schema')!r}; this version of yesno reads {SCHEMA!r}; "
                "fit the card again with `yesno calibrate`"
            )
        return _card(Fields(document, where))


def _card(given: Fields) -> Calibration:
    given.only(
        (
            "schema",
            "provider",
            "model",
            "method",
            "template",
            "question_type",
            "labels",
            "calibrator",
            "parameters",
        ),
        ("question", "prior", "orders", "evidence"),
    )
    labels = given.inner("labels")
    labels.only(("least", "most"))
    asked = given.inner("question", optional=True)
    if asked is not None:
        asked.only(("text", "digest"))
    name = given.word("calibrator", tuple(CALIBRATORS))
    parameters = given.inner("parameters")
    found = given.inner("evidence", optional=True)
    with given.blamed():
        return Calibration(
            Subject(
                given.text("provider"),
                given.text("model"),
                given.word("method", METHODS),  # type: ignore[arg-type]  # one of them
                given.text("template", optional=True),
                given.word("question_type", KINDS),  # type: ignore[arg-type]  # one of them
                labels.count("least"),
                labels.count("most"),
                None
                if asked is None
                else AskedQuestion(asked.text("text", optional=True), asked.text("digest")),
                given.flag("prior", optional=True),
                given.flag("orders", optional=True),
            ),
            CALIBRATORS[name].of(parameters.values),
            None if found is None else _evidence(found),
        )


def _evidence(given: Fields) -> Evidence:
    given.only(
        ("rows", "groups", "date"),
        ("folds", "log_loss_before", "log_loss_after", "gap", "candidates", "repeat_sd", "data", "sets"),
    )
    gap = given.inner("gap", optional=True)
    return Evidence(
        given.count("rows"),
        given.count("groups"),
        given.day("date"),
        given.count("folds", optional=True),
        given.number("log_loss_before", optional=True),
        given.number("log_loss_after", optional=True),
        None if gap is None else _gap(gap),
        tuple(
            Candidate(one.text("calibrator"), one.number("log_loss"), _gap(one.inner("gap")))
            for one in given.many("candidates")
        ),
        given.number("repeat_sd", optional=True),
        given.text("data", optional=True),
        given.texts("sets"),
    )


def _gap(given: Fields) -> Gap:
    return Gap(*(given.number(name) for name in ("value", "low", "high", "level")))
