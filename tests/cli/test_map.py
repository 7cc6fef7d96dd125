"""`yesno map`, from files and pipes to files and pipes."""

import csv
import io
import json

import pytest

from tests.engine.doctored import provider_for
from yesno._rows import json_rows
from yesno.cli.asked import questions_in
from yesno.cli.mapping import decided
from yesno.engine.ending import ends_run
from yesno.errors import BudgetExceeded, ConfigError, ProviderRejected, ProviderUnavailable, QuestionError

TOML = """
[urgent]
question = "Does it need attention today?"
yes_when = "money or access is blocked"
examples = [["It is down!", true]]

[team]
question = "Which team?"
options = { billing = "payments", support = "" }
none = "neither"

[mood]
question = "How frustrated?"
levels = ["calm", "angry"]
"""


def by_word(prompt):
    """Answer as the input says: a server that is down, a refusal, an unsure model, or yes."""
    if "is down" in prompt:
        return ProviderUnavailable("the server is down", provider="fake", retryable=False)
    if "refuse" in prompt:
        return {"<refusal>": 1}
    return {"Well": 0.9, "Yes": 0.1} if "unsure" in prompt else {"Yes": 0.9, "No": 0.1, "A": 1e-9}


def lines_of(out):
    return [json.loads(line, parse_constant=lambda name: pytest.fail(name)) for line in out.splitlines()]


def test_rows_keep_their_order_and_one_that_fails_does_not_stop_the_run(run, scripted):
    scripted(by_word)
    rows = ["fine", "is down", "refuse", "unsure", "", "fine too"]
    stdin = "\n".join([*map(json.dumps, rows), "nonsense", '{"a": 1}'])
    code, out, err = run("map", "--ask", "Is it?", stdin=stdin)
    found = lines_of(out)
    assert [line["row"] for line in found] == [1, 2, 3, 4, 5, 6, 7, 8]
    kinds = [line["error"]["error"] if "error" in line else line["answers"]["ask"]["type"] for line in found]
    assert kinds == [
        "yes_no",
        "ProviderUnavailable",
        "refusal",
        "undecided",
        "QuestionError",
        "yes_no",
        "QuestionError",
        "yes_no",
    ]
    assert found[3]["answers"]["ask"]["reason"] == "low_label_mass"
    assert found[0]["answers"]["ask"]["probability"] == pytest.approx(0.9)
    assert found[0]["usage"]["requests"] == 1
    assert code == 4
    assert err.splitlines()[0].startswith(
        "8 rows: 3 answers, 1 undecided, 1 refusal, 3 failed rows · 6 requests"
    )
    assert err.splitlines()[1] == "first failure, row 2: the server is down"


@pytest.mark.parametrize(
    ("rows", "code"), [(["fine"], 0), (["unsure"], 3), (["refuse"], 3), ([""], 2), (["is down", "unsure"], 4)]
)
def test_the_exit_code_says_the_worst_that_happened(run, scripted, rows, code):
    scripted(by_word)
    assert run("map", "--ask", "Is it?", stdin="\n".join(map(json.dumps, rows)))[0] == code


def test_csv_in_and_csv_out_with_several_questions(run, scripted, tmp_path):
    scripted(by_word)
    source, goal = tmp_path / "tickets.csv", tmp_path / "answers.csv"
    source.write_bytes('\ufefftext,id\r\n"fine,\r\nreally",7\r\nis down,8\r\n'.encode())
    words = (
        "--ask",
        "Is it?",
        "--ask",
        "And?",
        "--choice",
        "Which?",
        "-o",
        "a",
        "-o",
        "b",
        "--scale",
        "How?",
    )
    code, out, err = run(
        "map", source, *words, "-l", "x", "-l", "y", "--input-field", "text", "--copy", "id", "--output", goal
    )
    rows = list(csv.DictReader(io.StringIO(goal.read_text(encoding="utf-8"))))
    assert (code, out) == (4, "")
    assert "2 rows" in err
    assert [(row["row"], row["id"]) for row in rows] == [("1", "7"), ("2", "8")]
    assert [name for name in rows[0] if name.endswith(".outcome")] == [
        f"{name}.outcome" for name in ("ask", "ask_2", "choice", "scale")
    ]
    assert (rows[0]["ask.outcome"], rows[1]["ask.outcome"]) == ("answer", "error")
    assert rows[1]["ask.reason"] == "ProviderUnavailable: the server is down"


