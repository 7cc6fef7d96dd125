"""Rules that keep the house livable."""

import ast
import json
import logging
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import yesno
import yesno.filters
from tests.calibration.calibrators.contract import CalibratorContract
from tests.filters.contract import FilterContract
from tests.integrations.contract import IntegrationContract
from tests.providers.contract import ProviderContract
from tests.routers.contract import RouterContract
from yesno import errors
from yesno.calibration.calibrators import CALIBRATORS
from yesno.filters import FILTERS
from yesno.integrations import INTEGRATIONS
from yesno.providers import PROVIDERS
from yesno.routers import ROUTERS, Router
from yesno.settings import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "yesno").rglob("*.py"))
HEAVY = [
    "openai",
    "anthropic",
    "httpx2",
    "aiohttp",
    "pydantic",
    "structlog",
    "jinja2",
    "tenacity",
    "anyio",
    "rich",
    "typer",
    "xllamacpp",
    "asyncio",
    "tiktoken",
    "numpy",
    "opentelemetry",
    "concurrent.futures",
    "ssl",
]
AT_USE = [
    "openai",
    "anthropic",
    "httpx2",
    "aiohttp",
    "pydantic",
    "tenacity",
    "anyio",
    "rich",
    "typer",
    "xllamacpp",
    "tiktoken",
    "opentelemetry",
]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
KEPT = ("yesno", "tests", "prompts", "scripts", "benchmarks", "examples", "deploy", ".ci")


