"""What every plug for another framework promises; each has a test class that inherits this."""

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import yesno.integrations
from yesno.errors import ConfigError
from yesno.integrations import INTEGRATIONS

ROOT = Path(__file__).resolve().parents[2]


class IntegrationContract:
    """Subclass it and set `integration`."""

    integration = None
    """Name of the file under test; None for the contract itself."""

    @property
    def needs(self):
        return INTEGRATIONS[self.integration]

    def test_its_example_runs(self):
        module = importlib.import_module(f"yesno.integrations.{self.integration}")
        (example,) = re.findall(r"```python\n(.*?)```", module.__doc__, re.DOTALL)
        exec(compile(example, self.integration, "exec"), {"__name__": self.integration})  # noqa: S102 - our own text

    def test_it_names_its_extra_and_the_versions_read(self):
        module = importlib.import_module(f"yesno.integrations.{self.integration}")
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert f"pip install 'yesno[{self.needs.extra}]'" in module.__doc__
        (wanted,) = project["optional-dependencies"][self.needs.extra]
        package = re.match(r"[\w-]+", wanted).group()
        pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
        pinned = re.search(rf"(?mi)^{package}==(.+)$", pins).group(1)
        assert f"Read in {package} {pinned} (" in module.__doc__

    def test_without_its_package_it_says_what_to_install(self, monkeypatch):
        package = self.needs.package
        for name in [package, *sys.modules]:
            if name == package or name.startswith(f"{package}."):
                monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"yesno.integrations.{self.integration}", raising=False)
        monkeypatch.delattr(yesno.integrations, self.integration, raising=False)
        with pytest.raises(ConfigError, match=re.escape(f"pip install 'yesno[{self.needs.extra}]'")):
            importlib.import_module(f"yesno.integrations.{self.integration}")
