import re
import tomllib
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest
from pydantic import BaseModel

from yesno.serve.config import load_config
from yesno.serve.keys import add_key
from yesno.serve.tables import (
    ChatTable,
    File,
    KeyTable,
    LimitsTable,
    ModelTable,
    RouteTable,
    ServerTable,
    ToolFilterTable,
)

TEXT = files("yesno.serve").joinpath("example.toml").read_text(encoding="utf-8")
SETTING = re.compile(r"^# (\[[a-z_.]+\]|[a-z_]+ = \S.*)$", re.MULTILINE)
ALL = SETTING.sub(r"\1", TEXT)
"""The example with everything that is commented out put in."""
TABLES = {
    "server": ServerTable,
    "limits": LimitsTable,
    "keys.alice": KeyTable,
    "models.judge": ModelTable,
    "chat": ChatTable,
    "chat.tool_filter": ToolFilterTable,
    "chat.routes.small": RouteTable,
}


def table(values, name):
    for part in name.split("."):
        values = values[part]
    return values


@pytest.fixture
def written(tmp_path):
    def written(text):
        add_key(tmp_path / "keys.txt", "alice", date(2026, 11, 30))
        (tmp_path / "serve.toml").write_text(text)
        return load_config(tmp_path / "serve.toml", lambda name: "a-key")

    return written


@pytest.mark.parametrize("text", [TEXT, ALL], ids=["as_it_is", "with_everything"])
def test_the_example_holds_no_mistake(written, text):
    if text is ALL:
        large = 'description = ["proofs and hard questions", "long code"]'
        text = text.replace(large, large + "\nprice = { input = 1, output = 2 }")
    assert list(written(text).file.models) == ["judge"]


@pytest.mark.parametrize("name", TABLES)
def test_every_setting_is_in_the_example(name):
    fields = set(TABLES[name].model_fields)
    if name == "keys.alice":
        fields -= set(LimitsTable.model_fields) - {"requests_per_minute"}
    if name == "chat":
        fields -= {"routes", "tool_filter"}
    shown = table(tomllib.loads(ALL), name)
    assert {key for key in shown if key not in ("routes", "tool_filter")} == fields


@pytest.mark.parametrize("name", [name for name in TABLES if name != "keys.alice"])
def test_defaults_in_the_example_are_the_defaults(name):
    shown = table(tomllib.loads(ALL), name)
    section = ALL.partition(f"\n[{name}]\n")[2].partition("\n[")[0]
    commented = TEXT.partition(f"[{name}]\n")[2].partition("\n[")[0]
    for key, field in TABLES[name].model_fields.items():
        line = re.search(rf"^{key} = .*$", section, re.MULTILINE)
        if line is None or f"# {key} = " not in commented:
            continue
        default = field.get_default(call_default_factory=True)
        if "example" in line[0]:
            assert default in (None, []), key
        else:
            assert shown[key] == default, key


def test_every_table_of_the_file_is_tested_here():
    def below(kind):
        for field in kind.model_fields.values():
            for part in (field.annotation, *getattr(field.annotation, "__args__", ())):
                if isinstance(part, type) and issubclass(part, BaseModel):
                    yield part
                    yield from below(part)

    assert {kind for kind in below(File) if kind.__name__ != "PriceTable"} == set(TABLES.values())


def test_the_file_of_the_deployment_holds_no_mistake(written):
    text = (Path(__file__).parents[2] / "deploy" / "serve.toml").read_text(encoding="utf-8")
    assert written(text).ring is not None
