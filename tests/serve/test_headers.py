from hypothesis import given
from hypothesis import strategies as st

from yesno.serve.headers import HOP_BY_HOP, passed_back, passed_on

SECRETS = [
    (b"Authorization", b"Bearer ours"),
    (b"X-Api-Key", b"ours"),
    (b"Cookie", b"session=1"),
    (b"Host", b"here"),
    (b"Content-Length", b"5"),
    (b"Content-Encoding", b"gzip"),
    (b"Accept-Encoding", b"gzip"),
    (b"OpenAI-Organization", b"theirs"),
    (b"X-Request-Id", b"r"),
    (b"X-Forwarded-For", b"10.0.0.1"),
]


def test_what_a_caller_says_of_itself_is_passed_on_and_no_key():
    given_ = [(b"User-Agent", b"me/1"), (b"X-Stainless-Lang", b"python"), (b"traceparent", b"00-1")]
    assert passed_on([*SECRETS, *given_]) == [
        (b"user-agent", b"me/1"),
        (b"x-stainless-lang", b"python"),
        (b"traceparent", b"00-1"),
    ]


def test_more_headers_can_be_named_but_never_a_key():
    given_ = [*SECRETS, (b"X-Tenant", b"7")]
    also = ["X-Tenant", "Authorization", "x-api-key", "Cookie", "Host"]
    assert passed_on(given_, also) == [(b"x-tenant", b"7")]


def test_what_connection_names_ends_here_in_both_directions():
    headers = [
        (b"Connection", b"keep-alive, X-Stainless-Hop , user-agent"),
        (b"X-Stainless-Hop", b"1"),
        (b"User-Agent", b"me"),
        (b"Accept", b"*/*"),
    ]
    assert passed_on(headers, ["x-stainless-hop"]) == [(b"accept", b"*/*")]
    assert passed_back([(b"Connection", b"x-hop"), (b"X-Hop", b"1"), (b"X-Kept", b"1")]) == [
        (b"x-kept", b"1")
    ]


def test_an_answer_keeps_its_own_headers():
    kept = [(b"content-type", b"text/event-stream"), (b"retry-after", b"7"), (b"x-ratelimit-remaining", b"1")]
    gone = [
        (b"Date", b"x"),
        (b"Server", b"x"),
        (b"Set-Cookie", b"a=b"),
        (b"Alt-Svc", b"h3"),
        (b"OpenAI-Organization", b"acme"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"Keep-Alive", b"5"),
    ]
    assert passed_back([*kept, *gone]) == kept


def test_the_request_id_of_an_upstream_has_a_name_of_its_own():
    assert passed_back([(b"X-Request-Id", b"up-1")]) == [(b"x-upstream-request-id", b"up-1")]


def test_a_length_is_passed_back_unless_the_body_came_in_chunks():
    length = (b"content-length", b"10")
    assert passed_back([length]) == [length]
    assert passed_back([length, (b"Transfer-Encoding", b"chunked")]) == []


NAMES = st.sampled_from([*HOP_BY_HOP, b"x-a", b"x-b", b"accept", b"X-A", b"authorization"])


@given(st.lists(st.tuples(NAMES, st.sampled_from([b"x-a", b"close, x-b", b"1"])), max_size=12))
def test_no_header_of_a_hop_passes(headers):
    named = {
        word.strip().lower()
        for name, value in headers
        if name.lower() == b"connection"
        for word in value.split(b",")
    }
    for passed in (passed_on(headers, ["x-a", "x-b"]), passed_back(headers)):
        assert not {name for name, _ in passed} & (HOP_BY_HOP | named)
    assert b"authorization" not in {name for name, _ in passed_on(headers, ["authorization"])}
