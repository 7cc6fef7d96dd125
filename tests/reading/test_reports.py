"""Replies from public bug reports, with the value that an honest reader gives."""

import json
import math

import pytest

from tests.reading.build import YES_NO, letters, names, position, reply, yes_no
from yesno.errors import QuestionError
from yesno.evidence import Candidate, Position
from yesno.questions import Choice
from yesno.reading.answers import make_answer
from yesno.reading.labels import name_labels, yes_no_labels
from yesno.reading.logprobs import read
from yesno.reading.outcome import Declined, Reading, Unread
from yesno.wire.completion import completion_from

near = pytest.approx


def test_topk_missing_option_is_bounded_and_named_never_zero():
    got = names(
        ["Yes", "No", "Maybe"], position(("No", 0.9), ("Yes", 0.06), ("<think>", 0.02), ("Answer", 0.01))
    )
    assert got.missing == (2,)
    assert 0.9278 - 1e-4 <= got.low[1] <= got.probabilities[1] <= got.high[1] <= 0.9382
    assert 0 < got.probabilities[2] <= got.high[2] <= 0.0104
    question = Choice("q", ["Yes", "No", "Maybe"])
    answer = make_answer(question, got)
    assert (answer.value, answer.missing) == ("No", ("Maybe",))


def test_sentinel_9999_sampled_has_no_distribution():
    forced = [position((token, 1e-9), written=token, p=0.0) for token in ('{"', "score", '":')]
    forced = [Position(Candidate(p.chosen.token, 0.0), ()) for p in forced]
    value = Position(Candidate("8", -9999.0), (Candidate('":', 0.0), Candidate('"', -21.25)))
    end = Position(Candidate("}", 0.0), ())
    got = read(reply(*forced, value, end), name_labels([str(i) for i in range(10)]))
    assert got == Unread("sentinel_logprob")


def test_minus_inf_json_is_censored_and_the_winner_stays_below_one():
    body = (
        '{"choices":[{"finish_reason":"stop","message":{"content":"Yes"},"logprobs":{"content":[{"token":"Yes",'
        '"logprob":0.0,"bytes":null,"top_logprobs":[{"token":"Yes","logprob":0.0,"bytes":null},'
        '{"token":"No","logprob":-Infinity,"bytes":null}]}]}}]}'
    )
    got = read(completion_from(json.loads(body)), YES_NO)
    assert 0.999 < got.probabilities[0] < 1
    assert got.probabilities[1] > 0
    assert "censored" in got.flags
    json.dumps([got.probabilities, got.low, got.high], allow_nan=False)


def test_clip_100_is_a_floor_and_ranks_nobody():
    top = (Candidate("A", -1e-6), Candidate("B", -100.0), Candidate("C", -100.0))
    got = letters(["x1", "x2", "x3"], Position(top[0], top))
    assert got.probabilities[1] == got.probabilities[2] > 0
    assert got.probabilities[0] < 1
    assert "censored" in got.flags


def test_sampled_absent_from_top_is_merged_into_the_table():
    body = {
        "candidates": [
            {
                "finishReason": "STOP",
                "content": {"parts": [{"text": "No"}]},
                "avgLogprobs": -2.3,
                "logprobsResult": {
                    "chosenCandidates": [{"token": "No", "tokenId": 2, "logProbability": math.log(0.1)}],
                    "topCandidates": [
                        {"candidates": [{"token": "Yes", "tokenId": 1, "logProbability": math.log(0.85)}]}
                    ],
                },
            }
        ]
    }
    got = read(completion_from(body), YES_NO)
    assert got.probabilities[0] == near(0.8947, abs=1e-4)
    assert got.label_mass == near(0.95)


def test_fewer_than_requested_leaves_the_rest_bounded():
    got = letters(["o1", "o2", "o3", "o4"], position(("B", 0.97), ("C", 0.02)))
    assert got.missing == (0, 3)
    assert got.low[1] == near(0.97)
    assert 0.97 <= got.probabilities[1] <= got.high[1] <= 0.98
    assert got.high[0] <= 0.01 + 1e-9


def test_duplicate_decoded_token_is_summed():
    got = names(["8", "9"], position(("8", 0.5), ("9", 0.4), ("8", 0.02)))
    assert got.probabilities == near((0.5652, 0.4348), abs=1e-4)


