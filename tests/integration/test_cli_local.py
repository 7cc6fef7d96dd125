"""The program with a real model."""

import json

import pytest

from yesno.cli.main import main

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]


def run(capsys, *words):
    with pytest.raises(SystemExit) as info:
        main([*words])
    out, err = capsys.readouterr()
    return info.value.code, out, err


def test_ask_prints_one_json_object_from_a_real_model(capsys):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    words = ("ask", "Is this about billing?", "I was charged twice", "-m", "local:smollm2", "--json")
    code, out, _ = run(capsys, *words, "--no-cache")
    assert code in (0, 3)
    shown = json.loads(out)
    assert shown["model"] == "smollm2"
    assert shown["type"] in ("yes_no", "undecided")


def test_demo_runs_to_its_end_and_counts_what_is_right(capsys):
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    code, out, _ = run(capsys, "demo", "--model", "local:smollm2", "--json")
    assert code == 0
    report = json.loads(out)
    assert len(report["answers"]) == 12
    assert 0 <= report["right"] <= 12
    assert set(report["tools"]) == {"get_forecast", "send_email", "convert_currency", "create_invoice"}
