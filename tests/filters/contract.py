"""What every filter promises; each has a test class that inherits this."""

import logging
import pickle
from collections.abc import Generator
from typing import ClassVar

import pytest

from tests.shells import REFUSED, UNDECIDED, Async, Scripted, Sync
from yesno.errors import ConfigError, NoAnswer, ProviderUnavailable, Refused, UndecidedError
from yesno.flow import Ask

PRIVATE = "my card number is 4929-1234"


class FilterContract:
    """Subclass it, set `filter` and `impossible`, and write `flow` and `call`."""

    filter = None
    """The class under test; None for the contract itself."""
    settings: ClassVar = {}
    """What it cannot be made without."""
    impossible = ()
    """Pairs of settings that must be refused and the name that the error says."""
    falls_back = False
    """Whether a failing model is answered with a default result, and not raised."""

    def flow(self, made):
        """Return a flow of this filter that asks at least one question; its input holds `PRIVATE`."""
        raise NotImplementedError

    def call(self, made):
        """Call a filter that has a model with what `flow` takes."""
        raise NotImplementedError

    def make(self, **settings):
        return self.filter(**{**self.settings, **settings})

    def test_it_asks_in_batches_and_needs_no_model_to_be_made(self):
        flow = self.flow(self.make())
        assert isinstance(flow, Generator)
        batch = next(flow)
        assert batch
        assert all(isinstance(item, Ask) for item in batch)
        flow.close()

    def test_both_models_come_to_the_same_result(self):
        results = []
        for shell in (Sync, Async):
            scripted = Scripted(shell, default=0.7)
            results.append((str(scripted.run(self.flow(self.make()))), scripted.questions))
        assert results[0] == results[1]

    def test_a_model_given_to_it_is_used_when_it_is_called(self, shell):
        scripted = Scripted(shell, default=0.7)
        called = scripted.result(self.call(self.make(model=scripted.model)))
        assert str(called) == str(scripted.run(self.flow(self.make())))

    @pytest.mark.parametrize("model", [None, "openai:gpt-5.4-mini"])
    def test_calling_it_without_a_model_says_what_to_pass(self, model):
        with pytest.raises(ConfigError, match=r"model=DecisionModel\(\.\.\.\)"):
            self.call(self.make(model=model))

    def test_an_impossible_setting_is_refused_by_its_name(self):
        assert self.impossible
        for settings, name in self.impossible:
            with pytest.raises(ConfigError, match=name):
                self.make(**settings)

    def test_it_pickles_and_asks_the_same_afterwards(self):
        made = self.make()
        again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own bytes
        assert next(self.flow(made)) == next(self.flow(again))

    @pytest.mark.parametrize(
        ("reply", "error"),
        [
            (ProviderUnavailable("down", provider="fake", retryable=False), ProviderUnavailable),
            (REFUSED, Refused),
            (UNDECIDED, UndecidedError),
        ],
        ids=["failure", "refusal", "undecided"],
    )
    def test_a_model_without_an_answer_is_raised_or_falls_back_and_tells_nobody_the_input(
        self, shell, reply, error, caplog
    ):
        scripted = Scripted(shell, default=reply)
        with caplog.at_level(logging.DEBUG, logger="yesno.filters"):
            if self.falls_back:
                scripted.run(self.flow(self.make()))
                warned = [
                    r for r in caplog.records if r.levelno == logging.WARNING and r.name == "yesno.filters"
                ]
                assert len(warned) == 1
            else:
                with pytest.raises(error) as caught:
                    scripted.run(self.flow(self.make()))
                assert PRIVATE not in str(caught.value)
                assert not isinstance(caught.value, NoAnswer) or caught.value.outcome is not None
        assert PRIVATE not in caplog.text
        assert PRIVATE not in "".join(str(vars(record)) for record in caplog.records)

    def test_its_text_form_shows_no_input(self):
        assert PRIVATE not in repr(self.make())
