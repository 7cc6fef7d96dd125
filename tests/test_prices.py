import re
from datetime import UTC, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.evidence import Usage
from yesno.prices import PRICES, Price, _listed, price_for


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
        ("openai", "gpt-5.4-mini", True),
        ("openai", "gpt-5.4-mini-2026-03-17", True),
        ("openai", "gpt-5.4-minimal", False),
        ("openai", "whisper-1", False),
        ("openai-responses", "gpt-6-luna", True),
        ("anthropic", "claude-haiku-4-5", True),
        ("gemini", "gemini-2.5-pro", True),
        ("xai", "grok-4.20", True),
        ("openrouter", "openai/gpt-4o-mini", True),
        ("openai-compatible", "gpt-5.4-mini", False),
        ("vllm", "Qwen/Qwen3-8B", False),
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


def test_a_listed_price_has_its_parts_its_tiers_and_its_source():
    price = price_for("openai", "gpt-5.4")
    (start, longer) = price.longer[0]
    assert price.source.startswith("genai-prices 0.")
    assert (price.input, price.cached_input, longer.input > price.input, start) == (2.5, 0.25, True, 272_000)


def test_a_long_request_costs_what_long_requests_cost_and_is_reserved_so():
    price = Price(1.0, 2.0, 0.1, longer=((1000, Price(2.0, 3.0, 0.2)), (5000, Price(4.0, 6.0))))
    assert price.cost(Usage(1000, 10, requests=1)) == pytest.approx((1000 + 20) / 1e6)
    assert price.cost(Usage(1001, 10, 1, requests=1)) == pytest.approx((2000 + 0.2 + 30) / 1e6)
    assert price.cost(Usage(5001, 10, 1, requests=1)) is None
    assert [price.most(n, 10) for n in (1000, 1001, 5001)] == pytest.approx([1020e-6, 2032e-6, 20064e-6])


def test_what_is_written_to_a_prompt_cache_is_dearer_or_unknown():
    usage = Usage(1000, 0, requests=1, cache_written_tokens=400)
    assert Price(1.0, 2.0, cache_write=1.25).cost(usage) == pytest.approx((600 + 500) / 1e6)
    assert Price(1.0, 2.0).cost(usage) is None
    assert Price(1.0, 2.0, cache_write=1.25).most(100, 0) == pytest.approx(125e-6)


def test_a_price_that_changes_with_the_time_of_day_is_unknown():
    from genai_prices.data_snapshot import DataSnapshot, set_custom_snapshot
    from genai_prices.types import (
        ClauseEquals,
        ConditionalPrice,
        ModelInfo,
        ModelPrice,
        Provider,
        TimeOfDateConstraint,
    )

    def model(name, prices):
        return ModelInfo(id=name, match=ClauseEquals(equals=name), prices=prices)

    flat = ModelPrice(input_mtok=Decimal(1), output_mtok=Decimal(2))
    night = TimeOfDateConstraint(start_time=time(1, tzinfo=UTC), end_time=time(2, tzinfo=UTC))
    models = [
        model("flat", flat),
        model("night", [ConditionalPrice(prices=flat), ConditionalPrice(night, prices=flat)]),
        model(
            "per-request",
            ModelPrice(input_mtok=Decimal(1), output_mtok=Decimal(2), requests_kcount=Decimal(5)),
        ),
    ]
    vendor = Provider(id="deepseek", name="DeepSeek", api_pattern="x", models=models)
    set_custom_snapshot(DataSnapshot(providers=[vendor], from_auto_update=False))
    try:
        known = [price_for("deepseek", name) for name in ("flat", "night", "per-request")]
    finally:
        set_custom_snapshot(None)
        _listed.cache_clear()
    assert known == [Price(1.0, 2.0, source=known[0].source, date=known[0].date), None, None]
