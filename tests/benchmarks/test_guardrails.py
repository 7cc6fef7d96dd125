"""The labelled texts for the ready checks, and how they are asked about."""

import pytest

from benchmarks.guardrails.__main__ import answered, asked
from benchmarks.guardrails.items import SETS, Item, load
from yesno import DecisionModel, FakeProvider
from yesno.filters import ready_checks

each_set = pytest.mark.parametrize("name", SETS)


@each_set
def test_both_splits_hold_both_labels_and_share_no_group(name):
    dev, heldout = load(name, "dev"), load(name, "heldout")
    for items in (dev, heldout):
        assert {item.rejects for item in items} == {True, False}
        assert all(item.text.strip() for item in items)
    assert not {item.group for item in dev} & {item.group for item in heldout}
    assert len({item.id for item in [*dev, *heldout]}) == len(dev) + len(heldout)


def test_every_ready_check_has_labelled_texts():
    assert {found.check for found in SETS.values()} == set(ready_checks())


def test_a_claim_is_shown_with_its_sources_as_guardrails_show_it():
    item = Item("i", "g", "It is free.", rejects=True, sources=("It costs nothing.",))
    provider = FakeProvider({"Yes": 0.25, "No": 0.75})
    with DecisionModel(provider) as model:
        row = answered(model, item, asked("unsupported_claim", item, {}))["shipped"]
    assert row["probability"] == 0.25
    prompt = provider.requests[0]["messages"][-1]["content"]
    assert '"response": "It is free."' in prompt
    assert '"sources": ["It costs nothing."]' in prompt
