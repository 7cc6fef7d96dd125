"""`yesno calibrate` as a shell sees it."""

import json
import re

import pytest

from tests.calibration.calibrators.support import options, yes_no
from yesno import FakeProvider
from yesno.bench.running import run as run_bench
from yesno.calibration import load_calibration
from yesno.labelled import load_set

QUESTION = "Is it?"


def says(prompt):
    p = float(re.search(r"text ([0-9.]+)", prompt)[1])
    return {"Yes": p, "No": 1 - p}


def chooses(prompt):
    shares = re.search(r"text ([0-9. ]+)", prompt)[1].split()
    return dict(zip("ABC", map(float, shares), strict=True))


def labelled(count=120, true_odds=lambda z: z / 4, **fields):
    pairs = zip(*yes_no(count, true_odds), strict=True)
    return [
        {"id": f"i{i}", "input": f"text {p:.4f}", "question": QUESTION, "label": label, **fields}
        for i, (p, label) in enumerate(pairs)
    ]


@pytest.fixture
def rows(tmp_path):
    """Write labelled rows, and return their file."""

    def write(items=None, name="spam.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(item) + "\n" for item in items or labelled()))
        return path

    return write


@pytest.fixture
def asked(run, scripted, tmp_path):
    """Calibrate a scripted model; exit code, output, errors, and the card's file."""
    scripted(says)

    def call(*words):
        return (*run("calibrate", *words, "--out", tmp_path / "card.json"), tmp_path / "card.json")

    return call


def test_labelled_rows_become_a_card_that_helps(asked, rows, run):
    code, out, err, card = asked(rows())
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert re.fullmatch(r"spam · fake, yes_no by logprobs: (platt|temperature)", lines[1])
    number, change = r"0\.\d{3}", r"-0\.\d{3}"
    assert re.fullmatch(
        rf" +120 +{number} → {number} +{change} \({change} to {change}\) +{number} → {number} +≤{number}",
        lines[2],
    )
    assert max(map(len, lines[:3])) <= 80
    assert "120 requests" in out
    assert f"Card: {card}" in out
    loaded = load_calibration(card)
    assert loaded.subject.question.text == QUESTION
    shown = json.loads(run("ask", QUESTION, "text 0.99", "--calibration", card, "--json")[1])
    assert shown["calibrated"]
    assert shown["probability"] < 0.95


def test_json_holds_every_candidate_and_no_table(asked, rows):
    code, out, _, card = asked(rows(), "--json")
    assert code == 0
    shown = json.loads(out)
    (one,) = shown["cards"]
    assert (one["file"], one["improved"], one["sets"]) == (str(card), True, ["spam"])
    assert [c["calibrator"] for c in one["card"]["evidence"]["candidates"]] == [
        "prior",
        "temperature",
        "platt",
    ]
    assert 0 < one["ece_after"] < one["ece_before"]
    assert shown["usage"]["requests"] == 120


def test_a_calibrated_model_is_left_alone_and_that_is_said(asked, rows):
    code, out, _, card = asked(rows(labelled(true_odds=lambda z: z)))
    assert code == 0
    assert "none of prior, temperature, platt was shown to do better than what was read" in out
    assert load_calibration(card).calibrator.name == "identity"


def test_csv_and_a_question_for_all_rows_will_do(asked, tmp_path):
    lines = ["id,input,label", *(f"{i['id']},{i['input']},{i['label']}" for i in labelled(60))]
    (tmp_path / "spam.csv").write_text("\n".join(lines))
    code, _, _, card = asked(tmp_path / "spam.csv", "--question", "Is it spam?")
    assert code == 0
    assert load_calibration(card).subject.question.text == "Is it spam?"


def test_a_choice_gets_parameters_for_each_option(run, scripted, rows, tmp_path):
    scripted(chooses)
    pairs = zip(*options(200, lambda z: [z[0] + 2, z[1], z[2] - 2]), strict=True)
    items = [
        {"id": f"i{i}", "input": f"text {' '.join(f'{p:.4f}' for p in shares)}", "label": "abc"[label]}
        for i, (shares, label) in enumerate(pairs)
    ]
    words = ["--question", "Which?", "-o", "a=first", "-o", "b=second", "-o", "c=third"]
    card = tmp_path / "card.json"
    code, out, err = run("calibrate", rows(items), *words, "--out", card)
    assert (code, err) == (0, "")
    assert out.count("vector") == 1
    assert load_calibration(card).calibrator.name == "vector"
    shown = run("choose", "Which?", "text 0.3 0.3 0.4", *words[2:], "--calibration", card)[1]
    assert "calibrated ·" in shown


def test_a_limit_and_a_calibrator_can_be_named(asked, rows):
    code, out, _, card = asked(rows(), "--limit", "60", "--calibrator", "temperature")
    assert code == 0
    assert "60 requests" in out
    assert [c.calibrator for c in load_calibration(card).evidence.candidates] == ["temperature"]


@pytest.fixture
def bench(rows, tmp_path):
    """Make a run of yesno bench with scripted models, and return its folder."""

    def make(*models, count=60, out="run", **settings):
        found = load_set(rows(labelled(count)))
        names = models or ("fake:fake",)
        run_bench(
            [found], models={name: FakeProvider(says) for name in names}, out=tmp_path / out, **settings
        )
        return tmp_path / out

    return make


def test_a_run_becomes_a_card_without_a_request(asked, bench):
    folder = bench()
    code, out, err, card = asked(folder)
    assert (code, err) == (0, "")
    assert "request" not in out
    loaded = load_calibration(card)
    assert (loaded.subject.provider, loaded.subject.model) == ("fake", "fake")
    assert loaded.evidence.rows == 60


def test_several_cards_need_a_folder_or_one_model(asked, bench, run, tmp_path):
    folder = bench("fake:one", "fake:two", templates=["default", "few_shot"])
    code, out, err, card = asked(folder)
    assert (code, out) == (2, "")
    assert "there would be 2 cards" in err
    assert "give a folder as --out" in err
    assert not card.exists()
    code, out, _ = run("calibrate", folder, "--out", tmp_path / "cards")
    assert code == 0
    files = sorted(path.name for path in (tmp_path / "cards").iterdir())
    assert files == ["spam-yes_no-fake-logprobs-2.json", "spam-yes_no-fake-logprobs.json"]
    assert out.count("Card: ") == 2


def test_rows_of_one_model_of_a_run_can_be_taken(asked, bench):
    folder = bench("small", "large")
    assert asked(folder, "--model", "small")[0] == 0
    code, _, err, _ = asked(folder, "--model", "other")
    assert code == 2
    assert "has no rows of 'other'; it has those of large, small" in err


def test_a_second_run_is_kept_on_the_card(asked, bench):
    card = asked(bench(), "--again", bench(out="again"))[3]
    assert load_calibration(card).evidence.repeat_sd == 0


def test_labelled_rows_that_are_asked_now_find_their_second_run(asked, rows, bench):
    folder = bench(out="again")
    code, _, err, card = asked(rows(labelled(60)), "--again", folder)
    assert (code, err) == (0, "")
    assert load_calibration(card).evidence.repeat_sd == 0


def test_a_run_of_another_version_of_its_set_is_refused(asked, bench, rows):
    folder = bench()
    rows(labelled(60, true_odds=lambda z: -z))
    code, _, err, card = asked(folder)
    assert code == 2
    assert "is another version of set 'spam'" in err
    assert not card.exists()


def changed(number, **fields):
    items = labelled(60)
    items[number - 1] = {**items[number - 1], **fields}
    return items


@pytest.mark.parametrize(
    ("items", "why"),
    [
        (labelled(5), "5 labels are too few"),
        (labelled(60, label=True), "all 60 rows have the same label"),
        (changed(7, label="maybe"), "row 7: `label` is 'maybe'"),
        (changed(7, label=None), "row 7: it has no `label`"),
        (changed(7, id="i0"), "row 7: the id 'i0' is that of row 1 too"),
        (
            changed(3, question={"text": "Which?", "options": ["a", "b"]}, label="c"),
            "row 3: `label` is 'c', and the options are 'a', 'b'",
        ),
    ],
    ids=["few", "one_class", "unknown", "missing", "twice", "outside"],
)
def test_rows_that_cannot_be_used_are_told_by_number_and_leave_nothing_behind(
    asked, rows, items, why, tmp_path
):
    code, out, err, _ = asked(rows(items))
    assert (code, out) == (2, "")
    assert why in err
    assert "Traceback" not in err
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["spam.jsonl"]


def test_a_run_with_a_probability_that_is_none_is_told_by_row(asked, bench):
    folder = bench()
    lines = (folder / "rows.jsonl").read_text().splitlines(keepends=True)
    fields = json.loads(lines[4])
    lines[4] = json.dumps({**fields, "probabilities": [float("nan"), 0.5]}) + "\n"
    (folder / "rows.jsonl").write_text("".join(lines))
    code, _, err, card = asked(folder)
    assert code == 2
    assert "row 5" in err
    assert not card.exists()


def test_a_file_that_is_no_card_is_not_overwritten(asked, rows, tmp_path):
    (tmp_path / "card.json").write_text('{"mine": 1}')
    code, _, err, card = asked(rows())
    assert code == 2
    assert "holds no calibration card" in err
    assert card.read_text() == '{"mine": 1}'


def test_an_older_card_is_replaced(asked, rows):
    assert asked(rows())[0] == asked(rows(labelled(60)))[0] == 0


def test_a_folder_without_a_run_and_questions_for_a_run_are_usage_errors(asked, bench, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "holds no run of yesno bench" in asked(tmp_path / "empty")[2]
    assert "was asked its questions already" in asked(bench(), "--question", "Is it?")[2]
    assert asked(tmp_path / "none.jsonl")[0] == 2


def test_a_provider_that_fails_is_exit_code_4(run, scripted, rows, tmp_path):
    from yesno.errors import ProviderRejected

    scripted(ProviderRejected("no such model", provider="fake", status=404))
    code, _, err = run("calibrate", rows(), "--out", tmp_path / "card.json")
    assert code == 4
    assert "no such model" in err
    assert not (tmp_path / "card.json").exists()


def test_rows_without_an_answer_are_told(run, scripted, rows, tmp_path):
    def unsure(prompt):
        found = says(prompt)
        return {"Well": 0.9} if found["Yes"] > 0.9 else found

    scripted(unsure)
    out = run("calibrate", rows(labelled(150)), "--out", tmp_path / "card.json")[1]
    assert re.search(r"\d+ rows without an answer left out", out)


def test_a_card_for_any_question_is_for_others_too(asked, rows, run):
    card = asked(rows(), "--any-question")[3]
    assert load_calibration(card).subject.question is None
    shown = json.loads(run("ask", "Another?", "text 0.99", "--calibration", card, "--json")[1])
    assert shown["calibrated"]
