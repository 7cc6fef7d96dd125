"""Run `approve_later` in a process of its own, against scripted replies: `python -m tests.examples.driver FOLDER WORDS`."""

import json
import os
import sys

import httpx2
from openai import OpenAI

from examples import approve_later
from yesno import DecisionModel, FakeProvider

CALL = {"name": "refund", "arguments": '{"order": "A7", "cents": 900}'}


def chat(text=None, call=None):
    """Return a reply of Chat Completions."""
    message = {"role": "assistant", "content": text}
    if call is not None:
        message["tool_calls"] = [{"id": "c1", "type": "function", "function": call}]
    finish = "stop" if call is None else "tool_calls"
    choice = {"index": 0, "finish_reason": finish, "message": message}
    return {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.4-mini",
        "choices": [choice],
    }


def serve(request):
    """Answer as the model would: ask for a refund, then say what came of it."""
    last = json.loads(request.content)["messages"][-1]
    reply = chat(call=CALL) if last["role"] == "user" else chat(f"Done: {last['content']}")
    return httpx2.Response(200, json=reply)


def client():
    return OpenAI(
        api_key="k" * 20,
        base_url="https://api.example/v1",
        http_client=httpx2.Client(transport=httpx2.MockTransport(serve)),
        max_retries=0,
    )


def run(*words):
    """Run the example in the current folder and return what it says."""
    judge = DecisionModel(FakeProvider({"Yes": 0.7, "No": 0.3}))
    return approve_later.main([*words], client(), judge)


if __name__ == "__main__":
    os.chdir(sys.argv[1])
    sys.stdout.write(run(*sys.argv[2:]))
