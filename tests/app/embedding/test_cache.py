"""Embeddings are computed once, and a program that is killed leaves a whole file."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from mercer.app.embedding import cache as cache_module
from mercer.app.embedding.cache import Cache, cache_file
from mercer.app.embedding.computing import Items, UnreadableError, texts, vectors_of
from mercer.app.embedding.embedder import Vectors, unit


class Counting:
    """An embedder that keeps what it was asked."""

    def __init__(self, batch=4):
        self.batch, self.asked = batch, []

    def embed(self, items):
        self.asked += items
        array = unit([[len(text), text.count("a"), 1.0] for text in items])
        return Vectors(array, np.ones(len(items), dtype=np.intp))


class Listener:
    def __init__(self):
        self.shares, self.notes = [], []

    def stage(self, name):
        pass

    def advance(self, share):
        self.shares.append(share)

    def note(self, message):
        self.notes.append(message)


def computed(embedder, cells, cache, revision="r", progress=None):
    progress = progress or Listener()
    return vectors_of(
        lambda: embedder, revision, texts(cells), cache=cache, progress=progress
    )


def test_equal_texts_are_computed_once_and_come_back_in_order():
    cells = ["banana", "a", "banana", "", "kiwi", "  ", "a"]
    embedder = Counting()
    with Cache() as cache:
        found = computed(embedder, cells, cache)
    assert sorted(embedder.asked) == ["a", "banana", "kiwi"]
    assert found.n_new == 3
    wanted = unit([[len(c), c.count("a"), 1.0] for c in cells])
    wanted[[3, 5]] = 0.0  # nothing in these cells
    np.testing.assert_allclose(found.vectors.array, wanted, atol=1e-3)
    assert found.vectors.pieces.tolist() == [1, 1, 1, 0, 1, 0, 1]


def test_the_next_program_computes_nothing_and_finds_the_same():
    cells = ["banana", "a", "kiwi"]
    with Cache() as cache:
        first = computed(Counting(), cells, cache)

    def load():
        raise AssertionError

    with Cache() as cache:
        again = vectors_of(load, "r", texts(cells), cache=cache)
    assert again.n_new == 0
    np.testing.assert_array_equal(again.vectors.array, first.vectors.array)


def test_another_model_computes_its_own():
    with Cache() as cache:
        computed(Counting(), ["a"], cache)
        other = Counting()
        computed(other, ["a"], cache, revision="other")
        assert other.asked == ["a"]
        assert {k.model: k.n_items for k in cache.contents()} == {"r": 1, "other": 1}


def test_what_is_done_stays_after_ctrl_c():
    class Stopped(Counting):
        def embed(self, items):
            if len(self.asked) >= 8:
                raise KeyboardInterrupt
            return super().embed(items)

    cells = [f"text {k:02d}" for k in range(20)]
    with Cache() as cache, pytest.raises(KeyboardInterrupt):
        computed(Stopped(), cells, cache)
    embedder = Counting()
    with Cache() as cache:
        computed(embedder, cells, cache)
    assert len(embedder.asked) == 12


def test_what_is_done_stays_after_kill_9(tmp_path):
    """The file is whole, and holds all batches that were finished."""
    code = (
        "import time, numpy as np\n"
        "from mercer.app.embedding.cache import Cache\n"
        "from mercer.app.embedding.embedder import Vectors\n"
        "cache = Cache()\n"
        "for k in range(10**6):\n"
        "    keys = [b'%08d-%d' % (k, j) for j in range(16)]\n"
        "    v = Vectors(np.ones((16, 384), np.float32), np.ones(16, np.intp))\n"
        "    cache.keep('m', keys, v)\n"
        "    print(k, flush=True)\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )
    done = -1
    for line in child.stdout:
        done = int(line)
        if done >= 20:
            break
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with Cache() as cache:
        assert not cache.trouble
        keys = [b"%08d-%d" % (k, j) for k in range(done + 1) for j in range(16)]
        assert len(cache.find("m", keys)) == len(keys)
    with sqlite3.connect(cache_file()) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_a_damaged_file_is_put_aside():
    cache_file().parent.mkdir(parents=True)
    cache_file().write_bytes(b"not a database, but long enough to be taken for one" * 9)
    with Cache() as cache:
        computed(Counting(), ["a"], cache)
        assert cache.contents()[0].n_items == 1
    assert cache_file().with_name("embeddings.db.damaged").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_cannot_be_written_costs_the_cache_alone(tmp_path, monkeypatch):
    tmp_path.chmod(0o500)
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "cache"))
    _without_a_cache()


def test_a_file_in_the_way_costs_the_cache_alone(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MERCER_CACHE", str(tmp_path / "file"))
    _without_a_cache()


def _without_a_cache():
    listener = Listener()
    with Cache() as cache:
        found = computed(Counting(), ["a", "bb"], cache, progress=listener)
    assert found.vectors.array.shape == (2, 3)
    assert "not kept for the next run" in listener.notes[-1]


def test_the_file_is_for_its_owner_alone():
    Cache().close()
    assert stat.S_IMODE(cache_file().stat().st_mode) == 0o600


def test_the_oldest_go_when_it_is_full(monkeypatch):
    now = 1000
    monkeypatch.setattr(cache_module.time, "time", lambda: now)
    with Cache(most_bytes=60 * 10) as cache:  # 3 numbers in half precision: 6 bytes
        for now in range(1000, 1012):
            computed(Counting(), [f"{now} {k}" for k in range(10)], cache)
        (kept,) = cache.contents()
        assert kept.n_bytes <= 600
        last = computed(embedder := Counting(), ["1011 0", "1000 0"], cache)
    assert embedder.asked == ["1000 0"]
    assert last.n_new == 1


def test_clearing_gives_the_space_back():
    with Cache() as cache:
        computed(Counting(batch=500), [f"text {k}" for k in range(3000)], cache)
        cache.clear()
        assert cache.contents() == []
    assert cache_file().stat().st_size < 40_000


def test_two_programs_may_write_at_the_same_time():
    with Cache() as one, Cache() as two:
        computed(Counting(), ["a", "b"], one)
        embedder = Counting()
        computed(embedder, ["a", "c"], two)
        computed(Counting(), ["d"], one)
        assert embedder.asked == ["c"]
        assert one.contents()[0].n_items == 4


def test_progress_grows_with_the_length_of_the_texts():
    """The first half of the texts is a tenth of the work."""
    listener = Listener()
    cells = [f"{k}" for k in range(4)] + [f"{k}" * 18 for k in range(4)]
    with Cache() as cache:
        computed(Counting(batch=4), cells, cache, progress=listener)
    assert listener.shares == pytest.approx([8 / 84, 1.0])


@pytest.mark.parametrize(("seconds", "is_said"), [(70.0, True), (50.0, False)])
def test_a_long_job_is_announced(monkeypatch, seconds, is_said):
    """Half of the work is done after this time, so as much is left."""
    clock = iter([0.0, seconds, 2 * seconds])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    listener = Listener()
    with Cache() as cache:
        computed(Counting(batch=2), ["a", "b", "c", "d"], cache, progress=listener)
    assert any("about 1 min" in note for note in listener.notes) == is_said


def test_what_cannot_be_read_is_named_and_left_out():
    cells = texts(["a", "bad", "b", "bad"])

    def read(k):
        if k in (1, 3):
            msg = "no image"
            raise UnreadableError(msg)
        return "ab"[k // 2]

    with Cache() as cache:
        found = vectors_of(
            Counting, "r", Items(cells.keys, read, cells.sizes), cache=cache
        )
    assert found.broken == {1: "no image", 3: "no image"}
    assert found.vectors.pieces.tolist() == [1, 0, 1, 0]
    assert found.n_new == 2
