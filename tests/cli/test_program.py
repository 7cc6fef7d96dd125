import json
import math
import re

import httpx2
import pytest

from tests.engine.doctored import KEY, ChatHost, error, provider_for
from yesno.cli.main import main
from yesno.errors import ProviderUnavailable
from yesno.providers.llamacpp import LlamaCpp
from yesno.providers.openai_compatible import OpenAICompatible


def test_ask_shows_both_sides_bounds_and_mass(run):
    code, out, err = run("ask", "Is it?", "hello", "-m", "fake")
    assert (code, err) == (0, "")
    assert "yes  0.800" in out
    assert "no   0.200" in out
    assert "label mass 1.000" in out


def test_json_is_one_strict_object(run):
    code, out, _ = run("ask", "Is it?", "hello", "-m", "fake", "--json")
    shown = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert (shown["type"], shown["probability"], shown["method"], shown["calibrated"]) == (
        "yes_no",
        0.8,
        "logprobs",
        False,
    )
    assert shown["usage"]["requests"] == 1
    assert shown["usage"]["fallbacks"] == {}


@pytest.mark.parametrize(("threshold", "code"), [("0.8", 0), ("0.81", 1), ("1.5", 2), ("nan", 2)])
def test_check_turns_the_answer_into_an_exit_code(run, threshold, code):
    assert run("ask", "Is it?", "hello", "-m", "fake", "--check", threshold)[0] == code


def test_the_input_comes_from_an_argument_a_file_or_standard_input(run, scripted, tmp_path):
    fake = scripted({"Yes": 0.9, "No": 0.1})
    text, fields, messages = tmp_path / "a.txt", tmp_path / "b.json", tmp_path / "c.json"
    text.write_text("from the file")
    fields.write_text('{"subject": "a field"}')
    messages.write_text('[{"role": "user", "content": "a message"}]')
    run("ask", "Is it?", "from the argument")
    run("ask", "Is it?", "--file", str(text))
    run("ask", "Is it?", stdin="from the pipe")
    run("ask", "Is it?", "-", stdin="from the dash")
    run("ask", "Is it?", "-f", str(fields))
    run("ask", "Is it?", "-f", str(messages))
    prompts = [payload["messages"][-1]["content"] for payload in fake.requests]
    wanted = [
        "from the argument",
        "from the file",
        "from the pipe",
        "from the dash",
        '"subject": "a field"',
        'role="user"',
    ]
    assert all(part in prompt for part, prompt in zip(wanted, prompts, strict=True))