def test_fields_choose_what_the_model_sees_and_only_what_is_copied_comes_back(run, scripted):
    fake = scripted(by_word)
    stdin = '{"subject": "Hi", "body": "there", "email": "a@example.org", "id": [1]}'
    code, out, _ = run("map", "--ask", "Is it?", "--fields", "subject,body", "--copy", "id", stdin=stdin)
    assert code == 0
    assert "a@example.org" not in fake.requests[0]["messages"][-1]["content"] + out
    assert '"body": "there"' in fake.requests[0]["messages"][-1]["content"]
    assert lines_of(out)[0]["copied"] == {"id": [1]}


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("cut", [0, 10, 700, 10**6])
def test_a_cut_output_is_completed_to_what_one_run_gives(run, scripted, tmp_path, form, cut):
    scripted({"Yes": 0.9, "No": 0.1})
    source, goal = tmp_path / "in.jsonl", tmp_path / f"out.{form}"
    source.write_text("\n".join(json.dumps({"text": f'no "{n}",\n{n}'}) for n in range(5)))
    words = ("map", source, "--ask", "Is it?", "--copy", "text", "--output", goal)
    assert run(*words)[0] == 0
    whole = goal.read_bytes()
    goal.write_bytes(whole[:cut])
    fake = scripted({"Yes": 0.9, "No": 0.1})
    code, _, err = run(*words, "--resume")
    assert (code, goal.read_bytes()) == (0, whole)
    assert err.startswith(f"{len(fake.requests)} row")
    assert len(fake.requests) == {0: 5, 10: 5, 10**6: 0}.get(cut, len(fake.requests))
    assert cut != 700 or len(fake.requests) < 5


def test_resume_makes_a_missing_file_and_refuses_one_that_does_not_fit(run, scripted, tmp_path):
    scripted(by_word)
    goal = tmp_path / "out.jsonl"
    assert run("map", "--ask", "Is it?", "--output", goal, "--resume", stdin='"a"\n"b"')[0] == 0
    before = goal.read_bytes()
    code, _, err = run("map", "--ask", "Is it?", "--output", goal, "--resume", stdin='"a"')
    assert (code, "2 rows and the input only 1" in err) == (2, True)
    code, _, err = run(
        "map", "--scale", "How?", "-l", "a", "-l", "b", "--output", goal, "--resume", stdin='"a"'
    )
    assert (code, "not the beginning of this run" in err) == (2, True)
    assert goal.read_bytes() == before


def test_an_output_is_never_written_over_unasked(run, scripted, tmp_path):
    scripted(by_word)
    source, goal = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('"fine"')
    goal.write_text("precious")
    code, _, err = run("map", source, "--ask", "Is it?", "--output", goal)
    assert (code, "--overwrite" in err) == (2, True)
    code, _, err = run("map", source, "--ask", "Is it?", "--output", source, "--overwrite")
    assert (code, "is the input" in err) == (2, True)
    assert (source.read_text(), goal.read_text()) == ('"fine"', "precious")
    assert run("map", source, "--ask", "Is it?", "--output", goal, "--overwrite")[0] == 0
    assert lines_of(goal.read_text())[0]["row"] == 1


def test_an_empty_budget_stops_the_run_at_a_row_that_resume_takes_up(run, scripted, tmp_path):
    scripted({"Yes": 0.9, "No": 0.1})
    source, goal = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(json.dumps(f"row {n}") for n in range(1, 6)))
    words = ("map", source, "--ask", "Is it?", "--output", goal, "--concurrency", "1")
    code, _, err = run(*words, "--budget-requests", "2")
    assert code == 2
    assert err.splitlines()[0].startswith("2 rows: 2 answers")
    assert "stopped before row 3; --resume goes on there: the budget of 2 requests" in err
    assert run(*words, "--resume")[0] == 0
    assert [line["row"] for line in lines_of(goal.read_text())] == [1, 2, 3, 4, 5]


def test_only_what_every_row_would_meet_ends_a_run():
    def rejected(status, code=None):
        return ProviderRejected("no", provider="fake", status=status, code=code)

    ending = [
        rejected(401),
        rejected(404),
        rejected(429, "insufficient_quota"),
        BudgetExceeded("b"),
        ConfigError("c"),
    ]
    assert all(map(ends_run, ending))
    going = [
        rejected(400),
        rejected(403),
        ProviderUnavailable("x", provider="fake", status=503),
        QuestionError("q"),
    ]
    assert not any(map(ends_run, going))


def test_a_wrong_key_ends_the_run_before_a_row_is_written(run, monkeypatch):
    import httpx2

    wrong = lambda request: httpx2.Response(401, json={"error": {"message": "bad key"}})  # noqa: E731
    monkeypatch.setattr("yesno.engine.core.load_provider", lambda spec, **options: provider_for(wrong))
    code, out, err = run("map", "--ask", "Is it?", "--json", stdin='"a"\n"b"')
    assert (code, out) == (4, "")
    assert err.startswith("yesno: stopped before row 1: ")


def test_few_rows_are_held_however_many_there_are(scripted):
    from yesno import DecisionModel, YesNo
    from yesno.cli.mapping import Plan

    taken = []

    def endless():
        for n in range(10**9):
            taken.append(n)
            yield "nonsense" if n % 2 else '"fine"'

    plan = Plan({"ask": YesNo("Is it?")}, "jsonl", "jsonl")
    with DecisionModel("fake", concurrency=2) as model:
        results = decided(model, json_rows(endless()), plan)
        assert [next(results)[0].number for _ in range(50)] == list(range(1, 51))
        results.close()
    assert len(taken) < 60


