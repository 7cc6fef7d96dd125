"""Rules that keep the house livable."""

import ast
import logging
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import yesno
from tests.providers.contract import ProviderContract
from yesno import errors
from yesno.providers import PROVIDERS
from yesno.settings import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "yesno").rglob("*.py"))
HEAVY = "openai anthropic httpx2 aiohttp pydantic structlog jinja2 tenacity anyio rich typer xllamacpp asyncio tiktoken"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_exports_are_sorted_complete_and_all_there_is():
    assert list(yesno.__all__) == sorted(yesno.__all__)
    for name in yesno.__all__:
        assert getattr(yesno, name) is not None
    assert set(dir(yesno)) == {*yesno.__all__, "__version__"}
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = yesno.nothing_of_the_kind


def test_import_yesno_loads_nothing_heavy():
    code = f"import sys, yesno; print([m for m in {HEAVY.split()!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_the_model_loads_no_sdk_before_it_is_used():
    code = (
        "import sys; from yesno import DecisionModel, YesNo, FakeProvider; DecisionModel(FakeProvider()).decide('x', YesNo('q?'));"
        "print([m for m in ('openai', 'anthropic', 'httpx2', 'aiohttp', 'pydantic', 'tenacity', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_registry_files_and_contract_tests_agree():
    helpers = {"__init__", "base", "profiles"}
    files = {
        path.stem for path in (ROOT / "yesno" / "providers").glob("*.py") if not path.stem.startswith("_")
    } - helpers
    assert {target.partition(":")[0].rpartition(".")[2] for target in PROVIDERS.values()} == files
    for name, target in PROVIDERS.items():
        module, _, attribute = target.partition(":")
        assert getattr(import_module(module), attribute).name == name
    for path in (ROOT / "tests" / "providers").glob("test_*.py"):
        import_module(f"tests.providers.{path.stem}")
    tested = set()
    waiting = [ProviderContract]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        tested.add(getattr(kind, "provider", None))
    assert set(PROVIDERS) <= tested


@each_file
def test_files_and_functions_stay_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node) or ""
            length = node.end_lineno - node.lineno - len(doc.splitlines())
            assert length <= 60, f"{node.name} has {length} lines"


@each_file
def test_public_names_have_a_docstring(path):
    for node in tree(path).body:
        if isinstance(node, DEFINITIONS) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} lacks a docstring"


@each_file
def test_the_environment_is_read_in_settings_only(path):
    text = path.read_text(encoding="utf-8")
    if path.name != "settings.py":
        assert "os.environ" not in text
        assert "getenv" not in text


@each_file
def test_imports_inside_the_package_name_modules_not_the_root(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            if node.module == "yesno":
                assert [alias.name for alias in node.names] == ["__version__"]


def test_log_fields_do_not_collide_with_log_records():
    reserved = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
    pattern = re.compile(r"\.(?:debug|info|warning|error)\(\s*\"\w+\",(.*?)\)\n", re.DOTALL)
    for path in FILES:
        for call in pattern.findall(path.read_text(encoding="utf-8")):
            assert not reserved & set(re.findall(r"(\w+)=", call)), path


def test_every_variable_is_documented():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in VARIABLES if f"`{name}`" not in readme] == []


def test_every_error_is_exported_and_drawn():
    classes = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.YesnoError)}
    assert set(errors.__all__) == classes
    for name in classes:
        assert re.search(rf"\b{name}\b", errors.__doc__), name


def test_every_payload_is_used():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    for path in (ROOT / "tests" / "payloads").rglob("*.json"):
        stem = path.stem
        assert stem in tests or stem.replace("-", "_") in tests, path


def test_no_machine_path_and_no_registry_host_is_in_the_tree():
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False)  # noqa: S607
    pattern = re.compile(r"/(?:wor[k]|far[m]|roo[t])/|https?://[a-z.]*(?:pyp[i]|npmj[s]|debia[n])\.")
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".j2", ".json", ""} and path.is_file():
            assert not pattern.search(path.read_text(encoding="utf-8", errors="replace")), name
