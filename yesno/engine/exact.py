"""Labels whose own tokens are read, where a server lists the tokens that it is asked for.

What such a list leaves out is only bounded by what is missing to 1, and every label is on it, so that the number of
options does not matter: more than there are letters get codes of two letters that are one token each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from threading import Lock
from typing import Any, TypeAlias

from yesno._frozen import FrozenDict
from yesno.engine.labelling import shown_labels
from yesno.evidence import Candidate, Completion, Evidence, NoEvidence, Position, Reply, TokenIds
from yesno.providers.base import PromptTask, TokenTask
from yesno.questions import Choice, Question
from yesno.reading.labels import LETTERS, LabelSet, code_labels
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.templates.sets import FileTemplate

__all__ = [
    "CODES",
    "NO_NUMBERS",
    "Codes",
    "Vocabulary",
    "by_codes",
    "forms_of",
    "merged",
    "numbered",
    "with_tokens",
]

Result: TypeAlias = Reading | Unread | Declined

_WORDS = """ah ai al am an as at au be bo by ce da de di do du eh el em en er es et eu ex go ha he hi ho ia id if il in io
is it ja je jo ka la le li lo ma me mi mo my na ne ni no nu of oh ok on or os ou ox pa pe po qu re sa se si so su ta te ti
to tu tv ui um un up us va ve vi we wo ya ye yo za ze zu"""
"""Two letters that a reply may begin with as a word or a part of one: no codes."""
CODES = tuple(
    code for code in map("".join, product(LETTERS, repeat=2)) if code.casefold() not in _WORDS.split()
)
"""What to call options of which there are more than letters."""
NO_NUMBERS = "no_token_numbers"
"""Why there is no evidence where a server does not tell the numbers of tokens."""
KEPT = 64
"""Most sets of texts whose numbers are remembered."""


@dataclass(slots=True)
class Vocabulary:
    """What one model object knows of the tokens of its models; shared by its threads and tasks."""

    _ids: dict[tuple[str, tuple[str, ...]], Mapping[str, int]] = field(default_factory=dict)
    _without: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def known(self, model_name: str, texts: tuple[str, ...]) -> Mapping[str, int] | None:
        """Return the numbers of texts; None when they have to be asked for."""
        return FrozenDict() if model_name in self._without else self._ids.get((model_name, texts))

    def keep(self, model_name: str, texts: tuple[str, ...], ids: Mapping[str, int]) -> None:
        """Keep the numbers of texts."""
        with self._lock:
            self._ids[model_name, texts] = ids
            while len(self._ids) > KEPT:
                del self._ids[next(iter(self._ids))]

    def note_without(self, model_name: str) -> None:
        """Note that a model's tokens cannot be asked for."""
        self._without.add(model_name)

    def note(self, tasks: Sequence[PromptTask], replies: Sequence[Reply]) -> None:
        """Note that a server lists other tokens than those it was asked for, if it does."""
        for task, reply in zip(tasks, replies, strict=True):
            if task.tokens and _is_other(reply.evidence):
                self.note_without(task.model_name)


@dataclass(frozen=True, slots=True)
class Codes:
    """Shows a question's options under these codes, and any other question as it is."""

    codes: tuple[str, ...]
    otherwise: Any

    def __call__(self, question: Question[Any], template: FileTemplate) -> list[str]:
        """Return what the model is asked to write for each possible answer, in order."""
        size = len(question.options) + (question.none is not None) if isinstance(question, Choice) else 0
        shown: list[str] = list(self.codes) if size == len(self.codes) else self.otherwise(question, template)
        return shown


