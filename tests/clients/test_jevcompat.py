"""JevCompat, the public conformance suite for System One servers, through its own command.

jevcompat 0.1.1 has 33 MUST and 15 SHOULD; of the two MUST about keys exactly one applies to a server, and two SHOULD
apply to servers with keys only.
"""

import json
import subprocess
import sys

import pytest

pytest.importorskip("jevcompat", reason="the extra `compat` is not installed")

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

ABOUT_KEYS = {"auth.bearer", "auth.missing", "auth.invalid"}


@pytest.fixture
def suite(tmp_path):
    """Return a function that runs the suite against an address and returns its report."""

    def suite(url, *options):
        path = tmp_path / "report.json"
        command = [sys.executable, "-m", "jevcompat.cli", "test", url, "--json", str(path), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        assert path.exists(), done.stdout + done.stderr
        return json.loads(path.read_text(encoding="utf-8"))

    return suite


def not_passed(report):
    """Return what did not pass, with the first reason."""
    return {
        result["id"]: result["reason"] or result["findings"][0]["message"]
        for result in report["results"]
        if result["status"] != "pass"
    }


def passed(report, level):
    return report["summary"][level]["passed"]


def test_all_32_requirements_and_all_13_recommendations_that_apply_are_met(root, suite):
    report = suite(root)
    assert not_passed(report).keys() == ABOUT_KEYS, not_passed(report)
    assert report["summary"]["verdict"] == "conformant"
    assert (passed(report, "MUST"), passed(report, "SHOULD")) == (32, 13)
    assert report["info"]["limits"] == {
        "choice options accepted up to": 255,
        "score levels accepted up to": 10,
    }


def test_with_keys_the_recommendations_about_them_are_met_too(keyed, suite):
    url, key = keyed
    report = suite(url, "--key", key)
    assert not_passed(report).keys() == {"auth.ignored-when-off"}, not_passed(report)
    assert report["summary"]["verdict"] == "conformant"
    assert (passed(report, "MUST"), passed(report, "SHOULD")) == (32, 15)


def test_a_model_of_135_million_parameters_meets_them_all_too(command, suite):
    """With one request at a time: neighbours in a batch change what llama.cpp rounds to."""
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    from yesno.models.download import pull

    pull("smollm2")
    report = suite(command("--model", "local:smollm2", "--concurrency", "1", "--no-memory"))
    assert not_passed(report).keys() == ABOUT_KEYS, not_passed(report)
    assert (passed(report, "MUST"), passed(report, "SHOULD")) == (32, 13)
