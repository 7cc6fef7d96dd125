"""What rows say about each way of asking."""

import math

import pytest

from tests.bench.made import row
from yesno.bench.rows import Way
from yesno.bench.scoring import FLOOR, Part, cells_of, confidences_of, differences_of, losses_of, paired


def answers(count=40, model="fake", quality=0.8, **changes):
    """Return rows that are right four times in five."""
    return [
        row(
            id=f"i{n}",
            model=model,
            label=n % 2,
            probabilities=(quality, 1 - quality) if (n % 2 == 0) == (n % 5 != 0) else (1 - quality, quality),
            **changes,
        )
        for n in range(count)
    ]


def test_scores_are_those_of_the_metrics_room_with_intervals_around_them():
    [cell] = cells_of(answers(), draws=50)
    right = 32 / 40
    expected = -(right * math.log(0.8) + (1 - right) * math.log(0.2))
    loss = cell.scores["log_loss"]
    assert loss.value == pytest.approx(expected)
    assert loss.low < loss.value < loss.high
    assert cell.scores["accuracy"].value == pytest.approx(right)
    assert cell.ece == pytest.approx(0, abs=0.02)
    assert cell.noise.high > cell.ece
    assert "rps" not in cell.scores


def test_rows_without_an_answer_are_counted_and_enter_no_score():
    rows = [
        *answers(20),
        row(id="u", outcome="undecided", reason="truncated", probabilities=None, label_mass=0.1),
        row(id="r", outcome="refusal", reason="bio", probabilities=None, label_mass=None),
        row(id="e", outcome="error", reason="DeadlineExceeded", probabilities=None, cost_usd=None),
    ]
    [cell] = cells_of(rows, draws=20)
    assert (cell.asked, cell.scores["log_loss"].n) == (23, 20)
    assert cell.coverage == pytest.approx(20 / 23)
    assert cell.reasons == {"truncated": 1, "bio": 1, "DeadlineExceeded": 1}
    assert cell.cost_usd is None
    assert max(coverage for coverage, _ in cell.risk) == pytest.approx(20 / 23)


def test_what_cannot_be_said_is_none_and_not_a_number():
    [cell] = cells_of([row(id="1"), row(id="2")], draws=20)
    assert cell.scores["log_loss"] is None
    assert cell.points["log_loss"] == pytest.approx(-math.log(0.75))
    assert "auroc" not in cell.points
    [mute] = cells_of([row(id="1", outcome="undecided", probabilities=None)], draws=20)
    assert (mute.ece, mute.noise, mute.reliability, mute.risk, mute.points) == (None, None, (), (), {})
    [one_sided] = cells_of([row(id=str(n)) for n in range(20)], draws=20)
    assert one_sided.scores["auroc"] is None
    assert one_sided.scores["log_loss"] is not None


def test_a_label_of_probability_0_counts_as_the_floor_and_is_told():
    rows = [row(id=str(n), probabilities=(0.0, 1.0)) for n in range(6)]
    [cell] = cells_of(rows, draws=20)
    assert cell.scores["log_loss"].value == pytest.approx(-math.log(FLOOR))
    assert cell.floored == 6


def test_choices_with_different_numbers_of_options_are_scored_together():
    three = row(id="3", kind="choice", options=("a", "b", "c"), label=2, probabilities=(0.2, 0.2, 0.6))
    two = row(id="2", kind="choice", options=("a", "b"), label=0, probabilities=(0.5, 0.5))
    assert losses_of([three, two], "log_loss") == pytest.approx([-math.log(0.6), -math.log(0.5)])
    assert losses_of([three, two], "accuracy") == pytest.approx([1, 1])
    said, right = confidences_of([three, two])
    assert (said.tolist(), right.tolist()) == ([0.6, 0.5], [1, 1])


def test_shares_of_people_are_soft_labels_of_the_losses_and_not_of_accuracy():
    scale = row(kind="scale", options=("a", "b"), label=1, probabilities=(0.4, 0.6), shares=(0.25, 0.75))
    expected = -(0.25 * math.log(0.4) + 0.75 * math.log(0.6))
    assert losses_of([scale], "log_loss") == pytest.approx([expected])
    assert losses_of([scale], "accuracy") == pytest.approx([1])
    [cell] = cells_of([scale], draws=20)
    assert cell.soft


def test_latency_leaves_out_replies_that_were_kept():
    rows = [row(id="1", latency_s=1.0), row(id="2", latency_s=None, cache_hits=1), row(id="3", latency_s=3.0)]
    [cell] = cells_of(rows, draws=20)
    assert (cell.latency.median, cell.latency.n, cell.cache_hits) == (2.0, 2, 1)


def test_each_type_of_question_and_each_way_has_a_cell_of_its_own_in_the_order_they_come():
    scale = {"kind": "scale", "options": ("a", "b"), "probabilities": (0.5, 0.5), "label": 1}
    rows = [row(model="b"), row(model="a"), row(id="2", model="a", **scale)]
    assert [(cell.part, cell.way.model) for cell in cells_of(rows, draws=20)] == [
        (Part("spam", "yes_no"), "b"),
        (Part("spam", "yes_no"), "a"),
        (Part("spam", "scale"), "a"),
    ]


def test_a_difference_is_of_the_items_that_both_answered():
    good, bad = answers(40, "good", 0.9), answers(40, "bad", 0.6)[:30]
    by_way = paired([*good, *bad])[Part("spam", "yes_no")]
    found = differences_of(
        by_way[Way("bad", "default", "auto")], by_way[Way("good", "default", "auto")], draws=100
    )
    assert found["log_loss"].n == 30
    assert set(found) == {"log_loss", "brier", "accuracy"}
    assert found["accuracy"].value == 0
