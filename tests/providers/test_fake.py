import pytest

from tests.providers.contract import ProviderContract
from yesno import DecisionModel, FakeProvider, YesNo
from yesno.errors import ConfigError


class TestFake(ProviderContract):
    provider = "fake"
    recorded = "openai_compatible/yes"

    def make(self, body):
        return FakeProvider(lambda prompt: body)


def test_a_sequence_is_played_again_from_its_start():
    model = DecisionModel(FakeProvider([{"Yes": 0.9, "No": 0.1}, {"No": 0.9, "Yes": 0.1}]))
    assert [model.decide("x", YesNo("q?")).is_yes() for _ in range(5)] == [True, False, True, False, True]


def test_an_empty_script_is_refused():
    with pytest.raises(ConfigError, match="empty"):
        FakeProvider([])


def test_payloads_are_kept_for_inspection():
    provider = FakeProvider()
    DecisionModel(provider).decide("hello", YesNo("q?"))
    assert "hello" in provider.requests[0]["messages"][-1]["content"]