def test_duplicate_dict_overwrite_is_read_but_marked_lossy():
    body = {
        "choices": [
            {
                "finish_reason": "length",
                "text": "Yes",
                "logprobs": {
                    "tokens": ["Yes"],
                    "token_logprobs": [math.log(0.6)],
                    "top_logprobs": [{"Yes": math.log(0.6), "\ufffd": math.log(0.2), "No": math.log(0.1)}],
                },
            }
        ]
    }
    got = read(completion_from(body), YES_NO)
    assert got.probabilities[0] == near(0.8571, abs=1e-4)
    assert got.label_mass == near(0.7)
    assert "lossy" in got.flags


def test_variant_case_space_sums_all_spellings():
    got = yes_no(
        ("Yes", 0.5), (" Yes", 0.1), ("yes", 0.05), ("YES", 0.05), ("No", 0.2), (" no", 0.05), ("The", 0.05)
    )
    assert got.mass == near((0.70, 0.25))
    assert got.label_mass == near(0.95)
    assert got.probabilities[0] == near(0.7368, abs=1e-4)


def test_variant_punctuation_folds_and_keeps_the_sides():
    got = yes_no(("No", 0.9), ("No.", 0.02), ("Yes", 0.07), ("Yes,", 0.01))
    assert got.probabilities[0] == near(0.08)
    assert yes_no(("Yes", 0.9), ("No", 0.1)).probabilities[0] > 0.5


def test_prefix_not_label_counts_exact_matches_only():
    got = yes_no(("No", 0.5), ("Not", 0.15), ("None", 0.1), ("Yes", 0.2), ("Yesterday", 0.01))
    assert got.mass == near((0.2, 0.5))
    assert got.probabilities[0] == near(0.2857, abs=1e-4)


def test_choices_space_mismatch_is_stripped_and_told():
    question = Choice("q", [" YES", " NO"])
    got = read(reply(position(("YES", 0.95), ("NO", 0.04))), name_labels(question.options))
    answer = make_answer(question, got)
    assert answer.probability_of(" YES") == near(0.9596, abs=1e-4)
    assert "padded_option" in answer.flags


def test_bpe_marker_token_is_a_space():
    got = yes_no(("Yes", 0.7), ("\u0120Yes", 0.1, b"\xc4\xa0Yes"), ("\u2581No", 0.15), ("No", 0.05))
    assert got.probabilities[0] == near(0.8)


def test_space_lost_in_alternatives_is_one_candidate_by_id():
    top = (Candidate("Yes", math.log(0.6), b"Yes", 8241), Candidate("No", math.log(0.3), b"No", 1770))
    body = reply(Position(Candidate(" Yes", math.log(0.6), b" Yes", 8241), top), text=" Yes")
    assert read(body, YES_NO).probabilities[0] == near(2 / 3)


def test_utf8_replacement_cannot_be_told_apart():
    bad = ("\ufffd", 0.9, b"\xef\xbf\xbd")
    got = names(
        ["👍", "👎"],
        position(bad, ("\ufffd", 0.05, b"\xef\xbf\xbd")),
        position(("\ufffd", 0.8, b"\xef\xbf\xbd")),
        text="👍",
    )
    assert got == Unread("undecodable_tokens")


def test_utf8_escaped_token_is_read_by_its_bytes():
    globe, fire = "🌍".encode(), "🔥".encode()
    first = position((r"\xf0\x9f\x8c", 0.7, globe[:3]), (r"\xf0\x9f\x94", 0.3, fire[:3]))
    got = names(["🌍", "🔥"], first, position((r"\x8d", 0.99, globe[3:])), text="🌍")
    assert got.probabilities[0] == near(0.7, abs=0.003)
    assert got.low[1] == 0  # three bytes do not make a fire


def test_positive_first_logprob_is_invalid():
    body = {
        "choices": [
            {
                "message": {"content": "Yes"},
                "logprobs": {"tokens": ["Yes"], "token_logprobs": [0.7], "top_logprobs": None},
            }
        ]
    }
    assert read(completion_from(body), YES_NO) == Unread("invalid_logprob")


