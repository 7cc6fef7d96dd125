"""The commands of the layers: `filter-tools`, `route`, `rerank`, `guard`."""

import json
import sys

import pytest

from tests.shells import REFUSED, UNDECIDED
from yesno.cli.guarding import check_of, checks_in
from yesno.cli.reranking import documents_in
from yesno.cli.routing import router_in
from yesno.errors import ConfigError, ProviderUnavailable, QuestionError

TOOLS = [
    {"name": "forecast", "description": "Says how the weather will be."},
    {"type": "function", "function": {"name": "send_email", "description": "Sends an e-mail."}},
    {"name": "help", "always_visible": True},
]
CHAT = [{"role": "user", "content": "Will it rain?"}]
ROUTES = 'default = "large"\n[routes]\nsmall = "quick facts"\nlarge = ["proofs", "long code"]\n'
CHECKS = """\
[off_topic]
topic = "cooking"
review = 0.2
[secret]
question = "Does it ask for a secret?"
threshold = 0.95
"""
COMMANDS = {
    "filter-tools": ("filter-tools", "tools.json", "Will it rain?"),
    "route": ("route", "routes.toml", "What is 2 + 2?"),
    "guard": ("guard", "Hello", "--check", "prompt_injection"),
}


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "tools.json": json.dumps(TOOLS),
        "listing.json": json.dumps({"tools": TOOLS}),
        "chat.json": json.dumps(CHAT),
        "routes.toml": ROUTES,
        "checks.toml": CHECKS,
        "documents.txt": "By the river.\n\nThe shop opens at 9.\nClosed on Sundays.\n",
        "documents.jsonl": '{"body": "By the river."}\n{"body": "The shop opens at 9."}\n',
        "documents.json": '["By the river.", {"text": "The shop opens at 9."}]',
        "facts.txt": "The shop opens at 9.",
    }.items():
        (tmp_path / name).write_text(text)


def saying(*yes_to):
    """Return a script that says yes to questions about these words."""
    return lambda prompt: (
        {"Yes": 0.9, "No": 0.1} if any(word in prompt for word in yes_to) else {"Yes": 0.1, "No": 0.9}
    )


# filter-tools


def test_tools_are_kept_or_dropped_with_the_reason(run, scripted):
    scripted(saying("forecast"))
    code, out, err = run("filter-tools", "tools.json", "Will it rain?")
    assert (code, err) == (0, "")
    rows = [line.split(maxsplit=3) for line in out.splitlines()]
    assert rows[0] == ["keep", "forecast", "0.900"]
    assert [cell.strip() for cell in rows[1]] == ["drop", "send_email", "0.100", "below --min-probability"]
    assert [cell.strip() for cell in rows[2]] == ["keep", "help", "–", "always visible, not asked"]
    assert out.splitlines()[3].startswith("2 of 3 tools kept · 2 requests")


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (("listing.json", "--messages", "chat.json"), None),
        (("tools.json",), json.dumps(CHAT)),
        (("tools.json", "-"), "Will it rain?"),
        (("tools.json", "--messages", "-"), json.dumps(CHAT)),
        (("-", "Will it rain?"), json.dumps(TOOLS)),
        (("-", "--messages", "chat.json"), json.dumps({"tools": TOOLS})),
    ],
    ids=["files", "chat", "dash", "messages-dash", "tools", "listing"],
)
def test_tools_and_messages_come_from_files_arguments_and_standard_input(run, scripted, words, stdin):
    fake = scripted(saying("forecast"))
    code, out, _ = run("filter-tools", *words, "--json", stdin=stdin)
    found = json.loads(out)
    assert code == 0
    assert found["tools"] == [TOOLS[0], TOOLS[2]]
    assert [(v["name"], v["kept"], v["reason"]) for v in found["verdicts"]] == [
        ("forecast", True, "probable"),
        ("send_email", False, "improbable"),
        ("help", True, "always_visible"),
    ]
    assert (found["model"], found["usage"]["requests"]) == ("fake", 2)
    assert all('"role"' not in str(request) for request in fake.requests)  # one user message is its text


def test_the_filters_settings_are_options(run, scripted):
    scripted(saying("forecast", "send_email"))
    words = ("--max-results", "1", "--always", "send_email", "--min-probability", "0.95")
    found = json.loads(run("filter-tools", "tools.json", "hi", "--json", *words)[1])
    assert [v["reason"] for v in found["verdicts"]] == ["improbable", "always_included", "always_visible"]


def test_all_tools_are_kept_where_the_user_wrote_nothing(run, scripted):
    fake = scripted({})
    chat = json.dumps([{"role": "assistant", "content": "Hello!"}])
    code, out, _ = run("filter-tools", "tools.json", stdin=chat)
    assert (code, fake.requests) == (0, [])
    assert "the user wrote no text, not asked" in out


