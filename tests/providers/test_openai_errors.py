import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yesno.providers._openai_errors import NO_QUOTA, allowance, details, should_retry

ERROR = {"error": {"message": "no", "param": "seed", "code": "bad_seed"}}


@pytest.mark.parametrize(
    "body",
    [
        ERROR,
        json.dumps(ERROR),
        {"error": json.dumps(ERROR)},
        json.dumps(json.dumps(ERROR))[1:-1].replace("\\", ""),
    ],
    ids=["object", "text", "inner", "plain"],
)
def test_an_error_body_is_read_however_often_it_was_encoded(body):
    assert details(body) == ("no", "seed", "bad_seed")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"errors": [{"message": "no", "code": "bad_seed"}], "success": False}, ("no", None, "bad_seed")),
        ({"error": {"error": {"message": "no", "param": "seed"}}}, ("no", "seed", None)),
        ({"error": {"message": json.dumps(ERROR), "code": 400}}, ("no", "seed", "bad_seed")),
        ({"error": {"message": "upstream", "metadata": {"raw": ERROR}}}, ("no", "seed", "bad_seed")),
        ({"error": "no", "error_type": "validation"}, ("no", None, "validation")),
        ({"code": "permission-denied", "error": "no"}, ("no", None, "permission-denied")),
        ({"error": "bad_request", "message": "no"}, ("no", None, "bad_request")),
        ({"Message": "no"}, ("no", None, None)),
        ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, ("no", None, None)),
        (
            [{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}],
            ("no", None, "INVALID_ARGUMENT"),
        ),
        ({"error": {"message": "up", "metadata": {"raw": "<html>busy</html>"}}}, ("up", None, None)),
        ({"error": {}}, ("", None, None)),
        ({"error": None, "detail": "no"}, ("no", None, None)),
    ],
    ids=[
        "list",
        "twice",
        "json_in_message",
        "raw_object",
        "tgi",
        "xai",
        "kind",
        "aws",
        "vllm",
        "gemini",
        "raw_html",
        "empty",
        "null",
    ],
)
def test_each_hosts_shape_is_read(body, expected):
    assert details(body) == expected


def test_an_error_without_end_is_given_up():
    body = {"message": "deep"}
    for _ in range(900):
        body = {"error": body}
    assert details(body) == ("", None, None)


@pytest.mark.parametrize("text", ["{", "{not json}", "[]", "busy", ""])
def test_a_text_that_holds_no_object_is_the_message(text):
    assert details(text) == (text, None, None)


@pytest.mark.parametrize(
    "fields",
    [{"code": NO_QUOTA}, {"type": NO_QUOTA}, {"type": NO_QUOTA, "code": "billing_hard_limit_reached"}],
)
def test_no_quota_is_known_by_code_or_type(fields):
    assert details({"error": {"message": "pay", **fields}})[2] == NO_QUOTA


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("120ms", 0.12),
        ("1h2m3.5s", 3723.5),
        ("soon", None),
        ("", None),
        ("5", None),
    ],
)
def test_the_headers_of_openais_rate_limit_are_read(reset, seconds):
    left, after = allowance({"x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": reset})
    assert left == 59
    assert after == (None if seconds is None else pytest.approx(seconds))


def test_the_headers_of_anthropics_rate_limit_are_read():
    reset = (datetime.now(UTC) + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    headers = {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": reset}
    left, after = allowance(headers)
    assert left == 0
    assert after == pytest.approx(3600, abs=60)


@given(st.text(max_size=30), st.text(max_size=30))
def test_headers_of_another_shape_say_nothing_or_something_sensible(left, reset):
    for names in (
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ):
        count, seconds = allowance(dict(zip(names, (left, reset), strict=True)))
        assert count is None or count >= 0
        assert seconds is None or seconds >= 0


def test_no_headers_say_nothing():
    assert allowance({}) == (None, None)
    assert should_retry({}) is None


@pytest.mark.parametrize(("value", "says"), [("true", True), ("False", False), ("maybe", None)])
def test_a_server_may_say_whether_to_try_again(value, says):
    assert should_retry({"x-should-retry": value}) is says