def test_choose_and_rate_show_every_option(run, scripted):
    scripted({"B": 0.7, "A": 0.2})
    code, out, _ = run(
        "choose", "Which?", "x", "-o", "billing=payments", "-o", "support", "--none", "neither"
    )
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["billing", "support", "neither"]
    scripted({"B": 0.7, "A": 0.2})
    code, out, _ = run("rate", "How?", "x", "-l", "low", "-l", "high")
    assert code == 0
    assert "mean level 0.78 of 0 to 1" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ask", " ", "x", "-m", "fake"), "blank"),
        (("ask", "q", "", "-m", "fake"), "blank"),
        (("choose", "q", "x", "-o", "a", "-m", "fake"), "two options"),
        (("choose", "q", "x", "-o", "a=", "-o", "b", "-m", "fake"), "empty description"),
        (("rate", "q", "x", "-l", "a", "-m", "fake"), "two levels"),
        (("ask", "q", "x", "-m", "fakee"), "did you mean 'fake'"),
        (("ask", "q", "x", "-m", "openai:gpt-5.4-mini"), "OPENAI_API_KEY"),
        (("ask", "q", "x", "-m", "local:smolm2"), "local:smollm2"),
        (("ask", "q", "x", "--file", "y", "-m", "fake"), "not both"),
        (("ask", "q", "--file", "missing.txt", "-m", "fake"), "missing.txt"),
        (("ask", "q", "x", "-m", "fake", "--template", "nope"), "few_shot"),
        (("ask", "q", "x", "-m", "openai-compatible:m"), "--base-url"),
    ],
    ids=range(12),
)
def test_bad_usage_is_one_line_with_exit_code_2(run, words, said):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("yesno: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_an_undecided_outcome_and_a_refusal_exit_with_3(run, scripted):
    scripted({"The": 0.9, "Yes": 0.1})
    code, out, err = run("ask", "Is it?", "x")
    assert (code, out) == (3, "")
    assert "low_label_mass" in err
    scripted({"<refusal>": 1})
    code, out, err = run("ask", "Is it?", "x", "--json")
    assert code == 3
    assert json.loads(out)["type"] == "refusal"
    assert "refused" in err


def test_a_provider_that_fails_exits_with_4_and_debug_shows_where(run, scripted):
    scripted(ProviderUnavailable("the server is down", provider="fake", retry_after=500))
    code, _, err = run("ask", "Is it?", "x")
    assert (code, err) == (4, "yesno: the server is down\n")
    with pytest.raises(ProviderUnavailable):
        main(["ask", "Is it?", "x", "--debug"])


def test_demo_counts_right_answers_and_names_a_hosted_model(run, scripted):
    scripted(lambda prompt: {"Yes": 0.9, "No": 0.1} if "yes or no" in prompt else {"A": 0.8, "B": 0.2})
    code, out, _ = run("demo", "--json")
    report = json.loads(out)
    assert code == 0
    assert len(report["answers"]) == 12
    assert report["right"] == sum(answer["right"] for answer in report["answers"])
    assert list(report["tools"].values()) == pytest.approx([0.9] * 4)
    assert math.isclose(sum(report["route"].values()), 1)
    code, out, _ = run("demo")
    assert code == 0
    assert "OPENAI_API_KEY" in out
    assert "of 12 right" in out
    assert "keep" in out


@pytest.mark.parametrize("columns", [80, 100, 160], ids=str)
def test_the_demos_table_shows_every_column_at_any_usual_width(run, scripted, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    scripted({"A": 0.8, "B": 0.2, "Yes": 1e-9})
    lines = run("demo")[1].splitlines()
    rows = [line for line in lines if line.rstrip().endswith(("✓", "✗"))]
    assert len(rows) == 12
    assert all(" s " in row and len(row) <= columns for row in rows)
    assert "mass" in lines[0]
    assert ("input" in lines[0]) == (columns >= 110)


def test_models_list_shows_the_catalogue(run, monkeypatch, tmp_path):
    monkeypatch.setenv("YESNO_MODELS_DIR", str(tmp_path))
    code, out, _ = run("models", "list", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["name"] for row in rows if row["default"]] == ["local:qwen2.5-coder-1.5b"]
    assert all(row["path"] is None for row in rows)
    assert "local:smollm2" in run("models", "list")[1]


def test_a_licence_has_to_be_accepted_before_a_pull(run, monkeypatch, tmp_path):
    monkeypatch.setenv("YESNO_MODELS_DIR", str(tmp_path))
    code, _, err = run("models", "pull", "gemma3-270m")
    assert code == 2
    assert "--accept-licence" in err


def test_version_and_help(run):
    assert run("--version")[1].startswith("yesno ")
    code, out, _ = run("--help")
    assert code == 0
    assert "Exit codes" in out


def test_an_unknown_variable_is_told_with_the_close_match(run, monkeypatch):
    monkeypatch.setenv("YESNO_MODL", "x")
    code, _, err = run("ask", "q", "x")
    assert code == 2
    assert "YESNO_MODEL" in err


def doctored(monkeypatch, handler, kind=OpenAICompatible):
    monkeypatch.setattr(
        "yesno.engine.core.load_provider", lambda spec, **options: provider_for(handler, kind)
    )


@pytest.mark.parametrize(
    "faults",
    [
        {},
        {"silent": True},
        {"cap": 5},
        {"scaled": True},
        {"certain": True},
        {"thinking": "usage"},
        {"drift": 0.05},
        {"off": 0.6},
    ],
    ids=lambda faults: next(iter(faults), "good"),
)
def test_doctors_table_fits_80_columns_and_says_what_to_do(run, monkeypatch, faults):
    monkeypatch.setenv("COLUMNS", "80")
    doctored(monkeypatch, ChatHost(**faults), LlamaCpp)
    code, out, err = run("doctor", "-m", "llamacpp:m")
    lines = out.splitlines()
    assert err == ""
    assert code == (3 if "certain" in faults else 0)
    assert all(len(line) <= 80 for line in lines)
    assert "\x1b" not in out
    assert lines[0] == "llamacpp: m-2026, by logprobs"
    rows = [line.split()[0] for line in lines[2:-1] if not line.startswith(" ")]
    assert (rows[0], rows[-1], len(rows)) == ("reachable", "repeats", 11)
    bad = re.findall(r"^\S[\w -]+?  +(?:warn|fail|unknown) +(?! |not asked: )", out, re.MULTILINE)
    assert out.count("→") == len(bad)
    assert re.search(r"^\d+ requests · [\d,]+ tokens in, [\d,]+ out$", lines[-1])


def test_doctor_prints_one_strict_json_object(run, monkeypatch):
    doctored(monkeypatch, ChatHost(caching=True))
    code, out, _ = run("doctor", "--json")
    shown = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert out.count("\n") == 1
    assert shown["verdict"] == "ok"
    assert {row["status"] for row in shown["checks"]} == {"ok"}
    assert shown["checks"][4] == {
        "name": "alternatives",
        "status": "ok",
        "value": "20 of 20 asked for",
        "advice": None,
        "numbers": {"listed": 20, "asked_for": 20},
    }
    assert shown["requests"] == shown["usage"]["requests"] == 8


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (lambda request: error(401, f"Incorrect API key provided: {KEY}"), "401"),
        (lambda request: httpx2.Response(200, text="<html>"), "web page"),
        (lambda request: error(404, "no such route"), "/v1"),
    ],
    ids=["key", "html", "route"],
)
def test_doctor_exits_with_4_when_the_provider_fails_and_shows_no_key(run, monkeypatch, reply, said):
    doctored(monkeypatch, reply)
    for words in (["doctor"], ["doctor", "--json"]):
        code, out, err = run(*words)
        assert code == 4
        assert said in out
        assert KEY not in out + err


