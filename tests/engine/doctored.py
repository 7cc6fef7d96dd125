"""A chat server with one thing wrong, behind the official SDK."""

import json
import math

import httpx2

from tests.engine.support import Server, patient
from yesno.providers.openai_compatible import OpenAICompatible

WORDS = [
    "Yes",
    "No",
    "yes",
    "no",
    "The",
    "It",
    "A",
    "I",
    "Heads",
    "Maybe",
    "This",
    "Well",
    "As",
    "Sure",
    "Not",
]
WORDS += ["One", "Two", "So", "If", "We", "He", "She", "They", "You"]
EVEN, OBVIOUS = (0.5, 0.4), (0.9, 0.05)
KEY = "sk-a-secret-of-this-test"


class ChatHost(Server):
    """Answers as a good host does; each argument spoils one thing.

    Args:
        cap: Most alternatives that are listed; a larger number is a 400 when `strict_cap`.
        scaled: Log-probabilities are divided by the temperature.
        silent: Log-probabilities are left out.
        certain: The written token has the log-probability 0, and nothing else is listed.
        thinking: `"span"` writes a reasoning span first, `"usage"` only counts its tokens.
        caching: The second of two equal beginnings is reported as cached.
        drift: What each further even question takes from P(yes).
        off: Part of the probability that falls on other words.
    """

    def __init__(self, **faults):
        super().__init__()
        self.faults = faults
        self.evens = 0
        self.begun = set()

    def __call__(self, request):
        body = json.loads(request.content)
        self.bodies.append(body)
        wrong = self.refusal(body)
        return wrong if wrong is not None else httpx2.Response(200, json=self.reply(body))

    def refusal(self, body):
        asked, cap = body.get("top_logprobs", 0), self.faults.get("cap", 20)
        if self.faults.get("strict_cap") and asked > cap:
            return error(400, f"top_logprobs must be at most {cap}", param="top_logprobs")
        if self.faults.get("only_default_temperature") and body["temperature"] not in (0.0, 1.0):
            return error(400, "temperature 0.5 is not supported", param="temperature")
        if self.faults.get("short_context") and len(str(body)) > 4000:
            return error(400, "the prompt is too long")
        return None

    def reply(self, body):
        prompt = body["messages"][-1]["content"]
        if "response_format" in body:
            return self.message(body, '{"answer": "Yes", "confidence": 90}', None)
        if body.get("max_tokens", 0) < 100 and self.faults.get("thinking") == "span":
            return self.message(body, "", self.span()[:4], finish="length")
        entries = self.span() if self.faults.get("thinking") == "span" else []
        entries = [*entries, self.answer(prompt, body)]
        logprobs = None if self.faults.get("silent") else {"content": entries}
        return self.message(body, "Yes", logprobs and logprobs["content"])

    def span(self):
        words = ["<think>", "It", " may", " land", " so", "</think>", "\n\n"]
        return [entry(word, -0.1, [(word, -0.1), ("x", -4.0)]) for word in words]

    def answer(self, prompt, body):
        if self.faults.get("certain"):
            return entry("Yes", 0.0, [("Yes", 0.0)])
        yes, no = EVEN if "coin" in prompt else OBVIOUS
        if "coin" in prompt:
            step = self.evens * self.faults.get("drift", 0.0)
            yes, no = yes - step, no + step
            self.evens += 1
        off, rest = self.faults.get("off", 0.0), 1 - yes - no
        shares = [yes, no, *(rest * 0.5**i for i in range(1, len(WORDS) - 1))]
        shares = [share * (1 - off) for share in shares]
        shares[WORDS.index("The")] += off
        logits = [math.log(share) for share in shares]
        if self.faults.get("scaled") and body["temperature"]:
            logits = [logit / body["temperature"] for logit in logits]
            whole = math.log(sum(math.exp(logit) for logit in logits))
            logits = [logit - whole for logit in logits]
        listed = sorted(zip(WORDS, logits, strict=True), key=lambda pair: -pair[1])
        return entry("Yes", logits[0], listed[: min(body["top_logprobs"], self.faults.get("cap", 20))])

    def message(self, body, text, entries, finish="stop"):
        beginning = str(body["messages"])[:4000]
        again = self.faults.get("caching") and len(beginning) == 4000 and beginning in self.begun
        self.begun.add(beginning)
        size = len(str(body["messages"])) // 4
        thought = 64 if self.faults.get("thinking") == "usage" else 0
        return {
            "model": "m-2026",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish,
                    "message": {"role": "assistant", "content": text},
                    "logprobs": None if entries is None else {"content": entries},
                }
            ],
            "usage": {
                "prompt_tokens": size,
                "completion_tokens": 1 + thought,
                "prompt_tokens_details": {"cached_tokens": size - 20 if again else 0},
                "completion_tokens_details": {"reasoning_tokens": thought},
            },
        }


def entry(token, logprob, listed):
    top = [{"token": word, "logprob": value, "bytes": list(word.encode())} for word, value in listed]
    return {"token": token, "logprob": logprob, "bytes": list(token.encode()), "top_logprobs": top}


def error(status, message, **fields):
    return httpx2.Response(status, json={"error": {"message": message, **fields}})


def provider_for(handler, kind=OpenAICompatible, *, model="m", base_url="http://server.test/v1", **options):
    """Return a provider, with a key, whose requests go to a function."""
    transport = httpx2.MockTransport(handler)
    return kind(
        model,
        api_key=KEY,
        base_url=base_url,
        http_client=httpx2.Client(transport=transport),
        async_http_client=httpx2.AsyncClient(transport=transport),
        **options,
    )


def hasty():
    """Return a policy that tries once more, and waits for nothing."""
    return patient([], attempts=2)
