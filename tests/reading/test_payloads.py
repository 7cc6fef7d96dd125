"""Whole server replies, from the JSON body to the shares of the labels."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from yesno.reading.labels import LabelSet, letter_labels, name_labels, number_labels, yes_no_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.wire.completion import completion_from

FOLDER = Path(__file__).parents[1] / "payloads" / "reading"
YES_NO = yes_no_labels()
SCORE = number_labels([f"score {i}" for i in range(11)], start=0)


@dataclass(frozen=True)
class Shares:
    """What a reply says about the labels, by key; labels not named here are not checked."""

    labels: LabelSet
    shares: dict[str, float]
    mass: float
    missing: set[str] = field(default_factory=set)
    flags: tuple[str, ...] = ()
    within: float = 1e-4


READ = {
    "topk-missing-option": Shares(
        name_labels(["Yes", "No", "Maybe"]), {"No": 0.9278, "Yes": 0.0619, "Maybe": 0.0103}, 0.96, {"Maybe"}
    ),
    "minus-inf-json": Shares(YES_NO, {"yes": 0.999999, "no": 1e-6}, 1.0, {"no"}, ("censored",), 1e-9),
    "clip-100": Shares(
        letter_labels(["one", "two", "three"]),
        {"one": 0.999999, "two": 5e-7, "three": 5e-7},
        0.999999,
        {"two", "three"},
        ("censored",),
        1e-9,
    ),
    "sampled-absent-from-top": Shares(YES_NO, {"yes": 0.8947, "no": 0.1053}, 0.95),
    "fewer-than-requested": Shares(
        letter_labels(["w", "x", "y", "z"]), {"x": 0.97, "y": 0.02, "w": 0.005}, 0.99, {"w", "z"}
    ),
    "duplicate-decoded-token": Shares(name_labels("89"), {"8": 0.5652, "9": 0.4348}, 0.92),
    "duplicate-dict-overwrite": Shares(YES_NO, {"yes": 0.8571}, 0.7, flags=("lossy", "undecodable")),
    "variant-case-space": Shares(YES_NO, {"yes": 0.7368, "no": 0.2632}, 0.95),
    "variant-punctuation": Shares(YES_NO, {"yes": 0.08, "no": 0.92}, 1.0),
    "prefix-not-label": Shares(YES_NO, {"yes": 0.2857, "no": 0.7143}, 0.7),
    "choices-space-mismatch": Shares(name_labels([" YES", " NO"]), {" YES": 0.9596, " NO": 0.0404}, 0.99),
    "bpe-marker-token": Shares(YES_NO, {"yes": 0.8, "no": 0.2}, 1.0),
    "space-lost-in-alternatives": Shares(YES_NO, {"yes": 0.6667}, 0.9),
    "utf8-escaped-token": Shares(
        name_labels("🌍🔥"), {"🌍": 0.6979, "🔥": 0.3021}, 0.993, flags=("partial_bytes",)
    ),
    "logprobs-include-reasoning": Shares(YES_NO, {"yes": 0.25, "no": 0.75}, 0.98),
    "newline-first-token": Shares(name_labels(["safe", "unsafe"]), {"unsafe": 0.7489}, 0.999),
    "bom-or-quote-first": Shares(YES_NO, {"yes": 0.66, "no": 0.34}, 1.0),
    "reason-contains-label": Shares(
        SCORE, {"score 8": 0.5, "score 9": 0.5}, 1.0, {f"score {i}" for i in (0, 1, 2, 3, 4, 5, 6, 7, 10)}
    ),
    "fixed-offset-score": Shares(
        SCORE, {"score 10": 0.6, "score 9": 0.4}, 1.0, {f"score {i}" for i in range(9)}
    ),
    "fixed-offset-score-split": Shares(
        SCORE,
        {"score 10": 0.63, "score 1": 0.07, "score 9": 0.3},
        1.0,
        {f"score {i}" for i in (0, 2, 3, 4, 5, 6, 7, 8)},
    ),
    "length-normalisation-bias": Shares(
        name_labels(["organ", "organelle", "organometallic"]),
        {"organ": 0.6333, "organelle": 0.3333, "organometallic": 0.0333},
        0.9,
        within=0.01,
    ),
    "length-normalisation-bias-long": Shares(
        name_labels(["organ", "organelle", "organometallic"]),
        {"organ": 0.3684, "organelle": 0.4737, "organometallic": 0.1577},
        0.95,
        within=0.001,
    ),
    "localized-yes": Shares(YES_NO, {"yes": 0.8333, "no": 0.1667}, 0.9),
    "multi-token-negative": Shares(YES_NO, {"yes": 0.2691, "no": 0.7309}, 0.929),
    "no-none-option": Shares(
        letter_labels(["billing", "technical", "none of these"]),
        {"billing": 0.04, "technical": 0.06, "none of these": 0.9},
        1.0,
    ),
}

UNREAD = {
    "sentinel-9999-sampled": (SCORE, "sentinel_logprob"),
    "nan-scores": (YES_NO, "sentinel_logprob"),
    "utf8-replacement": (name_labels("👍👎"), "undecodable_tokens"),
    "positive-first-logprob": (YES_NO, "invalid_logprob"),
    "prob-in-logprob-field": (YES_NO, "probabilities_in_logprob_field"),
    "local-ollama-prob-as-logprob": (YES_NO, "probabilities_in_logprob_field"),
    "guidance-zero": (name_labels(["heads", "tails"]), "degenerate"),
    "bom-or-quote-first-only-marks": (YES_NO, "sentinel_logprob"),
    "all-filtered-zero-division": (number_labels("abcde", start=1), "low_label_mass"),
    "logit-bias-not-reflected": (YES_NO, "low_label_mass"),
    "silent-score-fallback": (YES_NO, "no_logprobs"),
    "parse-fail-half": (YES_NO, "no_logprobs"),
    "thinking-eats-budget": (YES_NO, "truncated"),
}

DECLINED = {"openai-refusal-field": "refusal", "azure-completion-filter": "content_filter"}


def by_id(names):
    return [pytest.param(name, id=name.replace("-", "_")) for name in names]


def completion(name):
    payload = json.loads(FOLDER.joinpath(f"{name}.json").read_text("utf-8"))
    assert payload["source"] == "made"
    assert payload["from"].startswith("https://")
    response = payload["response"]
    return completion_from(json.loads(response) if isinstance(response, str) else response)


@pytest.mark.parametrize("name", by_id(READ))
def test_a_whole_reply_is_read(name):
    expected = READ[name]
    got = read(completion(name), expected.labels)
    assert isinstance(got, Reading)
    keys = [label.key for label in expected.labels.labels]
    shares = dict(zip(keys, got.probabilities, strict=True))
    assert {key: shares[key] for key in expected.shares} == pytest.approx(
        expected.shares, abs=expected.within
    )
    assert got.label_mass == pytest.approx(expected.mass, abs=1e-3)
    assert {keys[i] for i in got.missing} == expected.missing
    assert got.flags == expected.flags


@pytest.mark.parametrize("name", by_id(READ))
def test_a_whole_reply_gives_numbers_that_json_can_hold(name):
    got = read(completion(name), READ[name].labels)
    json.dumps([got.probabilities, got.low, got.high, got.mass, got.spare, got.label_mass], allow_nan=False)
    assert sum(got.probabilities) == pytest.approx(1, abs=1e-9)
    assert all(0 < p < 1 for p in got.probabilities)
    assert all(a <= p <= b for a, p, b in zip(got.low, got.probabilities, got.high, strict=True))


@pytest.mark.parametrize("name", by_id(UNREAD))
def test_a_whole_reply_without_a_distribution_gives_no_number(name):
    labels, reason = UNREAD[name]
    got = read(completion(name), labels)
    assert isinstance(got, Unread)
    assert got.reason == reason


@pytest.mark.parametrize("name", by_id(DECLINED))
def test_a_whole_reply_that_declines_is_not_read(name):
    assert read(completion(name), YES_NO) == Declined(DECLINED[name])


def test_every_payload_is_read_by_a_test():
    assert {path.stem for path in FOLDER.iterdir()} == READ.keys() | UNREAD.keys() | DECLINED.keys()
