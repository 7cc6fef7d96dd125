"""Inputs that nobody would write, and what must hold for all of them.

`python -m tests.toolcalls.fuzzing 100000` tries as many of each kind; `tests.toolcalls.guided` lets atheris choose them.
"""

import copy
import json
import random
import sys
from types import SimpleNamespace
from typing import Any

from tests.toolcalls.support import USER, Log, anthropic, chat, plain, responses, sealed
from yesno.errors import DecisionError, PendingStateError, QuestionError, ToolError
from yesno.toolcalls import (
    Allow,
    ConfirmationRequired,
    PendingCalls,
    Reply,
    Tool,
    ToolCallingManager,
    answers_document,
    read_answers,
    run_without_model,
    tool,
)
from yesno.toolcalls.arguments import ArgumentsProblem, read_arguments
from yesno.toolcalls.reading import ProblemsError

SEEDS = [
    '{"x": 1, "y": "a"}',
    '{"x": {"y": [1, 2.5e3, null, true, "\\u00e9\\ud83d\\ude00"]}}',
    "{}",
    '{"a":1,"a":2}',
    '{"x": NaN}',
    '{"x": 1e400}',
    '{"x": "\\ud800"}',
    "[" * 80 + "]" * 80,
]
PIECES = [
    "{",
    "}",
    "[",
    "]",
    '"',
    ",",
    ":",
    "\\",
    "\\u",
    "d800",
    "NaN",
    "-",
    "1e9",
    "0",
    " ",
    "\x00",
    "\ud800",
    "é",
    "null",
]
ODD = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [None],
    {"type": "function"},
    float("nan"),
    "\ud800",
    b"x",
    10**30,
]
SHAPES = [
    chat(("a", {"x": 1}), ("b", {})),
    anthropic(("a", {"x": 1}), ("b", {})),
    responses(("a", {"x": 1}), ("b", {})),
    plain(("a", {"x": 1}), ("b", {})),
]


def mangled_text(rng):
    """Return JSON text with some characters changed."""
    text = list(rng.choice(SEEDS))
    for _ in range(rng.randint(0, 4)):
        place = rng.randint(0, len(text))
        if rng.random() < 0.5:
            text[place : place + rng.randint(0, 3)] = []
        else:
            text.insert(place, rng.choice(PIECES))
    return "".join(text)


def places_of(value, path=()):
    """Yield the path to every value inside of JSON values."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places_of(item, (*path, key))


def mangled_values(rng, value, times=2):
    """Return JSON values of which some are others, or are gone."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, times)):
        paths = [path for path in places_of(value) if path]
        if not paths:
            break
        *way, last = rng.choice(paths)
        inside = value
        for key in way:
            inside = inside[key]
        if rng.random() < 0.3:
            del inside[last]
        else:
            inside[last] = copy.deepcopy(rng.choice(ODD))
    return value


@tool
def typed(x: int = 0, y: str | None = None, z: Any = None, **others: list[float] | str):
    """Take something."""


@tool(strict=False)
def lenient(x: int = 0, y: str | None = None, z: Any = None, **others: Any):
    """Take something."""


DESCRIBED = Tool("described", "Take it.", {"properties": {"x": {"type": "integer"}, "y": {"enum": ["a", 1]}}})


def check_arguments(text):
    """Reading never crashes, and what is read has one reading only, whoever reads it."""
    for given in (typed, lenient, DESCRIBED):
        check_read(given, text)
    try:
        value = read_arguments(text)
    except ArgumentsProblem:
        return False
    assert isinstance(value, dict)
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")

    def once(pairs):
        assert len({key for key, _ in pairs}) == len(pairs)
        return dict(pairs)

    assert not text.strip() or json.loads(text, object_pairs_hook=once) == value
    return True


def check_read(given, text):
    """A tool refuses arguments by name, or is shown and called with the same values."""
    try:
        arguments = given.reader.read(text, strict=given.strict)
    except ProblemsError:
        return
    read = read_arguments(text)
    assert arguments.values.keys() == read.keys()
    assert json.loads(arguments.shown).keys() == read.keys()
    if "z" in read:
        assert arguments.values["z"] == read["z"]


