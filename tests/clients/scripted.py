"""A model that needs no weights: it reads the prompt, and its answers depend on nothing but its words."""

import re

from yesno import AsyncDecisionModel, FakeProvider
from yesno.engine.retry import RetryPolicy
from yesno.errors import ProviderUnavailable

__all__ = ["BUSY_ONCE", "DOWN", "MUTE", "REFUSE", "model"]

REFUSE = "words that the model declines to talk about"
MUTE = "words to which the model says nothing of use"
DOWN = "words at which the provider fails"
BUSY_ONCE = "words at which the provider is busy, once"

_ROW = re.compile(r"^([A-Za-z])\. (.*)$", re.MULTILINE)
_WORD = re.compile(r"\w{3,}")
_INPUT = re.compile(r"<input>\n(.*?)\n</input>\n(.*)", re.DOTALL)


def model():
    """Return a model with a script of its own; it leaves retries to the client."""
    return AsyncDecisionModel(FakeProvider(_Script(), model="scripted-1"), retry=RetryPolicy(attempts=1))


class _Script:
    """Likes rows that share words with the input, and yes for questions that do; 3 % go elsewhere."""

    def __init__(self):
        self._seen = set()

    def __call__(self, prompt):
        if DOWN in prompt:
            raise ProviderUnavailable(
                "the scripted provider is down", provider="fake", status=503, retry_after=1
            )
        if BUSY_ONCE in prompt and prompt not in self._seen:
            self._seen.add(prompt)
            raise ProviderUnavailable(
                "the scripted provider is busy", provider="fake", status=429, retry_after=0.01
            )
        if REFUSE in prompt:
            return {"<refusal>": 1.0}
        if MUTE in prompt:
            return {"Perhaps": 0.9, "Maybe": 0.1}
        shown, asked = _INPUT.search(prompt).groups()
        known = {word.casefold() for word in _WORD.findall(shown)}
        rows = _ROW.findall(asked)
        if not rows:
            yes = 0.85 if _shared(asked, known) else 0.12
            return {"Yes": yes, "No": 0.97 - yes}
        weights = [1 + 6 * _shared(text, known) for _, text in rows]
        letters = {
            letter: 0.97 * weight / sum(weights) for (letter, _), weight in zip(rows, weights, strict=True)
        }
        return dict(sorted(letters.items(), key=lambda pair: -pair[1]))


def _shared(text, known):
    return sum(word.casefold() in known for word in _WORD.findall(text))