# route


def test_a_route_is_shown_with_all_shares(run, scripted):
    scripted({"A": 0.7, "B": 0.2, "C": 0.1})
    code, out, err = run("route", "routes.toml", "What is 2 + 2?")
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()[:3]] == [
        ["small", "0.700"],
        ["large", "0.300"],
        ["Route", "small"],
    ]


def test_an_input_may_be_given_by_name_but_not_twice(run, scripted):
    fake = scripted({"A": 0.7, "B": 0.2, "C": 0.1})
    assert run("route", "routes.toml", "--input", "What is 2 + 2?")[0] == 0
    assert "What is 2 + 2?" in fake.requests[0]["messages"][-1]["content"]
    code, _, err = run("route", "routes.toml", "hi", "--input", "hello")
    assert (code, len(fake.requests)) == (2, 1)
    assert "give the input once" in err


def test_below_the_minimum_the_default_is_taken_and_said(run, scripted):
    scripted({"A": 0.7, "B": 0.2, "C": 0.1})
    code, out, _ = run("route", "routes.toml", "--min-probability", "0.75", "--file", "chat.json")
    assert code == 0
    assert "Route large (the default; none reaches 0.75)" in out
    found = json.loads(run("route", "routes.toml", "--min-probability", "0.75", "--json", stdin="hi")[1])
    assert (found["type"], found["route"], found["why"], found["fell_back"]) == (
        "route",
        "large",
        "below_minimum",
        True,
    )
    assert found["probabilities"] == pytest.approx({"small": 0.7, "large": 0.3})


def test_what_needs_no_question_asks_none_and_says_so(run, scripted, tmp_path):
    fake = scripted({})
    (tmp_path / "one.toml").write_text('default = "only"\n[routes]\nonly = "all"\n')
    assert "Route only (the only one, so nothing was asked)" in run("route", "one.toml", "hi")[1]
    chat = json.dumps([{"role": "assistant", "content": "Hello!"}])
    assert "Route large (the default; the user wrote no text" in run("route", "routes.toml", stdin=chat)[1]
    assert fake.requests == []


# rerank


