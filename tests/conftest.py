import os
from itertools import count

import pytest
from hypothesis import settings

from tests.shells import SHELLS

settings.register_profile("ci", derandomize=True, max_examples=50, deadline=None)
settings.register_profile("dev", max_examples=200, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

BEGINNINGS = ("YESNO_", "OPENAI_", "ANTHROPIC_", "AZURE_")
ENDINGS = ("_API_KEY", "_API_TOKEN", "_BASE_URL", "_PROXY")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(BEGINNINGS) or name.upper().endswith(ENDINGS):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _nothing_learned_before(monkeypatch):
    from yesno.engine import gates

    monkeypatch.setattr(gates, "SHARED", gates.Limits())


@pytest.fixture(params=SHELLS, ids=lambda shell: shell.name)
def shell(request):
    """One of the two shells, so that a test runs through both."""
    return request.param


_NUMBERS = count()


@pytest.fixture(autouse=True)
def _own_memory(monkeypatch, tmp_path_factory):
    """Let no test read what another, or a run outside of tests, has learned."""
    folder = tmp_path_factory.getbasetemp() / f"learned-{next(_NUMBERS)}"
    monkeypatch.setattr("yesno.engine.folder_memory._default", lambda: folder)
