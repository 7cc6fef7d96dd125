"""The front matter of template files: TOML between two lines of ---."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from yesno.errors import ConfigError

__all__ = ["split_front"]

_FENCE = "---\n"


def split_front(source: str, name: str) -> tuple[Mapping[str, Any], str]:
    """Return a file's front matter and the template after it.

    Raises:
        ConfigError: There is no front matter, it is not TOML, or an entry is missing or of another form.
    """
    parts = source.replace("\r\n", "\n").split(_FENCE, 2)
    if len(parts) != 3 or parts[0].strip():
        raise ConfigError(f"template {name!r} must begin with front matter between two lines of ---")
    try:
        front = tomllib.loads(parts[1])
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"template {name!r}, front matter: {error}") from error
    for problem in _problems(front, name.rpartition("/")[2]):
        raise ConfigError(f"template {name!r}: its front matter {problem}")
    return front, parts[2]


def _problems(front: Mapping[str, Any], kind: str) -> list[str]:
    found = [f"lacks `{key}`" for key in ("version", "description") if key not in front]
    labels = front.get("labels")
    yes_or_no = kind in ("yes_no", "packed")
    if labels is None or (yes_or_no and _are_texts(labels) and len(labels) == 2):
        pass
    elif yes_or_no:
        found.append(f"must give two texts as `labels`, the word for yes first, not {labels!r}")
    elif labels not in ("letters", "numbers"):
        found.append(f'must give "letters" or "numbers" as `labels`, not {labels!r}')
    if not _are_texts(front.get("languages", ["en"])):
        found.append(f"must give a list of codes as `languages`, not {front['languages']!r}")
    if type(front.get("first", 1)) is not int or front.get("first", 1) < 0:
        found.append(f"must give a whole number as `first`, not {front['first']!r}")
    examples = front.get("examples", [])
    if not isinstance(examples, list) or not all(isinstance(example, dict) for example in examples):
        found.append("must give each of its examples as a table [[examples]]")
    return found


def _are_texts(value: Any) -> bool:  # noqa: ANN401 - the check is the point
    return isinstance(value, list) and bool(value) and all(isinstance(v, str) and v.strip() for v in value)
