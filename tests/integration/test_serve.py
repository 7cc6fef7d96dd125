"""`yesno serve` as a process: it says where it is, answers, and ends when it is told to."""

import json
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

pytestmark = pytest.mark.integration


@pytest.fixture
def server():
    command = [
        sys.executable,
        "-m",
        "yesno",
        "serve",
        "--model",
        "a=fake:x",
        "--port",
        "0",
        "--no-access-log",
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        line = process.stderr.readline()
        yield re.search(r"http://127\.0\.0\.1:\d+", line)[0], process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


BODY = {
    "model": "a",
    "input": "I was charged twice",
    "questions": [{"type": "predicate", "instructions": "Is this about billing?"}],
}


def test_a_server_answers_many_clients_and_ends_when_told_to(server):
    address, process = server
    with httpx2.Client(base_url=address) as client, ThreadPoolExecutor(8) as pool:
        assert client.get("/readyz").json() == {"status": "ready"}
        answers = list(pool.map(lambda _: client.post("/v1/decisions", json=BODY), range(50)))
        assert {answer.json()["answers"][0]["probability"] for answer in answers} == {0.8}
        metrics = client.get("/metrics").text
        assert 'yesno_requests_total{path="/v1/decisions",status="200"} 50.0' in metrics
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) in (0, -signal.SIGTERM)
    assert {json.loads(line)["level"] for line in process.stderr} <= {"info"}


def test_a_request_of_a_megabyte_is_taken(server):
    address, _ = server
    with httpx2.Client(base_url=address) as client:
        answer = client.post(
            "/v1/decisions",
            content=json.dumps({**BODY, "input": "x" * 1_000_000}),
            headers={"content-type": "application/json"},
        )
    assert answer.status_code == 200
