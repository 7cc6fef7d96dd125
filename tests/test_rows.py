"""What is read, written and resumed, without a program around it."""

import csv
import io
import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno import Choice, DecisionModel, FakeProvider, Scale, YesNo
from yesno._rows import csv_rows, json_rows, picked
from yesno.cli.resuming import checked_part, whole_part
from yesno.cli.values import names
from yesno.cli.written import Tally, csv_header, csv_line, line_of
from yesno.errors import ConfigError, ProviderUnavailable, QuestionError
from yesno.evidence import Usage
from yesno.response import DecisionResponse, Failure

QUESTIONS = {
    "spam": YesNo("Is it spam?"),
    "team": Choice("Which?", ["a", "b"]),
    "mood": Scale("How?", ["x", "y"]),
}
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


@cache
def response(*, refused=False):
    script = {"<refusal>": 1} if refused else {"Yes": 0.7, "A": 0.2, "B": 0.1}
    return DecisionModel(FakeProvider(script)).decide("x", QUESTIONS)


def whole_file(rows, to, copied):
    lines = [csv_line(csv_header(QUESTIONS, copied))] if to == "csv" else []
    results = [response(), Failure(ProviderUnavailable('down, "now"\nand later', provider="fake"))]
    lines += [line_of(row, results[row.number % 2], QUESTIONS, copied, to) for row in rows]
    return [line.encode() for line in lines]


def test_blank_lines_are_not_rows_and_a_bad_line_says_why_without_its_content():
    rows = list(
        json_rows(
            [
                '"text"\n',
                "\n",
                '{"a": 1}\n',
                "secret\n",
                '{"a": NaN}\n',
                "\udcff\n",
                "[" * 10**5 + "\n",
                '{"label": "yes", "label": "no"}\n',
            ]
        )
    )
    assert [(row.number, row.value) for row in rows[:2]] == [(1, "text"), (2, {"a": 1})]
    assert [row.problem for row in rows[2:]] == [
        "it is not JSON, column 1: Expecting value",
        "it is not JSON: it has NaN, which is no number there",
        "it is not UTF-8 text",
        "it is not JSON: it is nested too deeply",
        'it is not JSON: "label" is there twice in one object',
    ]


def test_a_csv_row_is_a_mapping_and_a_ragged_one_says_how_long_it_is():
    rows = list(csv_rows(["a,b\n", '1,"x\n', 'y"\n', "\n", "1\n", "\udcff,2\n"], ["b"]))
    assert rows[0].value == {"a": "1", "b": "x\ny"}
    assert [row.problem for row in rows[1:]] == [
        "it has 1 cells, and the header has 2",
        "it is not UTF-8 text",
    ]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "no CSV header"),
        (["a,a\n"], "'a'"),
        (["text,b\n", "1,2\n"], "did you mean 'text'"),
        (["txt\n", '"open\n'], "after row 0"),
    ],
)
def test_a_header_that_cannot_serve_is_refused_at_once(lines, said):
    with pytest.raises(ConfigError, match=said):
        list(csv_rows(lines, ["txt"]))


def test_one_field_some_fields_or_the_whole_row_is_asked_about():
    row = next(json_rows(['{"text": "hi", "plan": "pro", "id": 7}']))
    assert picked(row) == {"text": "hi", "plan": "pro", "id": 7}
    assert picked(row, text_field="text") == "hi"
    assert picked(row, fields=["plan", "text"]) == {"plan": "pro", "text": "hi"}
    with pytest.raises(QuestionError, match="no field 'txt'; did you mean 'text'"):
        picked(row, text_field="txt")
    with pytest.raises(QuestionError, match="it has no fields"):
        picked(next(json_rows(['"text"'])), text_field="text")


def test_lists_of_names_are_split_at_commas_outside_quotes():
    assert names(["a, b", '"c,d"']) == ["a", "b", "c,d"]
    assert names(None) == []


def test_every_kind_of_outcome_has_its_cells():
    header = csv_header(QUESTIONS, ["id"])
    row = next(csv_rows(["id\n", "=7\n"]))
    cells = dict(
        zip(header, next(csv.reader([line_of(row, response(), QUESTIONS, ["id"], "csv")])), strict=True)
    )
    assert (cells["row"], cells["id"]) == ("1", "=7")
    assert (cells["spam.outcome"], cells["spam.method"]) == ("answer", "logprobs")
    assert float(cells["spam.probability"]) == pytest.approx(1, abs=1e-5)
    assert (cells["team.outcome"], cells["team.reason"], cells["team.value"]) == (
        "undecided",
        "low_label_mass",
        "",
    )
    refused = line_of(row, response(refused=True), QUESTIONS, [], "csv")
    assert refused.count("refusal,refusal") == 3


@given(
    texts=st.lists(
        st.one_of(TEXTS, st.none(), st.dictionaries(TEXTS, st.integers(), max_size=2)), max_size=4
    ),
    cut=st.integers(0, 5000),
    to=st.sampled_from(["jsonl", "csv"]),
)
def test_wherever_a_file_is_cut_its_whole_rows_are_found(texts, cut, to):
    rows = list(json_rows(json.dumps({"id": text, "n": 1}) for text in texts))
    lines = whole_file(rows, to, ["id"])
    data = b"".join(lines)[:cut]
    part = checked_part(whole_part(io.BytesIO(data), to), QUESTIONS, ["id"], to)
    ends = [len(b"".join(lines[: n + 1])) for n in range(len(lines))]
    kept = [end for end in ends if end <= cut]
    assert part.size == (kept[-1] if kept else 0)
    assert part.rows == max(0, len(kept) - (to == "csv"))
    assert data[: part.size] + b"".join(lines[len(kept) :]) == b"".join(lines)


@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_a_file_of_another_run_is_not_gone_on_with(to):
    rows = list(json_rows(['{"id": 1}', '{"id": 2}']))
    data = b"".join(whole_file(rows, to, ["id"]))
    part = whole_part(io.BytesIO(data), to)
    assert checked_part(part, QUESTIONS, ["id"], to).rows == 2
    for questions, copied in (({"spam": YesNo("Is it?")}, ["id"]), (QUESTIONS, [])):
        with pytest.raises(ConfigError, match="not the beginning of this run"):
            checked_part(part, questions, copied, to)
    for strange in (b"my notes\n", b"my notes", b'{"row": 7}\n', b"[1]\n", data + data[-40:]):
        with pytest.raises(ConfigError, match="not the beginning of this run"):
            checked_part(whole_part(io.BytesIO(strange), to), QUESTIONS, ["id"], to)


def test_half_of_a_surrogate_pair_can_be_written():
    row = next(json_rows([r'{"id": "\ud800"}']))
    for to in ("jsonl", "csv"):
        assert r"\ud800" in line_of(row, response(), QUESTIONS, ["id"], to).encode().decode()


def test_the_tally_keeps_the_worst_code_and_never_calls_an_unknown_cost_nothing():
    tally = Tally()
    row = next(json_rows(["1"]))
    tally.add(row, DecisionResponse(response().answers, usage=Usage(10, 2, requests=1)))
    assert tally.code == 3
    tally.add(row, Failure(ProviderUnavailable("down", provider="fake")))
    tally.add(row, Failure(QuestionError("blank")))
    assert tally.code == 4
    assert tally.text().splitlines() == [
        "3 rows: 1 answer, 2 undecided, 2 failed rows · 1 request · 10 tokens in, 2 out · cost unknown",
        "first failure, row 1: down",
    ]
    assert tally.document()["outcomes"] == {"answer": 1, "undecided": 2, "refusal": 0, "error": 2}
    assert Tally().document()["exit_code"] == 0
