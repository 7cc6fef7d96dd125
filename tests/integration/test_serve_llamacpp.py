"""The proxy before llama.cpp's server, called by the official SDK."""

import asyncio

import httpx2
import openai
import pytest

from tests.integration.serving import Serving
from tests.integration.support import KEY

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]

TEXT = """
[models.judge]
model = "openai-compatible:smollm2"
base_url = "{address}"
api_key_env = "UP_KEY"
min_label_mass = 0.0

[chat]
decide_with = "judge"
default = "small"

[chat.routes.small]
base_url = "{address}"
model = "smollm2"
api_key_env = "UP_KEY"
description = "small talk"

[chat.routes.other]
base_url = "{address}"
model = "smollm2"
api_key_env = "UP_KEY"
description = "proofs"

[chat.routes.locked]
base_url = "{address}"
model = "smollm2"
api_key_env = "WRONG_KEY"
description = "nothing at all"
capabilities = ["json_schema"]
"""
HI = [{"role": "user", "content": "Name a colour."}]


@pytest.fixture(scope="module")
def client(address, tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving")
    (folder / "serve.toml").write_text(TEXT.format(address=address))
    serving = Serving(folder, "--config", "serve.toml", UP_KEY=KEY, WRONG_KEY="wrong")
    try:
        asyncio.run(serving.started())
        with openai.OpenAI(base_url=f"{serving.url}/v1", api_key="none", max_retries=0) as client:
            yield client
    finally:
        serving.stop()


def test_an_answer_comes_through_with_its_route(client):
    raw = client.chat.completions.with_raw_response.create(
        model="small", messages=HI, max_tokens=8, temperature=0
    )
    reply = raw.parse()
    assert raw.headers["x-yesno-route"] == "small"
    assert raw.headers["x-yesno-route-why"] == "named"
    assert reply.choices[0].message.content
    assert reply.usage.completion_tokens <= 8


def test_a_model_chooses_the_route(client):
    """The model is close to chance: which route it is does not matter, that it was read does."""
    asked = {"model": "auto", "messages": HI, "max_tokens": 1}
    headers = client.post("/chat/completions", cast_to=httpx2.Response, body=asked).headers
    assert headers["x-yesno-route-why"] == "chosen"
    assert 0 < float(headers["x-yesno-route-probability"]) < 1


def test_events_add_up_to_the_answer_that_comes_at_once(client):
    asked = {"model": "small", "messages": HI, "max_tokens": 12, "temperature": 0, "seed": 1}
    whole = client.chat.completions.create(**asked).choices[0].message.content
    events = list(
        client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    assert "".join(event.choices[0].delta.content or "" for event in events if event.choices) == whole
    assert events[-1].usage.completion_tokens > 0
    assert len(events) > 3


def test_an_error_of_the_server_behind_is_its_own(client, address):
    asked = {"model": "small", "messages": [{"role": "nobody", "content": 3}]}
    with pytest.raises(openai.APIStatusError) as through:
        client.chat.completions.create(**asked)
    with (
        openai.OpenAI(base_url=address, api_key=KEY, max_retries=0) as straight,
        pytest.raises(openai.APIStatusError) as direct,
    ):
        straight.chat.completions.create(**{**asked, "model": "smollm2"})
    assert through.value.status_code == direct.value.status_code
    assert through.value.response.json() == direct.value.response.json()


def test_a_wrong_key_of_the_operator_is_no_fault_of_the_caller(client):
    with pytest.raises(openai.InternalServerError) as info:
        client.chat.completions.create(model="locked", messages=HI)
    assert info.value.status_code == 502
    assert info.value.body["code"] == "upstream_key_refused"


def test_a_stream_can_be_left(client):
    with client.chat.completions.create(model="small", messages=HI, max_tokens=2000, stream=True) as stream:
        next(iter(stream))
    reply = client.chat.completions.create(
        model="small", messages=HI, max_tokens=1
    )  # its one place is free again
    assert reply.usage.completion_tokens == 1
