"""Running a study's jobs: in parallel, with progress, kept when interrupted."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path

import pooch
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from mercer_studies.study import Job, Results, Study


def cache_folder(study: Study) -> Path:
    """Folder of finished jobs; $MERCER_CACHE or the per-user cache."""
    root = os.environ.get("MERCER_CACHE") or pooch.os_cache("mercer")
    return Path(root) / "reproduce" / f"{study.paper}_{study.shares or study.name}"


def run_study(
    study: Study, *, quick: bool = False, n_jobs: int | None = None, fresh: bool = False
) -> Iterator[tuple[int, int, Results]]:
    """Run what is not in the cache, and yield (done, total, results so far).

    There are fewer splits if `quick`. By default all cores are used, each with
    single-threaded linear algebra; `fresh` computes everything again, and replaces what
    the cache holds. Results take a row to its finished splits, in their order.
    """
    jobs = study.jobs(quick)
    folder = cache_folder(study)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{job.key(study.version)}.json" for job in jobs]
    found = [None if fresh else _read(path) for path in paths]
    yield sum(r is not None for r in found), len(jobs), _collect(jobs, found)

    missing = [i for i, result in enumerate(found) if result is None]
    work = Parallel(n_jobs=n_jobs or -1, return_as="generator_unordered")
    with _interrupts_wait():
        finished = work(delayed(_run_one)(i, jobs[i], paths[i]) for i in missing)
    for i in finished:
        found[i] = _read(paths[i])
        yield sum(r is not None for r in found), len(jobs), _collect(jobs, found)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back; processes started meanwhile leave it to this one for good."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # when it starts it lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_one(i: int, job: Job, path: Path) -> int:
    with threadpool_limits(1):
        result = job.run()
    # A name of its own until complete: an interrupt never leaves half a result.
    partial = path.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(json.dumps(result), encoding="utf-8")
    partial.replace(path)
    return i


def _read(path: Path) -> dict[str, float] | None:
    if not path.is_file():
        return None
    result: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return result


def _collect(jobs: list[Job], found: list[dict[str, float] | None]) -> Results:
    results: Results = {job.row: [] for job in jobs}
    for job, result in zip(jobs, found, strict=True):
        if result is not None:
            results[job.row].append(result)
    return results
