"""Dask: equal to one machine, and what happens when parts of a cluster are lost."""

import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mercer import ParameterFreeKernel, UnifiedKernelMachine, persist
from mercer._base.rows import is_dask
from mercer._base.typing import FloatArray, IntArray
from mercer.exceptions import ClusterError
from mercer.fewlabels.pools import dask as dask_
from mercer.fewlabels.pools.anchor_rows import summed_rows
from mercer.fewlabels.pools.anchor_sums import PoolSums
from mercer.fewlabels.pools.anchors import AnchorPool
from mercer.fewlabels.pools.dask import RowsAtHand, as_rows, gather

dask = pytest.importorskip("dask", reason="needs the extra dask")
da = pytest.importorskip("dask.array", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")

# Dask's own comments on slow machines are no errors of ours.
pytestmark = pytest.mark.filterwarnings("ignore")


def points(n: int = 600) -> tuple[FloatArray, IntArray]:
    """Return two clouds and a few labels."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + 6.0 * truth[:, None]
    y = np.where(np.isin(np.arange(n), [0, 1, 2, 3]), truth, -1)
    return X, y


def gathered(X: Any, y: Any, **options: Any) -> Any:
    return gather(X, y, n_components=6, rng=np.random.default_rng(5), **options)


def local_cluster(n_workers: int, memory: str) -> Any:
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        worker_dashboard_address=None,
        memory_limit=memory,
    )


@pytest.fixture(scope="module", name="client")
def two_processes() -> Iterator[Any]:
    with local_cluster(2, "2GB") as cluster, distributed.Client(cluster) as client:
        yield client


def assert_same_pool(one: AnchorPool, other: AnchorPool) -> None:
    np.testing.assert_array_equal(one.anchors_, other.anchors_)
    np.testing.assert_allclose(one.values_, other.values_, rtol=1e-6, atol=1e-9)
    for a, b in zip(one.blocks_, other.blocks_, strict=True):
        np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-3, atol=1e-4)
    # Directions of one block may be turned against each other; distances stay.
    U, V = np.asarray(one.vectors_), np.asarray(other.vectors_)
    for block in one.blocks_:
        P, Q = U[:, block.columns], V[:, block.columns]
        np.testing.assert_allclose(P @ P.T, Q @ Q.T, rtol=1e-3, atol=1e-2)


def test_blocks_give_the_pool_of_one_machine() -> None:
    X, y = points()
    alone = AnchorPool(6, random_state=np.random.default_rng(5)).fit(X)
    found = gathered(da.from_array(X, chunks=(170, 2)), y)
    assert_same_pool(found.pool, alone)
    np.testing.assert_array_equal(found.ids, np.arange(600))
    np.testing.assert_array_equal(found.y, y)


@pytest.mark.parametrize("length", [600, 170, 3])
def test_sums_over_some_rows_are_those_of_one_machine(length: int) -> None:
    X, y = points()
    alone = AnchorPool(6, most_summed=200, random_state=np.random.default_rng(5)).fit(X)
    found = gathered(da.from_array(X, chunks=(length, 3)), y, most_summed=200)
    assert_same_pool(found.pool, alone)
    assert found.pool.certificate_.reason == alone.certificate_.reason
    assert "of 600 rows" in found.pool.certificate_.reason


@pytest.mark.parametrize("is_at_hand", [True, False])
def test_rows_here_have_columns_by_extension(is_at_hand: bool) -> None:
    X, y = points()
    lonely = 1
    assert lonely not in np.array(summed_rows(0, 600, n=600, most=200))
    X[lonely] += 50.0
    known = RowsAtHand(np.arange(600), X, y) if is_at_hand else y
    pool = gathered(da.from_array(X, chunks=(170, 3)), known, most_summed=200).pool
    np.testing.assert_allclose(pool.extend(X), np.asarray(pool.vectors_), atol=1e-5)


def test_only_rows_that_are_summed_are_tied_to_anchors_by_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = points()
    sizes, place = [], AnchorPool.place

    def counted(self: AnchorPool, rows: FloatArray) -> Any:
        sizes.append(len(rows))
        return place(self, rows)

    monkeypatch.setattr(AnchorPool, "place", counted)
    with dask.config.set(scheduler="synchronous"):
        gathered(da.from_array(X, chunks=(100, 3)), y, most_summed=60)
    *in_blocks, here = sizes
    assert len(in_blocks) == 6
    assert sum(in_blocks) == pytest.approx(60, abs=3)
    assert max(in_blocks) <= 13
    assert here == 600


def test_rows_at_hand_are_what_the_model_works_on() -> None:
    X, y = points()
    at_hand = RowsAtHand(np.arange(0, 600, 2), X[::2], y[::2])
    found = gathered(da.from_array(X, chunks=(100, 3)), at_hand)
    np.testing.assert_array_equal(found.ids, at_hand.ids)
    np.testing.assert_array_equal(found.y, at_hand.y)
    pool, rng = AnchorPool(6), np.random.default_rng(5)
    pool.n_features_in_ = 3
    pool.prepare(pool.find_units(X[::2]), len(found.pool.anchors_), rng)
    pool.solve(PoolSums.of(*pool.place(X)), rng, n_rows=600)
    pool.keep(X[::2], *pool.place(X[::2]))
    assert_same_pool(found.pool, pool)
    assert len(found.pool.vectors_) == 300


@pytest.mark.parametrize("n_threads", [2, 16])
@pytest.mark.parametrize("n_blocks", [1, 7, 64, 640])
def test_few_sums_are_in_memory_however_many_blocks_there_are(
    n_blocks: int, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Counted:
        alive = most = 0

        def __init__(self, n: int) -> None:
            self.n = n
            Counted.alive += 1
            Counted.most = max(Counted.most, Counted.alive)

        def __add__(self, other: "Counted") -> "Counted":
            return Counted(self.n + other.n)

        def __del__(self) -> None:
            Counted.alive -= 1

    def sum_block(block: Any, *_: Any) -> Counted:
        return Counted(len(block))

    monkeypatch.setattr(dask_, "_sum_block", sum_block)
    monkeypatch.setattr(dask_, "_n_threads", lambda client: n_threads)
    X = da.zeros((10 * n_blocks, 2), chunks=(10, 2))
    with dask.config.set(scheduler="synchronous"):
        total: Any = dask_._sums(X, AnchorPool(), None)
    assert total.n == 10 * n_blocks
    # The sum so far, the block that comes next, and what they add up to; with many
    # threads also that of the chains before.
    assert Counted.most <= (3 if n_threads == 2 else 4)


def test_blocks_do_not_wait_in_memory_to_be_summed_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: set[int] = set()
    most = [0]

    def draw(number: int) -> FloatArray:
        block = np.zeros((10, 2))
        alive.add(number)
        most[0] = max(most[0], len(alive))
        weakref.finalize(block, alive.discard, number)
        return block

    def sum_block(block: FloatArray, *_: Any) -> int:
        time.sleep(0.005)
        return len(block)

    monkeypatch.setattr(dask_, "_sum_block", sum_block)
    blocks = [
        da.from_delayed(dask.delayed(draw)(number), (10, 2), dtype=float)
        for number in range(200)
    ]
    with dask.config.set(scheduler="threads", num_workers=4):
        total: Any = dask_._sums(da.concatenate(blocks), AnchorPool(), None)
    assert total == 2000
    assert most[0] <= 8  # each thread has one, and may have drawn the next one


def test_blocks_without_rows_add_nothing() -> None:
    X, y = points()
    kept = np.arange(600) >= 250
    rows = da.from_array(X, chunks=(100, 3))[da.from_array(kept, chunks=100)]
    assert dask_.as_rows(rows).chunks[0][:3] == (0, 0, 50)
    whole = da.from_array(X[kept], chunks=(100, 3))
    assert_same_pool(gathered(rows, y[kept]).pool, gathered(whole, y[kept]).pool)


def test_processes_give_the_pool_of_one_machine(client: Any) -> None:
    X, y = points()
    alone = AnchorPool(6, random_state=np.random.default_rng(5)).fit(X)
    blocks = da.from_array(X, chunks=(170, 3))
    found = gathered(blocks, da.from_array(y, chunks=170))
    assert_same_pool(found.pool, alone)
    np.testing.assert_array_equal(found.y, y)


def test_only_a_sample_and_the_labelled_rows_come_here() -> None:
    X, y = points()
    y[-1] = 1
    found = gathered(da.from_array(X, chunks=(100, 3)), y, local_rows=50, n_anchors=20)
    assert 50 <= len(found.ids) <= 55
    assert {0, 1, 2, 3, 599} <= set(found.ids.tolist())
    assert len(found.pool.vectors_) == len(found.ids)
    np.testing.assert_array_equal(found.y, y[found.ids])
    # The columns are those of the rows, and the sums those of all 600.
    np.testing.assert_allclose(
        found.pool.extend(X[found.ids]), np.asarray(found.pool.vectors_), atol=1e-5
    )
    sizes = [Z.shape[0] for Z in found.pool.vectors_.ties]
    assert sizes == [len(found.ids)] * len(sizes)
    mass = found.pool.extend(X).mean(axis=0)
    np.testing.assert_allclose(mass, 0.0, atol=1e-4)


def test_labels_of_every_kind_are_found() -> None:
    X, _ = points(60)
    blocks = da.from_array(X, chunks=(25, 3))
    words = np.full(60, None, dtype=object)
    words[[3, 40]] = ["a", "b"]
    numbers = np.full(60, np.nan)
    numbers[[3, 40]] = [0.0, 1.0]
    for y in (words, numbers, da.from_array(numbers, chunks=30)):
        found = gathered(blocks, y)
        assert found.y[[3, 40]].tolist() in (["a", "b"], [0.0, 1.0])
        assert (found.y == -1).sum() == 58


def test_rows_that_do_not_match_are_refused() -> None:
    X, y = points(60)
    for wrong in (y[:-1], da.from_array(y[:-1], chunks=20)):
        with pytest.raises(ValueError, match="60 rows and y has 59"):
            gathered(da.from_array(X, chunks=(25, 3)), wrong)
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        as_rows(da.ones(5))


def test_missing_values_are_refused() -> None:
    X, y = points(60)
    X[30, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        gathered(da.from_array(X, chunks=(25, 3)), y)


def test_missing_values_of_rows_that_are_not_summed_are_refused() -> None:
    X, y = points(60)
    pool = gathered(da.from_array(X, chunks=(25, 3)), y, most_summed=20).pool
    assert 32 not in np.array(summed_rows(0, 60, n=60, most=20))
    X[32, 1] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity"):
        dask_._sums(da.from_array(X, chunks=(25, 3)), pool, None)


def test_what_is_dask() -> None:
    assert is_dask(da.ones(3))
    assert not is_dask(np.ones(3))


def test_a_model_of_a_dask_array_is_that_of_the_rows() -> None:
    X, y = points()
    blocks = da.from_array(X, chunks=(170, 3))
    model = UnifiedKernelMachine(random_state=0).fit(blocks, y)
    pool = AnchorPool(50, random_state=np.random.default_rng(model._seed))
    alone = UnifiedKernelMachine(basis=pool, random_state=0).fit(X, y)
    np.testing.assert_allclose(
        model.training_proba(), alone.training_proba(), atol=1e-3
    )
    np.testing.assert_array_equal(model.transduction_, alone.transduction_)
    lazy = model.predict(blocks)
    assert is_dask(lazy)
    assert lazy.chunks == ((170, 170, 170, 90),)
    np.testing.assert_array_equal(lazy.compute(), alone.predict(X))
    proba = model.predict_proba(blocks)
    assert proba.shape == (600, 2)
    np.testing.assert_allclose(proba.compute(), model.predict_proba(X), atol=1e-6)
    features = UnifiedKernelMachine(random_state=0).fit_transform(blocks, y)
    assert is_dask(features)  # of all rows, of which some only are at hand
    np.testing.assert_allclose(features.compute(), model.transform(X), atol=1e-6)


def test_blocks_without_rows_are_predicted() -> None:
    X, y = points()
    kept = np.arange(600) >= 250
    rows = da.from_array(X, chunks=(100, 3))[da.from_array(kept, chunks=100)]
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    for name in ("predict", "predict_proba", "transform"):
        found = getattr(model, name)(rows).compute()
        np.testing.assert_allclose(found, getattr(model, name)(X[kept]), atol=1e-6)


def test_workers_get_the_model_without_its_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = points()
    blocks = da.from_array(X, chunks=(170, 3))
    model = UnifiedKernelMachine(random_state=0).fit(blocks, y)
    seen: list[UnifiedKernelMachine] = []

    def call(block: FloatArray, sent: UnifiedKernelMachine, name: str, _: Any) -> Any:
        seen.append(sent)
        return getattr(sent, name)(block)

    monkeypatch.setattr(dask_, "_call", call)
    for name in ("predict", "predict_proba", "transform"):
        lazy = getattr(model, name)(blocks)
        here = getattr(model, name)(X)
        found = lazy.compute(scheduler="synchronous")  # `seen` is in this process
        np.testing.assert_allclose(found, here, atol=1e-6)  # float32 features
    assert len(model.ids_) == len(model.basis_.vectors_) == 600
    assert {len(sent.basis_.vectors_) for sent in seen} == {0}
    assert {len(sent.ids_) for sent in seen} == {0}


def test_asking_and_telling_name_rows_of_the_whole_array(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = points()
    truth = np.arange(600) % 2
    monkeypatch.setattr("mercer.fewlabels.pools.dask.LOCAL_ROWS", 80)
    blocks = da.from_array(X, chunks=(170, 3))
    model = UnifiedKernelMachine(random_state=0).fit(blocks, y)
    assert len(model.ids_) < 90
    rows = model.ask(3)
    assert set(rows) <= set(model.ids_)
    assert rows.max() > 90  # positions in the whole array
    model.tell(rows, truth[rows])
    assert len(model.labeled_) == 7
    assert np.mean(model.predict(blocks).compute() == truth) > 0.99


LOAD = """
import sys
import numpy as np
from mercer import load
model = load(sys.argv[1])
np.save(sys.argv[3], model.tell([8], [0]).predict_proba(np.load(sys.argv[2])))
"""


@pytest.mark.parametrize("most", [600, 599, 150])
def test_the_whole_way_on_both_sides_of_the_rows_that_are_summed(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = points()
    truth = np.arange(600) % 2
    monkeypatch.setitem(AnchorPool.__init__.__kwdefaults__, "most_summed", most)
    blocks = da.from_array(X, chunks=(170, 3))
    model = UnifiedKernelMachine(random_state=0).fit(blocks, y)
    assert ("of 600 rows" in model.basis_.certificate_.reason) == (most < 600)
    rows = model.ask(3)
    model.tell(rows, truth[rows])
    assert len(model.labeled_) == 7
    assert np.mean(model.predict(blocks).compute() == truth) > 0.99
    files = [str(tmp_path / name) for name in ("model.skops", "new.npy", "proba.npy")]
    persist.save(model, files[0])
    np.save(files[1], X + 0.01)
    subprocess.run([sys.executable, "-c", LOAD, *files], check=True)
    here = model.tell([8], [0]).predict_proba(X + 0.01)
    np.testing.assert_allclose(np.load(files[2]), here, atol=1e-6)


def test_a_learner_that_needs_all_rows_is_refused() -> None:
    X, y = points(60)
    model = UnifiedKernelMachine(ParameterFreeKernel())
    with pytest.raises(TypeError, match="default learner"):
        model.fit(da.from_array(X, chunks=(25, 3)), y)


def slow(X: FloatArray, seconds: float) -> Any:
    """Return a Dask array whose blocks take a while."""

    def wait(block: FloatArray) -> FloatArray:
        time.sleep(seconds)
        return block

    return da.from_array(X, chunks=(50, 3)).map_blocks(wait, dtype=X.dtype)


def in_the_background(act: Callable[[], None], after: float) -> threading.Thread:
    def run() -> None:
        time.sleep(after)
        act()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_killed_worker_does_not_matter(client: Any) -> None:
    X, y = points()
    alone = AnchorPool(6, random_state=np.random.default_rng(5)).fit(X)
    victim = next(iter(client.run(os.getpid).values()))
    killer = in_the_background(lambda: os.kill(victim, signal.SIGKILL), 0.5)
    found = gathered(slow(X, 0.2), y)
    killer.join()
    assert_same_pool(found.pool, alone)
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def test_an_interrupted_job_leaves_nothing_behind(client: Any) -> None:
    X, y = points()
    main, over = threading.main_thread().ident, threading.Event()

    def interrupt(*_: object) -> None:
        if not over.is_set():
            raise KeyboardInterrupt

    def press() -> None:
        # Again until it is noticed: what is raised in a finaliser is lost.
        patience = 1.0
        while not over.wait(patience):
            signal.pthread_kill(main, signal.SIGINT)  # type: ignore[arg-type]
            patience = 10.0

    before = signal.signal(signal.SIGINT, interrupt)
    pressing = in_the_background(press, 0.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            gathered(slow(X, 5.0), y)
    finally:
        over.set()
        pressing.join()
        signal.signal(signal.SIGINT, before)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and client.run_on_scheduler(n_tasks):
        time.sleep(0.2)
    assert client.run_on_scheduler(n_tasks) == 0


def n_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def test_a_worker_short_of_memory_spills_and_finishes() -> None:
    n, d = 6_000, 12_000  # 576 MB, of a worker that spills from 540 MB on
    rng = da.random.default_rng(0)
    X = rng.random(size=(n, d), chunks=(250, d))
    y = np.full(n, -1)
    y[:2] = [0, 1]
    with local_cluster(1, "900MB") as cluster, distributed.Client(cluster) as client:
        kept = X.persist()
        found = gathered(kept, y, n_anchors=50, local_rows=300)
        assert 300 <= len(found.ids) <= 302
        (spilled,) = client.run(
            lambda dask_worker: dask_worker.data.spilled_total.memory
        ).values()
        assert spilled > 0


def test_a_lost_scheduler_is_said_in_words() -> None:
    X, y = points()
    cluster = local_cluster(1, "2GB")
    client = distributed.Client(cluster, timeout=5)
    loss = in_the_background(cluster.close, 0.5)
    try:
        with (
            client.as_current(),
            pytest.raises(ClusterError, match="scheduler was lost"),
        ):
            gathered(slow(X, 1.0), y)
    finally:
        loss.join()
        client.close()