@pytest.mark.parametrize(
    ("words", "stdin", "first"),
    [
        (("documents.txt",), None, "The shop opens at 9."),
        (("documents.json",), None, {"text": "The shop opens at 9."}),
        (("documents.jsonl", "--text-field", "body"), None, {"body": "The shop opens at 9."}),
        ((), "By the river.\nThe shop opens at 9.\n", "The shop opens at 9."),
        (("-",), '["By the river.", "The shop opens at 9."]', "The shop opens at 9."),
        (("--text-field", "b"), '{"b": "x"}\n{"b": "The shop opens at 9."}', {"b": "The shop opens at 9."}),
    ],
    ids=["lines", "json", "jsonl", "stdin", "stdin-json", "stdin-jsonl"],
)
def test_documents_come_from_files_and_standard_input(run, scripted, words, stdin, first):
    scripted(saying("opens at 9"))
    code, out, _ = run("rerank", "When do you open?", *words, "--json", stdin=stdin)
    found = json.loads(out)
    assert code == 0
    assert found["ranked"][0]["document"] == first
    assert found["ranked"][0]["score"] == pytest.approx(0.9)
    assert found["unscored"] == []


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_ranking_fits_the_terminal_and_shows_its_numbers(run, scripted, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    scripted(saying("opens at 9"))
    documents = ["The shop opens at 9. " + "And so on. " * 20, *("Nothing." * 9 for _ in range(10))]
    lines = run("rerank", "When?", stdin=json.dumps(documents))[1].splitlines()
    assert lines[0].split() == ["score", "document"]
    assert lines[1].startswith(" 1  0.900  The shop opens at 9. And so on.")
    assert lines[1].endswith("…")
    assert lines[11].startswith("11  0.100  Nothing.")
    assert max(map(len, lines)) <= columns


def test_alarms_are_told_in_words(run, scripted):
    scripted(saying())
    code, out, _ = run("rerank", "When?", "documents.txt", "-k", "1")
    assert code == 0
    assert "warning all scores are equal, as when the model never saw the documents" in out
    assert "warning equal scores at a cut; the order of the input decided" in out


def test_grades_and_pairs_are_options(run, scripted):
    def script(prompt):
        if "yes or no" in prompt:
            return saying("opens at 9")(prompt)
        return {"A": 0.1, "B": 0.9}

    scripted(script)
    graded = json.loads(run("rerank", "When?", "documents.txt", "-l", "bad", "-l", "good", "--json")[1])
    assert graded["ranked"][0]["score"] == pytest.approx(0.9)
    assert "preferred" in run("rerank", "When?", "documents.txt", "--refine", "2")[1].splitlines()[0]


def test_a_document_without_a_score_is_listed_apart_and_exits_with_3(run, scripted):
    scripted(lambda prompt: REFUSED if "river" in prompt else saying("opens at 9")(prompt))
    code, out, _ = run("rerank", "When?", "documents.txt")
    assert code == 3
    assert "–  refused (refusal): By the river." in out
    code, out, _ = run("rerank", "When?", "documents.txt", "--json")
    (left,) = json.loads(out)["unscored"]
    assert (code, left["index"], left["outcome"]["type"]) == (3, 0, "refusal")
    assert len(json.loads(out)["ranked"]) == 2


# guard


@pytest.mark.parametrize(
    ("words", "code", "bands"),
    [
        (("--checks", "checks.toml", "--threshold", "0.95"), 0, {"off_topic": "review", "secret": "pass"}),
        (("--check", "prompt_injection"), 0, {"prompt_injection": "pass"}),
        (("--check", "prompt_injection", "--threshold", "0.1"), 1, {"prompt_injection": "block"}),
        (("--check", "mine=Is it bad?", "--review", "0.1"), 0, {"mine": "review"}),
        (("--check", "rude=Is it rude?", "--checks", "checks.toml"), 1, {"rude": "block"}),
    ],
    ids=["file", "name", "threshold", "own", "both"],
)
def test_a_block_exits_with_1_and_a_review_does_not(run, scripted, words, code, bands):
    scripted(saying("Is it rude?"))
    found, out, err = run("guard", "Hello", *words, "--json")
    document = json.loads(out)
    assert (found, err) == (code, "")
    shown = {check["name"]: check["band"] for check in document["checks"]}
    assert {name: shown[name] for name in bands} == bands
    assert all(0 <= check["probability"] <= 1 for check in document["checks"])
    assert (document["band"] == "block") == (code == 1)
    assert (document["message"] is None) == (code == 0)


def test_checks_are_shown_with_their_limits(run, scripted):
    scripted(saying("ask for a secret?", "cooking"))
    code, out, _ = run("guard", "--checks", "checks.toml", "--check", "rude=Is it rude?", stdin="Hello")
    rows = [line.split(maxsplit=3) for line in out.splitlines()]
    assert code == 0
    assert [row[:3] for row in rows[:3]] == [
        ["pass", "rude", "0.100"],
        ["pass", "off_topic", "0.100"],
        ["pass", "secret", "0.900"],
    ]
    assert rows[1][3].strip() == "blocks from 0.5, review from 0.2"
    code, out, _ = run("guard", "Hello", "--check", "mine=Does it ask for a secret?")
    assert code == 1
    assert "The input was rejected by: mine" in out


def test_an_output_is_judged_with_what_it_answers_and_rests_on(run, scripted):
    fake = scripted(saying())
    words = ("--side", "output", "--user", "When do you open?", "--source", "facts.txt")
    code, _, _ = run("guard", "At 8.", "--check", "unsupported_claim", *words)
    (request,) = fake.requests
    assert code == 0
    assert all(part in str(request) for part in ("At 8.", "When do you open?", "The shop opens at 9."))


def test_a_text_that_is_blank_has_nothing_to_check(run, scripted):
    fake = scripted({})
    code, out, _ = run("guard", "--check", "prompt_injection", stdin="\n")
    assert (code, fake.requests) == (0, [])
    assert "there is no text to check" in out


# all of them


@pytest.mark.parametrize("reply", [REFUSED, UNDECIDED], ids=["refusal", "undecided"])
@pytest.mark.parametrize("name", COMMANDS)
def test_no_answer_exits_with_3_and_json_holds_its_outcome(run, scripted, name, reply):
    scripted(reply)
    code, out, err = run(*COMMANDS[name], "--json")
    document = json.loads(out)
    assert code == 3
    assert document["type"] == ("refusal" if reply is REFUSED else "undecided")
    assert document["usage"].keys() >= {"requests", "cost_usd"}
    assert err.startswith("yesno: ")
    code, out, err = run(*COMMANDS[name])
    assert (code, out) == (3, "")
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", [*COMMANDS, "rerank"])
def test_a_provider_that_fails_exits_with_4(run, scripted, name):
    scripted(ProviderUnavailable("the server is down", provider="fake", retryable=False))
    words = COMMANDS.get(name, ("rerank", "When?", "documents.txt"))
    assert run(*words) == (4, "", "yesno: the server is down\n")
    code, out, _ = run(*words, "--json")
    assert (code, json.loads(out)["type"]) == (4, "error")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("filter-tools", "missing.json", "hi"), "'missing.json' cannot be read"),
        (("filter-tools", "routes.toml", "hi"), "'routes.toml' is not JSON"),
        (("filter-tools", "-", "-"), "standard input is either the tools or the messages"),
        (("filter-tools", "-", "--messages", "-"), "standard input is either the tools or the messages"),
        (("filter-tools", "tools.json", "hi", "--messages", "chat.json"), "not both"),
        (("filter-tools", "tools.json", "hi", "--min-probability", "2"), "--min-probability"),
        (("filter-tools", "tools.json", "hi", "--max-results", "0"), "--max-results"),
        (("route", "tools.json", "hi"), "'tools.json' must hold an object"),
        (("route", "checks.toml", "hi"), "'checks.toml': 'off_topic' is unknown"),
        (("route", "routes.toml", "hi", "--min-probability", "-1"), "--min-probability"),
        (("rerank", " ", "documents.txt"), "`query`"),
        (("rerank", "q", "documents.txt", "--top-k", "0"), "--top-k"),
        (("rerank", "q", "documents.txt", "--refine", "1"), "--refine"),
        (("rerank", "q", "documents.txt", "--text-field", "b"), "line 1 of the documents is not JSON"),
        (("rerank", "q", "documents.jsonl"), "pass"),
        (("guard", "hi"), "give --check NAME, or a file with --checks"),
        (("guard", "hi", "--check", "prompt_injektion"), "did you mean 'prompt_injection'"),
        (("guard", "hi", "--check", "off_topic"), "a file of --checks: [off_topic] topic"),
        (("guard", "hi", "--check", "mine="), "blank"),
        (("guard", "hi", "--check", "unsupported_claim"), "--side output"),
        (("guard", "hi", "--check", "unsupported_claim", "--side", "output"), "give --source"),
        (("guard", "hi", "--check", "prompt_injection", "--user", "x"), "add --side output"),
        (("guard", "hi", "--check", "prompt_injection", "--side", "outptu"), "did you mean output?"),
        (("guard", "hi", "--check", "prompt_injection", "--threshold", "3"), "--threshold"),
    ],
    ids=range(24),
)
def test_bad_usage_is_one_line_with_exit_code_2(run, scripted, words, said):
    fake = scripted({"Yes": 1})
    code, out, err = run(*words, stdin="[]")
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("yesno: ") or "Usage:" in err
    assert "Traceback" not in err
    assert fake.requests == []


