"""The shortlist: which tools are asked about when there are hundreds."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shells import Scripted
from yesno.errors import ConfigError
from yesno.filters import ToolFilter, ToolSearch
from yesno.filters._shortlist import Shortlist, bm25, terms
from yesno.filters.tool_filter import query_of
from yesno.messages import Message
from yesno.tools import Tool

TOOLS = [
    *(Tool(f"filler_{n}", "Does something else.") for n in range(30)),
    Tool("get_weather_forecast", "Tell what the sky does tomorrow."),
    Tool("convertCurrency", "Exchange money."),
    Tool("予約を作成", "レストランの予約を作成する。"),
    Tool("plan", parameters={"properties": {"flight_number": {"description": "which plane"}}}),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("get_user_name", ["get", "user", "name"]),
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer2Go", ["http", "serv*", "2", "go"]),
        ("Überweisung straße", ["überweisung", "über*", "strasse", "stra*"]),
        ("予約を", ["予約", "約を"]),
        ("x東y", ["x", "東", "y"]),
        ("Погода", ["погода", "пого*"]),
        ("الطقس", ["الطقس", "الطق*"]),
        ("ｆｕｌｌ", ["full"]),
        ("\ud800 \x00 --", []),
    ],
)
def test_words_are_found_in_identifiers_and_in_many_scripts(text, found):
    assert [term for term in terms(text) if term not in ("server",)] == found


@given(st.text(max_size=40))
def test_any_text_gives_terms_that_do_not_depend_on_case(text):
    assert all(term and term == term.casefold() for term in terms(text))


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("What is the weather?", "get_weather_forecast"),
        ("forecasts please", "get_weather_forecast"),
        ("currencies", "convertCurrency"),
        ("予約したい", "予約を作成"),
        ("my flight", "plan"),
    ],
)
def test_the_tools_whose_words_fit_are_asked_about(shell, query, name):
    scripted = Scripted(shell, default=0.9)
    kept = scripted.run(ToolFilter(shortlist=2).select(TOOLS, query))
    assert name in [tool.name for tool in kept]
    assert len(scripted.questions[0]) == 2


def test_when_no_word_fits_all_tools_are_asked_about(shell):
    scripted = Scripted(shell, default=0.9)
    assert scripted.run(ToolFilter(shortlist=2).select(TOOLS, "xyzzy")) == TOOLS
    blank = [Tool("--"), Tool("++"), Tool("==")]
    assert scripted.run(ToolFilter(shortlist=2).select(blank, "xyzzy")) == blank


def test_tools_that_are_always_kept_take_no_place_on_the_shortlist(shell):
    scripted = Scripted(shell, default=0.9)
    tools = [*TOOLS, Tool("weather_archive", always_visible=True)]
    selection = scripted.run(
        ToolFilter(shortlist=1, always_include=["convertCurrency"]).explain(tools, "weather")
    )
    assert [v.name for v in selection.verdicts if v.kept] == [
        "get_weather_forecast",
        "convertCurrency",
        "weather_archive",
    ]
    assert selection.verdict("filler_0").reason == "not_shortlisted"
    assert str(selection.verdict("filler_0")).endswith("not on the shortlist, not asked")


def test_a_short_message_brings_earlier_ones_of_the_user_along_and_counts_more(shell):
    messages = [
        Message("user", "weather"),
        Message("assistant", "currency"),
        Message("user", "the flight, please"),
    ]
    scripted = Scripted(shell, default=0.9)
    kept = scripted.run(ToolFilter(shortlist=2).select(TOOLS, messages))
    assert [tool.name for tool in kept] == ["get_weather_forecast", "plan"]
    assert [t.name for t in scripted.run(ToolFilter(shortlist=1).select(TOOLS, messages))] == ["plan"]


def test_a_longer_message_of_the_user_stands_alone():
    seen = [Message("user", "weather"), Message("user", "please tell me which flight goes there at noon")]
    assert query_of(seen, seen[-1]) == seen[-1].text


def test_what_the_message_filter_took_is_not_looked_for():
    seen = [Message("system", "rules"), Message("user", "weather")]
    assert query_of(seen, Message("user", "hidden")) == "weather\nweather\nweather"
    assert query_of(seen[:1], Message("user", "hidden")) == "rules"


def test_a_search_has_a_shortlist_too(shell):
    scripted = Scripted(shell, default=0.9)
    assert scripted.run(ToolSearch(shortlist=1).find({"query": "exchange money"}, TOOLS)).names == (
        "convertCurrency",
    )
    assert [len(texts) for texts in scripted.questions] == [1]


@given(
    st.lists(st.text(min_size=1, max_size=6).filter(str.strip), max_size=8, unique=True),
    st.text(),
    st.integers(1, 9),
)
def test_a_shortlist_is_as_long_as_it_should_be_and_in_order(names, query, count):
    picked = Shortlist(count).pick(query, [Tool(name) for name in names])
    assert picked == sorted(set(picked))
    assert len(picked) == min(count, len(names)) or picked == list(range(len(names)))


def test_without_the_package_a_shortlist_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    for kind in (ToolFilter, ToolSearch):
        kind()
        with pytest.raises(ConfigError, match=r"yesno\[search\]"):
            kind(shortlist=5)


def test_a_filter_without_a_shortlist_loads_neither_it_nor_numpy():
    code = (
        "import sys; from yesno.filters import ToolFilter; from yesno.tools import Tool\n"
        "next(ToolFilter().select([Tool('t')], 'hi'))\n"
        "print([m for m in ('bm25s', 'numpy', 'structlog', 'pydantic', 'openai') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"


def test_texts_are_scored_by_their_words_and_by_nothing_when_none_is_known():
    scores = bm25("When does the shop open?", ["By the river.", "The shop opens at 9.", "Naught."])
    assert scores[1] > scores[0] > scores[2] == 0.0
    assert bm25("Χαίρε", ["By the river."]) is bm25("shop", ["", "?"]) is bm25("shop", []) is None