def test_doctor_exits_with_3_when_no_answer_can_be_read_and_with_2_on_bad_usage(run, scripted):
    assert run("doctor", "-m", "openai:gpt-5.4-mini")[0] == 2
    scripted({"Well": 0.9})
    code, out, _ = run("doctor")
    assert code == 3
    assert "few_shot" in out


def test_doctor_is_coloured_on_a_terminal_only(run, scripted, monkeypatch):
    scripted({"Yes": 0.6, "No": 0.4})
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32mok" in run("doctor")[1]
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b" not in run("doctor")[1]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_table_of_models_cuts_nothing_off_at_any_usual_width(run, monkeypatch, tmp_path, columns):
    monkeypatch.setenv("YESNO_MODELS_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = run("models", "list")
    assert "…" not in out
    assert all(len(line.rstrip()) <= columns for line in out.splitlines())
    told = " ".join(out.split())
    assert "1,117 MB" in told
    assert "for tests and CI; close to" in told


def test_a_pipe_gets_one_line_for_each_model(run, monkeypatch, tmp_path):
    monkeypatch.setenv("YESNO_MODELS_DIR", str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run("models", "list")[1].splitlines()
    assert [line.split()[0] for line in lines[1:4]] == [
        "local:qwen2.5-coder-1.5b",
        "local:smollm2",
        "local:gemma3-270m",
    ]


def test_colours_stay_away_from_who_does_not_want_them(run, scripted, monkeypatch):
    scripted({"Yes": 0.6, "No": 0.4})
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32mok" in run("doctor")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in run("doctor")[1]


def test_a_sampled_answer_says_so(run, scripted):
    scripted(lambda prompt: {'{"answer": "yes", "confidence": 90}': 1.0}, strategies=("logprobs", "sampled"))
    _, out, _ = run("ask", "Is it?", "x", "--strategy", "sampled")
    assert "sampled, 5 replies, standard error" in out
    assert "label mass" not in out


COMMON = {
    *("type", "low", "high", "label_mass", "method", "calibrated", "missing", "flags", "attempts", "samples"),
    *("standard_error", "stated_confidence", "template", "raw", "model", "usage", "seconds"),
}
UNDECIDED = {"type", "reason", "low", "high", "label_mass", "attempts", "model", "usage", "seconds"}


@pytest.mark.parametrize(
    ("script", "words", "kind", "names"),
    [
        ({"Yes": 0.9}, ("ask", "q", "x"), "yes_no", COMMON | {"probability"}),
        (
            {"A": 0.9},
            ("choose", "q", "x", "-o", "a", "-o", "b"),
            "choice",
            COMMON | {"value", "probabilities", "none_probability", "options", "bounds", "confidence"},
        ),
        (
            {"A": 0.9},
            ("rate", "q", "x", "-l", "a", "-l", "b"),
            "scale",
            COMMON | {"mean", "probabilities", "confidence"},
        ),
        (
            {"<refusal>": 1},
            ("ask", "q", "x"),
            "refusal",
            {"type", "reason", "category", "attempts", "model", "usage", "seconds"},
        ),
        ({"Well": 1}, ("ask", "q", "x"), "undecided", UNDECIDED),
    ],
    ids=["yes_no", "choice", "scale", "refusal", "undecided"],
)
def test_no_name_that_json_had_goes_away(run, scripted, script, words, kind, names):
    scripted(script)
    shown = json.loads(run(*words, "--json")[1], parse_constant=lambda name: pytest.fail(name))
    assert shown["type"] == kind
    assert names - set(shown) == set()
    usage = {
        "input_tokens",
        "output_tokens",
        "cached_tokens",
        "requests",
        "cache_hits",
        "cost_usd",
        "fallbacks",
    }
    assert usage - set(shown["usage"]) == set()
