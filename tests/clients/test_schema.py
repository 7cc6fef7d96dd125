"""schemathesis, which makes requests from the server's own OpenAPI document, good ones and bad ones."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("schemathesis", reason="the extra `compat` is not installed")

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]


def test_the_server_keeps_to_its_own_description_and_never_fails(root, tmp_path):
    """No 5xx, no status, header or body that is not described; good requests are taken, bad ones refused."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{root}/openapi.json"]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", "25", "--generation-deterministic"]
    command += ["--continue-on-failure", "--no-color", "--report-dir", str(tmp_path)]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.clients.schema_hooks"}
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, env={**os.environ, **hooks}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 selected / 6 total" in done.stdout
