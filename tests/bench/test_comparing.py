"""A gate between two runs: what is worse than chance explains, and nothing else, closes it."""

import random

import pytest

from tests.bench.made import right, row, spam_set
from yesno import FakeProvider
from yesno.bench.comparing import compare
from yesno.bench.running import run
from yesno.bench.runs import Run, RunCard, SetCard
from yesno.errors import ConfigError

VERSION = "a" * 64


def made(rows, tmp_path, name="run", version=VERSION):
    return Run(tmp_path / name, RunCard({"spam": SetCard(version, len(rows))}), tuple(rows))


def noisy(seed, sharp=0.8, count=60, **changes):
    draw = random.Random(seed)
    found = []
    for n in range(count):
        yes = min(0.99, max(0.01, draw.gauss(sharp if n % 2 == 0 else 1 - sharp, 0.05)))
        found.append(row(id=f"i{n}", label=n % 2, probabilities=(yes, 1 - yes), **changes))
    return found


def test_a_run_that_is_as_good_passes(tmp_path):
    changes = compare(made(noisy(1), tmp_path), made(noisy(2), tmp_path))
    assert not changes.regressed
    [change] = changes.changes
    assert change.differences["log_loss"].low <= 0 <= change.differences["log_loss"].high


def test_a_run_that_is_worse_fails_and_a_better_one_passes(tmp_path):
    good, bad = made(noisy(1, 0.9), tmp_path), made(noisy(2, 0.6), tmp_path)
    assert compare(good, bad).changes[0].regressions == ("log_loss",)
    assert not compare(bad, good).regressed


def test_a_margin_allows_for_so_much(tmp_path):
    good, bad = made(noisy(1, 0.9), tmp_path), made(noisy(2, 0.8), tmp_path)
    assert compare(good, bad).regressed
    assert not compare(good, bad, margin=0.5).regressed


def test_answering_less_fails_whatever_the_scores_are(tmp_path):
    fewer = noisy(1)
    for place in range(30):
        fewer[place] = row(id=f"i{place}", label=place % 2, outcome="undecided", probabilities=None)
    [change] = compare(made(noisy(1), tmp_path), made(fewer, tmp_path)).changes
    assert change.regressions == ("answered",)
    assert change.differences["answered"].value == pytest.approx(-0.5)
    assert change.n == 30


def test_accuracy_is_worse_when_it_is_less(tmp_path):
    good, bad = made(noisy(1, 0.9), tmp_path), made(noisy(2, 0.5), tmp_path)
    assert compare(good, bad, metrics=["accuracy"]).changes[0].regressions == ("accuracy",)
    assert not compare(bad, good, metrics=["accuracy"]).regressed


def test_one_way_each_is_compared_even_when_it_has_another_name(tmp_path):
    changes = compare(made(noisy(1), tmp_path), made(noisy(1, model="newer"), tmp_path))
    assert [(one.before.model, one.after.model) for one in changes.changes] == [("fake", "newer")]


def test_several_ways_are_compared_by_name_and_the_rest_is_told(tmp_path):
    before = made([*noisy(1), *noisy(2, model="old")], tmp_path)
    after = made([*noisy(3), *noisy(4, model="new")], tmp_path)
    changes = compare(before, after)
    assert [one.after.model for one in changes.changes] == ["fake"]
    assert changes.unmatched == (
        "old · default · auto on spam is only in the first run",
        "new · default · auto on spam is only in the second run",
    )


def test_runs_that_cannot_be_compared_are_refused(tmp_path):
    one = made(noisy(1), tmp_path)
    with pytest.raises(ConfigError, match="different versions of set 'spam'"):
        compare(one, made(noisy(1, data="b" * 64), tmp_path, version="b" * 64))
    two_ways = made([*noisy(1, model="a"), *noisy(1, model="b")], tmp_path)
    with pytest.raises(ConfigError, match="share no model"):
        compare(two_ways, made([*noisy(1, model="c"), *noisy(1, model="d")], tmp_path))
    with pytest.raises(ConfigError, match="too few to tell a change from chance"):
        compare(made(noisy(1, count=3), tmp_path), made(noisy(1, count=3), tmp_path))
    with pytest.raises(ConfigError, match="the metric 'speed' is unknown"):
        compare(one, one, metrics=["speed"])
    with pytest.raises(ConfigError, match="holds no run"):
        compare(tmp_path / "nowhere", one)
    other = Run(tmp_path, RunCard({"mail": SetCard(VERSION, 1)}), ())
    with pytest.raises(ConfigError, match="no set in common"):
        compare(one, other)


def test_runs_on_disk_are_compared_by_their_folders(tmp_path):
    for name in ("one", "two"):
        run([spam_set(20)], models={"m": FakeProvider(right)}, out=tmp_path / name)
    changes = compare(tmp_path / "one", tmp_path / "two")
    assert changes.changes[0].differences["log_loss"].value == 0
    assert not changes.regressed
