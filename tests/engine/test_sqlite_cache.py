import gc
import multiprocessing
import os
import pickle
import sqlite3
import stat
import sys
import threading
from concurrent.futures import ProcessPoolExecutor

import pytest

from yesno import DecisionModel, FakeProvider, SqliteCache, YesNo

VALUE = b'{"a": 1}'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "cache.db"


def fill(path, worker, count):
    """Write keys of one's own and one that all share; return what could be read back."""
    with SqliteCache(path) as cache:
        for number in range(count):
            cache.put(f"{worker}-{number}", b"%d" % number)
            cache.put("shared", VALUE)
        return sum(cache.get(f"{worker}-{number}") == b"%d" % number for number in range(count))


def looked_up(cache, key):
    return cache.get(key)


def test_what_was_put_is_there_also_for_another_object(path):
    with SqliteCache(path) as cache, SqliteCache(str(path)) as other:
        assert cache.get("k") is None
        cache.put("k", b"old")
        cache.put("k", VALUE)
        assert cache.get("k") == other.get("k") == VALUE
        assert other.get("another") is None


def test_many_processes_share_one_new_file(path):
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(4, mp_context=spawn) as pool:
        read = list(pool.map(fill, [path] * 4, range(4), [50] * 4))
    assert read == [50] * 4
    with SqliteCache(path) as cache:
        assert cache.get("shared") == VALUE
        assert [cache.get(f"{w}-{n}") for w in range(4) for n in range(50)] == [
            b"%d" % n for n in range(50)
        ] * 4


def test_many_threads_share_one_object(path):
    cache = SqliteCache(path)
    wrong = []

    def work(worker):
        for number in range(50):
            cache.put(f"{worker}-{number}", b"%d" % number)
            if cache.get(f"{worker}-{number}") != b"%d" % number:
                wrong.append((worker, number))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cache.close()
    assert wrong == []


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_opens_the_file_anew_and_leaves_its_parents_connection_alone(path):
    with SqliteCache(path) as cache:
        cache.put("parent", VALUE)
        fork = multiprocessing.get_context("fork")
        queue = fork.SimpleQueue()

        def child():
            found = cache.get("parent")
            cache.put("child", b"c")
            queue.put((found, cache._held.pid == os.getpid()))

        process = fork.Process(target=child)
        process.start()
        assert queue.get() == (VALUE, True)
        process.join(10)
        assert cache.get("child") == b"c"


def test_it_travels_to_another_process(path):
    with SqliteCache(path) as cache:
        cache.put("k", VALUE)
        with pickle.loads(pickle.dumps(cache)) as again:  # noqa: S301 - our own bytes
            assert again.get("k") == VALUE


@pytest.mark.parametrize(
    "change",
    [
        "value = x'7b7d'",
        "value = 'text'",
        "value = NULL",
        "value = 3",
        "checksum = NULL",
        "checksum = x'00'",
        "key = 'other'",
    ],
)
def test_a_damaged_row_is_a_miss_and_can_be_put_again(path, change):
    with SqliteCache(path) as cache:
        cache.put("k", VALUE)
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE replies SET {change}")  # noqa: S608 - a constant of this test
    connection.commit()
    connection.close()
    with SqliteCache(path) as cache:
        assert cache.get("k") is None
        assert cache.get("other") is None
        cache.put("k", VALUE)
        assert cache.get("k") == VALUE


@pytest.mark.parametrize(
    "content",
    [b"not a database, but long enough to look like one " * 100, b"SQLite format 3\0" + b"x" * 4096],
)
def test_a_damaged_file_is_a_miss_left_as_it_is_and_warned_about_once(path, content, caplog):
    path.parent.mkdir()
    path.write_bytes(content)
    with SqliteCache(path) as cache:
        model = DecisionModel(FakeProvider(), cache=cache)
        assert [model.decide("x", YesNo("q?")).is_yes() for _ in range(3)] == [True] * 3
        assert cache.get("k") is None
    assert path.read_bytes() == content
    (record,) = caplog.records
    assert (record.message, record.cache, record.error) == ("cache_failed", "SqliteCache", "DatabaseError")


def test_a_file_cut_in_the_middle_is_no_error(path):
    with SqliteCache(path) as cache:
        for number in range(300):
            cache.put(str(number), VALUE * 50)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with SqliteCache(path) as cache:
        found = [cache.get(str(number)) for number in range(300)]
        cache.put("new", VALUE)
    assert set(found) <= {None, VALUE * 50}


def test_a_table_of_another_shape_is_a_miss(path):
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE replies (something)")
    connection.close()
    with SqliteCache(path) as cache:
        cache.put("k", VALUE)
        assert cache.get("k") is None


def test_a_folder_in_place_of_the_file_is_a_miss(tmp_path):
    with SqliteCache(tmp_path) as cache:
        cache.put("k", VALUE)
        assert cache.get("k") is None


def test_a_file_in_place_of_the_folder_is_a_miss(tmp_path):
    (tmp_path / "file").write_text("x")
    with SqliteCache(tmp_path / "file" / "c.db") as cache:
        cache.put("k", VALUE)
        assert cache.get("k") is None


def test_another_process_that_writes_does_not_keep_readers_waiting(path, monkeypatch):
    monkeypatch.setattr("yesno.engine.sqlite_cache.BUSY_S", 0.0)
    with SqliteCache(path) as cache:
        cache.put("k", VALUE)
        writer = sqlite3.connect(path, isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")
        assert cache.get("k") == VALUE
        cache.put("k", b"later")
        writer.execute("ROLLBACK")
        writer.close()
        assert cache.get("k") == VALUE


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes here")
def test_only_its_owner_can_read_the_file(path):
    with SqliteCache(path) as cache:
        cache.put("k", VALUE)
        assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_it_can_be_used_after_it_was_closed_and_forgotten_without_it(path):
    cache = SqliteCache(path)
    cache.close()
    cache.put("k", VALUE)
    cache.close()
    assert looked_up(cache, "k") == VALUE
    assert "cache.db" in repr(cache)
    del cache
    gc.collect()
