"""Template sets: folders of Jinja files with front matter."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yesno.errors import ConfigError
from yesno.templates.front import split_front

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

__all__ = [
    "PROMPTS",
    "FileTemplate",
    "TemplateSet",
    "check_names",
    "check_template",
    "environment",
    "layer_template",
    "shipped_sets",
]

REQUIRED = ("system", "user")
"""Blocks of every template; `prefill` and `json` may be added."""
PACKED = (*REQUIRED, "lines", "json")
"""Blocks of the template for several yes/no questions at once."""


def _prompts_folder() -> Path:
    """Return where the shipped templates lie: in the wheel, or beside the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    shipped = package / "_prompts"
    return shipped if shipped.is_dir() else package.parent / "prompts"


PROMPTS = _prompts_folder()


@dataclass(frozen=True, slots=True, eq=False)
class FileTemplate:
    """One template file."""

    name: str
    """Set and file, such as `default/yes_no`."""
    front: Mapping[str, Any]
    """`version`, `labels`, `languages`, `description`, and `examples` where the set brings some."""
    digest: str
    """First 8 hexadecimal digits of the SHA-256 of the file."""
    wording: str
    """The same of what stands below the front matter."""
    jinja: Template = field(repr=False)

    @property
    def id(self) -> str:
        """Name, version and digest: what a reading or a calibration was made with."""
        return f"{self.name}@{self.front['version']}#{self.digest}"

    def render(self, block: str, variables: Mapping[str, Any]) -> str:
        """Render one block; an unknown variable or a block that the file lacks is a `ConfigError`."""
        import jinja2

        root = self.jinja.blocks.get(block)
        if root is None:
            raise ConfigError(f"template {self.name!r} has no block {block!r}; add it")
        try:
            # shared: a plain dict of all names, built in a tenth of the time
            context = self.jinja.new_context({**self.jinja.environment.globals, **variables}, shared=True)
            return "".join(root(context)).strip()
        except (
            jinja2.TemplateError,
            ArithmeticError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ) as e:
            raise ConfigError(f"template {self.name!r}, block {block!r}: {e}") from e


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """The templates of all question types.

    Raises:
        ConfigError: There is no such set or folder.
    """

    name: str
    folder: Path

    @classmethod
    def load(cls, name_or_folder: str | Path) -> TemplateSet:
        """Find a shipped set by its name, or take a folder of your own."""
        shipped = shipped_sets()
        if name_or_folder in shipped:
            return cls(str(name_or_folder), PROMPTS / name_or_folder)
        folder = Path(name_or_folder)
        if folder.is_dir():
            return cls(folder.name, folder)
        known = ", ".join(shipped)
        raise ConfigError(
            f"there is no template set {str(name_or_folder)!r}; shipped are {known}, or give a folder"
        )

    def has(self, kind: str) -> bool:
        """Return whether there is a file for a question type, or for `packed`."""
        return (self.folder / f"{kind}.j2").is_file()

    def template(self, kind: str) -> FileTemplate:
        """Return the template of a question type (`yes_no`, `choice`, `scale`), or of `packed` yes/no questions."""
        return _template(self, kind)


def shipped_sets() -> list[str]:
    """Return the names of the shipped template sets."""
    return sorted(path.parent.name for path in PROMPTS.glob("*/yes_no.j2"))


@cache  # building a path costs as much as the rest of a prompt
def _template(templates: TemplateSet, kind: str) -> FileTemplate:
    blocks = PACKED if kind == "packed" else REQUIRED
    return _load(templates.folder / f"{kind}.j2", f"{templates.name}/{kind}", blocks)


@cache
def layer_template(name: str) -> FileTemplate:
    """Return a question template of a layer (`tool`, `route`, `retriever`, `passage`, `agent`)."""
    return _load(PROMPTS / "layers" / f"{name}.j2", f"layers/{name}", ("question",))


@cache
def check_names() -> tuple[str, ...]:
    """Return the names of the ready checks of guardrails."""
    return tuple(sorted(path.stem for path in (PROMPTS / "guardrails").glob("*.j2")))


def check_template(name: str) -> FileTemplate:
    """Return the question template of a ready check, one of `check_names`."""
    return _load(PROMPTS / "guardrails" / f"{name}.j2", f"guardrails/{name}", ("question",))


@cache
def _load(path: Path, name: str, blocks: tuple[str, ...]) -> FileTemplate:
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"template {name!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"template {name!r} cannot be read: it is not UTF-8 ({error.reason})") from error
    front, body = split_front(source, name)
    import jinja2

    try:
        template = environment().from_string(body)
    except jinja2.TemplateSyntaxError as error:
        raise ConfigError(f"template {name!r}, line {error.lineno}: {error.message}") from error
    lacking = [block for block in blocks if block not in template.blocks]
    if lacking:
        raise ConfigError(f"template {name!r} lacks the block {lacking[0]!r}")
    return FileTemplate(name, front, _digest(source), _digest(body.strip()), template)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@cache
def environment() -> SandboxedEnvironment:
    """Return where templates are made: sandboxed, and strict about variables without a value."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(  # the prompts are plain text for a model, not HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
