"""Where pages, buckets and texts are processed: in this process, a pool on this machine, or a Ray cluster."""

from __future__ import annotations

import os
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragval_pipeline.errors import RagvalError, with_remedy
from ragval_pipeline.sources.calls import in_turn
from ragval_pipeline.sources.memory import ALLOCATIONS
from ragval_pipeline.suite.sections import ScaleSettings

if TYPE_CHECKING:
    from concurrent.futures import Future

#: Points from which another process pays off: starting one costs as much as some 2,000 of them.
POINTS_A_WORKER = 4096

Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerError(RagvalError):
    """The worker processes died or could not be started."""

    exit_code = 3

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(with_remedy(problem, remedy))


#: Those who work for a run; None outside of one.
_kept: ContextVar[list[_Processes | _Cluster] | None] = ContextVar("workers", default=None)


@contextmanager
def keeping_workers() -> Iterator[None]:
    """Processes that are started meanwhile serve all work until the end, rather than one piece of it."""
    team: list[_Processes | _Cluster] = []
    token = _kept.set(team)
    try:
        yield
    finally:
        _kept.reset(token)
        _end(team)


def each_done(
    work: Callable[[Item], Result], items: Iterable[Item], scale: ScaleSettings, *, weight: int
) -> Iterator[Result]:
    """The results of some items of work, in their order.

    Args:
        work: A function of a module; it must not matter who calls it, when, or how often.
        items: What it is called with, taken as they are needed; they are pickled.
        scale: Who calls it.
        weight: Total points of the items: a small collection is not worth a second process.

    Raises:
        WorkerError: A worker process died, or there is no Ray to work on.
    """
    kept = _kept.get()
    team = [] if kept is None else kept
    if scale.engine == "ray":
        team[:] = team or [_Cluster(scale)]
    else:
        wanted = min(usable_cpus(), weight // POINTS_A_WORKER) if scale.workers == "auto" else scale.workers
        wanted = min(wanted, len(items)) if isinstance(items, Sized) else wanted
        if wanted > max(1, *(held.count for held in team), 0) and not _may_not_have_children():
            _end(team)
            team.append(_Processes(wanted))
    try:
        yield from _done_by(team, work, items)
    finally:
        if kept is None:
            _end(team)


def by_running(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """``each_done`` with the workers of this run; without any, or with one item, in this process."""
    return _done_by((_kept.get() or []) if len(items) > 1 else [], work, items)


def _done_by(
    team: list[_Processes | _Cluster], work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    try:
        yield from team[0].results(work, items) if team else map(work, items)
    except WorkerError:
        _end(team)  # the next task starts new ones
        raise


def _end(team: list[_Processes | _Cluster]) -> None:
    while team:
        team.pop().end()


def usable_cpus() -> int:
    """Processors that this process may use, by affinity and container quota."""
    affinity = getattr(os, "sched_getaffinity", None)
    cpus = len(affinity(0)) if affinity else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()[:2]
        cpus = min(cpus, max(1, int(quota) // int(period)))
    return cpus


def _may_not_have_children() -> bool:
    """Whether this process is a pool's daemon itself, like Celery's workers."""
    import multiprocessing

    return bool(multiprocessing.current_process().daemon)


class _Processes:
    """A pool of processes on this machine.

    Spawned on every system: a fork of a process with threads, such as Dagster's and Qdrant's, may hang.
    """

    def __init__(self, count: int) -> None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        self.count = count
        self._pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=_begin_worker)

    def results(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in item order; some are computed ahead."""
        from concurrent.futures import Future
        from concurrent.futures.process import BrokenProcessPool

        try:
            yield from in_turn(partial(self._begin, work), items, Future.result, ahead=2 * self.count)
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process of the run was killed, most often because it ran out of memory",
                f"Give the run more memory, or fewer workers than {self.count}: scale.workers in the suite.",
            ) from None

    def _begin(self, work: Callable[[Item], Result], item: Item) -> Future[Result]:
        with _without_main(), _one_thread_each():  # each submission may start a process until there are enough
            return self._pool.submit(work, item)

    def end(self) -> None:
        """Stop the processes after their current tasks."""
        self._pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    """In a new worker: ignore interrupts, end with the parent, and collect garbage rarely."""
    import atexit
    import gc
    import multiprocessing
    import signal
    from multiprocessing.connection import wait

    gc.set_threshold(ALLOCATIONS)
    atexit.register(gc.freeze)  # skip the final garbage collection of imported modules
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def _without_main() -> Iterator[None]:
    """Spawn processes that do not import the main program again: a script without a guard would validate once more."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Spawn processes whose libraries start no threads: the processes already use all processors."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    added = [name for name in names if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


class _Cluster:
    """A Ray cluster: the one that the process is connected to, or a new one."""

    count = 0

    def __init__(self, scale: ScaleSettings) -> None:
        import ray

        self._own = not ray.is_initialized()
        if self._own:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            workers = None if scale.workers == "auto" or scale.address else scale.workers
            try:
                ray.init(address=scale.address, num_cpus=workers, log_to_driver=False, include_dashboard=False)
            except (ConnectionError, ValueError) as error:
                remedy = "Start one with ray start --head, or leave scale.address out for a cluster on this machine."
                told = f"no Ray cluster answers at {scale.address} ({type(error).__name__})"
                raise WorkerError(told, remedy) from None

    def results(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Results in item order. Ray replaces a worker that dies, with its default number of retries."""
        import ray

        ahead = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        try:
            yield from in_turn(ray.remote(work).remote, items, ray.get, ahead=ahead)
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
            remedy = "Give the workers of the cluster more memory."
            told = f"workers of the Ray cluster died more often than Ray retries ({error})"
            raise WorkerError(told, remedy) from None

    def end(self) -> None:
        """Disconnect from the cluster; stop it if it was started here."""
        import ray

        if self._own:
            ray.shutdown()
