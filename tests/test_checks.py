import pytest

from yesno._checks import checked_count, checked_share
from yesno.errors import ConfigError


def test_counts_and_shares_pass_unchanged():
    assert checked_count("n", 1) == 1
    assert [checked_share("p", value) for value in (0, 0.5, 1)] == [0, 0.5, 1]


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None])
def test_what_is_no_count_is_refused_by_its_name(value):
    with pytest.raises(ConfigError, match="`n` must be a whole number"):
        checked_count("n", value)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), True, "0.5", None])
def test_what_is_no_share_is_refused_by_its_name(value):
    with pytest.raises(ConfigError, match="`p` must be a number from 0 to 1"):
        checked_share("p", value)
