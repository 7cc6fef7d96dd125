"""The room as a whole: what it exports, and what it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

import yesno.bench

ROOT = Path(__file__).resolve().parents[2]


def printed(code):
    """Return what a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)  # noqa: S603
    return done.stdout.strip()


def test_every_name_that_is_exported_is_there_and_no_other():
    assert sorted(yesno.bench._HOMES) == list(yesno.bench.__all__) == sorted(yesno.bench.__all__)
    for name in yesno.bench.__all__:
        assert callable(getattr(yesno.bench, name))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = yesno.bench.nothing


def test_reading_and_running_need_no_numpy():
    code = (
        "import sys; from yesno.bench import load_run, load_set, run, import_rows;"
        "print([name for name in ('numpy', 'scipy', 'matplotlib', 'pyarrow') if name in sys.modules])"
    )
    assert printed(code) == "[]"


def test_without_numpy_the_program_says_what_to_install_before_anything_is_asked(tmp_path):
    items = tmp_path / "items.jsonl"
    items.write_text('{"input": "x", "label": "yes", "question": "Is it?"}\n', encoding="utf-8")
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from yesno.cli.main import main\n"
        "sys.stderr = sys.stdout\n"
        f"try: main(['bench', {str(items)!r}, '--model', 'fake', '--out', {str(tmp_path / 'run')!r}])\n"
        "except SystemExit as end: print(end.code)\n"
    )
    said = printed(code)
    assert "pip install 'yesno[bench]'" in said
    assert said.endswith("2")
    assert not (tmp_path / "run").exists()
