"""Watching live answers for drift, at any time and with bounded memory; pure, and without numpy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from yesno.calibration._betting import Bet, Range, mean_range
from yesno.calibration._signals import Label, Signal, judged, signals_of
from yesno.errors import ConfigError, DataError
from yesno.questions import Outcome

__all__ = ["Drift", "DriftReport", "Label", "Monitor", "Signal"]

LEAST_OUTCOMES = 20
FADING = 0.99
"""Weight of the last mean in the next one: the newest hundred numbers or so make the mean of late."""
NAMES: Mapping[str, str] = {
    "probability": "mean probability",
    "label_mass": "label mass",
    "unanswered": "share without an answer",
    "logprobs": "share read from log-probabilities",
    "native": "share of native answers",
    "sampled": "share of sampled answers",
    "error": "mean squared error",
    "bias": "label less probability",
}
ADVICE: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"label_mass", "unanswered", "logprobs", "native", "sampled"}),
        "the model, its host or the template has changed: run `yesno doctor`, then recalibrate",
    ),
    (frozenset({"error", "bias"}), "recalibrate, on labels of late"),
    (
        frozenset({"probability"}),
        "inputs or the model have changed: label some new rows, and recalibrate if scores are worse",
    ),
)


@dataclass(frozen=True, slots=True)
class Drift:
    """One number that is no longer what it was."""

    signal: Signal
    before: Range
    """In the reference."""
    late: float
    """Mean of about the newest hundred."""
    evidence: float
    """E-value: had nothing changed, it would reach `x` with a chance of at most `1 / x`, whenever one looks."""

    def __str__(self) -> str:
        moved = "up" if self.late > self.before.mean else "down"
        before, late = self.before.mean, self.late
        if self.signal == "bias":
            before, late = 2 * before - 1, 2 * late - 1
        return f"{NAMES[self.signal]} {moved}: {late:.3f} of late, {before:.3f} before (e-value {self.evidence:.3g})"


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What a `Monitor` knows now."""

    drifted: bool
    """Whether it has raised the alarm; it stays raised."""
    at: int | None
    """Outcomes and labels that had been seen then."""
    n: int
    """Outcomes seen."""
    labels: int
    evidence: float
    """E-value of all signals together; the alarm is raised at `2 / alpha`."""
    drifts: tuple[Drift, ...]
    """The signals that carry the evidence, strongest first; empty without an alarm."""

    @property
    def advice(self) -> str:
        """What to do now."""
        found = {drift.signal for drift in self.drifts}
        said = [words for signals, words in ADVICE if signals & found]
        return "; ".join(said) if said else "nothing has to be done"

    def __str__(self) -> str:
        if not self.drifted:
            return f"no drift in {self.n} outcomes and {self.labels} labels (e-value {self.evidence:.3g})"
        lines = [f"drift, found after {self.at}: {self.advice}", *(f"- {drift}" for drift in self.drifts)]
        return "\n".join(lines)