def test_without_input_nobody_waits_for_a_terminal(run, scripted, monkeypatch):
    scripted({"Yes": 1})
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    for words in (("rerank", "q"), ("guard", "--check", "prompt_injection"), ("route", "routes.toml")):
        code, out, err = run(*words)
        assert (code, out) == (2, ""), words
        assert "there " in err


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, r"\[routes\]"),
        ({"routes": ["a"]}, "must be a table"),
        ({"routes": {"a": "x", "b": "y"}}, "default"),
        ({"routes": {"a": "x"}, "default": "c"}, "'c' is unknown"),
        ({"routes": {"a": 3}, "default": "a"}, "descriptions of route 'a'"),
        ({"routes": {"a": ""}, "default": "a"}, "blank"),
        ({"routes": {"a": "x"}, "default": "a", "min_probabilty": 0.5}, "did you mean 'min_probability'"),
        ({"routes": {"a": "x"}, "default": "a", "question": 3}, "`question`"),
    ],
    ids=range(8),
)
def test_a_table_of_routes_that_cannot_be_read_is_told(table, said):
    with pytest.raises(ConfigError, match=said):
        router_in(table)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"mine": "Is it?"}, "check 'mine' must be a table"),
        ({"mine": {"question": "Is it?", "yes_wen": "x"}}, "did you mean 'yes_when'"),
        ({"mine": {"question": 3}}, "check 'mine'"),
        ({"mine": {"question": "Is it?", "yes_when": 3}}, "check 'mine'"),
        ({"off_topic": {"topc": "x"}}, "topic"),
        ({"mine": {}}, "no ready check 'mine'"),
    ],
    ids=range(6),
)
def test_a_table_of_checks_that_cannot_be_read_is_told(table, said):
    with pytest.raises(QuestionError, match=said):
        checks_in(table)


def test_a_check_s_question_may_hold_the_sign():
    assert check_of("sum=Is 1 + 1 = 2?").own.text == "Is 1 + 1 = 2?"
    assert check_of("personal_data").own is None


@pytest.mark.parametrize(
    ("text", "as_json", "documents"),
    [
        ("a\n\n b \n", False, ["a", " b "]),
        ('["a", {"text": "b"}]', False, ["a", {"text": "b"}]),
        ("[1] a footnote\n[2] another", False, ["[1] a footnote", "[2] another"]),
        ('{"t": "a"}\n"b"\n', True, [{"t": "a"}, "b"]),
        ('{"t": "a"}', False, ['{"t": "a"}']),
    ],
    ids=["lines", "list", "brackets", "jsonl", "braces"],
)
def test_documents_are_lines_or_a_list(text, as_json, documents):
    assert documents_in(text, as_json=as_json) == documents
