"""The official clients at a server with keys."""

import openai
import pytest

pytest.importorskip("typesafe_sdk", reason="the extra `compat` is not installed")

import typesafe_sdk
from openai import OpenAI
from typesafe_sdk import Noul, RetryPolicy, TypeSafeClient

pytestmark = [pytest.mark.integration, pytest.mark.enable_socket]


def openai_asked(url, key):
    question = {"type": "predicate", "instructions": "Is it?"}
    with OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        client.models.list()
        return client.decisions.create(model="fake", input="x", questions=[question])


def typesafe_asked(url, key):
    with TypeSafeClient(base_url=url, api_key=key, retry=RetryPolicy(max_retries=0)) as client:
        client.models.list()
        return client.system_one(state="x", questions={"q": Noul(instructions="Is it?")})


def test_both_send_their_key_as_the_server_reads_it(keyed):
    assert openai_asked(*keyed).answers[0].probability > 0.5
    assert typesafe_asked(*keyed).nouls["q"].noul > 0.5


def test_a_wrong_key_is_each_clients_own_error(keyed):
    url, key = keyed
    with pytest.raises(openai.AuthenticationError) as luna:
        openai_asked(url, f"{key}x")
    with pytest.raises(typesafe_sdk.TypeSafeAuthenticationError) as jev:
        typesafe_asked(url, f"{key}x")
    for caught in (luna, jev):
        assert key not in str(caught.value)
        assert caught.value.request_id