def forms_of(labels: LabelSet, most: int) -> tuple[str, ...]:
    """Return the spellings of the labels whose tokens are worth asking for: those shown, and others while they fit."""
    shown = [label.shown for label in labels.labels]
    small = [text.lower() for text in shown]
    spellings = (shown, [f" {text}" for text in shown], small, [f" {text}" for text in small])
    fitting = spellings[: max(1, most // len(shown))]
    return tuple(dict.fromkeys(text for spelling in fitting for text in spelling))


def numbered(
    texts: tuple[str, ...], model_name: str, vocabulary: Vocabulary
) -> Generator[Sequence[TokenTask], Sequence[Reply], tuple[Mapping[str, int], int]]:
    """Return the numbers of those texts that are one token, and the requests that it took to learn them."""
    known = vocabulary.known(model_name, texts)
    if known is not None:
        return known, 0
    (reply,) = yield [TokenTask(texts, model_name)]
    if not isinstance(reply.evidence, TokenIds):
        if reply.evidence == NoEvidence(NO_NUMBERS):  # else the server was only busy
            vocabulary.note_without(model_name)
        return FrozenDict(), reply.usage.requests
    ids = FrozenDict(reply.evidence.ids)
    vocabulary.keep(model_name, texts, ids)
    return ids, reply.usage.requests


def with_tokens(
    tasks: Sequence[PromptTask],
    labels: Sequence[LabelSet],
    model_name: str,
    most: int,
    vocabulary: Vocabulary,
) -> Generator[Sequence[TokenTask], Sequence[Reply], tuple[list[PromptTask], int]]:
    """Return prompts that ask for their labels' tokens where a request may (`most` tokens), and the requests it took."""
    if not most or not tasks:
        return list(tasks), 0
    longest = max(labels, key=len)  # heats have the same letters
    ids, requests = yield from numbered(forms_of(longest, most), model_name, vocabulary)
    done = []
    for task, own in zip(tasks, labels, strict=True):
        wanted = {text: ids[text] for text in forms_of(own, most) if text in ids}
        whole = all(label.shown in wanted for label in own.labels)
        done.append(replace(task, tokens=FrozenDict(wanted)) if whole else task)
    return done, requests


def by_codes(
    question: Choice,
    make_task: Callable[..., PromptTask],
    read_reply: Callable[[Reply, LabelSet], Result],
    model_name: str,
    most: int,
    vocabulary: Vocabulary,
) -> Generator[Sequence[PromptTask | TokenTask], Sequence[Reply], tuple[Result | None, int]]:
    """Ask for one of all options at once, each by a code, and return what was read and the requests it took.

    Nothing is read (None) where a request may not ask for tokens, the server lists others than it is asked for, or
    too few codes are one token.
    """
    if not most:
        return None, 0
    names = (*question.options, *(() if question.none is None else (question.none,)))
    ids, requests = yield from numbered(CODES, model_name, vocabulary)
    codes = tuple(code for code in CODES if code in ids)[: len(names)]
    if len(codes) < len(names):
        return None, requests
    task: PromptTask = make_task(show=Codes(codes, shown_labels))
    parts = [codes[start : start + most] for start in range(0, len(codes), most)]
    tasks = [replace(task, tokens=FrozenDict({code: ids[code] for code in part})) for part in parts]
    replies = yield tasks
    requests += sum(reply.usage.requests for reply in replies)
    vocabulary.note(tasks, replies)
    labels = code_labels(names, codes)
    whole = merged(replies)
    if whole is not None:
        return read_reply(replace(replies[0], evidence=whole), labels), requests
    if any(_is_other(reply.evidence) for reply in replies):
        return None, requests
    return read_reply(next(r for r in replies if not _is_exact(r.evidence)), labels), requests


def _is_exact(evidence: Evidence) -> bool:
    return isinstance(evidence, Completion) and evidence.exact


def _is_other(evidence: Evidence) -> bool:
    return isinstance(evidence, Completion) and bool(evidence.positions) and not evidence.exact


def merged(replies: Iterable[Reply]) -> Completion | None:
    """Return the replies to the same prompt as one that lists all tokens; None when one lists others.

    The values belong to one distribution as long as the same tokens were written before.
    """
    completions = [reply.evidence for reply in replies]
    exact = [c for c in completions if isinstance(c, Completion) and c.exact and c.positions]
    if not exact or len(exact) < len(completions):
        return None
    first, *others = exact
    positions: list[Position] = []
    for index, position in enumerate(first.positions or ()):
        same = [c.positions[index] for c in others if c.positions and len(c.positions) > index]
        candidates = [c for p in (position, *same) for c in (*p.top, p.chosen)]
        positions.append(replace(position, top=tuple(_unlike(candidates))))
        others = [
            c
            for c in others
            if c.positions and len(c.positions) > index and _is(c.positions[index], position)
        ]
    return replace(first, positions=tuple(positions))


def _is(one: Position, other: Position) -> bool:
    return (one.chosen.token, one.chosen.data) == (other.chosen.token, other.chosen.data)


def _unlike(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    return {(candidate.token, candidate.data): candidate for candidate in reversed(list(candidates))}.values()
