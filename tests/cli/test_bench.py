"""`yesno bench` from the shell."""

import json

import pytest

from yesno.cli.main import COMMANDS, SHORT

SPAM = {"type": "yesno", "text": "Is it spam?"}


@pytest.fixture
def items(tmp_path):
    """Return a file of twelve labelled messages."""
    file = tmp_path / "spam.jsonl"
    rows = [
        {"id": str(n), "input": f"message {n}", "question": SPAM, "label": "yes" if n % 3 else "no"}
        for n in range(12)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_run_prints_a_table_and_writes_rows_and_two_reports(run, items, tmp_path):
    out = tmp_path / "run"
    code, said, errors = run("bench", items, "--model", "fake:a", "--model", "fake:b", "--out", out)
    assert (code, errors) == (0, "")
    assert "fake:a" in said
    assert "12/12" in said
    assert f"Report: {out / 'report.md'} and {out / 'report.html'}" in said
    assert {path.name for path in out.iterdir()} == {"run.json", "rows.jsonl", "report.md", "report.html"}
    assert "24 requests" in said


def test_the_same_command_asks_nothing_again(run, items, tmp_path):
    words = ("bench", "run", items, "--model", "fake:a", "--out", tmp_path / "run", "--json")
    first = json.loads(run(*words)[1])
    again = json.loads(run(*words)[1])
    assert (first["usage"]["requests"], again["usage"]["requests"]) == (12, 0)
    assert again["cells"] == first["cells"]
    assert again["exit_code"] == 0


def test_the_table_fits_80_columns(run, items, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    words = ("bench", f"email_injection={items}", "--model", "fake:smollm2x", "--limit", 9)
    _, said, _ = run(*words, "--out", tmp_path / "run")
    lines = said.splitlines()
    assert max(map(len, lines[:2])) <= 80
    assert "email_injection" in lines[1]
    assert "9/9" in lines[1]


def test_rows_without_a_question_are_asked_the_one_that_is_given(run, tmp_path):
    file = tmp_path / "mails.csv"
    file.write_text("input,label\nhello,b\nbye,a\n", encoding="utf-8")
    words = (
        "bench",
        file,
        "--model",
        "fake",
        "--question",
        "Which?",
        "--option",
        "a",
        "--option",
        "b=the letter",
    )
    code, said, _ = run(*words, "--out", tmp_path / "run", "--json")
    assert code == 0
    assert json.loads(said)["cells"][0]["type"] == "choice"


def test_replies_are_kept_in_the_file_that_is_named(run, items, tmp_path):
    words = ("bench", items, "--model", "fake:a", "--cache", tmp_path / "replies.db", "--json")
    run(*words, "--out", tmp_path / "one")
    usage = json.loads(run(*words, "--out", tmp_path / "two")[1])["usage"]
    assert (usage["requests"], usage["cache_hits"]) == (0, 12)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.jsonl",), "'nowhere.jsonl' cannot be read"),
        (("SET", "--model", "nobody:x"), "there is no provider 'nobody'"),
        (("SET", "--option", "a"), "belong to a --question"),
        (("SET", "--question", "?", "--option", "a", "--level", "b"), "either --option or --level"),
        (("SET", "--cache", "x.db", "--no-cache"), "either --cache or --no-cache"),
        (("SET", "--split", "test"), "no items of the split 'test'"),
        (("SET", "--strategy", "guess"), "'guess' is unknown"),
        (("SET", "SET"), "two sets are called 'spam'"),
        (("SET", "--limit", "0"), "must be a whole number of at least 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_usage_is_told_with_exit_code_2_and_leaves_nothing_behind(run, items, tmp_path, words, said):
    out = tmp_path / "run"
    given = [str(items) if word == "SET" else word for word in words]
    if "--model" not in given:
        given += ["--model", "fake"]
    code, _, errors = run("bench", *given, "--out", out)
    assert code == 2
    assert said in errors
    assert "Traceback" not in errors
    assert not out.exists()


def test_a_budget_that_is_used_up_is_told_and_the_rows_are_kept(run, items, tmp_path):
    words = (
        "bench",
        items,
        "--model",
        "fake",
        "--budget-requests",
        5,
        "--concurrency",
        1,
        "--out",
        tmp_path / "run",
    )
    code, said, errors = run(*words)
    assert code == 2
    assert "5/5" in said
    assert "the budget of 5 requests" in errors
    assert "7 planned rows are not there" in " ".join(said.split())


def test_a_budget_in_dollars_needs_a_price(run, items, tmp_path):
    code, _, errors = run("bench", items, "--model", "openai-compatible:x", "--base-url", "http://127.0.0.1:9/v1",
                          "--budget", 1, "--out", tmp_path / "run")  # fmt: skip
    assert code == 2
    assert "give --price IN,OUT" in errors


def test_compare_exits_with_1_when_the_second_run_is_worse(run, tmp_path):
    def saved(name, yes):
        file = tmp_path / f"{name}.jsonl"
        rows = [
            {"id": str(n), "label": n % 2 == 0, "probability": abs(n % 2 - yes) + n / 5000} for n in range(40)
        ]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        out = tmp_path / name
        code, said, _ = run("bench", "import", file, "--model", "theirs", "--set-name", "mails", "--out", out)
        assert (code, "Report:" in said) == (0, True)
        return out

    good, bad = saved("good", 0.9), saved("bad", 0.7)
    code, said, _ = run("bench", "compare", good, bad)
    assert code == 1
    assert "WORSE" in said
    assert "Worse than chance explains: 1 of 1" in said
    code, said, _ = run("bench", "compare", bad, good)
    assert (code, "Nothing is worse" in said) == (0, True)
    code, said, _ = run("bench", "compare", good, bad, "--margin", "0.5", "--json")
    assert (code, json.loads(said)["regressed"]) == (0, False)


def test_compare_refuses_runs_of_other_data(run, items, tmp_path):
    run("bench", items, "--model", "fake", "--out", tmp_path / "one")
    text = items.read_text(encoding="utf-8").replace("message 3", "message three")
    items.write_text(text, encoding="utf-8")
    run("bench", items, "--model", "fake", "--out", tmp_path / "two")
    code, _, errors = run("bench", "compare", tmp_path / "one", tmp_path / "two")
    assert (code, "different versions of set 'spam'" in errors) == (2, True)


def test_a_bad_row_of_an_import_is_named_and_nothing_is_left(run, tmp_path):
    file = tmp_path / "theirs.jsonl"
    file.write_text('{"id": "1", "model": "m", "label": "yes", "probability": 1.5}\n', encoding="utf-8")
    code, said, errors = run("bench", "import", file, "--out", tmp_path / "run", "--json")
    assert code == 2
    assert "row 1: `probability` must be from 0 to 1, not 1.5" in errors
    assert json.loads(said)["error"] == "ConfigError"
    assert not (tmp_path / "run").exists()


def test_a_report_is_written_anew_and_several_runs_together(run, items, tmp_path):
    for name in ("one", "two"):
        run("bench", items, "--model", f"fake:{name}", "--out", tmp_path / name)
    code, said, _ = run("bench", "report", tmp_path / "one", tmp_path / "two", "--out", tmp_path / "both")
    assert code == 0
    assert {path.name for path in (tmp_path / "both").iterdir()} == {"report.md", "report.html"}
    assert ("fake:one" in said, "fake:two" in said) == (True, True)


def test_help_names_the_commands_and_the_short_way(run):
    code, said, _ = run("bench", "--help")
    assert code == 0
    assert all(name.split()[1] in said for name in COMMANDS if name.startswith("bench "))
    assert "yesno bench SET" in said
    assert SHORT == {"bench": "run"}
    assert "--budget DOLLARS" in run("bench", "run", "--help")[1]
