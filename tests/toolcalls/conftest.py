"""Every execution of a tool call is tested through both shells."""

import pytest

from tests.toolcalls.support import Bench


@pytest.fixture
def bench(shell):
    """A model of either kind that runs managers' flows."""
    return Bench(shell)
