"""Items handed to workers, a few at a time to each; what a worker took along when it died is handed out again.

Every item is sent to one worker by name: so it is known who did what, nothing is sent to a worker that was not looked
at, and of several items on a worker that died the guilty one is found by giving each a worker of its own.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
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
from audioclass.cluster.tasks import Parcel, StartingPoint, Stock, carry, do, take_stock
from audioclass.errors import ClusterError, named_text_of
from audioclass.run import NeedsFiles

AT_ONCE = 3  # items on a worker: one that is done, and two that are there when it is
AHEAD = 16  # items a worker, of the one that results in order wait for
DEATHS = 3  # of workers, after which an item is guilty
LOOK_EVERY = 0.5  # seconds, at the workers that are there
PATIENCE = 60.0  # seconds without a worker


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
        return self.assignment.deaths >= DEATHS


@dataclass(eq=False)
class _Hand:
    """A worker: whether its stock was found the same as ours, the work it holds, and what it has to do."""

    address: str
    check: Any = None
    is_trusted: bool = False
    work: Any = None
    todo: dict[Assignment, Any] = field(default_factory=dict)  # with their futures

    @property
    def is_alone(self) -> bool:
        """Whether its item is a suspect, which nothing else is to be blamed for."""
        return any(assignment.deaths for assignment in self.todo)


class Dispatch:
    """One work on many items; `finished` gives each of them once, in order of completion.

    Where results are wanted `in_order`, no item is begun that is far ahead of one that is not done: its result would
    have to be held.
    """

    def __init__(self, connection: Connection, work: Callable[[Any], Any], *, in_order: bool = False) -> None:
        self._connection = connection
        self._in_order = in_order
        self._source: Iterator[Assignment] = iter(())
        self._n_drawn = 0
        self._work = Parcel(work)
        self._start = StartingPoint.here()
        self._files = needed_files(work)
        self._stock = take_stock(self._files, self._start)
        self._hands: dict[str, _Hand] = {}
        self._refused: set[str] = set()
        self._suspects: deque[Assignment] = deque()
        self._given_up: list[Assignment] = []
        self._events: queue.SimpleQueue[tuple[_Hand, Assignment | None, Any, BaseException | None]]
        self._events = queue.SimpleQueue()
        self._looked = self._had_workers = time.monotonic()
        self._has_begun = False
        self.has_left_work = False  # items that a worker may still be at when nobody wants them any more

    def finished(self, items: Iterable[Any]) -> Iterator[Finished]:
        """Every item, done or given up; those that no worker has room for are left where they are."""
        self._source = (Assignment(number, item) for number, item in enumerate(items))
        try:
            self._begin()
            self._hand_out()
            while self._suspects or any(hand.todo for hand in self._hands.values()) or not self._is_trusted:
                done = self._await_events()
                self._hand_out()  # nobody waits for the one who takes the results
                yield from done
        finally:
            self._cancel()

    # --- workers

    def _begin(self) -> None:
        """Look at all workers; one that differs is an error, before anything is done."""
        self._look()
        while not self._hands or any(hand.check is not None for hand in self._hands.values()):
            self._await_events()
            if self._is_trusted and time.monotonic() - self._had_workers > PATIENCE:
                break  # those that are busy with something else can come later
        self._has_begun = True

    @property
    def _is_trusted(self) -> bool:
        return any(hand.is_trusted for hand in self._hands.values())

    def _look(self) -> None:
        """See which workers came and which went."""
        self._looked = time.monotonic()
        there = self._connection.workers()
        for address in [address for address in self._hands if address not in there]:
            self._bury(self._hands.pop(address))
        for address, n_threads in there.items():
            if address not in self._hands and address not in self._refused:
                self._meet(address, n_threads)
        if self._is_trusted:
            self._had_workers = time.monotonic()
        elif time.monotonic() - self._had_workers > PATIENCE:
            raise ClusterError(f"cluster {self._connection.address}: no worker for {PATIENCE:g} s")

    def _meet(self, address: str, n_threads: int) -> None:
        if n_threads != 1:
            self._refuse(address, [f"{n_threads} threads, must have one (--nthreads 1)"])
            return
        hand = _Hand(address)
        self._hands[address] = hand
        if self._stock in self._connection.trusted.get(address, []):
            self._trust(hand)
            return
        hand.check = self._connection.submit(address, take_stock, self._files, self._start)
        self._expect(hand, None, hand.check)

    def _judge(self, hand: _Hand, stock: Stock | None, error: BaseException | None) -> None:
        hand.check = None
        if stock is None:
            what = named_text_of(error) if error else "no answer"
            differences = [f"{what}; audioclass {__version__} must be installed there"]
        else:
            differences = self._stock.differences(stock)
        if differences:
            del self._hands[hand.address]
            self._refuse(hand.address, differences)
            return
        self._connection.trusted.setdefault(hand.address, []).append(self._stock)
        self._trust(hand)

    def _trust(self, hand: _Hand) -> None:
        hand.is_trusted = True
        hand.work = self._connection.submit(hand.address, carry, self._work)

    def _refuse(self, address: str, differences: Sequence[str]) -> None:
        """An error at the start; a worker that comes later is left alone, and the rest goes on."""
        message = f"cluster {self._connection.address}: worker {address} differs: {'; '.join(differences)}"
        if not self._has_begun:
            raise ClusterError(message)
        self._refused.add(address)
        warnings.warn(f"{message}; it is not used", stacklevel=2)

    def _bury(self, hand: _Hand) -> None:
        """What a dead worker had is handed out again, each item to a worker of its own."""
        self._connection.trusted.pop(hand.address, None)
        self._connection.cancel([future for future in (*hand.todo.values(), hand.work, hand.check) if future])
        for assignment in hand.todo:
            assignment.deaths += 1
            (self._given_up if assignment.deaths >= DEATHS else self._suspects).append(assignment)

    # --- items

    def _hand_out(self) -> None:
        """Suspects to idle workers, one each; while some wait, as many workers get nothing else until they are idle."""
        hands = sorted((hand for hand in self._hands.values() if hand.is_trusted), key=lambda hand: len(hand.todo))
        n_reserved = len(self._suspects)
        for hand in hands[:n_reserved]:
            if not hand.todo:
                self._assign(hand, self._suspects.popleft())
        for n_before in range(AT_ONCE):  # in turns: nobody waits while another has a second item
            for hand in hands[n_reserved:]:
                if len(hand.todo) == n_before and not hand.is_alone:
                    assignment = self._next(len(hands))
                    if assignment is None:
                        return
                    self._assign(hand, assignment)

    def _next(self, n_hands: int) -> Assignment | None:
        """The next item; none where the one that is longest under way is too far behind for results in order."""
        waited_for = [one.number for hand in self._hands.values() for one in hand.todo]
        waited_for += [one.number for one in self._suspects]
        if self._in_order and waited_for and self._n_drawn - min(waited_for) >= AHEAD * n_hands:
            return None
        assignment = next(self._source, None)
        self._n_drawn += assignment is not None
        return assignment

    def _assign(self, hand: _Hand, assignment: Assignment) -> None:
        parcel, rank = Parcel(assignment.item), assignment.number  # else Dask may begin with any of those that it has
        future = self._connection.submit(hand.address, do, hand.work, parcel, self._start, rank=rank)
        hand.todo[assignment] = future
        self._expect(hand, assignment, future)

    def _expect(self, hand: _Hand, assignment: Assignment | None, future: Any) -> None:
        self._connection.when_done(future, lambda value, error: self._events.put((hand, assignment, value, error)))

    def _await_events(self) -> list[Finished]:
        """What has become of items since; a look at the workers where it is time for one."""
        due = self._looked + LOOK_EVERY
        done: list[Finished] = []
        with contextlib.suppress(queue.Empty):
            done += self._settle(*self._events.get(timeout=max(0.0, due - time.monotonic())))
            while True:
                done += self._settle(*self._events.get_nowait())
        if time.monotonic() >= due:
            self._look()
        done += map(Finished, self._given_up)
        self._given_up = []
        return done

    def _settle(
        self, hand: _Hand, assignment: Assignment | None, value: Any, error: BaseException | None
    ) -> list[Finished]:
        from distributed import KilledWorker

        if self._hands.get(hand.address) is not hand:
            return []  # it died, and what it had has gone to others
        if isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
            raise self._connection.lost(error) from error
        if isinstance(error, KilledWorker):  # it died and was there again before we looked
            self._bury(self._hands.pop(hand.address))
            return []
        if assignment is None:
            self._judge(hand, value, error)
            return []
        del hand.todo[assignment]
        if error is not None:
            raise error
        return [Finished(assignment, value.content)]

    def _cancel(self) -> None:
        """Nothing is wanted any more."""
        self.has_left_work = any(hand.todo for hand in self._hands.values())
        futures = [future for hand in self._hands.values() for future in (*hand.todo.values(), hand.work, hand.check)]
        self._hands = {}
        self._connection.cancel([future for future in futures if future is not None])


def needed_files(work: Callable[[Any], Any]) -> list[Path]:
    """The files that parts of a work read, where it is a partial call that holds them."""
    parts = [*work.args, *work.keywords.values()] if isinstance(work, functools.partial) else [work]
    return [file for part in parts if isinstance(part, NeedsFiles) for file in part.needed_files()]