@pytest.mark.parametrize(
    "body",
    [
        {
            "completion_probabilities": [
                {
                    "token": "Yes",
                    "logprob": 0.93,
                    "top_logprobs": [{"token": "Yes", "logprob": 0.93}, {"token": "No", "logprob": 0.05}],
                }
            ]
        },
        {
            "message": {"content": "Yes"},
            "logprobs": [
                {
                    "token": "Yes",
                    "bytes": [89, 101, 115],
                    "logprob": 0.88,
                    "top_logprobs": [{"token": "Yes", "logprob": 0.88}, {"token": "No", "logprob": 0.09}],
                }
            ],
        },
    ],
    ids=["prob_in_logprob_field", "local_ollama_prob_as_logprob"],
)
def test_probabilities_in_a_logprob_field_are_recognised(body):
    assert read(completion_from(body), YES_NO) == Unread("probabilities_in_logprob_field")


def test_guidance_zero_is_degenerate():
    only = Candidate("heads", 0.0)
    assert names(["heads", "tails"], Position(only, (only,))) == Unread("degenerate")


def test_logprobs_include_reasoning_reads_the_last_answer():
    inside = position((" Yes", 0.9), (" No", 0.1))
    got = read(
        reply(
            position(("<think>", 0.99)),
            position(("maybe", 0.5)),
            inside,
            position(("</think>", 0.9)),
            position(("\n\n", 0.9)),
            position(("No", 0.75), ("Yes", 0.25)),
            text="No",
        ),
        YES_NO,
    )
    assert got.probabilities[0] == near(0.25)


def test_newline_first_token_is_passed_over():
    got = names(
        ["safe", "unsafe"],
        position(("\n\n", 0.999), ("safe", 0.0005), ("unsafe", 0.0003)),
        position(("unsafe", 0.7489), ("safe", 0.2511)),
        position(("\n", 0.9)),
        position(("S1", 0.8)),
    )
    assert got.probabilities[1] == near(0.7489)
    assert got.label_mass == near(0.999)


def test_bom_or_quote_first_reads_json_at_the_value():
    forced = [Position(Candidate(t, 0.0), (Candidate(t, 0.0),)) for t in ('{"', "answer", '":"')]
    end = Position(Candidate('"}', 0.0), ())
    assert read(reply(*forced, position(("yes", 0.66), ("no", 0.34)), end), YES_NO).probabilities[0] == near(
        0.66
    )
    only_marks = position(('"', 0.9), ("}", 0.1), written="yes", p=-9999.0)
    assert isinstance(read(reply(*forced, only_marks, end), YES_NO), Unread)


def test_reason_contains_label_is_found_by_field_not_by_first_match():
    plain = lambda token: Position(Candidate(token, 0.0), ())  # noqa: E731
    got = read(
        reply(
            plain('{"reason":"'),
            plain("rated"),
            plain(" "),
            position(("8", 0.999)),
            plain('","score":'),
            position(("8", 0.5), ("9", 0.5)),
            plain("}"),
        ),
        name_labels([str(i) for i in range(1, 10)]),
    )
    assert sum((i + 1) * p for i, p in enumerate(got.probabilities)) == near(8.5, abs=1e-3)


def test_fixed_offset_score_tells_1_from_10():
    digits = name_labels([str(i) for i in range(11)])
    lead = [Position(Candidate(t, 0.0), ()) for t in ('{"', "score", '":', " ")]
    end = Position(Candidate("}", 0.0), ())
    whole = read(reply(*lead, position(("10", 0.6), ("9", 0.4)), end), digits)
    assert (whole.probabilities[10], whole.probabilities[9]) == near((0.6, 0.4), abs=1e-4)
    split = read(
        reply(*lead, position(("1", 0.7), ("9", 0.3)), position(("0", 0.9), ("}", 0.1)), end), digits
    )
    assert (split.probabilities[10], split.probabilities[1]) == near((0.63, 0.07), abs=1e-4)
    assert split.probabilities[9] <= 0.30 + 1e-6
    assert sum(split.probabilities) == near(1)


