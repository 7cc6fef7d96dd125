import numpy as np
import pytest

from yesno.calibration.ece import smooth_ece
from yesno.calibration.options import by_option, label_places, shown_answers, top_label
from yesno.calibration.ranking import auroc
from yesno.calibration.scores import brier, log_loss
from yesno.errors import DataError

TEAMS = ["billing", "support", "sales"]
SHARES = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.5, 0.4, 0.1]]


def test_names_of_labels_become_places():
    assert label_places(["support", "billing"], TEAMS).tolist() == [1, 0]


def test_a_label_that_is_no_option_is_named_with_its_row_and_the_close_match():
    with pytest.raises(
        DataError, match="row 2: label 'suport' is none of the 3 options; did you mean 'support'"
    ):
        label_places(["billing", "suport"], TEAMS)
    with pytest.raises(DataError, match="same name"):
        label_places(["a"], ["a", "a"])


def test_the_answer_on_top_is_right_or_not():
    confidence, right = top_label(SHARES, [0, 0, 0])
    assert confidence.tolist() == [0.7, 0.6, 0.5]
    assert right.tolist() == [1, 0, 1]
    assert smooth_ece(*top_label(SHARES, [0, 0, 0])) > 0


def test_rows_of_different_widths_have_an_answer_on_top_as_well():
    said, right = shown_answers([(0.7, 0.3), (0.2, 0.3, 0.5)], [1, 2], directed=False)
    assert (said, right) == ([0.7, 0.5], [False, True])


def test_of_yes_and_no_it_is_yes_that_is_shown():
    assert shown_answers([(0.2, 0.8), (0.9, 0.1)], [0, 1], directed=True) == ([0.2, 0.9], [True, False])


def test_raters_may_find_the_answer_on_top_right_in_part():
    assert top_label(SHARES[:1], [[0.25, 0.5, 0.25]])[1].tolist() == [0.25]


def test_each_option_is_scored_against_all_others():
    found = by_option(brier, SHARES, [0, 1, 1], TEAMS)
    assert list(found) == TEAMS
    assert found["billing"] == pytest.approx(brier(np.asarray(SHARES)[:, 0], [1, 0, 0]))
    assert by_option(log_loss, SHARES, [0, 1, 1], TEAMS, floor=0.2)["sales"] == pytest.approx(-np.log(0.8))


def test_an_option_that_is_never_right_has_no_area_and_is_left_out():
    assert list(by_option(auroc, SHARES, [0, 1, 1], TEAMS)) == ["billing", "support"]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(DataError, match="2 options for 3 columns"):
        by_option(brier, SHARES, [0, 1, 1], TEAMS[:2])
    with pytest.raises(DataError, match="each option"):
        top_label([0.5], [1])
    with pytest.raises(DataError, match=r"row 3: .*one of 3 options"):
        top_label(SHARES, [0, 1, 3])