def test_rows_before_a_broken_line_are_written(run, scripted):
    scripted(by_word)
    code, out, err = run("map", "--from", "csv", "--ask", "Is it?", stdin='a\nfine\n"open')
    assert code == 2
    assert out.splitlines()[1].startswith("1,0.9")
    assert "not CSV after row 1" in err


def test_bytes_that_are_no_text_fail_alone(run, scripted):
    scripted(by_word)
    code, out, _ = run("map", "--ask", "Is it?", stdin=b'"\xff"\n"fine"')
    assert code == 2
    assert [line.get("error", {}).get("message") for line in lines_of(out)] == ["it is not UTF-8 text", None]


def test_the_summary_is_json_on_request_and_says_what_was_used(run, scripted):
    scripted(by_word)
    _, out, err = run("map", "--ask", "Is it?", "--json", stdin='"fine"\n"fine"\n"unsure"', cache="kept")
    summary = json.loads(err)
    assert (summary["rows"], summary["exit_code"]) == (3, 3)
    assert summary["outcomes"] == {"answer": 2, "undecided": 1, "refusal": 0, "error": 0}
    again = json.loads(run("map", "--ask", "Is it?", "--json", stdin='"fine"', cache="kept")[2])
    assert (again["usage"]["requests"], again["usage"]["cache_hits"]) == (0, 1)
    assert out.count("\n") == 3


def test_named_questions_come_from_a_file(run, scripted, tmp_path):
    scripted(by_word)
    file, same = tmp_path / "questions.toml", tmp_path / "questions.json"
    file.write_text(TOML)
    import tomllib

    same.write_text(json.dumps(tomllib.loads(TOML)))
    outs = [run("map", "--questions", path, stdin='"fine"')[1] for path in (file, same)]
    assert outs[0] == outs[1]
    assert list(lines_of(outs[0])[0]["answers"]) == ["urgent", "team", "mood"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "there is no question"),
        ([], "there is no question"),
        ({"a": "Is it?"}, "question 'a' must be a table"),
        ({"a": {}}, "question 'a' has no `question`"),
        ({"a": {"question": "Is it?", "yes_if": "x"}}, "unknown key 'yes_if'; known are"),
        ({"a": {"question": "Is it?", "yes_wen": "x"}}, "did you mean 'yes_when'"),
        ({"a": {"question": "W?", "options": ["b"]}}, "question 'a': a choice needs"),
        ({"a": {"question": "W?", "examples": 3}}, "question 'a' has a value of the wrong type"),
        ({"a": {"question": "Is it?", "examples": [["x", "yes"]]}}, "question 'a': example 1"),
    ],
    ids=range(9),
)
def test_a_question_that_cannot_be_asked_is_named(document, said):
    with pytest.raises(QuestionError, match=said):
        questions_in(document)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--questions FILE"),
        (("--ask", "a?", "--option", "b"), "--choice"),
        (("--ask", "a?", "--level", "b"), "--scale"),
        (("--ask", "a?", "--ask", "b?", "--yes-when", "c"), "one --ask"),
        (("--ask", "a?", "--questions", "x.toml"), "not both"),
        (("--questions", "missing.toml"), "missing.toml"),
        (("--ask", "a?", "--input-field", "a", "--fields", "b"), "not both"),
        (("--ask", "a?", "--resume"), "--output"),
        (("--ask", "a?", "--output", "x.txt"), "--to jsonl"),
        (("missing.parquet", "--ask", "a?"), "--from jsonl"),
        (("missing.csv", "--ask", "a?"), "missing.csv"),
        (("--ask", "a?", "--from", "cvs"), "did you mean csv"),
    ],
    ids=range(12),
)
def test_bad_usage_is_told_before_anything_is_asked(run, scripted, words, said):
    fake = scripted(by_word)
    code, out, err = run("map", *words, stdin='"fine"')
    assert (code, out, fake.requests) == (2, "", [])
    assert said in err
    assert "rows" not in err


def test_an_interrupted_run_keeps_what_it_has_and_says_how_far_it_came(run, scripted, tmp_path):
    def script(prompt):
        if "stop" in prompt:
            raise KeyboardInterrupt
        return {"Yes": 0.9, "No": 0.1}

    scripted(script)
    goal = tmp_path / "out.jsonl"
    code, _, err = run("map", "--ask", "Is it?", "--output", goal, stdin='"a"\n"stop"\n"b"')
    assert code == 130
    assert err.startswith("1 row: 1 answer")
    assert [line["row"] for line in lines_of(goal.read_text())] == [1]


def test_a_disk_that_is_full_is_told_with_the_way_on(tmp_path, monkeypatch):
    import errno
    from pathlib import Path

    from yesno.cli.streams import sink

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "open", lambda path, mode: Full())
    monkeypatch.setattr(Full, "readable", lambda file: False)
    with (
        sink(tmp_path / "out.jsonl", "jsonl", {}, [], resume=False) as (_, write),
        pytest.raises(ConfigError, match="No space left on device; --resume goes on"),
    ):
        write("{}\n")