def test_all_filtered_zero_division_is_low_label_mass():
    got = names(["1", "2", "3", "4", "5"], position(("The", 0.95), ("I", 0.04), ("3", 0.005)))
    assert (got.reason, got.reading.label_mass) == ("low_label_mass", near(0.005))


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"finish_reason": "stop", "message": {"content": "Yes"}, "logprobs": None}]},
        {"choices": [{"text": "Yes", "index": 0, "finish_reason": "length", "logprobs": None}]},
        {"message": {"role": "assistant", "content": "Yes"}, "done": True, "done_reason": "stop"},
    ],
    ids=["silent_score_fallback", "completions_null", "cloud_null"],
)
def test_no_logprobs_gives_no_number(body):
    assert read(completion_from(body), YES_NO) == Unread("no_logprobs")


def test_thinking_eats_budget_a_cut_prefix_is_not_an_answer():
    got = read(reply(position(("<think>", 0.9)), position(("Yes", 0.9)), text="", finish="length"), YES_NO)
    assert got == Unread("reasoning_unfinished")
    assert read(reply(text="", finish="length"), YES_NO) == Unread("truncated")
    half = names(["refund", "replace"], position(("re", 0.99), ("x", 0.01)), finish="length")
    assert isinstance(half, Unread)


def test_openai_refusal_field_is_never_read_for_tokens():
    body = {
        "choices": [
            {
                "finish_reason": "stop",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "refusal": "I'm sorry, I can't assist with that.",
                },
                "logprobs": {
                    "content": None,
                    "refusal": [{"token": "No", "logprob": -0.1, "top_logprobs": []}],
                },
            }
        ]
    }
    assert read(completion_from(body), YES_NO) == Declined("refusal")


def test_azure_completion_filter_without_content_is_a_refusal():
    body = {"choices": [{"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant"}}]}
    assert read(completion_from(body), YES_NO) == Declined("content_filter")


def test_length_normalisation_bias_multiplies_and_never_averages():
    path = [position((token, p)) for token, p in (("organ", 0.6), ("elle", 0.5), ("x", 1e-3))]
    got = names(
        ["organ", "organelle"],
        path[0],
        position(("elle", 0.5), ("<|end|>", 0.5)),
        position(("<|end|>", 0.9)),
        text="organelle",
    )
    assert got.mass == near((0.3, 0.3))


def test_duplicate_options_are_refused_before_any_call():
    for pair in (["billing", "billing"], ["Billing", " billing "], ["yes", "Yes"]):
        with pytest.raises(QuestionError, match="rename"):
            Choice("q", pair)


def test_localized_yes_sums_the_languages_forms():
    got = yes_no(("Sí", 0.6), ("S", 0.1), ("SI", 0.1), ("No", 0.15), ("Si\u0301", 0.05))
    assert got.mass == near((0.75, 0.15))
    assert got.probabilities[0] == near(0.8333, abs=1e-4)


def test_multi_token_negative_reads_the_second_token():
    japanese = yes_no_labels(("はい", "いいえ"), ("ja",))
    got = read(
        reply(position(("いい", 0.7), ("はい", 0.25)), position(("え", 0.97), ("です", 0.03))), japanese
    )
    assert got.probabilities[0] == near(0.2691, abs=1e-4)


def test_no_none_option_is_reported_apart():
    question = Choice("q", ["billing", "technical"], none="none of these")
    got = letters(["billing", "technical", "none of these"], position(("C", 0.9), ("A", 0.04), ("B", 0.06)))
    answer = make_answer(question, got)
    assert answer.is_none
    assert answer.none_probability == near(0.9)
    assert sum(answer.probabilities.values()) == near(0.1)


def test_logit_bias_not_reflected_is_low_mass_although_the_text_is_clean():
    got = yes_no(("No", 0.02), ("Yes", 0.01), ("The", 0.8), ("Based", 0.15))
    assert (got.reason, got.reading.label_mass) == ("low_label_mass", near(0.03))


def test_nan_scores_are_no_values():
    top = (Candidate("yes", math.nan), Candidate("no", None))
    got = read(reply(Position(top[0], top), text="yes"), YES_NO)
    assert isinstance(got, Unread)


def test_the_reading_is_a_distribution():
    assert isinstance(yes_no(("Yes", 0.7), ("No", 0.25)), Reading)