MANAGER = ToolCallingManager()


def check_reply(reply):
    """A reply is refused by one of our errors, or every call of it gets exactly one result."""
    log = Log()
    try:
        parsed = Reply.parse(reply)
        run = run_without_model(MANAGER.execute_tool_calls(USER, reply, tools=[log.tool("a"), typed]))
    except (ToolError, QuestionError):
        assert log == []
        return False
    assert [result.call.id for result in run.results] == [call.id for call in parsed.calls]
    assert all(result.content for result in run.results)
    return True


STREAMS = [
    [
        {
            "choices": [
                {"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "a"}}]}}
            ]
        },
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ],
    [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c1", "name": "a", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    ],
    [{"type": "response.completed", "response": responses(("a", {}))}],
    [{"index": 0, "id": "c1", "name": "a", "arguments": "{}"}, {"finish_reason": "tool_calls"}],
]


def check_stream(chunks):
    """A stream is refused by one of our errors, or gives a reply."""
    try:
        reply = Reply.from_chunks(chunks)
    except (ToolError, QuestionError):
        return False
    check_reply(reply)
    return True


class Paused:
    """A record of one waiting call, to be mangled."""

    def __init__(self):
        self.log = Log()
        self.tools = [self.log.tool("wipe", confirm=True, editable=True), self.log.tool("read")]
        self.reply = chat(("wipe", {"x": 1}), ("read", {}))
        self.manager = sealed()
        self.store = SimpleNamespace(
            issue=lambda id, digest, expires: None, digest=lambda id: None, consume=lambda id, expires: False
        )
        try:
            run_without_model(self.flow())
        except ConfirmationRequired as stop:
            self.text = stop.pending.model_dump_json()
        self.values = json.loads(self.text)
        self.manager = sealed(store=self.store)  # takes no record: only the signature is asked about

    def flow(self, **more):
        return self.manager.execute_tool_calls(USER, self.reply, tools=self.tools, **more)

    def check(self, pending):
        """A record is taken by its signature only when it says what was signed; nothing runs."""
        try:
            run_without_model(self.flow(pending=pending, decisions={"c1": True}))
        except PendingStateError as error:
            refused = error.reason
        assert self.log == []
        taken = refused == "already_used"
        assert not taken or PendingCalls.read(pending) == PendingCalls.read(self.values)
        return taken

    def check_answers(self, document):
        """Answers are refused, or decide about every call, and allow none that they do not say is allowed."""
        try:
            decisions = read_answers(document, PendingCalls.read(self.values))
        except DecisionError:
            return False
        read = json.loads(document) if isinstance(document, str | bytes) else document
        assert set(decisions) == {"c1", "c2"}
        assert isinstance(decisions["c1"], Allow) == (read["decisions"]["c1"]["allow"] is True)
        return True

    @property
    def answers(self):
        """Answers about the record, as they come back."""
        return answers_document(PendingCalls.read(self.values), {"c1": True})


def main(count, seed=1):
    """Try many inputs of each kind and say how many were taken."""
    rng, paused = random.Random(seed), Paused()
    kinds = {
        "arguments": lambda: check_arguments(mangled_text(rng)),
        "replies": lambda: check_reply(mangled_values(rng, rng.choice(SHAPES))),
        "streams": lambda: check_stream(mangled_values(rng, rng.choice(STREAMS))),
        "records, as values": lambda: paused.check(mangled_values(rng, paused.values)),
        "records, as text": lambda: paused.check(with_another_letter(rng, paused.text)),
        "answers": lambda: paused.check_answers(mangled_values(rng, paused.answers)),
    }
    for kind, check in kinds.items():
        taken = sum(check() for _ in range(count))
        sys.stdout.write(f"{count} {kind}: {taken} taken, {count - taken} refused\n")
        sys.stdout.flush()


def with_another_letter(rng, text):
    """Return a text with one character replaced or gone."""
    place = rng.randrange(len(text))
    return text[:place] + rng.choice(["", *PIECES]) + text[place + 1 :]


if __name__ == "__main__":
    main(int(sys.argv[1]))
