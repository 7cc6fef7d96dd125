"""What every calibrator must do: subclass, give instances, inherit the tests."""

import json
import math
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yesno.calibration.calibrators import CALIBRATORS, EDGE
from yesno.calibration.calibrators._base import ByWeight
from yesno.errors import ConfigError

SHARED = settings(suppress_health_check=[HealthCheck.differing_executors])  # one test, many subclasses
PROBABILITY = st.one_of(st.sampled_from([0.0, 1.0, 5e-324, 1 - 2**-53]), st.floats(0, 1))


def close(shares):
    total = sum(shares)
    return [share / total for share in shares]


DISTRIBUTION = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda s: sum(s) > 1e-3).map(close)


SHARES = st.lists(st.floats(0, 0.33), min_size=3, max_size=3)


class CalibratorContract:
    """Give `calibrator` (its name in the registry), `two` for yes and no, and `three` for three options."""

    calibrator: str
    two: tuple
    three: tuple

    @property
    def kind(self):
        return CALIBRATORS[self.calibrator]

    def test_the_registry_knows_it_by_its_own_name(self):
        assert self.kind.name == self.calibrator
        assert all(type(one) is self.kind for one in (*self.two, *self.three))

    @SHARED
    @given(p=PROBABILITY, q=PROBABILITY)
    def test_more_probable_stays_more_probable(self, p, q):
        low, high = sorted((p, q))
        for one in self.two:
            assert one((low, 1 - low), directed=True)[0] <= one((high, 1 - high), directed=True)[0] + 1e-15
        if not issubclass(self.kind, ByWeight):
            return
        for one in self.two:
            for label in (0, 1):
                assert one.log_weight(label, low, directed=True) <= one.log_weight(label, high, directed=True)
        for one in self.three:
            for label in range(3):
                assert one.log_weight(label, low, directed=False) <= one.log_weight(
                    label, high, directed=False
                )

    @SHARED
    @given(p=PROBABILITY, shares=DISTRIBUTION)
    def test_probabilities_sum_to_one_and_are_neither_0_nor_1(self, p, shares):
        outcomes = [one((p, 1 - p), directed=True) for one in self.two]
        outcomes += [one(shares, directed=False) for one in self.three]
        outcomes += [one((0.0, 1.0, 0.0), directed=False) for one in self.three]
        for outcome in outcomes:
            assert math.isclose(sum(outcome), 1, abs_tol=1e-9)
            assert all(0 < share < 1 for share in outcome)

    @SHARED
    @given(low=SHARES, slack=SHARES, where=DISTRIBUTION)
    def test_its_bounds_hold_for_every_distribution_within_the_old_ones(self, low, slack, where):
        unseen = 1.0 - sum(low)
        high = [
            min(1.0, a + unseen * min(1.0, more + w)) for a, more, w in zip(low, slack, where, strict=True)
        ]
        truth = [a + unseen * w for a, w in zip(low, where, strict=True)]
        for one in self.three:
            least, most = one.bounds(low, high, directed=False)
            held = one(truth, directed=False)
            for a, share, b in zip(least, held, most, strict=True):
                assert 0 < a <= share + 1e-9
                assert share - 1e-9 <= b < 1

    @SHARED
    @given(shares=DISTRIBUTION)
    def test_bounds_without_slack_are_the_point(self, shares):
        for one in self.three:
            least, most = one.bounds(shares, shares, directed=False)
            point = pytest.approx(one(shares, directed=False), abs=1e-9)
            assert (least, most) == (point, point)

    def test_it_says_for_how_many_labels_it_is(self):
        assert {one.labels for one in self.two} <= {None, 2}
        assert {one.labels for one in self.three} <= {None, 3}
        assert self.kind.by_label == (self.two[0].labels is not None)

    def test_its_parameters_survive_json(self):
        for one in (*self.two, *self.three):
            assert self.kind.of(json.loads(json.dumps(one.parameters()))) == one

    def test_missing_and_unknown_parameters_are_refused_by_name(self):
        with pytest.raises(ConfigError, match="another"):
            self.kind.of({**self.two[0].parameters(), "another": 1})
        if self.two[0].parameters():
            with pytest.raises(ConfigError, match=self.calibrator):
                self.kind.of({})

    @pytest.mark.parametrize("wrong", [math.nan, math.inf, "1", True, None, [], [math.nan, 0.5], ["a", "b"]])
    def test_parameters_that_are_no_finite_numbers_are_refused(self, wrong):
        for name in self.two[0].parameters():
            with pytest.raises(ConfigError, match=f"`{name}"):
                self.kind.of({**self.two[0].parameters(), name: wrong})

    def test_it_never_changes_its_mind(self):
        for one in self.two:
            assert one((0.3, 0.7), directed=True) == one((0.3, 0.7), directed=True)
            assert hash(one) == hash(self.kind.of(one.parameters()))

    def test_ends_are_as_far_as_the_edge(self):
        for one in self.two:
            assert one((0.0, 1.0), directed=True) == pytest.approx(
                one((EDGE, 1 - EDGE), directed=True), rel=1e-3
            )

    def test_it_is_monotone_on_a_fine_grid(self):
        for one in self.two:
            curve = [one((i / 500, 1 - i / 500), directed=True)[0] for i in range(501)]
            assert all(a <= b + 1e-15 for a, b in pairwise(curve))
