import pytest

from tests.serve.test_keys import TODAY
from yesno.errors import ConfigError
from yesno.serve.config import is_loopback, load_config
from yesno.serve.keys import add_key
from yesno.serve.tables import Table

MODELS = '[models.fast]\nmodel = "fake:"\n'
CHAT = """
[chat]
decide_with = "fast"
default = "small"
[chat.routes.small]
base_url = "http://127.0.0.1:8080/v1"
model = "tiny"
description = "small talk"
[chat.routes.large]
base_url = "https://api.example.com/v1"
model = "huge"
description = ["proofs", "long code"]
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load(text, **environment):
        path = tmp_path / "serve.toml"
        path.write_text(text)
        return load_config(path.relative_to(tmp_path), environment.get)

    return load


def refused(load, text, **environment):
    with pytest.raises(ConfigError) as info:
        load(text, **environment)
    return str(info.value).split("\n")


def test_a_model_is_enough(load):
    config = load(MODELS)
    assert (config.file.server.host, config.file.server.cors_origins, config.ring) == ("127.0.0.1", [], None)
    assert config.file.models["fast"].model == "fake:"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[server]\nport = 99999\n", "line 2: server.port must be at most 65535, not 99999"),
        ("[server]\n\nhots = 'x'\n", "line 3: server.hots is unknown; did you mean 'host'?"),
        ("[servr]\n", "line 1: servr is unknown; did you mean 'server'?"),
        ("[server]\ntimeout_s = true\n", "line 2: server.timeout_s must be a number, not True"),
        ("[server]\ntimeout_s = inf\n", "line 2: server.timeout_s must be a finite number, not inf"),
        ("[server]\ntimeout_s = 0\n", "line 2: server.timeout_s must be greater than 0.0, not 0"),
        ("[server]\nmax_questions = '4'\n", "line 2: server.max_questions must be a whole number, not '4'"),
        ("[server]\nhost = ''\n", "line 2: server.host must not be empty"),
        ("server = 3\n", "line 1: server must be a table, not 3"),
        (
            "[limits]\nbudget_period = 'week'\n",
            "line 2: limits.budget_period must be one of 'day', 'month' or",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(load, text, said):
    first, *more = refused(load, text + MODELS)
    assert said in first
    assert first.startswith("serve.toml, line ")
    assert more == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("orders = 'x'", "orders must be a whole number of at least 1, or 'auto'"),
        (
            "strategy = 'guess'",
            "strategy must be one of 'auto', 'native', 'logprobs' or 'sampled', not 'guess'",
        ),
        ("price = { input = 1 }", "price.output is missing"),
        ("price = { input = -1, output = 1 }", "price.input must be at least 0.0, not -1"),
        ("base_url = 'localhost:8000'", "base_url must be an address such as"),
        ("base_url = 'http://user:pass@host/v1'", "base_url must be an address such as"),
        ("min_label_mass = 1.5", "min_label_mass must be at most 1.0, not 1.5"),
        ("template = ' '", "template must not be blank"),
        ("tempalte = 'x'", "tempalte is unknown; did you mean 'template'?"),
    ],
)
def test_a_mistake_about_a_model_is_told_with_its_line(load, line, said):
    (told,) = refused(load, MODELS + line)
    assert told.startswith(f"serve.toml, line 3: models.fast.{said}")


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(load):
    said = refused(load, "[server]\nport = -1\nhots = 1\n[models.fast]\nmodel = ''\n")
    assert [line.split(":")[0] for line in said] == [f"serve.toml, line {n}" for n in (2, 3, 5)]


def test_what_is_missing_altogether_is_told_without_a_line(load):
    assert refused(load, "[server]\n") == ["serve.toml: models is missing"]


def test_what_is_no_toml_is_told_with_the_line_that_the_parser_names(load):
    assert refused(load, MODELS + "x = = 1")[0].startswith("serve.toml is not TOML: Invalid value (at line 3")


def test_a_name_that_fits_no_header_is_refused(load):
    said = refused(load, "[models.'a b']\nmodel = 'fake:'\n")
    assert said == [
        "serve.toml, line 1: models.a b cannot be a name; take letters, digits and . _ : / -, "
        "a letter or digit first"
    ]


def test_routes_are_read(load):
    chat = load(MODELS + CHAT).file.chat
    assert (chat.name, list(chat.routes), chat.routes["large"].description) == (
        "auto",
        ["small", "large"],
        ["proofs", "long code"],
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('decide_with = "fast"', 'decide_with = "fats"', "line 5: chat.decide_with 'fats' is unknown; did you mean 'fast'?"),
        ('default = "small"', 'default = "smal"', "line 6: chat.default 'smal' is unknown; did you mean 'small'?"),
        ('description = "small talk"', "", "line 7: chat.routes.small needs a `description`"),
        ("[chat]", '[chat]\nname = "small"', "line 5: chat.name 'small' is the name of a route too"),
        ('"tiny"', '"tiny"\napi_key_env = "A_KEY"', "line 10: chat.routes.small.api_key_env names the environment variable A_KEY, which is not set"),
        ('"tiny"', '"tiny"\ncapabilities = ["json"]', "line 10: chat.routes.small.capabilities must be one of 'json_schema', not 'json'"),
        ('"tiny"', '"tiny"\nforward_headers = ["a b"]', "line 10: chat.routes.small.forward_headers must be a list of names"),
    ],
    ids=["decide_with", "default", "description", "name", "api_key_env", "capabilities", "forward_headers"],
)  # fmt: skip
def test_a_contradiction_about_chats_is_told_with_its_line(load, old, new, said):
    assert said in refused(load, MODELS + CHAT.replace(old, new, 1))[0]


def test_a_key_in_place_of_a_variable_is_refused_and_not_shown(load):
    for key in ("sk-proj-abc123", "sk_live_abc123"):
        (said,) = refused(load, MODELS + f'api_key_env = "{key}"')
        assert "must be the name of an environment variable, not a key" in said
        assert key not in said


def test_a_variable_that_is_set_will_do(load):
    assert load(MODELS + 'api_key_env = "A_KEY"', A_KEY="x").file.models["fast"].api_key_env == "A_KEY"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "10.0.0.1"])  # noqa: S104
def test_others_are_not_let_in_without_keys(load, tmp_path, host):
    text = f'[server]\nhost = "{host}"\n'
    (said,) = refused(load, text + MODELS)
    assert f"line 2: server.host – {host!r} can be reached from other machines, and there are no keys" in said
    (tmp_path / "keys.txt").write_text("# none\n")
    (said,) = refused(load, text + 'keys_file = "keys.txt"\n' + MODELS)
    assert "the file of keys is empty" in said
    add_key(tmp_path / "keys.txt", "alice", TODAY)
    assert load(text + 'keys_file = "keys.txt"\n' + MODELS).ring.keys[0].name == "alice"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_this_machine_alone_needs_none(load, host):
    assert is_loopback(host)
    assert load(f'[server]\nhost = "{host}"\n{MODELS}').ring is None


def test_a_missing_file_of_keys_is_told_once(load):
    (said,) = refused(load, f'[server]\nhost = "10.0.0.1"\nkeys_file = "none.txt"\n{MODELS}')
    assert "line 3: server.keys_file – the file of keys 'none.txt' cannot be read" in said


def test_limits_of_one_key_stand_in_place_of_the_common_ones(load, tmp_path):
    for name in ("alice", "bob"):
        add_key(tmp_path / "keys.txt", name, TODAY)
    config = load(
        '[server]\nkeys_file = "keys.txt"\n[limits]\nrequests_per_minute = 60\nburst = 5\n'
        '[keys.alice]\nburst = 9\nmodels = ["fast"]\n' + MODELS
    )
    alice, bob = config.limits_of("alice"), config.limits_of("bob")
    assert (alice.requests_per_minute, alice.burst, alice.models) == (60, 9, ["fast"])
    assert (bob.requests_per_minute, bob.burst) == (60, 5)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("[keys.alise]\n", "line 3: keys.alise is not in the file of keys; 'alise' is unknown; did you mean 'alice'?"),
        ('[keys.alice]\nmodels = ["fats"]\n', "line 4: keys.alice.models 'fats' is unknown; did you mean 'fast'?"),
        ("[keys.alice]\nbrust = 4\n", "line 4: keys.alice.brust is unknown; did you mean 'burst'?"),
    ],
    ids=["key", "model", "field"],
)  # fmt: skip
def test_a_mistake_about_a_key_is_told_with_its_line(load, tmp_path, table, said):
    add_key(tmp_path / "keys.txt", "alice", TODAY)
    assert refused(load, '[server]\nkeys_file = "keys.txt"\n' + table + MODELS) == [f"serve.toml, {said}"]


def test_limits_of_keys_need_a_file_of_keys(load):
    assert "line 1: keys has limits of keys, and `keys_file`" in refused(load, "[keys.alice]\n" + MODELS)[0]


def test_a_budget_in_dollars_needs_prices(load):
    text = MODELS.replace("fake:", "groq:x") + CHAT + "[limits]\nbudget_usd = 1\n"
    said = refused(load, text)
    assert [line.partition(": ")[2].partition(" ")[0] for line in said] == [
        "models.fast",
        "chat.routes.small",
        "chat.routes.large",
    ]
    assert all("needs a `price`" in line for line in said)


def test_every_table_says_what_it_is_for():
    waiting = [Table]
    while waiting:
        table = waiting.pop()
        waiting += table.__subclasses__()
        assert table.__doc__
