"""Bodies: what is decoded, and what is refused before it costs anything."""

import gzip
import json
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.serve.asgi import call, openai, served, systemone
from yesno.errors import RequestProblem
from yesno.serve import Settings
from yesno.serve.bodies import json_of

APP = served()
SMALL = served(settings=Settings(max_body_bytes=2000, max_depth=8, max_questions=3))
BODY = json.dumps(openai()).encode()


def post(body, app=APP, path="/v1/decisions", chunks=None, **headers):
    given_headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return call(app, path, None if chunks else body, headers=given_headers, chunks=chunks)


def code(answer):
    return answer.json()["error"]["code"]


ENCODED = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "zstd": zstandard.compress,
    "ZSTD": zstandard.compress,
    "identity": bytes,
    "": bytes,
}


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("path", ["/v1/decisions", "/v1/systemone"])
def test_a_body_may_be_compressed(encoding, path):
    body = json.dumps(openai() if path == "/v1/decisions" else systemone()).encode()
    answer = post(ENCODED[encoding](body), path=path, content_encoding=encoding)
    assert answer.status == 200


def test_a_compressed_body_may_have_several_members_or_frames_and_come_in_pieces():
    for pack, encoding in ((gzip.compress, "gzip"), (zstandard.compress, "zstd")):
        packed = pack(BODY[:20]) + pack(BODY[20:])
        pieces = [packed[i : i + 7] for i in range(0, len(packed), 7)]
        assert post(None, chunks=pieces, content_encoding=encoding).status == 200


def test_a_zstd_stream_without_its_size_is_decoded():
    writer = zstandard.ZstdCompressor().compressobj()
    assert post(writer.compress(BODY) + writer.flush(), content_encoding="zstd").status == 200


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, zstd", "compress"])
def test_other_encodings_are_a_415_that_names_those_there_are(encoding):
    answer = post(BODY, content_encoding=encoding)
    assert (answer.status, code(answer)) == (415, "content_encoding")
    assert "gzip or zstd" in answer.json()["error"]["message"]


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize(
    "damage",
    [lambda data: b"no such thing", lambda data: data[1:]],
    ids=["another", "headless"],
)
def test_what_is_not_so_encoded_is_a_400(encoding, damage):
    answer = post(damage(ENCODED[encoding](BODY)), content_encoding=encoding)
    assert answer.status == 400


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_truncated_body_is_a_400(encoding):
    assert post(ENCODED[encoding](BODY)[:-9], content_encoding=encoding).status == 400


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_a_413_and_is_not_unpacked(encoding, monkeypatch):
    packed = ENCODED[encoding](b" " * 50_000_000)
    assert len(packed) < 60_000
    largest = []
    original = json_of
    monkeypatch.setattr(
        "yesno.serve.bodies.json_of", lambda data, depth: largest.append(len(data)) or original(data, depth)
    )
    answer = post(packed, served(settings=Settings(max_body_bytes=100_000)), content_encoding=encoding)
    assert (answer.status, code(answer), largest) == (413, "body_too_large", [])


def test_a_zstd_frame_that_asks_for_too_much_memory_is_refused():
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    answer = post(writer.compress(BODY) + writer.flush(), content_encoding="zstd")
    assert (answer.status, code(answer)) == (400, "content_encoding")


def test_a_body_larger_than_the_limit_is_refused_by_its_length_before_it_is_read():
    answer = call(
        SMALL,
        "/v1/decisions",
        headers={"content-length": "2001", "content-type": "application/json"},
        chunks=[b"x"],
    )
    assert (answer.status, code(answer)) == (413, "body_too_large")
    assert "2,000 bytes" in answer.json()["error"]["message"]


def test_a_body_without_a_length_is_refused_once_it_is_too_large():
    pieces = [b"[" + b" " * 999] * 1000
    answer = post(None, SMALL, chunks=pieces)
    assert answer.status == 413


def test_a_body_at_the_limit_is_taken():
    body = json.dumps(openai(given="x" * 100)).encode()
    assert post(body + b" " * (2000 - len(body)), SMALL).status == 200
    assert post(body + b" " * (2001 - len(body)), SMALL).status == 413


@pytest.mark.parametrize("told", ["-1", "x", "1" * 30, "0"])
def test_a_content_length_that_is_no_size_does_not_break_anything(told):
    assert post(BODY, content_length=told).status in (200, 413)


def test_a_body_that_breaks_off_is_a_400():
    answer = call(APP, "/v1/decisions", chunks=[b'{"model"', b""], stays=False)
    assert answer.status == 400


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
def test_another_content_type_is_a_415_that_says_which(kind):
    answer = post(BODY, content_type=kind)
    assert (answer.status, code(answer)) == (415, "content_type")
    assert "application/json" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"]
)
def test_kinds_of_json_are_taken(kind):
    assert post(BODY, content_type=kind).status == 200


