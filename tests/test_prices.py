import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.evidence import Usage
from yesno.prices import PRICES, Price, price_for


def test_every_row_says_where_and_when_it_is_from():
    for rows in PRICES.values():
        for _, row in rows:
            assert row.source
            assert re.fullmatch(r"20\d\d-\d\d", row.date)
            assert min(row.input, row.output, row.cached_input or 0) >= 0


@pytest.mark.parametrize(
    ("provider", "model", "known"),
    [
        ("openai-decisions", "gpt-6-luna", True),
        ("openai-decisions", "gpt-6-luna-2026-10-06", True),
        ("openai-decisions", "gpt-6-luna-pro", False),
        ("openai-decisions", "gpt-6-lunatic", False),
        ("openai-decisions", "gpt-6", False),
        ("systemone", "jev-latest", True),
        ("systemone", "other", False),
        ("openai", "gpt-5.4-mini", False),
        ("openai", "gpt-6-luna", False),
        ("local", "smollm2", True),
        ("nobody", "x", False),
    ],
)
def test_a_price_belongs_to_a_model_its_snapshots_and_no_other(provider, model, known):
    assert (price_for(provider, model) is not None) is known


def test_another_server_has_other_prices():
    assert price_for("systemone", "jev-latest", "http://127.0.0.1:11434") is None
    assert price_for("local", "mine", "/models/mine.gguf").cost(Usage(10, 1, requests=1)) == 0


def test_the_parts_of_a_price_add_up():
    price = Price(1.0, 10.0, 0.1)
    assert price.cost(Usage(1000, 10, 600, 1)) == pytest.approx((400 + 60 + 100) / 1e6)


@pytest.mark.parametrize(
    ("price", "usage"),
    [
        (Price(1.0, 2.0), Usage(100, 1, 50, 1)),
        (Price(1.0, 2.0, 0.5), Usage(0, 1, requests=1)),
    ],
    ids=["cached", "uncounted"],
)
def test_a_part_that_is_unknown_makes_the_whole_unknown(price, usage):
    assert price.cost(usage) is None


def test_nothing_costs_nothing():
    assert Price(1.0, 2.0).cost(Usage()) == 0
    assert price_for("fake", "any").cost(Usage(requests=1)) == 0


RATES = st.floats(0, 100)


@given(RATES, RATES, st.none() | RATES, st.integers(1, 10**6), st.integers(0, 10**4), st.integers(0, 10**6))
def test_no_cost_is_above_the_most_that_was_foreseen(fresh, output, cached, given_tokens, written, reused):
    price = Price(fresh, output, cached)
    cost = price.cost(Usage(given_tokens, written, min(reused, given_tokens), 1))
    assert cost is None or 0 <= cost <= price.most(given_tokens, written) * (1 + 1e-9)
