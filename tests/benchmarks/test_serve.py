"""What the benchmark of the server counts as a miss."""

import signal

import pytest

from benchmarks.serve.__main__ import APP, READING_APP, Row, _misses
from benchmarks.serve.drain import Drain
from benchmarks.serve.load import Load


def load(rate, errors=0):
    return Load(rate, 1.0, 1.0, 2.0, 3.0, errors)


def row(*, share=0.6, errors=0, memory=(50.0,) * 10, app=APP):
    return Row("systemone", 1, app, load(1000, errors), share, share, [*memory])


DRAIN = Drain(answered=100, after_signal=10, exit_code=-signal.SIGTERM)


def test_half_of_the_bare_rate_with_flat_memory_and_a_clean_end_is_no_miss():
    rows = [row(share=0.5), row(share=0.3, app=READING_APP), row(memory=[50.0] * 9 + [57.0])]
    assert _misses(rows, DRAIN) == []


@pytest.mark.parametrize(
    ("rows", "drain", "word"),
    [
        ([row(), row(share=0.49)], DRAIN, "rate"),
        ([row(errors=1)], DRAIN, "failed"),
        ([row(memory=[50.0] * 8 + [59.0] * 2)], DRAIN, "memory"),
        ([row()], Drain(100, 10, 0, ["ConnectionResetError"], 0), "SIGTERM"),
        ([row()], Drain(100, 10, 0, [], 1), "SIGTERM"),
        ([row()], Drain(100, 0, 0, [], 0), "SIGTERM"),
    ],
    ids=["slow", "errors", "memory", "lost", "exit", "too-late"],
)
def test_anything_else_is_one(rows, drain, word):
    (miss,) = _misses(rows, drain)
    assert word in miss
