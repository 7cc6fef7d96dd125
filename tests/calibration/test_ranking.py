import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from yesno.calibration.ranking import auroc, average_precision
from yesno.errors import DataError

SCORES = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.7, 0.9]), st.booleans(), st.integers(1, 3)), min_size=2
).filter(lambda rows: len({label for _, label, _ in rows}) == 2)


@given(SCORES)
def test_areas_equal_those_of_scikit_learn_with_ties_and_weights(rows):
    scores, labels, weights = zip(*rows, strict=True)
    assert auroc(scores, labels) == pytest.approx(metrics.roc_auc_score(labels, scores))
    assert auroc(scores, labels, weights=weights) == pytest.approx(
        metrics.roc_auc_score(labels, scores, sample_weight=weights)
    )
    assert average_precision(scores, labels) == pytest.approx(metrics.average_precision_score(labels, scores))
    assert average_precision(scores, labels, weights=weights) == pytest.approx(
        metrics.average_precision_score(labels, scores, sample_weight=weights)
    )


def test_any_finite_scores_can_be_ranked():
    assert auroc([-3.5, 2.0, 11.0], [0, 1, 1]) == 1.0
    assert auroc([1.0, 1.0], [0, 1]) == 0.5
    assert average_precision([3.0, 2.0, 1.0], [0, 1, 1]) == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_a_monotone_map_changes_no_area():
    random = np.random.default_rng(1)
    p, labels = random.random(300), random.random(300) < 0.4
    for score in (auroc, average_precision):
        assert score(p**3, labels) == pytest.approx(score(p, labels))


@pytest.mark.parametrize("score", [auroc, average_precision])
def test_what_cannot_be_ranked_is_refused(score):
    with pytest.raises(
        DataError, match=r"all 3 labels are no; .* needs rows labelled yes and rows labelled no"
    ):
        score([0.1, 0.2, 0.3], [0, 0, 0])
    with pytest.raises(DataError, match=r"row 2: .* labels that are yes or no, not 0\.5"):
        score([0.1, 0.2, 0.3], [0, 0.5, 1])
    with pytest.raises(DataError, match=r"row 1: .*NaN"):
        score([float("nan"), 0.2], [0, 1])
    with pytest.raises(DataError, match="there are none"):
        score([], [])
    with pytest.raises(DataError, match="shape"):
        score([[0.1, 0.9]], [1])
