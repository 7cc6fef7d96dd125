from __future__ import annotations

from collections.abc import Callable

import pytest

from yesno.models import resolve, store
from yesno.models.catalogue import ModelEntry


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModelEntry], None]:
    """Make an entry the whole catalogue."""

    def put(entry: ModelEntry) -> None:
        for module in (resolve, store):
            monkeypatch.setattr(module, "catalogue", lambda: {entry.name: entry})

    return put
