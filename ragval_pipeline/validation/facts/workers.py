"""Who does the work on buckets: this process, a pool of processes on this machine, or a Ray cluster."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from ragval_pipeline.errors import RagvalError, with_remedy
from ragval_pipeline.sources.memory import ALLOCATIONS
from ragval_pipeline.suite.sections import ScaleSettings

#: Points for which another process pays: starting one costs as much as some 2,000 of them.
POINTS_A_WORKER = 4096  # work

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerError(RagvalError):
    """The processes that should have made facts are gone or were never there.

    Args:
        problem: What happened, one clause.
        remedy: What to do about it, one sentence.
    """

    exit_code = 3  # definition

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(with_remedy(problem, remedy))


def each_done(
    work: Callable[[Item], Result], items: Sequence[Item], scale: ScaleSettings, *, weight: int
) -> Iterator[Result]:
    """The results of some items of work, in the order in which they are ready.

    Args:
        work: A function of a module; it must not matter who calls it, when, or how often.
        items: What it is called with; they are pickled.
        scale: Who calls it.
        weight: Points in all items: a small collection is not worth a second process.

    Raises:
        WorkerError: A worker process died, or there is no Ray to work on.
    """
    if scale.engine == "ray":
        yield from _on_ray(work, items, scale)
        return
    wanted = min(usable_cpus(), weight // POINTS_A_WORKER) if scale.workers == "auto" else scale.workers
    workers = min(wanted, len(items))
    if workers < 2 or _may_not_have_children() or _is_in_memory(items):
        yield from map(work, items)
    else:
        yield from _in_pool(work, items, workers)


def usable_cpus() -> int:
    """Processors that this process may use, by its affinity and by the quota of its container."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()[:2]
        cpus = min(cpus, max(1, int(quota) // int(period)))
    return cpus


def _may_not_have_children() -> bool:
    """Whether this process is a daemon of a pool itself, as Celery's workers are."""
    import multiprocessing

    return bool(multiprocessing.current_process().daemon)


def _is_in_memory(items: Sequence[Any]) -> bool:
    """Whether the files lie in the memory of this process."""
    return any(str(getattr(item, "folder", "")).startswith("memory:") for item in items)


def _in_pool(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # Spawned on every system: a fork of a process with threads, as Dagster's and Qdrant's are, may never come to life.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin_worker)
    try:
        with _without_main(), _one_thread_each():
            futures = [pool.submit(work, item) for item in items]
        for future in as_completed(futures):
            yield future.result()
    except BrokenProcessPool:
        raise WorkerError(
            "a worker process that made facts of chunks died: it was killed, most often because memory ran out",
            f"Give the run more memory, or fewer workers than {workers}: scale.workers in the suite.",
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """In a new worker: leave interrupts to the parent, end when it is gone, and seldom look for cycles of rows."""
    import atexit
    import gc
    import multiprocessing
    import signal
    from multiprocessing.connection import wait

    gc.set_threshold(ALLOCATIONS)
    atexit.register(gc.freeze)  # what was imported goes with the process, without a last look for cycles
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _without_main() -> Iterator[None]:
    """Spawn processes that do not import the program again: a script without a guard would validate once more."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Spawn processes whose libraries start no threads of their own: the processes share the processors already."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    added = [name for name in names if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _on_ray(work: Callable[[Item], Result], items: Sequence[Item], scale: ScaleSettings) -> Iterator[Result]:
    import ray

    own = not ray.is_initialized()
    if own:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        workers = None if scale.workers == "auto" or scale.address else scale.workers
        try:
            ray.init(address=scale.address, num_cpus=workers, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError) as error:
            remedy = "Start one with ray start --head, or leave scale.address out for a cluster on this machine."
            raise WorkerError(f"no Ray cluster answers at {scale.address} ({type(error).__name__})", remedy) from None
    try:
        # A worker that dies is Ray's to replace, with its own default of retries.
        waiting = [ray.remote(work).remote(item) for item in items]
        while waiting:
            ready, waiting = ray.wait(waiting)
            yield from ray.get(ready)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
        remedy = "Give the workers of the cluster more memory."
        raise WorkerError(f"workers of the Ray cluster died more often than Ray retries ({error})", remedy) from None
    finally:
        if own:
            ray.shutdown()
