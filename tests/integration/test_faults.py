"""A few hundred decisions through the fault server of `benchmarks/faults`."""

import argparse

import pytest

from benchmarks.faults.__main__ import measured
from benchmarks.faults.kinds import FAULTS

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]


def test_every_decision_gets_its_own_answer_once_while_three_requests_in_ten_fail():
    options = argparse.Namespace(count=300, concurrency=64, seed=0)
    run = measured(options, 0.3)
    assert (run.wrong, run.lost, run.twice) == (0, 0, 0)
    assert run.answered == 300
    assert {*FAULTS} <= {*run.kinds}
