"""Read the answers of several yes/no questions out of one reply: a numbered list, or a JSON object.

An answer belongs to the number that stands before it, never to its place in the reply. What is numbered twice, out of
order, or with numbers that were not given is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from yesno.evidence import Completion, Position
from yesno.reading.json_reply import stated_by_number
from yesno.reading.labels import LabelSet
from yesno.reading.logprobs import mass_at, read_at, recognised
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.reading.position import Written, after_marks, aligned, locate
from yesno.reading.refusals import is_refusal
from yesno.reading.samples import Sample, declined_sample

__all__ = ["BEARABLE_PERCENT", "PackingCost", "read_list", "read_numbered_sample"]

BEARABLE_PERCENT = 2.0
"""Most log loss that packing may cost, in percent of that of separate questions, to be used unasked."""
_LINE = re.compile(
    rb"[ \t]*(?:[*_`#>-]+[ \t]*)?(?P<number>\d{1,3})[ \t]*[*_`]*[.):][*_`]*(?P<answer>[^\r\n]*)(?P<end>[\r\n]?)"
)
"""A line of a numbered list, marked up or not."""


@dataclass(frozen=True, slots=True)
class PackingCost:
    """What packing was measured to cost a model, as a row of its profile (`python -m benchmarks.packing`)."""

    method: Literal["logprobs", "sampled"]
    template: str
    """Name, version and hash of the packed template; the row says nothing about another one."""
    most: int
    """Most questions that one request held."""
    percent: float
    """Log loss of packed answers above that of separate ones, in percent; negative when packed ones were better."""
    low: float
    """Paired 95 % interval of `percent`."""
    high: float
    questions: int
    inputs: int
    source: str
    date: str

    @property
    def is_bearable(self) -> bool:
        """Whether even the upper end of the interval is at most 2 %."""
        return self.high <= BEARABLE_PERCENT


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    answer: bytes
    start: int
    """Byte offset of the answer in the content."""
    end: int
    closed: bool
    """A line break follows."""


def read_list(
    completion: Completion, labels: LabelSet, count: int, *, min_mass: float = 0.5
) -> list[Reading | Unread | Declined]:
    """Read a numbered list of answers.

    Args:
        completion: The reply.
        labels: What the prompt asked the model to write behind each number.
        count: How many questions were asked, numbered from 1.
        min_mass: Least probability on labels (0..1) for a reading.

    Returns:
        One result per question, in order of their numbers. A line is read only when there is nothing but a label
        behind its number; each answer is read from the tokens of its own line.
    """
    early = recognised(completion)
    positions = completion.positions or ()
    if early is not None:
        return [early] * count
    text = completion.text or ""
    if not positions:
        cut = completion.finish == "length"
        return [Unread("no_logprobs" if text.strip() else "truncated" if cut else "empty")] * count
    written = aligned(completion, positions)
    if isinstance(written, str):
        cut = written == "empty" and completion.finish == "length"
        return [Unread("truncated" if cut else written)] * count
    content = written.content
    cut = completion.finish == "length" or not content.startswith(
        text.strip().encode("utf-8", "surrogatepass")
    )
    lines = list(_lines(content))
    if not lines and is_refusal(text):
        return [Declined("refusal")] * count
    found = _by_number(lines, count)
    results: list[Reading | Unread | Declined] = []
    for number in range(1, count + 1):
        line = found.get(number)
        if isinstance(line, _Line):
            results.append(_read_line(line, completion, written, labels, min_mass, cut=cut))
        else:
            results.append(Unread(line or ("truncated" if cut else "missing_answer")))
    return results


def _lines(content: bytes) -> Iterator[_Line]:
    for match in re.finditer(rb"[^\r\n]+[\r\n]?", content):
        line = _LINE.fullmatch(match[0])
        if line is not None:
            start = match.start() + line.start("answer")
            yield _Line(
                int(line["number"]),
                line["answer"],
                start,
                match.start() + line.end("answer"),
                bool(line["end"]),
            )


def _by_number(lines: Sequence[_Line], count: int) -> dict[int, _Line | str]:
    """Return each number's line, or a word for why its lines cannot be trusted."""
    numbers = [line.number for line in lines]
    if _is_renumbered(numbers, count):
        return dict.fromkeys(range(1, count + 1), "misnumbered")
    found: dict[int, _Line | str] = {}
    for place, line in enumerate(lines):
        before, after = numbers[:place], numbers[place + 1 :]
        in_order = all(n < line.number for n in before) and all(n > line.number for n in after)
        found[line.number] = line if in_order else "misnumbered"
    return found


def _is_renumbered(numbers: Iterable[int], count: int) -> bool:
    """Return whether the reply counts differently: from 0, or beyond the end of a list that is not whole.

    Numbers that follow a whole list are lines that a model made up after it had done its work.
    """
    seen = set(numbers)
    return 0 in seen or (any(n > count for n in seen) and not seen.issuperset(range(1, count + 1)))


def _read_line(
    line: _Line, completion: Completion, written: Written, labels: LabelSet, min_mass: float, *, cut: bool
) -> Reading | Unread:
    if cut and not line.closed:
        return Unread("truncated")
    answer = line.answer.decode("utf-8", "replace")
    if not labels.spells(answer):
        return Unread("unclear_line" if answer.strip() else "missing_answer")
    last = locate(written.pieces, written.offset + line.end - 1).index
    positions: tuple[Position, ...] = (completion.positions or ())[: last + 2]
    start = after_marks(
        positions[: last + 1],
        written.pieces[: last + 1],
        locate(written.pieces, written.offset + line.start),
        lambda place: mass_at(positions, place, labels) >= 0.5,
    )
    if start.index > last:
        return Unread("unclear_line")
    return read_at(positions, start, labels, min_mass, lossy=completion.lossy)


def read_numbered_sample(completion: Completion, labels: LabelSet, count: int) -> list[Sample]:
    """Read one sampled JSON object that gives each number, from 1 to `count`, its answer."""
    declined = declined_sample(completion)
    if declined is not None:
        return [declined] * count
    text = completion.text or ""
    found = stated_by_number(text, labels, count)
    if not any(label is not None for label in found) and is_refusal(text):
        return [Sample(declined=True)] * count
    return [Sample(label) for label in found]
