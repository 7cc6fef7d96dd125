from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.models.support import DATA, HUB, SHA256, Hub
from yesno.errors import ModelFileError
from yesno.models import sources
from yesno.models.hub import fetch_from_hub
from yesno.models.sources import Fetched, SourceFailed, Target


def target(folder: Path, *, known: bool = True, here: bytes = b"", tag: str = "") -> Target:
    part = folder / "tiny.gguf.part"
    if here:
        part.write_bytes(here)
    made = Target(part, len(DATA) if known else None, SHA256 if known else None)
    if tag:
        made.tag.write_text(tag)
    return made


def fetch(hub: Hub, goal: Target) -> Fetched:
    with hub.client() as client:
        return fetch_from_hub(HUB, goal, client=client)


def test_a_file_is_streamed(tmp_path: Path) -> None:
    hub, goal, seen = Hub(), target(tmp_path), []
    told = Target(goal.part, goal.size, goal.sha256, lambda done, total: seen.append((done, total)))
    assert fetch(hub, told) == Fetched(resumed=False, size=len(DATA))
    assert goal.part.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))
    assert str(hub.requests[0].url) == HUB.url
    assert "range" not in hub.requests[0].headers
    assert hub.requests[0].headers["accept-encoding"] == "identity"


def test_a_broken_connection_keeps_what_came_and_is_continued(tmp_path: Path) -> None:
    goal = target(tmp_path)
    with pytest.raises(SourceFailed, match=r"broke after 6,000 bytes \(connection reset by peer\)"):
        fetch(Hub(cut=6000), goal)
    assert goal.have() == 6000
    hub = Hub()
    assert fetch(hub, goal).resumed
    assert hub.requests[0].headers["range"] == "bytes=6000-"
    assert hub.requests[0].headers["if-range"] == '"v1"'
    assert goal.part.read_bytes() == DATA


def test_what_another_source_began_is_continued_when_the_digest_is_known(tmp_path: Path) -> None:
    hub, goal = Hub(), target(tmp_path, here=DATA[:4096])
    assert fetch(hub, goal).resumed
    assert "if-range" not in hub.requests[0].headers
    assert goal.part.read_bytes() == DATA


def test_without_a_digest_and_a_version_the_download_begins_anew(tmp_path: Path) -> None:
    hub, goal = Hub(), target(tmp_path, known=False, here=b"old")
    assert not fetch(hub, goal).resumed
    assert goal.part.read_bytes() == DATA


def test_a_new_version_on_the_hub_begins_anew(tmp_path: Path) -> None:
    goal = target(tmp_path, known=False, here=b"old bytes", tag='"v0"')
    assert fetch(Hub(), goal) == Fetched(resumed=False, size=len(DATA))
    assert goal.part.read_bytes() == DATA
    assert goal.tag.read_text() == '"v1"'


def test_a_server_that_ignores_ranges_begins_anew(tmp_path: Path) -> None:
    goal = target(tmp_path, here=b"x" * 5000, tag='"v1"')
    assert not fetch(Hub(ranges=False), goal).resumed
    assert goal.part.read_bytes() == DATA


def test_a_weak_version_is_not_remembered(tmp_path: Path) -> None:
    goal = target(tmp_path, tag='"v1"')
    fetch(Hub(etag='W/"v2"'), goal)
    assert not goal.tag.exists()


def test_a_complete_part_is_not_asked_for_again(tmp_path: Path) -> None:
    hub = Hub()
    assert fetch(hub, target(tmp_path, here=DATA)) == Fetched(resumed=True)
    assert hub.requests == []


def test_a_part_that_is_too_long_is_dropped(tmp_path: Path) -> None:
    goal = target(tmp_path, here=DATA + b"more")
    assert not fetch(Hub(), goal).resumed
    assert goal.part.read_bytes() == DATA


def test_a_range_past_the_end_drops_the_part(tmp_path: Path) -> None:
    goal = target(tmp_path, known=False, here=DATA + b"more", tag='"v1"')
    with pytest.raises(SourceFailed, match="416"):
        fetch(Hub(), goal)
    assert not goal.part.exists()
    assert not goal.tag.exists()


@pytest.mark.parametrize(
    ("status", "words"),
    [(404, "HTTP 404: there is no such file"), (401, "wants a login"), (503, "HTTP 503$")],
)
def test_a_status_that_is_no_success_fails_the_source(status: int, words: str, tmp_path: Path) -> None:
    with pytest.raises(SourceFailed, match=words):
        fetch(Hub(status=status), target(tmp_path))


@pytest.mark.parametrize("span", ["bytes 0-9999/10000", "bytes 5-9/*", "", "lines 1-2/3"])
def test_a_wrong_range_fails_the_source(span: str, tmp_path: Path) -> None:
    hub = Hub(status=206, headers={"content-range": span})
    with pytest.raises(SourceFailed, match="asked for the bytes from 5,000, got"):
        fetch(hub, target(tmp_path, here=DATA[:5000]))


def test_a_file_of_another_size_fails_before_it_is_fetched(tmp_path: Path) -> None:
    goal = target(tmp_path)
    with pytest.raises(SourceFailed, match="has 10,004 bytes instead of 10,000"):
        fetch(Hub(DATA + b"more"), goal)
    assert not goal.part.exists()


def test_a_body_longer_than_told_fails_the_source(tmp_path: Path) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=httpx2.ByteStream(DATA + b"more"))

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    with pytest.raises(SourceFailed, match="more than the expected 10,000 bytes"):
        fetch_from_hub(HUB, target(tmp_path), client=client)


def test_a_body_shorter_than_told_fails_the_source(tmp_path: Path) -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=httpx2.ByteStream(DATA[:7000]))

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    with pytest.raises(SourceFailed, match="only 7,000 of 10,000 bytes came"):
        fetch_from_hub(HUB, target(tmp_path), client=client)


def test_no_connection_is_said_in_a_word(tmp_path: Path) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectTimeout("timed out", request=request)

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    with pytest.raises(SourceFailed, match=r"no connection \(timed out\)"):
        fetch_from_hub(HUB, target(tmp_path), client=client)


def test_the_digest_that_the_hub_states_before_its_redirect_is_kept(tmp_path: Path) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.host == "huggingface.co":
            headers = {"location": "https://cdn.example/blob", "x-linked-etag": f'"{SHA256}"'}
            return httpx2.Response(302, headers=headers)
        headers = {"content-length": str(len(DATA))}
        return httpx2.Response(200, headers=headers, stream=httpx2.ByteStream(DATA))

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    fetched = fetch_from_hub(HUB, target(tmp_path, known=False), client=client)
    assert fetched == Fetched(resumed=False, size=len(DATA), sha256=SHA256)


def test_a_disk_that_is_too_small_is_seen_before_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "disk_usage", lambda _: type("Usage", (), {"free": 123_456}))
    goal = target(tmp_path)
    with pytest.raises(ModelFileError, match=r"16,787,216 bytes are needed and 123,456 are free"):
        fetch(Hub(), goal)
    assert not goal.part.exists()


def test_a_progress_that_raises_keeps_what_came(tmp_path: Path) -> None:
    def stop(_done: int, _total: int | None) -> None:
        raise KeyboardInterrupt

    goal = target(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        fetch(Hub(), Target(goal.part, goal.size, goal.sha256, stop))
    assert goal.have() == 1000
