"""What a manager adds to calls is measured for every way of calling it."""

import pytest

from benchmarks.calls.__main__ import cases, main


@pytest.mark.parametrize("name", cases())
def test_each_way_of_calling_works(name):
    calls, work = cases()[name]
    assert calls > 0
    work()


def test_the_table_has_a_row_for_each(capsys):
    assert main(["--rounds", "1", "--count", "1"]) in (0, 1)  # how long it takes is not the question here
    out = capsys.readouterr().out
    assert [name for name in cases() if name not in out] == []