def place(path):
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def printed(code):
    """Return what a fresh process prints."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)  # noqa: S603
    return done.stdout.strip()


def loaded(code, names):
    """Return which of some modules are loaded after running code in a fresh process."""
    return printed(f"{code}\nimport sys; print([m for m in {names!r} if m in sys.modules])")


def ours():
    """Return the files of the project, without data sets and what tools leave behind."""
    found = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in KEPT:
        found += [
            p for p in (ROOT / folder).rglob("*") if p.is_file() and not {"__pycache__", "data"} & {*p.parts}
        ]
    return [
        path for path in found if path.suffix in {".py", ".md", ".toml", ".txt", ".j2", ".json", ".yaml", ""}
    ]


def test_exports_are_sorted_complete_and_all_there_is():
    assert list(yesno.__all__) == sorted(yesno.__all__, key=lambda name: (name[0].islower(), name))
    for name in yesno.__all__:
        value = getattr(yesno, name)
        assert name in import_module(value.__module__).__all__ or name == "Flow", name
    assert set(dir(yesno)) == {*yesno.__all__, "__version__"}
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = yesno.nothing_of_the_kind


def test_no_other_public_name_can_be_seen():
    names = printed("import yesno; print([n for n in vars(yesno) if not n.startswith('_')])")
    assert set(ast.literal_eval(names)) <= {"TYPE_CHECKING", "Any", "import_module", *yesno.__all__}


def test_type_checkers_and_run_time_see_the_same_names():
    body = next(node for node in tree(ROOT / "yesno" / "__init__.py").body if isinstance(node, ast.If)).body
    seen = {alias.name for node in body for alias in node.names}
    assert seen == set(yesno.__all__)


def test_every_module_says_what_it_exports():
    left_out = {ROOT / "yesno" / "integrations" / f"{name}.py" for name in not_installed()}
    for path in FILES:
        if path.name == "__main__.py" or path in left_out:
            continue
        module = import_module(
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        public = [
            n.name for n in tree(path).body if isinstance(n, DEFINITIONS) and not n.name.startswith("_")
        ]
        exported = getattr(module, "__all__", [])
        assert exported or not public, place(path)
        assert [name for name in exported if not hasattr(module, name)] == [], place(path)


def test_import_yesno_loads_nothing_heavy():
    assert loaded("import yesno", HEAVY) == "[]"


def test_a_decision_without_http_loads_no_sdk():
    code = "from yesno import *\nDecisionModel(FakeProvider()).decide('x', YesNo('q?'))"
    assert loaded(code, AT_USE) == "[]"


def test_registry_files_and_contract_tests_agree():
    folder = ROOT / "yesno" / "providers"
    helpers = {"base", "profiles", "recording"}
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")} - helpers
    assert {target.partition(":")[0].rpartition(".")[2] for target in PROVIDERS.values()} == files
    for name, target in PROVIDERS.items():
        module, _, attribute = target.partition(":")
        assert getattr(import_module(module), attribute).name == name
    for path in (ROOT / "tests" / "providers").glob("test_*.py"):
        import_module(f"tests.providers.{path.stem}")
    contract = (ROOT / ".importlinter").read_text(encoding="utf-8").partition(":providers]")[2]
    apart = re.findall(r"^    (yesno\.providers\.\w+)$", contract.partition("[")[0], re.MULTILINE)
    assert apart == sorted({target.partition(":")[0] for target in PROVIDERS.values()})
    assert covered(ProviderContract, "provider") == set(PROVIDERS)


def covered(contract, attribute):
    """Return what the classes that inherit a contract say they test."""
    tested = set()
    waiting = [contract]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        tested.add(getattr(kind, attribute, None))
    return tested - {None}


def test_filters_files_and_contract_tests_agree():
    files = {path.stem for path in (ROOT / "yesno" / "filters").glob("*.py") if not path.stem.startswith("_")}
    assert {kind.__module__ for kind in FILTERS} == {f"yesno.filters.{stem}" for stem in files}
    for path in (ROOT / "tests" / "filters").glob("test_*.py"):
        import_module(f"tests.filters.{path.stem}")
    assert covered(FilterContract, "filter") == set(FILTERS)
    for kind in FILTERS:
        assert getattr(yesno.filters, kind.__name__) is kind


def test_router_files_registry_and_contract_tests_agree():
    defined = set()
    for path in (ROOT / "yesno" / "routers").glob("*.py"):
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and any(
                isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == "name" and line.value
                for line in node.body
            ):
                defined.add((path.stem, node.name))
    assert {(kind.__module__.rpartition(".")[2], kind.__name__) for kind in ROUTERS.values()} == defined
    assert len({file for file, _ in defined}) == len(ROUTERS)
    for name, kind in ROUTERS.items():
        assert issubclass(kind, Router)
        assert kind.name == name
    for path in (ROOT / "tests" / "routers").glob("test_*.py"):
        import_module(f"tests.routers.{path.stem}")
    tested = [kind.router for kind in RouterContract.__subclasses__()]
    assert sorted(tested) == sorted(ROUTERS)


def test_calibrator_files_registry_and_contract_tests_agree():
    folder = ROOT / "yesno" / "calibration" / "calibrators"
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert {kind.__module__.rpartition(".")[2] for kind in CALIBRATORS.values()} == files
    assert [kind.name for kind in CALIBRATORS.values()] == list(CALIBRATORS)
    for path in (ROOT / "tests" / "calibration" / "calibrators").glob("test_*.py"):
        import_module(f"tests.calibration.calibrators.{path.stem}")
    assert covered(CalibratorContract, "calibrator") == set(CALIBRATORS)


def test_importing_calibrators_and_cards_needs_no_package():
    assert loaded("import yesno.calibration", [*AT_USE, "numpy", "scipy", "sklearn", "jinja2"]) == "[]"


def not_installed():
    """Return the names of the integrations whose package is missing."""
    return {name for name, wanted in INTEGRATIONS.items() if find_spec(wanted.package) is None}


def test_integrations_files_registry_and_contract_tests_agree():
    folder = ROOT / "yesno" / "integrations"
    files = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert list(INTEGRATIONS) == sorted(files)
    for path in (ROOT / "tests" / "integrations").glob("test_*.py"):
        with suppress(pytest.skip.Exception):
            import_module(f"tests.integrations.{path.stem}")
    assert covered(IntegrationContract, "integration") == files - not_installed()


def test_the_room_of_integrations_loads_no_framework():
    code = "import yesno.integrations, yesno.integrations._shared, yesno.integrations._decisions"
    assert loaded(code, sorted(wanted.package for wanted in INTEGRATIONS.values())) == "[]"


def test_importing_routers_loads_no_sdk_and_no_engine():
    heavy = [*AT_USE, "jinja2", "asyncio", "concurrent.futures"]
    assert loaded("import yesno.routers", heavy) == "[]"
    assert printed("import yesno.routers, sys; print([m for m in sys.modules if '.engine' in m])") == "[]"


def test_files_and_functions_stay_short():
    for path in FILES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 600, place(path)
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                doc = ast.get_docstring(node) or ""
                length = node.end_lineno - node.lineno + 1 - len(doc.splitlines())
                assert length <= 60, f"{place(path)}: {node.name} has {length} lines"


def test_public_names_have_a_docstring():
    for path in FILES:
        for node in tree(path).body:
            overloads = [d for d in getattr(node, "decorator_list", ()) if ast.unparse(d) == "overload"]
            if isinstance(node, DEFINITIONS) and not node.name.startswith("_") and not overloads:
                assert ast.get_docstring(node), f"{place(path)}: {node.name} lacks a docstring"


def reads_environment(node):
    if isinstance(node, ast.Attribute):
        return node.attr in ("environ", "environb", "getenv", "putenv")
    if isinstance(node, ast.ImportFrom):
        return node.module == "os" and any(a.name in ("environ", "environb", "getenv") for a in node.names)
    return False


def test_the_environment_is_read_in_settings_only():
    readers = [place(path) for path in FILES if any(map(reads_environment, ast.walk(tree(path))))]
    assert readers == ["yesno/settings.py"]


def test_imports_inside_the_package_name_modules_not_the_root():
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, place(path)
                if node.module == "yesno":
                    assert [alias.name for alias in node.names] == ["__version__"], place(path)


def log_calls(path):
    """Return the event and the field names of each call of a logger in a file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            written = ast.unparse(node.func.value)
            levels = ("debug", "info", "warning", "error", "exception", "critical")
            if node.func.attr in levels and (
                "get_logger" in written or "log" in written.lower().split(".")[-1]
            ):
                yield node.args[0], [keyword.arg for keyword in node.keywords]


