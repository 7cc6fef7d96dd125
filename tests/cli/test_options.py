"""The options that commands share."""

import ast
import inspect
import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from yesno import Budget
from yesno.cli.main import COMMANDS, GROUPS, load
from yesno.cli.options import Connection, Json, Without, cache_file, prepared
from yesno.cli.progress import late
from yesno.engine.core import Core
from yesno.prices import Price

SCRIPT = {"Yes": 0.8, "No": 0.2}


def probe(connection: Connection, as_json: Json = False) -> int:
    """Say what came."""
    typer.echo((sorted(name for name, value in connection.settings().items() if value is not None), as_json))
    return 7


def half(connection: Annotated[Connection, Without("cache", "orders")]) -> int:
    """Take fewer options."""
    typer.echo((connection.cache, connection.orders))
    return 0


def invoke(command, *words):
    program = typer.Typer(rich_markup_mode=None)
    program.command()(prepared(command))
    return CliRunner().invoke(program, words)


def test_a_connection_is_all_a_command_has_to_ask_for():
    done = invoke(probe, "--strict", "--timeout", "3", "--json", "--budget-requests", "5")
    assert done.exit_code == 7
    assert "'budget'" in done.output
    assert "'timeout_s'" in done.output
    assert done.output.endswith("True)\n")
    shown = invoke(probe, "--help").output
    assert "Say what came." in shown
    options = [f"--{field.name.replace('_', '-')}" for field in fields(Connection)]
    assert [option for option in [*options, "--json", "--debug"] if option not in shown] == []


def test_options_that_mean_nothing_are_not_offered_and_have_their_defaults():
    assert invoke(half).output == "(False, 1)\n"
    shown = invoke(half, "--help").output
    assert "--no-cache" not in shown
    assert "--prior" in shown
    with pytest.raises(AssertionError, match="cash"):
        Without("cash")


def test_every_setting_is_an_argument_of_the_model():
    everything = Connection(timeout=1.0, concurrency=2, price=Price(1, 2), budget_usd=1.0).settings()
    assert set(everything) <= set(inspect.signature(Core.__init__).parameters)
    defaults = {name: p.default for name, p in inspect.signature(Core.__init__).parameters.items()}
    assert {name: value for name, value in Connection().settings().items() if value != defaults[name]} == {}
    budget = everything["budget"]
    assert isinstance(budget, Budget)
    assert (budget.usd, budget.requests) == (1.0, None)


