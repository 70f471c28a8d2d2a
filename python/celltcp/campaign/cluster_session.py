"""Session with a Dask cluster: its workers and their pending tasks."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError
from celltcp.campaign.run import ClusterLostError
from celltcp.campaign.worker import OtherBuildError, Task, WorkerRequirement, check_worker

if TYPE_CHECKING:
    from distributed import Client, Future

#: Maximum time to wait for the scheduler, s.
_CONNECT_S = 10

#: Interval of the checks for new and lost workers, s.
_POLL_INTERVAL_S = 1.0

#: Submitted tasks per thread of the workers, so that no thread becomes idle.
_TASKS_PER_THREAD = 3

#: Minimum number of submitted tasks, before workers are known.
_MIN_TASKS = 8


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """Yields a client of the scheduler with this address.

    Raises:
        CelltcpError: if there is none.
    """
    try:
        from distributed import Client
    except ImportError:
        raise CelltcpError("cluster: Dask is missing; run: pip install 'celltcp[cluster]'") from None
    try:
        client = Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CelltcpError(
            f"cluster: {address!r} is not reached: {text}; allowed: the address of a Dask scheduler, "
            "such as tcp://host:8786"
        ) from None
    # Errors here have one line; Dask would log many.
    log = logging.getLogger("distributed")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield client
    finally:
        log.setLevel(level)
        # Fails if the scheduler is lost.
        with suppress(Exception):
            client.close(timeout=2)


@dataclass
class Session:
    """Session with a cluster: its accepted workers, and the pending tasks."""

    client: Client
    address: str
    needed: tuple[WorkerRequirement, ...]
    #: Threads of accepted workers, by address.
    accepted: dict[str, int] = field(default_factory=dict)
    #: Reasons for rejected workers, by address.
    rejected: dict[str, str] = field(default_factory=dict)
    #: Submitted tasks by number, with the addresses of allowed workers; None for all.
    running: dict[int, tuple[Task, Future, frozenset[str] | None]] = field(default_factory=dict)
    #: Shared calls of the tasks, by name.
    shared: dict[str, Future] = field(default_factory=dict)
    #: Finished tasks that are not processed yet.
    done: queue.SimpleQueue[tuple[int, Future]] = field(default_factory=queue.SimpleQueue)
    #: Time of the last poll of the workers, by `time.monotonic`.
    last_poll_s: float = 0.0
    #: Number of times that tasks were moved to other workers; part of the keys of shared calls.
    attempt: int = 0

    def results(self, tasks: Iterator[tuple[int, Task]]) -> Iterator[tuple[int, Any]]:
        """Yields the number and the result of each task, as they come."""
        next_task = next(tasks, None)
        while next_task is not None or self.running:
            self._poll_workers()
            room = max(_MIN_TASKS, _TASKS_PER_THREAD * sum(self.accepted.values()))
            while next_task is not None and len(self.running) < room:
                # The result of a task far ahead of the first unfinished one would stay in memory.
                if self.running and next_task[0] - min(self.running) >= 4 * room:
                    break
                self._submit(*next_task)
                next_task = next(tasks, None)
            with suppress(queue.Empty):
                yield from self._finished(*self.done.get(timeout=_POLL_INTERVAL_S))

    def cancel(self) -> None:
        """Cancels the unfinished tasks."""
        # Fails if the scheduler is lost.
        with suppress(Exception):
            self.client.cancel([future for _, future, _ in self.running.values()])
        self.running.clear()
        self.shared.clear()

    def _submit(self, number: int, task: Task) -> None:
        allowed = frozenset(self.accepted) if self.rejected else None
        workers = {} if allowed is None else {"workers": sorted(allowed)}
        for name, function, arguments in task.shared:
            if name not in self.shared:
                self.shared[name] = self.client.submit(
                    function, *arguments, key=f"celltcp-{name}-{self.attempt}", **workers
                )
        shared = [self.shared[name] for name, _, _ in task.shared]
        future = self.client.submit(task.function, *task.arguments, *shared, pure=False, **workers)
        self.running[number] = task, future, allowed
        future.add_done_callback(lambda each: self.done.put((number, each)))

    def _finished(self, number: int, future: Future) -> Iterator[tuple[int, Any]]:
        if number not in self.running or future is not self.running[number][1]:
            return
        if future.status == "cancelled":
            raise self._lost_error()
        try:
            result = future.result()
        except OtherBuildError as error:
            self._reject(error.address, error.args[0])
            return
        except Exception as error:
            raise self._task_error(error) from None
        del self.running[number]
        yield number, result

    def _task_error(self, error: Exception) -> Exception:
        """Returns the error to raise for the exception of a task."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        if isinstance(error, KilledWorker):
            text = "workers died repeatedly on one chunk of runs (out of memory?)"
            return CelltcpError(f"cluster: {self.address}: {text}")
        if isinstance(error, RuntimeError) and "task graph" in str(error):
            text = "scheduler: celltcp is missing or differs from the workers' version"
            return CelltcpError(f"cluster: {self.address}: {text}")
        # CancelledError of concurrent.futures and that of asyncio have one name and no common parent.
        is_lost = isinstance(error, (CancelledError, CommClosedError, TimeoutError))
        return self._lost_error() if is_lost or "Cancelled" in type(error).__name__ else error

    def _lost_error(self) -> ClusterLostError:
        return ClusterLostError(f"cluster: {self.address}: the scheduler is lost")

    def _poll_workers(self) -> None:
        """Checks new workers, and removes lost ones."""
        if time.monotonic() - self.last_poll_s < _POLL_INTERVAL_S:
            return
        if self.client.status != "running":
            raise self._lost_error()
        try:
            online = self.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, ValueError):
            raise self._lost_error() from None
        for workers in (self.accepted, self.rejected):
            for address in workers.keys() - online.keys():
                del workers[address]
        for address in online:
            if address not in self.accepted and address not in self.rejected:
                self._admit(address)
        if self.rejected and not self.accepted:
            address, reason = next(iter(self.rejected.items()))
            raise CelltcpError(f"cluster: {self.address}: no worker can be used; {address}: {reason}")
        # Tasks that only lost workers may run would wait for ever.
        self._resubmit(
            number
            for number, (_, _, allowed) in self.running.items()
            if allowed is not None and not allowed & self.accepted.keys()
        )
        self.last_poll_s = time.monotonic()

    def _admit(self, address: str) -> None:
        """Accepts or rejects a worker."""
        try:
            threads = self.client.run(check_worker, self.needed, workers=[address])
        except OSError:
            # The worker was lost again; the next check shows whether it returns.
            return
        except OtherBuildError as error:
            self.rejected[address] = str(error.args[0])
        except Exception as error:
            self.rejected[address] = f"{type(error).__name__}: {error}"
        else:
            self.accepted[address] = threads[address]

    def _reject(self, address: str, reason: str) -> None:
        """Rejects a worker that got tasks before its check, and moves these to others."""
        self.accepted.pop(address, None)
        self.rejected[address] = reason
        self.last_poll_s = 0.0
        self._poll_workers()
        self._resubmit(self.running)

    def _resubmit(self, numbers: Iterable[int]) -> None:
        moved = list(numbers)
        if moved:
            self.attempt += 1
            self.shared.clear()
        for number in moved:
            task, future, _ = self.running[number]
            future.cancel()
            self._submit(number, task)
