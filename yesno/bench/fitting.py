"""From the rows of a run to calibration cards: one for each kind of answer that the rows are of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yesno.bench.rows import Row, RowKey
from yesno.calibration.applying import unrounded
from yesno.calibration.cards import Calibration
from yesno.calibration.fitting import Fit, fit
from yesno.calibration.subjects import AskedQuestion, Subject, band_of
from yesno.errors import ConfigError, DataError, TooFewLabels

if TYPE_CHECKING:
    from yesno.calibration.ece import Noise

__all__ = ["Fitted", "Made", "Skipped", "cards_of"]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A card, and how it came about."""

    card: Calibration
    fit: Fit
    sets: tuple[str, ...]
    ece_before: float
    """Smooth calibration error of yes, or of the most probable option, as read."""
    ece_after: float
    """The same of what was chosen, cross-validated."""
    noise: Noise
    """What chance alone makes of a calibrated model with as many rows."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Rows of one kind that gave no card."""

    subject: Subject
    sets: tuple[str, ...]
    rows: int
    why: str


@dataclass(frozen=True, slots=True)
class Made:
    """What came of all rows."""

    fitted: tuple[Fitted, ...]
    skipped: tuple[Skipped, ...]
    unanswered: int
    """Rows without an answer: undecided, refused or failed. Nothing can be learned from them."""


def cards_of(
    rows: Iterable[Row],
    *,
    models: Mapping[str, str] | None = None,
    questions: Mapping[str, str] | None = None,
    any_question: bool = False,
    among: Sequence[str] | None = None,
    again: Iterable[Row] = (),
    again_models: Mapping[str, str] | None = None,
) -> Made:
    """Fit a card to the rows of each model, template, method, type of question and band of label counts.

    Where all such rows of a set ask one question, the card is for that question only, and may have parameters for
    each label.

    Args:
        rows: Of one run.
        models: Name of a model in the rows -> `provider:model`, as `RunCard.models` has it.
        questions: Digest of a question -> its text, as far as known, for people who read the cards.
        any_question: Make cards for every question of a type, whatever was asked.
        among: Names of the calibrators to try.
        again: Rows of the same items, asked a second time with the same model, template and method, however it was
            named: they show how much answers differ from run to run.
        again_models: As `models`, for these.

    Raises:
        DataError: There is no answer, or none of the kinds has rows that a calibrator can be fitted to; when it is
            one kind, why.
        ConfigError: Rows were calibrated already, or do not say how they came about, or none was asked a second time.
    """
    kinds, unanswered = _sorted_out(rows, models or {}, any_question=any_question)
    if not kinds:
        raise DataError(f"none of the {unanswered} rows has an answer to calibrate")
    pairs = _pairs(kinds, again, again_models or {})
    fitted: list[Fitted] = []
    skipped: list[Skipped] = []
    errors: list[DataError] = []
    for subject, answered in kinds.items():
        own = sorted(answered, key=lambda row: row.key)  # rows come in the order in which they were answered
        named = _named(subject, questions or {})
        try:
            fitted.append(_fitted(named, own, among, _repeat_sd(own, pairs)))
        except DataError as error:
            errors.append(error)
            skipped.append(Skipped(named, _sets(own), len(own), str(error)))
    if not fitted:
        raise errors[0] if len(errors) == 1 else _nothing(skipped, errors)
    return Made(tuple(fitted), tuple(skipped), unanswered)


def _sorted_out(
    rows: Iterable[Row], models: Mapping[str, str], *, any_question: bool
) -> tuple[dict[Subject, list[Row]], int]:
    """Return the rows of each subject, and how many have no answer."""
    by_set: dict[tuple[str, Subject], list[Row]] = {}
    unanswered = 0
    for number, row in enumerate(rows, start=1):
        if row.probabilities is None:
            unanswered += 1
            continue
        by_set.setdefault((row.set, _subject(row, number, models)), []).append(row)
    kinds: dict[Subject, list[Row]] = {}
    for (_, subject), own in by_set.items():
        named = subject if any_question else _of_question(subject, own)
        kinds.setdefault(named, []).extend(own)
    return kinds, unanswered


def _of_question(subject: Subject, rows: Sequence[Row]) -> Subject:
    """Return the subject for the question that rows of one set ask, or as it is when they ask several.

    Raises:
        ConfigError: The rows do not say.
    """
    asked = {row.asked for row in rows}
    if None in asked:
        raise ConfigError(
            f"the rows of set {rows[0].set!r} do not say which question was asked (`asked`), and a card is for that "
            "question; make the run again, or cards for every question of the type with any_question=True"
        )
    if len(asked) > 1:
        return subject
    question = AskedQuestion(None, rows[0].asked or "")
    count = len(rows[0].options)
    return replace(subject, question=question, least_labels=count, most_labels=count)