def test_log_events_are_snake_case_and_fields_do_not_collide_with_log_records():
    reserved = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "event", "level", "logger"}
    found = [(path, event, fields) for path in FILES for event, fields in log_calls(path)]
    assert len(found) >= 4
    for path, event, fields in found:
        assert not reserved & set(fields), path
        if isinstance(event, ast.Constant):
            assert re.fullmatch(r"[a-z]+(_[a-z]+)+", event.value), event.value


def test_every_variable_is_documented():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in VARIABLES if f"`{name}`" not in readme] == []


def test_every_error_is_exported_and_drawn():
    classes = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, errors.YesnoError)}
    assert set(errors.__all__) == classes
    for name in classes:
        assert re.search(rf"\b{name}\b", errors.__doc__), name


def test_every_payload_is_used_by_name_and_says_where_it_is_from():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    paths = sorted((ROOT / "tests" / "payloads").rglob("*.json"))
    assert len(paths) > 40
    for path in paths:
        folder, stem = path.parent.name, path.stem
        assert f'"{folder}/{stem}"' in tests or (folder in ("local", "reading") and f'"{stem}"' in tests), (
            path
        )
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert kept["source"] in ("recorded", "docs", "made")
        assert kept.get("from") or kept.get("server"), path
        assert "response" in kept
        assert "request" in kept or folder == "reading", path
        assert not re.search(r"(?i)authorization|bearer |api[-_]?key|\bsk-\w", json.dumps(kept)), path


def test_no_machine_path_and_no_registry_host_is_in_the_tree():
    pattern = re.compile(
        r"(?<![\w.])/(?:wor[k]|far[m]|roo[t])/|/hom[e]/(?!app/|user/)|https?://[a-z.]*(?:pyp[i]|npmj[s]|debia[n])\."
    )
    files = ours()
    assert len(files) > 100
    for path in files:
        found = pattern.search(path.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{path}: {found.group()}"
