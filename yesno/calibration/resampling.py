"""Draws of whole groups of rows, as counts and not as copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from yesno._checks import checked_count
from yesno.calibration._arrays import Floats, Places, group_places, np
from yesno.errors import DataError, TooFewLabels

__all__ = ["LEAST_GROUPS", "Resampling"]

LEAST_GROUPS = 5
"""Fewer groups say nothing about how much groups differ."""
BLOCKS = 400
"""Groups are left out for the acceleration of a BCa interval in at most so many blocks."""


class Resampling:
    """Draws weights of rows: how often the group of each is drawn.

    Args:
        count: Rows.
        groups: Of each row; None makes each a group of its own.
        strata: Of each row; None is one stratum.
        draws: Resamples.
        seed: The same seed gives the same resamples.

    Raises:
        DataError: Lengths differ, or a group lies in two strata.
        TooFewLabels: There are fewer than five groups.
    """

    def __init__(
        self,
        count: int,
        *,
        groups: Iterable[object] | None = None,
        strata: Iterable[object] | None = None,
        draws: int = 1000,
        seed: int = 1,
    ) -> None:
        self.draws = checked_count("draws", draws)
        self.seed = seed
        self.places = np.arange(count) if groups is None else group_places(groups, count)
        self.groups = int(self.places.max()) + 1 if count else 0
        if self.groups < LEAST_GROUPS:
            raise TooFewLabels(
                f"{self.groups} groups say nothing about how much groups differ; "
                f"an interval needs at least {LEAST_GROUPS}",
                needed=LEAST_GROUPS,
                given=self.groups,
            )
        self._pools = _pools(self.places, self.groups, strata)

    def __iter__(self) -> Iterator[Floats]:
        """Yield the weights of the rows, `draws` times, and the same ones each time."""
        random = np.random.default_rng(self.seed)
        counts = np.zeros(self.groups)
        for _ in range(self.draws):
            for pool in self._pools:
                drawn = np.bincount(random.integers(len(pool), size=len(pool)), minlength=len(pool))
                counts[pool] = drawn
            yield counts[self.places]

    def without_blocks(self) -> Iterator[Floats]:
        """Yield weights that leave out one block of groups each."""
        blocks = np.arange(self.groups) % min(BLOCKS, self.groups)
        of_rows = blocks[self.places]
        for block in range(int(blocks.max()) + 1):
            yield (of_rows != block).astype(np.float64)


def _pools(places: Places, groups: int, strata: Iterable[object] | None) -> list[Places]:
    """Return the groups of each stratum."""
    if strata is None:
        return [np.arange(groups)]
    stratum = group_places(strata, len(places), "strata")
    of_group = np.zeros(groups, dtype=np.intp)
    of_group[places] = stratum
    torn = np.flatnonzero(of_group[places] != stratum)
    if len(torn):
        raise DataError("its group lies in two strata; groups must lie in one each", row=int(torn[0]) + 1)
    return [np.flatnonzero(of_group == one) for one in range(int(stratum.max()) + 1)]