def _subject(row: Row, number: int, models: Mapping[str, str]) -> Subject:
    """Return what a row is about, whatever its question.

    Raises:
        ConfigError: It was calibrated already, or does not say how it came about.
    """
    where = f"row {number} ({row.set} · {row.id})"
    if row.calibrated:
        raise ConfigError(f"{where} was calibrated already; make the run without a calibration")
    if row.method not in ("logprobs", "native", "sampled"):
        raise ConfigError(
            f"{where} does not say how its probabilities were got ({row.method!r}), and a card holds for one `method`"
        )
    if row.method != "native" and row.template_hash is None:
        raise ConfigError(f"{where} does not say with which template it was asked (`template_hash`)")
    provider, colon, model = models.get(row.model, row.model).partition(":")
    if not colon:
        raise ConfigError(
            f"{where} has the model {row.model!r}, which names no provider as in 'openai:gpt-5.4-mini'"
        )
    least, most = band_of(len(row.options))
    return Subject(
        provider,
        model,
        row.method,  # type: ignore[arg-type]  # one of them
        None if row.method == "native" else f"{row.template}/{row.kind}#{row.template_hash}",
        row.kind,
        least,
        most,
        None,
        "prior" in row.flags,
        "orders" in row.flags,
    )


def _named(subject: Subject, questions: Mapping[str, str]) -> Subject:
    asked = subject.question
    if asked is None:
        return subject
    return replace(subject, question=replace(asked, text=questions.get(asked.digest)))


def _fitted(
    subject: Subject, rows: Sequence[Row], among: Sequence[str] | None, repeat_sd: float | None
) -> Fitted:
    read = [unrounded(row.probabilities or (), row.flags) for row in rows]
    yes_no = subject.kind == "yes_no"
    found = fit(
        [shares[0] for shares in read] if yes_no else read,
        [row.label == 0 for row in rows] if yes_no else [row.label for row in rows],
        kind=subject.kind,
        groups=[f"{row.set}\n{row.group}" for row in rows],
        same_question=subject.question is not None,
        among=among,
    )
    sets = _sets(rows)
    versions = {row.data for row in rows}
    data = versions.pop() if len(versions) == 1 else None
    before, after, noise = _errors(read, found.held_out, [row.label for row in rows], yes_no=yes_no)
    card = found.card(subject, data=data, sets=sets, repeat_sd=repeat_sd)
    return Fitted(card, found, sets, before, after, noise)


def _errors(
    read: Sequence[Sequence[float]],
    held_out: Sequence[Sequence[float]],
    labels: Sequence[int],
    *,
    yes_no: bool,
) -> tuple[float, float, Noise]:
    """Return the smooth calibration errors before and after, and what chance makes of the latter."""
    from yesno.calibration.ece import noise_of, smooth_ece
    from yesno.calibration.options import shown_answers

    before = smooth_ece(*shown_answers(read, labels, directed=yes_no))
    after, right = shown_answers(held_out, labels, directed=yes_no)
    return before, smooth_ece(after, right), noise_of(smooth_ece, after)


def _pairs(
    kinds: Mapping[Subject, Iterable[Row]], again: Iterable[Row], models: Mapping[str, str]
) -> dict[RowKey, Row]:
    """Return for each row the one of the second run that was asked in the same way.

    Raises:
        ConfigError: There is no such row although there is a second run, or it is of another version of a set.
    """
    rows = [*enumerate(again, start=1)]
    if not rows:
        return {}
    second = {
        (row.set, row.id, _subject(row, number, models)): row
        for number, row in rows
        if row.probabilities is not None
    }
    pairs: dict[RowKey, Row] = {}
    for subject, own in kinds.items():
        for row in own:
            least, most = band_of(len(row.options))
            key = replace(subject, question=None, least_labels=least, most_labels=most)
            other = second.get((row.set, row.id, key))
            if other is None:
                continue
            if other.data != row.data:
                raise ConfigError(
                    f"the runs are of different versions of set {row.set!r}; the second must be of the same items"
                )
            pairs[row.key] = other
    if not pairs:
        raise ConfigError(
            "no row of the second run is of the same set and item, asked with the same model, template and method"
        )
    return pairs


def _repeat_sd(rows: Sequence[Row], again: Mapping[RowKey, Row]) -> float | None:
    """Return the standard deviation of the first label's probability from run to run; None without two runs."""
    pairs = [(row, again[row.key]) for row in rows if row.key in again]
    gaps = [(a.probabilities or (0.0,))[0] - (b.probabilities or (0.0,))[0] for a, b in pairs]
    return math.sqrt(sum(gap * gap for gap in gaps) / len(gaps) / 2) if gaps else None


def _sets(rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.set for row in rows))


def _nothing(skipped: Sequence[Skipped], errors: Sequence[DataError]) -> DataError:
    told = "; ".join(
        f"{', '.join(one.sets)} ({one.subject.kind} by {one.subject.method}): {one.why}" for one in skipped
    )
    few = [error for error in errors if isinstance(error, TooFewLabels)]
    if len(few) == len(errors):
        return TooFewLabels(
            f"no card can be made: {told}", needed=few[0].needed, given=max(e.given for e in few)
        )
    return DataError(f"no card can be made: {told}")
