"""`yesno doctor` against llama.cpp's own server, with a model that is close to chance."""

import gc
import json

import pytest

from yesno.cli.main import main
from yesno.models.download import pull

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

KEY = "a-key-for-this-test"


@pytest.fixture(scope="module")
def address():
    xllamacpp = pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    params = xllamacpp.CommonParams()
    params.model.path = str(pull("smollm2"))
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [KEY]
    params.n_parallel = 1
    params.n_ctx = 4096
    params.verbosity = -1
    params.warmup = False
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
    gc.collect()


@pytest.fixture
def doctor(capsys, monkeypatch):
    def call(*words, key=KEY):
        monkeypatch.setenv("LLAMA_API_KEY", key)
        with pytest.raises(SystemExit) as info:
            main(["doctor", *words])
        out, err = capsys.readouterr()
        assert key not in out + err
        return info.value.code, out

    return call


def test_a_real_server_is_reached_read_and_known_for_what_it_does(doctor, address):
    code, out = doctor("-m", "llamacpp:smollm2", "--base-url", address, "--json")
    shown = json.loads(out)
    rows = {row["name"]: row for row in shown["checks"]}
    assert code in (0, 3)
    assert (shown["provider"], shown["model"]) == ("llamacpp", "smollm2")
    for name in ("reachable", "reply format", "log-probabilities", "alternatives", "reasoning"):
        assert rows[name]["status"] == "ok", rows[name]
    assert rows["alternatives"]["numbers"]["listed"] == 20
    assert rows["temperature"]["numbers"]["kind"] == "raw"
    assert rows["degenerate"]["status"] in ("ok", "unknown")
    assert rows["prompt cache"]["numbers"]["input_tokens"] > 1024
    assert rows["prompt cache"]["numbers"]["cached_tokens"] > 512
    assert shown["requests"] <= 12
    assert shown["usage"]["input_tokens"] > 2048


def test_the_table_of_a_real_server_fits_80_columns(doctor, address, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out = doctor("-m", "llamacpp:smollm2", "--base-url", address)
    assert code in (0, 3)
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "tokens in" in out


def test_a_wrong_key_is_told_with_exit_code_4(doctor, address):
    code, out = doctor("-m", "llamacpp:smollm2", "--base-url", address, key="wrong-key-of-this-test")
    assert code == 4
    assert "401" in out
    assert "set the right key" in out


def test_an_embedded_model_is_checked_the_same_way(doctor):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    code, out = doctor("-m", "local:smollm2", "--json")
    rows = {row["name"]: row for row in json.loads(out)["checks"]}
    assert code in (0, 3)
    assert rows["alternatives"]["numbers"] == {"listed": 100, "asked_for": 100}
    assert rows["temperature"]["numbers"]["kind"] == "raw"
