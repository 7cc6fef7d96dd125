"""The rows of a run: what they may hold, and that files of them outlive a killed process."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.made import row
from yesno.bench.rows import collected, read_rows, row_from
from yesno.bench.writer import RowWriter
from yesno.errors import ConfigError
from yesno.labelled import label_index


def failed(**changes):
    return row(outcome="error", reason="ProviderUnavailable", probabilities=None, **changes)


shares = st.integers(2, 6).flatmap(
    lambda n: st.lists(st.floats(0.01, 1), min_size=n, max_size=n).map(
        lambda parts: tuple(part / math.fsum(parts) for part in parts)
    )
)


@given(shares, st.data(), st.sampled_from(["choice", "scale"]), st.text(min_size=1))
def test_a_row_is_the_same_after_a_walk_through_json(probabilities, data, kind, id):
    written = row(
        id=id,
        kind=kind,
        options=tuple(f"option {n}" for n in range(len(probabilities))),
        label=data.draw(st.integers(0, len(probabilities) - 1)),
        probabilities=probabilities,
        flags=("prior",),
    )
    assert row_from(json.loads(json.dumps(written.document()))) == written


def test_what_is_unknown_is_left_out_and_a_cost_of_nothing_is_not():
    document = row(latency_s=None, cost_usd=0.0).document()
    assert "latency_s" not in document
    assert document["cost_usd"] == 0.0
    assert row(cost_usd=None).document().get("cost_usd") is None


def test_labels_are_written_as_names_and_those_of_scales_as_numbers():
    assert row().document()["label"] == "yes"
    scale = row(kind="scale", options=("bad", "good"), label=1)
    assert scale.document()["label"] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": 2}, "`label` is 2"),
        ({"probabilities": (math.nan, 0.5)}, "from 0 to 1, not nan"),
        ({"probabilities": (1.2, -0.2)}, "from 0 to 1, not 1.2"),
        ({"probabilities": (0.5, 0.4)}, "sum to 0.9, not to 1"),
        ({"probabilities": (0.5, 0.25, 0.25)}, "3 numbers for 2 options"),
        ({"probabilities": None}, "an answer needs `probabilities`"),
        ({"outcome": "refusal"}, "'refusal' has no `probabilities`"),
        ({"outcome": "maybe"}, "`outcome` is 'maybe'"),
        ({"kind": "essay"}, "`kind` is 'essay'"),
        ({"options": ("no", "yes")}, "are 'yes' and 'no'"),
        ({"kind": "choice", "options": ("a", "a")}, "a name twice"),
        ({"shares": (0.5, 0.6)}, "`shares` sum to 1.1"),
        ({"label_mass": 1.5}, "`label_mass` must be a number of 0 to 1, not 1.5"),
        ({"latency_s": -1}, "`latency_s` must be a number of 0 or more, not -1"),
        ({"cost_usd": math.inf}, "`cost_usd`"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused_by_the_name_of_its_field(changes, said):
    with pytest.raises(ConfigError, match=said.replace("(", r"\(")):
        row(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"v": 2}, "version 2, and this yesno reads version 1"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"set": None}, "it has no `set`"),
        ({"id": 3}, "`id` must be a text, not 3"),
        ({"label": "maybe"}, "`label` is 'maybe', and the options are 'yes', 'no'"),
        ({"label": None}, "it has no `label`"),
        ({"probabilities": ["0.5", 0.5]}, "must hold numbers, not '0.5'"),
        ({"requests": 1.5}, "`requests` must be a whole number, not 1.5"),
    ],
)
def test_a_document_that_is_no_row_says_why(changes, said):
    with pytest.raises(ConfigError, match=said):
        row_from({**row().document(), **changes})


def test_a_label_that_is_true_means_yes_only_where_the_options_are_yes_and_no():
    assert label_index(True, ("yes", "no")) == 0
    with pytest.raises(ConfigError, match="`label` is True"):
        label_index(True, ("on", "off"))


def test_what_is_left_of_a_torn_line_is_passed_over_and_cut_off_before_the_next(tmp_path):
    file = tmp_path / "rows.jsonl"
    with RowWriter(file) as writer:
        writer.write(row(id="1"))
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:-20])
    assert [found.id for found in read_rows(file)] == ["1"]
    with RowWriter(file) as writer:
        writer.write(row(id="2"))
    assert [found.id for found in read_rows(file)] == ["1", "2"]


def test_a_file_that_is_nothing_but_a_torn_line_becomes_empty(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b"x" * 200_000)
    RowWriter(file).close()
    assert file.read_bytes() == b""


def test_a_row_is_in_the_file_before_the_writer_is_closed(tmp_path):
    file = tmp_path / "rows.jsonl"
    with RowWriter(file) as writer:
        writer.write(row())
        assert [*read_rows(file)] == [row()]


def test_a_bad_row_of_a_file_is_named_by_its_number(tmp_path):
    file = tmp_path / "rows.jsonl"
    bad = json.dumps({**row().document(), "label": "maybe"})
    file.write_text(f"{json.dumps(row().document())}\n{bad}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"rows\.jsonl', row 2: `label` is 'maybe'"):
        [*read_rows(file)]
    file.write_text("{\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="row 1: it is not JSON"):
        [*read_rows(file)]


def test_a_later_row_takes_the_place_of_one_that_failed_and_of_no_other():
    found = collected([failed(), row()])
    assert [*found.values()] == [row()]
    with pytest.raises(ConfigError, match="row 2: item '1' of set 'spam' has a row of fake · default · auto"):
        collected([row(), row()])