class Monitor:
    """Compares the answers to one question with those of a reference, such as the rows of its calibration.

    Watched are the mean probability (of yes, of the answer given, or the place on a scale), the label mass, the share
    without an answer, the mix of methods, and with labels the squared error and the bias. Each is bet on: it has
    drifted when the bets have won more than `alpha` allows. However long it runs and however often one looks, the
    chance of an alarm without drift is at most `alpha`: half of it for the reference, which is a sample too, half for
    the bets. A drift too small to leave the interval of the reference's mean is not found, so a larger reference finds
    smaller ones.

    >>> from yesno import Undecided, YesNoAnswer
    >>> monitor = Monitor([YesNoAnswer(p, label_mass=0.98) for p in (0.9, 0.2, 0.1)] * 100)
    >>> for _ in range(300):
    ...     monitor.watch(YesNoAnswer(0.4, label_mass=0.7))
    >>> monitor.report.drifted
    True

    It is not locked: a monitor that threads share goes into `MonitorListener`, which does that.

    Args:
        reference: At least twenty outcomes, in any order.
        labelled: Pairs of an outcome and its label, when labels will come later too; at least twenty, or none.
        alpha: Chance of a false alarm, ever.

    Raises:
        DataError: There are too few outcomes, or a label does not fit its answer; rows are counted from 1.
        AnswerError: Something is no outcome.
        ConfigError: `alpha` is not between 0 and 1.
    """

    def __init__(
        self,
        reference: Iterable[Outcome],
        *,
        labelled: Iterable[tuple[Outcome, Label]] = (),
        alpha: float = 0.01,
    ) -> None:
        if type(alpha) is not float or not 0 < alpha < 1:
            raise ConfigError(f"`alpha` must be a number between 0 and 1, such as 0.01, not {alpha!r}")
        sums: dict[Signal, tuple[float, float, int]] = {}
        n = _add(sums, map(signals_of, reference))
        if n < LEAST_OUTCOMES:
            raise DataError(f"a reference needs at least {LEAST_OUTCOMES} outcomes, not {n}")
        pairs = list(labelled)
        _add(sums, (judged(*pair, row=row) for row, pair in enumerate(pairs, start=1)))
        if pairs and sums.get("error", (0.0, 0.0, 0))[2] < LEAST_OUTCOMES:
            raise DataError(f"a reference needs at least {LEAST_OUTCOMES} labels of answers, or none")
        delta = alpha / 2 / len(sums)
        self._labelled = bool(pairs)
        self._watched = {
            signal: _Watched(mean_range(*seen, delta)) for signal, seen in sums.items() if seen[2] > 1
        }
        self._limit = 2 / alpha
        self._n = self._labels = 0
        self._at: int | None = None

    def watch(self, outcome: Outcome) -> None:
        """See one outcome.

        Raises:
            AnswerError: It is none.
        """
        self._see(signals_of(outcome))
        self._n += 1
        self._judge()

    def label(self, outcome: Outcome, label: Label) -> None:
        """Hear what the right answer was to an outcome, seen or not; a refusal or an undecided one changes nothing.

        Raises:
            DataError: The label does not fit the answer.
            AnswerError: It is no outcome.
            ConfigError: The reference has no labels to compare with.
        """
        if not self._labelled:
            raise ConfigError(
                "the reference has no labels to compare with; give `Monitor` some in `labelled`"
            )
        self._see(judged(outcome, label, row=None))
        self._labels += 1
        self._judge()

    @property
    def report(self) -> DriftReport:
        """What is known now."""
        drifts: list[Drift] = []
        if self._at is not None:
            strongest = max(watched.evidence for watched in self._watched.values())
            drifts = [
                Drift(signal, watched.before, watched.late, watched.evidence)
                for signal, watched in self._watched.items()
                if watched.evidence >= min(self._limit, strongest)
            ]
            drifts.sort(key=lambda drift: -drift.evidence)
        return DriftReport(
            self._at is not None, self._at, self._n, self._labels, self._evidence(), tuple(drifts)
        )

    def _see(self, signals: Mapping[Signal, float]) -> None:
        for signal, number in signals.items():
            watched = self._watched.get(signal)
            if watched is not None:
                watched.see(number)

    def _judge(self) -> None:
        if self._at is None and self._evidence() >= self._limit:
            self._at = self._n + self._labels

    def _evidence(self) -> float:
        """Return the mean of the e-values, which is one as well."""
        return sum(watched.evidence for watched in self._watched.values()) / len(self._watched)


class _Watched:
    """One signal: two bets against the interval of the reference, one on more and one on less."""

    __slots__ = ("_less", "_more", "before", "evidence", "late")

    def __init__(self, before: Range) -> None:
        self.before = before
        self.late = before.mean
        self.evidence = 1.0
        self._more, self._less = Bet(before.high), Bet(1 - before.low)

    def see(self, number: float) -> None:
        self.late = FADING * self.late + (1 - FADING) * number
        if self.evidence > 1e100:
            return  # it is proven, and would overflow
        self._more.place(number)
        self._less.place(1 - number)
        self.evidence = (self._more.wealth + self._less.wealth) / 2


def _add(sums: dict[Signal, tuple[float, float, int]], rows: Iterable[Mapping[Signal, float]]) -> int:
    count = 0
    for row in rows:
        count += 1
        for signal, number in row.items():
            total, squares, n = sums.get(signal, (0.0, 0.0, 0))
            sums[signal] = (total + number, squares + number**2, n + 1)
    return count
