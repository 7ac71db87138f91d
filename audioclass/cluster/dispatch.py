"""Items submitted to workers, a few at a time to each; those of a worker that died are submitted again.

Every item is sent to one worker by name: so it is known who did what, nothing is sent to a worker whose environment was
not inspected, and of several items on a worker that died the guilty one is found by giving each a worker of its own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import itertools
import queue
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audioclass import __version__
from audioclass.cluster.connection import Connection
from audioclass.cluster.tasks import Environment, Payload, ProcessContext, inspect_environment, receive, run_item
from audioclass.errors import ClusterError, named_text_of
from audioclass.run import NeedsFiles

ITEMS_PER_WORKER = 3  # one that is done, and two that are there when it is
AHEAD_PER_WORKER = 16  # items, of the one that results in order wait for
MAX_DEATHS = 3  # of workers, after which an item is guilty
UPDATE_INTERVAL = 0.5  # seconds, of the workers that are there
WORKER_TIMEOUT = 60.0  # seconds without a worker, or until one that is busy answers


@dataclass(eq=False)
class Assignment:
    """An item and its number, and how many workers died while they had it."""

    number: int
    item: Any
    deaths: int = 0


@dataclass(frozen=True, eq=False)
class Finished:
    """An item that is done, with what the work gave for it, or that was given up for killing its workers."""

    assignment: Assignment
    value: Any = None

    @property
    def is_crashed(self) -> bool:
        """Whether it was given up."""
        return self.assignment.deaths >= MAX_DEATHS


@dataclass(eq=False)
class _Worker:
    """A worker: whether its environment was found the same as ours, the work it holds, and its pending items."""

    address: str
    inspection: Any = None
    is_accepted: bool = False
    work: Any = None
    pending: dict[Assignment, Any] = field(default_factory=dict)  # with their futures

    @property
    def is_isolated(self) -> bool:
        """Whether its item is a suspect, which nothing else is to be blamed for."""
        return any(assignment.deaths for assignment in self.pending)

    @property
    def futures(self) -> list[Any]:
        """Of all that it was asked for and has not done."""
        return [future for future in (*self.pending.values(), self.work, self.inspection) if future is not None]


class Dispatch:
    """One work on many items; `finished` gives each of them once, in order of completion.

    Where results are wanted `in_order`, no item is begun that is far ahead of one that is not done: its result would
    have to be held.
    """

    def __init__(self, connection: Connection, work: Callable[[Any], Any], *, in_order: bool = False) -> None:
        self._connection = connection
        self._in_order = in_order
        self._source: Iterator[Assignment] = iter(())
        self._drawn_early: list[Assignment] = []  # one at most, to know whether there is one
        self._n_drawn = 0
        self._work = Payload(work)
        self._context = ProcessContext.current()
        self._files = needed_files(work)
        self._environment = inspect_environment(self._files, self._context)
        self._workers: dict[str, _Worker] = {}
        self._rejected: set[str] = set()
        self._suspects: deque[Assignment] = deque()
        self._given_up: list[Assignment] = []
        self._events: queue.SimpleQueue[tuple[_Worker, Assignment | None, Any, BaseException | None]]
        self._events = queue.SimpleQueue()
        self._last_update = self._last_seen = time.monotonic()
        self._has_started = False
        self.has_unfinished_work = False  # items that a worker may still be at when nobody wants them any more

    def finished(self, items: Iterable[Any]) -> Iterator[Finished]:
        """Every item, done or given up; those that no worker has room for are left where they are."""
        self._source = (Assignment(number, item) for number, item in enumerate(items))
        try:
            self._inspect_workers()
            self._submit_items()
            while self._suspects or any(worker.pending for worker in self._workers.values()) or self._has_more():
                done = self._wait_for_events()
                self._submit_items()  # nobody waits for the one who takes the results
                yield from done
        finally:
            self._cancel()

    # --- workers

    def _inspect_workers(self) -> None:
        """Inspect all workers; one that differs is an error, before anything is done."""
        self._update_workers()
        began = time.monotonic()
        while not self._workers or any(worker.inspection is not None for worker in self._workers.values()):
            self._wait_for_events()
            has_accepted = any(worker.is_accepted for worker in self._workers.values())
            if has_accepted and time.monotonic() - began > WORKER_TIMEOUT:
                break  # those that are busy with something else can come later
        self._has_started = True

    def _update_workers(self) -> None:
        """See which workers came and which went."""
        self._last_update = time.monotonic()
        there = self._connection.workers()
        for address in [address for address in self._workers if address not in there]:
            self._requeue(self._workers.pop(address))
        for address, n_threads in there.items():
            if address not in self._workers and address not in self._rejected:
                self._inspect(address, n_threads)
        if self._workers or self._connection.restarts_workers:  # one that is slow to answer or to start is there
            self._last_seen = time.monotonic()
        else:
            self._check_absence()

    def _check_absence(self) -> None:
        """An error where no worker can come or none ever came; those that were there are waited for."""
        if self._connection.is_local:
            raise ClusterError(f"cluster {self._connection.address}: its workers ended and could not be started again")
        if time.monotonic() - self._last_seen <= WORKER_TIMEOUT:
            return
        message = f"cluster {self._connection.address}: no worker for {WORKER_TIMEOUT:g} s"
        if not self._has_started:
            raise ClusterError(message)
        self._last_seen = time.monotonic()
        warnings.warn(f"{message}; the rest is done when there is one again", stacklevel=2)

    def _inspect(self, address: str, n_threads: int) -> None:
        """Ask a new worker for its environment, unless it is known."""
        if n_threads != 1:
            self._reject(address, [f"{n_threads} threads, must have one (--nthreads 1)"])
            return
        worker = _Worker(address)
        self._workers[address] = worker
        if self._environment in self._connection.accepted.get(address, []):
            self._accept(worker)
            return
        worker.inspection = self._connection.submit(address, inspect_environment, self._files, self._context)
        self._watch(worker, None, worker.inspection)

    def _compare(self, worker: _Worker, environment: Environment | None, error: BaseException | None) -> None:
        """Accept a worker whose environment is ours, reject another."""
        worker.inspection = None
        if environment is None:
            what = named_text_of(error) if error else "no answer"
            differences = [f"{what}; audioclass {__version__} must be installed there"]
        else:
            differences = self._environment.differences(environment)
        if differences:
            del self._workers[worker.address]
            self._reject(worker.address, differences)
            return
        self._connection.accepted.setdefault(worker.address, []).append(self._environment)
        self._accept(worker)

    def _accept(self, worker: _Worker) -> None:
        """Items may be submitted to it from now on; it holds the work of all of them."""
        worker.is_accepted = True
        worker.work = self._connection.submit(worker.address, receive, self._work)

    def _reject(self, address: str, differences: Sequence[str]) -> None:
        """An error at the start; a worker that comes later is left alone, and the rest goes on."""
        message = f"cluster {self._connection.address}: worker {address} differs: {'; '.join(differences)}"
        if not self._has_started:
            raise ClusterError(message)
        self._rejected.add(address)
        warnings.warn(f"{message}; it is not used", stacklevel=2)

    def _requeue(self, worker: _Worker) -> None:
        """What a dead worker had is submitted again, each item to a worker of its own."""
        self._connection.accepted.pop(worker.address, None)
        self._connection.cancel(worker.futures)
        for assignment in worker.pending:
            assignment.deaths += 1
            (self._given_up if assignment.deaths >= MAX_DEATHS else self._suspects).append(assignment)

    # --- items

    def _submit_items(self) -> None:
        """Suspects to idle workers, one each; while some wait, as many workers get nothing else until they are idle."""
        workers = [worker for worker in self._workers.values() if worker.is_accepted]
        workers.sort(key=lambda worker: len(worker.pending))
        n_reserved = len(self._suspects)
        for worker in workers[:n_reserved]:
            if not worker.pending:
                self._submit(worker, self._suspects.popleft())
        for worker in _with_room(workers[n_reserved:]):
            assignment = self._next_assignment(len(workers))
            if assignment is None:
                return
            self._submit(worker, assignment)

    def _has_more(self) -> bool:
        """Whether there are items that were never submitted."""
        if not self._drawn_early:
            self._drawn_early += itertools.islice(self._source, 1)
        return bool(self._drawn_early)

    def _next_assignment(self, n_workers: int) -> Assignment | None:
        """The next item; none where the one that is longest under way is too far behind for results in order."""
        waited_for = [one.number for worker in self._workers.values() for one in worker.pending]
        waited_for += [one.number for one in self._suspects]
        if self._in_order and waited_for and self._n_drawn - min(waited_for) >= AHEAD_PER_WORKER * n_workers:
            return None
        if not self._has_more():
            return None
        self._n_drawn += 1
        return self._drawn_early.pop()

    def _submit(self, worker: _Worker, assignment: Assignment) -> None:
        payload, rank = Payload(assignment.item), assignment.number  # else Dask may begin with any of those that it has
        future = self._connection.submit(worker.address, run_item, worker.work, payload, self._context, rank=rank)
        worker.pending[assignment] = future
        self._watch(worker, assignment, future)

    def _watch(self, worker: _Worker, assignment: Assignment | None, future: Any) -> None:
        self._connection.when_done(future, lambda value, error: self._events.put((worker, assignment, value, error)))

    def _wait_for_events(self) -> list[Finished]:
        """What has become of items since; the workers are updated where it is time for that."""
        due = self._last_update + UPDATE_INTERVAL
        done: list[Finished] = []
        with contextlib.suppress(queue.Empty):
            done += self._handle_event(*self._events.get(timeout=max(0.0, due - time.monotonic())))
            while True:
                done += self._handle_event(*self._events.get_nowait())
        if time.monotonic() >= due:
            self._update_workers()
        done += map(Finished, self._given_up)
        self._given_up = []
        return done

    def _handle_event(
        self, worker: _Worker, assignment: Assignment | None, value: Any, error: BaseException | None
    ) -> list[Finished]:
        from distributed import KilledWorker

        if self._workers.get(worker.address) is not worker:
            return []  # it died, and what it had has gone to others
        if isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
            raise self._connection.lost(error) from error
        if isinstance(error, KilledWorker):  # it died and was there again before we looked
            self._requeue(self._workers.pop(worker.address))
            return []
        if assignment is None:
            self._compare(worker, value, error)
            return []
        del worker.pending[assignment]
        if error is not None:
            raise error
        return [Finished(assignment, value.content)]

    def _cancel(self) -> None:
        """Nothing is wanted any more."""
        self.has_unfinished_work = any(worker.pending for worker in self._workers.values())
        futures = [future for worker in self._workers.values() for future in worker.futures]
        self._workers = {}
        self._connection.cancel(futures)


def _with_room(workers: Sequence[_Worker]) -> Iterator[_Worker]:
    """The workers that can take one more item, in turns: nobody waits while another has a second item."""
    for n_pending in range(ITEMS_PER_WORKER):
        yield from (worker for worker in workers if len(worker.pending) == n_pending and not worker.is_isolated)


def needed_files(work: Callable[[Any], Any]) -> list[Path]:
    """The files that parts of a work read, where it is a partial call that holds them."""
    parts = [*work.args, *work.keywords.values()] if isinstance(work, functools.partial) else [work]
    return [file for part in parts if isinstance(part, NeedsFiles) for file in part.needed_files()]
