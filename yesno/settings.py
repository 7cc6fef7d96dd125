"""Settings from the environment: the only place that reads it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from yesno.errors import ConfigError

__all__ = ["VARIABLES", "Settings", "variable"]

VARIABLES: dict[str, str] = {
    "YESNO_MODEL": "model used when none is named, such as `openai:gpt-5.4-mini`; without it `local`",
    "YESNO_BASE_URL": "address of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`",
    "YESNO_TEMPLATE": "template set or folder used when none is named",
    "YESNO_MODELS_DIR": "folder for downloaded model files",
    "YESNO_CACHE_DIR": "folder where the program keeps replies and what it learned; without it the user's cache folder",
}
"""Every variable that yesno reads, besides the vendors' own key variables."""

KEYS = ("_API_KEY", "_API_TOKEN")
"""How the vendors' key variables end."""
ADDRESSES = ("AZURE_OPENAI_ENDPOINT",)
"""The vendors' variables for an address of one's own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says; an argument always wins over it."""

    model: str = "local"
    base_url: str | None = None
    template: str | None = None
    models_dir: Path | None = None
    cache_dir: Path | None = None
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Names of key variables -> their values, for those that are set."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Names of vendors' variables for an address -> their values, for those that are set."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the settings.

        Raises:
            ConfigError: A variable that begins with `YESNO_` is not one of `VARIABLES`.
        """
        env = os.environ if environ is None else environ
        for name in env:
            if name.startswith("YESNO_") and name not in VARIABLES:
                close = difflib.get_close_matches(name, VARIABLES, n=1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(sorted(VARIABLES))}"
                raise ConfigError(f"the environment variable {name} is unknown; {hint}")
        models, cache = env.get("YESNO_MODELS_DIR"), env.get("YESNO_CACHE_DIR")
        return cls(
            model=env.get("YESNO_MODEL") or "local",
            base_url=env.get("YESNO_BASE_URL") or None,
            template=env.get("YESNO_TEMPLATE") or None,
            models_dir=Path(models) if models else None,
            cache_dir=Path(cache) if cache else None,
            keys={name: value for name, value in env.items() if name.endswith(KEYS) and value},
            addresses={name: env[name] for name in ADDRESSES if env.get(name)},
        )


def variable(name: str) -> str | None:
    """Return the value of an environment variable that a configuration file names; None when it is not set."""
    return os.environ.get(name) or None
