import sys

import pytest

from tests.providers.contract import ProviderContract
from tests.providers.test_local import FakeLlama
from yesno.providers.local import LocalProvider


class TestLocal(ProviderContract):
    provider = "local"
    recorded = "local/yes_no"

    @pytest.fixture(autouse=True)
    def _places(self, monkeypatch, tmp_path):
        self.monkeypatch = monkeypatch
        self.file = tmp_path / "mine.gguf"
        self.file.write_bytes(b"GGUF and more")

    def make(self, body):
        self.monkeypatch.setitem(sys.modules, "xllamacpp", FakeLlama(lambda _: body).module)
        return LocalProvider(str(self.file))
