"""`yesno tune`: what it says before it spends, what it leaves behind, and what it refuses."""

import json
import subprocess
import sys

import pytest

from tests.tuner.build import scripted as skilled
from yesno.engine.sync import DecisionModel
from yesno.errors import ProviderRejected

QUESTION = ("--question", "Is it spam?")


def better(prompt):
    return 3.0 if "Question:" in prompt else 0.3


@pytest.fixture
def labels(tmp_path):
    """Write labelled rows to a file."""

    def put(count=150, **changes):
        rows = [
            {"id": f"r{i}", "input": f"text {i} is kind{i % 2}", "label": "no" if i % 2 else "yes"}
            for i in range(count)
        ]
        for number, change in changes.items():
            rows[int(number[1:])] |= change
        path = tmp_path / "labels.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return put


@pytest.fixture
def model(monkeypatch):
    """Make every model a scripted one with this skill."""

    def put(skill):
        fake = skilled(skill)
        monkeypatch.setattr("yesno.engine.core.load_provider", lambda spec, **options: fake)
        return fake

    return put


def test_a_better_template_is_written_ready_to_use(run, model, labels, tmp_path):
    fake = model(better)
    out = tmp_path / "spam"
    code, said, told = run("tune", labels(), *QUESTION, "--model", "x", "--out", out, "--calls", 600)
    assert code == 0
    assert "at most" in told
    assert "of 600 to fake:fake" in told
    assert "\naccepted: '" in said
    assert f"template={str(out)!r}" in said
    line = next(line for line in said.splitlines() if line.startswith("DecisionModel("))
    ready = eval(line.replace("'fake:fake'", "fake"), {"DecisionModel": DecisionModel, "fake": fake})  # noqa: S307
    assert ready.asking.templates.folder == out
    report = (out / "report.md").read_text()
    assert "$ yesno" in report
    assert json.loads((out / "report.json").read_text())["verdict"] == "accepted"


def test_the_plan_alone_spends_nothing(run, model, labels, tmp_path):
    fake = model(better)
    code, said, told = run("tune", labels(), *QUESTION, "--model", "x", "--out", tmp_path / "o", "--plan")
    assert (code, told, fake.requests) == (0, "", [])
    assert "30 rows for examples, 74 for comparing, 46 held out" in said
    assert "free" in said
    words = ("tune", labels(), *QUESTION, "--model", "x", "--out", tmp_path / "o", "--plan", "--json")
    assert json.loads(run(*words)[1])["rows"] == {"examples": 30, "comparing": 74, "held_out": 46}
    assert not (tmp_path / "o").exists()


def test_a_second_run_sends_nothing_and_needs_leave_to_replace_the_first(run, model, labels, tmp_path):
    fake = model(better)
    words = ("tune", labels(), *QUESTION, "--model", "x", "--out", tmp_path / "o", "--calls", 600)
    assert run(*words, cache="one")[0] == 0
    sent = len(fake.requests)
    code, _, told = run(*words, cache="one")
    assert (code, len(fake.requests)) == (2, sent)
    assert "choose another folder, or overwrite it" in told
    assert run(*words, "--overwrite", cache="one")[0] == 0
    assert len(fake.requests) == sent


def test_json_holds_the_report_and_how_to_use_it(run, model, labels, tmp_path):
    model(lambda prompt: 1.0)
    code, said, told = run(
        "tune", labels(), *QUESTION, "--model", "x", "--out", tmp_path / "o", "--calls", 600, "--json"
    )
    document = json.loads(said)
    assert (code, told) == (0, "")
    assert document["verdict"] == "kept"
    assert document["use"].startswith("DecisionModel('fake:fake', template=")
    assert document["calls"]["sent"] <= 600


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"r7": {"label": "maybe"}}, "row 8: `label` is 'maybe', and the options are 'yes', 'no'"),
        ({"r7": {"label": None}}, "row 8: it has no `label`"),
        ({"r7": {"id": "r3"}}, "row 8: the id 'r3' is that of row 4 too"),
    ],
)
def test_a_row_that_is_wrong_is_named_and_nothing_is_written(run, model, labels, tmp_path, changes, said):
    fake = model(better)
    code, _, told = run("tune", labels(**changes), *QUESTION, "--model", "x", "--out", tmp_path / "o")
    assert (code, fake.requests) == (2, [])
    assert said in told
    assert not (tmp_path / "o").exists()


def test_five_labels_are_too_few(run, model, labels, tmp_path):
    model(better)
    code, _, told = run("tune", labels(5), *QUESTION, "--model", "x", "--out", tmp_path / "o")
    assert code == 2
    assert "there are 5 labelled rows, and tuning needs at least 80" in told


def test_labels_of_one_class_are_named(run, model, labels, tmp_path):
    model(better)
    same = {f"r{i}": {"label": "yes"} for i in range(150)}
    code, _, told = run("tune", labels(**same), *QUESTION, "--model", "x", "--out", tmp_path / "o")
    assert code == 2
    assert "all 150 labels are 'yes'" in told


def test_too_few_calls_are_named_as_the_option(run, model, labels, tmp_path):
    model(better)
    code, _, told = run("tune", labels(), *QUESTION, "--model", "x", "--out", tmp_path / "o", "--calls", 50)
    assert code == 2
    assert "--calls is 50, and the smallest search of these rows takes" in told


def test_options_of_a_question_need_one(run, model, labels, tmp_path):
    model(better)
    code, _, told = run("tune", labels(), "--option", "a", "--model", "x", "--out", tmp_path / "o")
    assert code == 2
    assert "belong to a --question" in told


def test_a_failing_host_leaves_nothing_behind(run, monkeypatch, labels, tmp_path, scripted):
    scripted(ProviderRejected("no", provider="fake", status=401))
    code, _, _ = run("tune", labels(), *QUESTION, "--model", "x", "--out", tmp_path / "o", "--calls", 600)
    assert code == 4
    assert not (tmp_path / "o").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".o")]


def test_a_proposer_is_announced(run, model, labels, tmp_path):
    model(better)
    _, said, _ = run(
        "tune", labels(), *QUESTION, "--model", "x", "--proposer", "y", "--out", tmp_path / "o", "--plan"
    )
    assert "one more call to fake:fake, which is shown inputs and labels of up to 10 rows" in said


def test_without_numpy_the_program_says_what_to_install_before_anything_is_asked(labels, tmp_path):
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from yesno.cli.main import main\n"
        "sys.stderr = sys.stdout\n"
        f"try: main(['tune', {str(labels())!r}, '--question', 'Is it?', '--model', 'fake', '--out', {str(tmp_path / 'o')!r}])\n"
        "except SystemExit as end: print(end.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "pip install 'yesno[bench]'" in done.stdout
    assert done.stdout.strip().endswith("2")
    assert not (tmp_path / "o").exists()