def test_options_reach_the_model(run, monkeypatch):
    import yesno.engine.sync

    seen = {}
    original = yesno.engine.sync.DecisionModel

    def spy(spec, **options):
        seen.update(options, spec=spec)
        return original(spec, **options)

    monkeypatch.setattr("yesno.engine.sync.DecisionModel", spy)
    code, _, err = run(
        *("ask", "Is it?", "x", "-m", "fake", "--orders", "auto", "--prior", "off", "--timeout", "inf"),
        *(
            "--strategy",
            "logprobs",
            "--strict",
            "--concurrency",
            "3",
            "--price",
            "1,2,0.5",
            "--min-label-mass",
            "0",
            "--packing",
            "separate",
        ),
    )
    assert (code, err) == (0, "")
    assert (seen["orders"], seen["prior"], seen["strategy"], seen["strict"]) == (
        "auto",
        "off",
        "logprobs",
        True,
    )
    assert seen["packing"] == "separate"
    assert (seen["concurrency"], seen["timeout_s"], seen["min_label_mass"]) == (3, float("inf"), 0.0)
    assert (seen["price"].input, seen["price"].output, seen["price"].cached_input) == (1.0, 2.0, 0.5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--strategy", "samplde"), "did you mean sampled?"),
        (("--packing", "pack"), "did you mean packed?"),
        (("--prior", "x"), "known are auto, content_free, off"),
        (("--orders", "many"), "'many' is neither a whole number nor auto"),
        (("--orders", "0"), "at least 1"),
        (("--concurrency", "1.5"), "'1.5' is not a whole number"),
        (("--timeout", "soon"), "'soon' is not a number"),
        (("--timeout", "-1"), "above 0"),
        (("--check", "abc"), "'abc' is not a number"),
        (("--price", "1"), "INPUT,OUTPUT"),
        (("--price", "1,-2"), "at least 0"),
        (("--budget-requests", "-1"), "at least 0"),
        (("--modle", "fake"), "--model"),
    ],
    ids=range(13),
)
def test_a_bad_value_is_named_with_what_would_do(run, words, said):
    code, out, err = run("ask", "Is it?", "x", "-m", "fake", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-m", "openai-compatible:m"), "pass --base-url or set YESNO_BASE_URL"),
        (("-m", "openrouter:m"), "there is no key for OpenRouter; set OPENROUTER_API_KEY\n"),
        (("-m", "fake:m", "--base-url", "http://x"), "provider 'fake' takes no --base-url; leave it out"),
        (
            ("-m", "vllm:m", "--budget-usd", "1"),
            "give --price IN,OUT, or --budget-requests or --budget-tokens",
        ),
        (("-m", "fake", "--budget-requests", "0"), "; raise --budget-requests\n"),
        (("-m", "fake", "--budget-usd", "-1"), "--budget-usd must be a number of at least 0"),
        (("-m", "fake", "--min-label-mass", "2"), "--min-label-mass must be"),
        (("-m", "fake", "--timeout", "0"), "--timeout must be"),
        (("-m", "fake", "--orders", "0"), "--orders must be"),
        (("-m", "fake", "--concurrency", "0"), "--concurrency must be"),
    ],
    ids=range(10),
)
def test_errors_speak_of_options_not_of_arguments(run, words, said):
    code, out, err = run("ask", "Is it?", "x", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "`" not in err


def test_replies_are_kept_unless_told_otherwise(run, scripted):
    fake = scripted(SCRIPT)
    words = ("ask", "Is it?", "x")
    assert "from the cache" not in run(*words, cache="kept")[1]
    assert "from the cache" in run(*words, cache="kept")[1]
    assert len(fake.requests) == 1
    assert "from the cache" not in run(*words, "--no-cache", cache="kept")[1]
    assert len(fake.requests) == 2


def test_the_cache_is_in_the_users_cache_folder_unless_a_variable_names_another(tmp_path):
    assert cache_file(tmp_path) == tmp_path / "replies.db"
    assert cache_file(None).name == "replies.db"
    assert "yesno" in cache_file(None).parts


def test_a_budget_in_dollars_needs_a_price_and_holds(run, scripted):
    scripted(SCRIPT)
    code, _, err = run("ask", "Is it?", "x", "--budget-usd", "0", "--price", "1,1")
    assert code == 2
    assert "the budget of $0" in err


def test_errors_are_json_too_where_json_is_asked_for(run, scripted):
    code, out, err = run("ask", "Is it?", "x", "-m", "fakee", "--json")
    shown = json.loads(out)
    assert code == 2
    assert (shown["type"], shown["error"]) == ("error", "ConfigError")
    assert err == f"yesno: {shown['message']}\n"
    scripted({"<refusal>": 1})
    assert json.loads(run("ask", "Is it?", "x", "--json")[1])["type"] == "refusal"


def test_every_command_has_help_that_fits_80_columns(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("", *COMMANDS):
        code, out, _ = run(*name.split(), "--help")
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80
        assert (name == "") != ("--debug" in out)


def test_the_list_of_commands_says_what_each_says_of_itself(run):
    shown = " ".join(
        " ".join(run(*group, "--help")[1].split()) for group in ([], *([name] for name in GROUPS))
    )
    for name, (_, line) in COMMANDS.items():
        assert inspect.getdoc(load(name)).splitlines()[0] == line
        assert f"{name.split()[-1]} {line}" in shown


def test_help_imports_no_command_and_nothing_heavy():
    code = "import sys; sys.argv[1:] = ['--help']\nfrom yesno.cli.main import main\ntry: main()\nexcept SystemExit: "
    code += "print([m for m in sys.modules if m.startswith(('yesno.', 'openai', 'httpx2'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    rooms = ["cli", "cli.main", "cli.options", "cli.session", "cli.values", "errors"]
    assert sorted(ast.literal_eval(done.stdout.splitlines()[-1])) == [f"yesno.{room}" for room in rooms]


class Timer:
    """Stands for a timer whose time comes when the test says so."""

    def __init__(self, seconds, call):
        self.seconds, self.call = seconds, call
        self.events = []

    def start(self):
        self.events.append("start")

    def cancel(self):
        self.events.append("cancel")


def test_what_shows_progress_begins_after_two_seconds_and_ends_with_the_work():
    timers, told = [], []

    def timer(*words):
        timers.append(Timer(*words))
        return timers[-1]

    with late(lambda: told.append("on"), lambda: told.append("off"), timer=timer):
        pass
    timers[0].call()
    assert told == []
    with suppress(ValueError), late(lambda: told.append("on"), lambda: told.append("off"), timer=timer):
        assert timers[1].seconds == 2
        timers[1].call()
        assert told == ["on"]
        raise ValueError
    assert told == ["on", "off"]
    assert [t.events for t in timers] == [["start", "cancel"]] * 2
