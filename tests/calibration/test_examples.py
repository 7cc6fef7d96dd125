import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["intervals", "thresholds", "costs", "monitor"])
def test_examples_in_docstrings_print_what_they_say(name):
    found = doctest.testmod(import_module(f"yesno.calibration.{name}"))
    assert found.attempted
    assert not found.failed
