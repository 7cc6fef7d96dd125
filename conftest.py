"""Run the Python examples of the README as tests."""

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()], patterns=["README.md"]).pytest()


def pytest_collection_modifyitems(items):
    """Keep the README's examples in one process: each goes on from those before it."""
    for item in items:
        if item.path.name == "README.md":
            item.add_marker(pytest.mark.xdist_group("readme"))
