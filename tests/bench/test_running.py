"""Runs ask what has no row yet, and keep what came back."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.bench.made import right, spam_set
from yesno import Budget, FakeProvider, SqliteCache
from yesno._rows import Row as Line
from yesno.bench.rows import read_rows
from yesno.bench.running import GIVE_UP_AFTER, run
from yesno.bench.runs import load_run
from yesno.calibration import Calibration, Subject
from yesno.calibration.calibrators import Platt, Temperature
from yesno.errors import ConfigError, ProviderRejected, ProviderUnavailable
from yesno.labelled import set_of
from yesno.templates.sets import TemplateSet

ROOT = Path(__file__).resolve().parents[2]


def test_each_model_is_asked_with_each_template_about_each_set(tmp_path):
    done = run(
        [spam_set(name="a"), spam_set(4, name="b")],
        models={"one": FakeProvider(right), "two": FakeProvider()},
        templates=["default", "few_shot"],
        out=tmp_path / "run",
        command="yesno bench a b",
    )
    assert len(done.rows) == (8 + 4) * 2 * 2
    assert {row.way for row in done.rows} == {
        (model, template, "auto") for model in ("one", "two") for template in ("default", "few_shot")
    }
    assert done.planned == (8 + 4) * 2 * 2
    assert done.card.commands == ("yesno bench a b",)
    assert done.stopped == ()
    assert load_run(tmp_path / "run").rows == done.rows


def test_a_row_says_what_came_back_and_what_it_took(tmp_path):
    [row] = run([spam_set(1)], models={"one": FakeProvider(right)}, out=tmp_path).rows
    assert (row.set, row.id, row.label, row.outcome) == ("spam", "i1", 0, "answer")
    assert row.probabilities == pytest.approx((0.8, 0.2))
    assert row.label_mass == pytest.approx(1.0)
    assert (row.method, row.requests, row.cache_hits, row.tokens_out) == ("logprobs", 1, 0, 1)
    assert row.latency_s is not None
    assert row.data == spam_set(1).version
    assert row.template_hash == done_digest(tmp_path)


def done_digest(folder):
    return load_run(folder).card.templates["default"]["yes_no"]


def test_choices_and_scales_have_a_number_for_each_option_and_the_way_out(tmp_path):
    team = {"type": "choice", "text": "Which?", "options": ["a", "b"], "none": "neither"}
    mood = {"type": "scale", "text": "How?", "levels": ["bad", "fair", "good"]}
    items = set_of(
        [
            Line(1, {"id": "c", "input": "x", "question": team, "label": "neither"}),
            Line(2, {"id": "s", "input": "x", "question": mood, "label": 2, "label_dist": [0, 0.5, 0.5]}),
        ],
        "mixed",
    )
    script = {"A": 0.5, "B": 0.25, "C": 0.25}
    rows = {row.id: row for row in run([items], models={"m": FakeProvider(script)}, out=tmp_path).rows}
    assert rows["c"].options == ("a", "b", "neither")
    assert rows["c"].probabilities == pytest.approx((0.5, 0.25, 0.25))
    assert rows["c"].label == 2
    assert rows["s"].probabilities == pytest.approx((0.5, 0.25, 0.25))
    assert rows["s"].shares == (0, 0.5, 0.5)


def test_what_has_a_row_is_not_asked_again_and_more_may_come(tmp_path):
    first, second = FakeProvider(right), FakeProvider(right)
    run([spam_set()], models={"m": first}, out=tmp_path, limit=3)
    assert len(first.requests) == 3
    done = run([spam_set()], models={"m": second, "n": FakeProvider()}, out=tmp_path)
    assert len(second.requests) == 5
    assert len(done.rows) == 16
    assert done.planned == 16


def test_a_set_and_a_model_that_came_later_are_planned_for_each_other_only(tmp_path):
    run([spam_set(name="a")], models={"m": FakeProvider(right)}, out=tmp_path)
    done = run([spam_set(name="b")], models={"n": FakeProvider(right)}, out=tmp_path)
    assert done.planned == len(done.rows) == 16
    assert load_run(tmp_path).planned == 16


def test_what_failed_is_asked_again(tmp_path):
    down = ProviderRejected("no", provider="fake", status=400)
    broken = run([spam_set(2)], models={"m": FakeProvider(down)}, out=tmp_path)
    assert [row.outcome for row in broken.rows] == ["error", "error"]
    assert {row.reason for row in broken.rows} == {"ProviderRejected"}
    mended = run([spam_set(2)], models={"m": FakeProvider(right)}, out=tmp_path)
    assert [row.outcome for row in mended.rows] == ["answer", "answer"]


def test_undecided_and_refused_items_have_a_row_and_are_not_asked_again(tmp_path):
    mute = FakeProvider({"The": 0.9, "Yes": 0.05})
    done = run([spam_set(1)], models={"mute": mute, "shy": FakeProvider({"<refusal>": 1})}, out=tmp_path)
    assert [(row.outcome, row.reason) for row in done.rows] == [
        ("undecided", "low_label_mass"),
        ("refusal", "refusal"),
    ]
    again = FakeProvider(right)
    run([spam_set(1)], models={"mute": again}, out=tmp_path)
    assert again.requests == []


def test_a_model_that_fails_on_and_on_is_left_alone_and_the_others_go_on(tmp_path):
    down = FakeProvider(ProviderRejected("no", provider="fake", status=400))
    done = run([spam_set(40)], models={"down": down, "up": FakeProvider(right)}, out=tmp_path, concurrency=1)
    assert len([row for row in done.rows if row.model == "down"]) == GIVE_UP_AFTER
    assert len([row for row in done.rows if row.model == "up"]) == 40
    assert done.stopped[0].startswith(
        f"down · default · auto: left alone after {GIVE_UP_AFTER} failures in a row"
    )


def test_a_missing_key_ends_the_run_before_other_items_are_tried(tmp_path):
    locked = FakeProvider(ProviderRejected("no such key", provider="fake", status=401))
    with pytest.raises(ProviderRejected, match="no such key"):
        run([spam_set(40)], models={"m": locked}, out=tmp_path, concurrency=1)
    assert len(locked.requests) <= 4


def test_a_budget_ends_the_run_and_a_larger_one_goes_on(tmp_path):
    done = run(
        [spam_set()],
        models={"m": FakeProvider(right)},
        out=tmp_path,
        budget=Budget(requests=3),
        concurrency=1,
    )
    assert len(done.rows) == 3
    assert "the budget of 3 requests" in done.stopped[0]
    more = FakeProvider(right)
    done = run([spam_set()], models={"m": more}, out=tmp_path, budget=Budget(requests=30))
    assert (len(done.rows), len(more.requests), done.stopped) == (8, 5, ())


def test_replies_come_from_the_cache_and_their_time_is_not_taken_for_a_latency(tmp_path):
    with SqliteCache(tmp_path / "replies.db") as cache:
        run([spam_set()], models={"m": FakeProvider(right)}, out=tmp_path / "one", cache=cache)
        again = FakeProvider(right)
        done = run([spam_set()], models={"m": again}, out=tmp_path / "two", cache=cache)
    assert again.requests == []
    assert {(row.cache_hits, row.latency_s, row.requests) for row in done.rows} == {(1, None, 0)}


def test_who_watches_is_told_of_every_row_and_what_was_spent(tmp_path):
    told = []
    run([spam_set(3)], models={"m": FakeProvider(right)}, out=tmp_path, on_row=told.append)
    assert [(one.done, one.total) for one in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert told[-1].spent.requests == 3
    assert told[0].row is None


def test_rows_of_changed_items_settings_or_templates_are_never_mixed(tmp_path):
    run([spam_set(2)], models={"m": FakeProvider(right)}, out=tmp_path, orders=1)
    with pytest.raises(ConfigError, match="set 'spam' is not the one that this run is about"):
        run([spam_set(3)], models={"m": FakeProvider(right)}, out=tmp_path, orders=1)
    with pytest.raises(ConfigError, match="begun with another `orders`"):
        run([spam_set(2)], models={"m": FakeProvider(right)}, out=tmp_path, orders=2)
    card = tmp_path / "run.json"
    said = json.loads(card.read_text(encoding="utf-8"))
    said["templates"]["default"]["yes_no"] = "another"
    card.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(ConfigError, match="template set 'default' has changed"):
        run([spam_set(2)], models={"m": FakeProvider(right)}, out=tmp_path, orders=1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"models": {}}, "at least one set, one model"),
        ({"limit": 0}, "`limit` must be a whole number of at least 1"),
        ({"sets": [spam_set(), spam_set()]}, "two sets are called 'spam'"),
        ({"templates": ["nowhere"]}, "there is no template set 'nowhere'"),
        ({"models": ["nobody:x"]}, "there is no provider 'nobody'"),
    ],
    ids=["no model", "no items", "twins", "template", "provider"],
)
def test_an_impossible_plan_is_refused_before_anything_is_written(tmp_path, changes, said):
    plan = {"sets": [spam_set()], "models": {"m": FakeProvider()}, "out": tmp_path / "run", **changes}
    with pytest.raises(ConfigError, match=said):
        run(plan.pop("sets"), **plan)
    assert not (tmp_path / "run").exists()


def test_a_folder_of_other_files_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds other files and no run"):
        run([spam_set()], models={"m": FakeProvider()}, out=tmp_path)
    with pytest.raises(ConfigError, match="is a file"):
        run([spam_set()], models={"m": FakeProvider()}, out=tmp_path / "letter.txt")


def test_two_processes_do_not_write_one_run(tmp_path):
    pytest.importorskip("fcntl", reason="this system has no lock on files")
    from yesno.bench.writer import RowWriter

    run([spam_set(2)], models={"m": FakeProvider(right)}, out=tmp_path)
    with RowWriter(tmp_path / "rows.jsonl"), pytest.raises(ConfigError, match="another process is writing"):
        run([spam_set(2)], models={"n": FakeProvider(right)}, out=tmp_path)


KILLED = """
    import os, signal, sys
    from tests.bench.made import right, spam_set
    from yesno import FakeProvider
    from yesno.bench.running import run

    def die(progress):
        if progress.done == 5:
            with open(sys.argv[1] + "/rows.jsonl", "ab") as file:
                file.write(b'{"v":1,"set":"spam","id":"i')  # as a write that was under way leaves it
            os.kill(os.getpid(), signal.SIGKILL)

    run([spam_set(12)], models={"m": FakeProvider(right)}, out=sys.argv[1], on_row=die, concurrency=1)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_run_that_was_killed_goes_on_behind_its_last_whole_row(tmp_path):
    killed = subprocess.run(  # noqa: S603
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert len([*read_rows(tmp_path / "rows.jsonl")]) == 5
    rest = FakeProvider(right)
    done = run([spam_set(12)], models={"m": rest}, out=tmp_path)
    assert len(rest.requests) == 7
    assert [row.id for row in sorted(done.rows, key=lambda row: int(row.id[1:]))] == [
        f"i{n}" for n in range(1, 13)
    ]


def test_a_failure_that_may_pass_is_a_row_too(tmp_path):
    busy = ProviderUnavailable("busy", provider="fake", status=503, retryable=False)
    [row] = run([spam_set(1)], models={"m": FakeProvider(busy)}, out=tmp_path).rows
    assert (row.outcome, row.reason, row.probabilities) == ("error", "ProviderUnavailable", None)


def test_a_question_that_many_items_ask_is_announced_once(tmp_path, monkeypatch):
    announced = []
    monkeypatch.setattr(
        "yesno.engine.priors.Priors.announce", lambda _, question: announced.append(question.text)
    )
    run([spam_set(4)], models={"m": FakeProvider(right)}, out=tmp_path)
    assert announced == ["Is it spam?"]


def test_two_template_sets_of_one_name_are_refused_and_one_that_is_named_twice_is_asked_once(tmp_path):
    copy = tmp_path / "default"
    copy.mkdir()
    for file in (ROOT / "prompts" / "few_shot").glob("*.j2"):
        (copy / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    models = {"m": FakeProvider(right)}
    with pytest.raises(ConfigError, match="two template sets are called 'default'"):
        run([spam_set(2)], models=models, templates=["default", copy], out=tmp_path / "run")
    done = run([spam_set(2)], models=models, templates=[None, "default"], out=tmp_path / "run")
    assert len(done.rows) == 2


def test_rows_say_that_they_are_calibrated_and_another_card_makes_another_run(tmp_path):
    digest = run([spam_set(1)], models={"m": FakeProvider(right)}, out=tmp_path / "raw").rows[0].template_hash
    subject = Subject("fake", "fake", "logprobs", f"default/yes_no#{digest}", "yes_no", 2, 2)
    card, other = Calibration(subject, Platt(0.5, 0.0)), Calibration(subject, Platt(0.25, 0.0))
    done = run([spam_set(1)], models={"m": FakeProvider(right)}, out=tmp_path / "run", calibration=card)
    assert done.rows[0].calibrated
    assert done.rows[0].raw == pytest.approx((0.8, 0.2))
    assert done.rows[0].probabilities == pytest.approx((2 / 3, 1 / 3))
    with pytest.raises(ConfigError, match="begun with another `calibration`"):
        run([spam_set(1)], models={"m": FakeProvider(right)}, out=tmp_path / "run", calibration=other)


def test_a_run_with_cards_says_which_and_its_rows_are_calibrated(tmp_path):
    template = TemplateSet.load("default").template("yes_no").id
    card = Calibration(Subject("fake", "fake", "logprobs", template, "yes_no"), Temperature(2.0))
    done = run([spam_set(2)], models={"one": FakeProvider(right)}, out=tmp_path, calibration=card)
    assert all(row.calibrated and row.raw is not None for row in done.rows)
    assert len(done.card.settings["calibration"]) == 1
    with pytest.raises(ConfigError, match="another `calibration`"):
        run([spam_set(2)], models={"one": FakeProvider(right)}, out=tmp_path)


def test_what_was_paid_for_before_a_budget_ended_is_kept(tmp_path):
    for number in range(5):
        model = FakeProvider(right)
        done = run(
            [spam_set()],
            models={"m": model},
            out=tmp_path / str(number),
            budget=Budget(requests=5),
            concurrency=4,
        )
        assert len(model.requests) == len(done.rows) == 5
        assert done.stopped