@pytest.mark.parametrize("path", ["/v1/decisions", "/v1/systemone"])
def test_a_multipart_body_is_a_415_that_says_why(path):
    answer = post(b"--x\r\n", path=path, content_type="multipart/form-data; boundary=x")
    assert answer.status == 415
    assert b"images" in answer.body


# JSON

ROOM = {"model": "m", "state": "x", "questions": {"q": {"type": "noul", "instructions": "q?"}}}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"\xff\xfe{}", "invalid_utf8"),
        (BODY.replace(b"twice", b"tw\xe9ce"), "invalid_utf8"),
        ("\ufeff{}".encode(), "json_invalid"),
        (BODY[:-1], "json_invalid"),
        (BODY + b"x", "json_invalid"),
        (b'{"model": "m", "model": "m2"}', "duplicate_name"),
        (b'{"questions": {"a": 1, "\\u0061": 2}}', "duplicate_name"),
        (BODY.replace(b'"I was charged twice"', b"NaN"), "invalid_number"),
        (BODY.replace(b'"I was charged twice"', b"-Infinity"), "invalid_number"),
        (BODY.replace(b'"I was charged twice"', b"1e999"), "invalid_number"),
        (BODY.replace(b'"I was charged twice"', b"9" * 5000), "invalid_number"),
        (BODY.replace(b"twice", b"\\ud83d"), "invalid_text"),
        (BODY.replace(b"twice", b"\\uDE00"), "invalid_text"),
        (b"[" * 65 + b"]" * 65, "too_deep"),
        (b"[" * 100_000, "too_deep"),
        (b'{"a":' * 100_000, "too_deep"),
        (b'{"input": ' + b"[" * 64 + b"]" * 64 + b"}", "too_deep"),
    ],
)
def test_bytes_that_are_no_plain_json_are_a_400_with_a_code(body, problem):
    answer = post(body)
    assert (answer.status, code(answer)) == (400, problem)


def test_a_pair_of_surrogates_is_a_character():
    assert post(BODY.replace(b"twice", b"\\ud83d\\ude00")).status == 200


def test_nesting_at_the_limit_is_taken():
    state = json.loads("[" * 63 + "]" * 63)
    assert post(json.dumps(systemone(state=state)).encode(), path="/v1/systemone").status == 200
    answer = post(json.dumps(systemone(state=[state])).encode(), path="/v1/systemone")
    assert (answer.status, answer.json()["detail"][0]["type"]) == (422, "too_deep")


def test_many_brackets_that_are_not_nested_are_taken():
    state = {"rows": [[i, {"a": "[[[{{{"}] for i in range(500)]}
    assert post(json.dumps(systemone(state=state)).encode(), path="/v1/systemone").status == 200


@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_refused(data):
    try:
        value = json_of(data, 8)
    except RequestProblem:
        return
    assert json.loads(data) == value


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON_VALUES)
def test_every_json_value_is_read_as_it_is(value):
    for ascii_only in (True, False):
        assert json_of(json.dumps(value, ensure_ascii=ascii_only).encode(), 64) == value


@given(JSON_VALUES, JSON_VALUES)
def test_no_body_breaks_the_server(one, other):
    for body in (
        one,
        {"model": "m", "input": one, "questions": other},
        {"model": "m", "input": "x", "questions": [{"type": "predicate", "instructions": one}]},
        {"model": "m", "state": one, "questions": {"q": other}},
        {
            "model": "m",
            "state": "x",
            "questions": {"q": {"type": "choice", "criteria": {"a": one, "b": other}}},
        },
        {"model": "m", "state": "x", "questions": {"q": {"type": "score", "criteria": [one, other]}}},
    ):
        assert post(json.dumps(body).encode()).status in (200, 400, 404, 422)


def test_a_bomb_of_gzip_members_is_bounded():
    packed = gzip.compress(b" " * 10_000) * 500
    assert (
        post(packed, served(settings=Settings(max_body_bytes=100_000)), content_encoding="gzip").status == 413
    )
    assert zlib.decompressobj(wbits=31).decompress(packed[:200]) != b""


def test_a_body_of_many_empty_gzip_members_is_refused_before_it_is_walked_through():
    packed = gzip.compress(b"") * 1000
    reply = post(packed, served(settings=Settings(max_body_bytes=100_000)), content_encoding="gzip")
    assert reply.status == 400
    assert b"gzip" in reply.body
