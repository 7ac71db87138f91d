"""The executor of a cluster: like processes of this machine, on workers that Dask knows of."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import ClassVar, Self, TypeVar

from audioclass.cluster.connection import Connection, check_address
from audioclass.cluster.dispatch import MAX_DEATHS, Dispatch, Finished
from audioclass.errors import ClusterError

Item = TypeVar("Item")
Done = TypeVar("Done")


class ClusterExecutor:
    """Workers of Dask: at the address of a scheduler, or as many processes of this machine as `local:4` names.

    The scheduler is looked for when there is work. Processes that were started for it end with `close`, or with the
    context; results are the same to the bit as in this process on machines of the same kind.
    """

    shares_memory: ClassVar[bool] = False

    def __init__(self, address: str) -> None:
        self.address = check_address(address)
        self._connection: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def map(self, work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
        """In order; a single item is not worth a worker."""
        source = iter(items)
        first = list(itertools.islice(source, 2))
        if len(first) < 2:
            return (work(item) for item in first)
        return self._in_order(work, itertools.chain(first, source))

    def map_unordered(
        self, work: Callable[[Item], Done], items: Iterable[Item], crashed: Callable[[Item], Done]
    ) -> Iterator[Done]:
        """In order of completion; `crashed` answers for an item that took three workers along."""
        with contextlib.closing(self._finished(work, items)) as finished:
            for one in finished:
                yield crashed(one.assignment.item) if one.is_crashed else one.value

    def close(self) -> None:
        """End the connection, and the processes that were started for it."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def _in_order(self, work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
        early: dict[int, Done] = {}
        number = 0
        with contextlib.closing(self._finished(work, items, in_order=True)) as finished:
            for one in finished:
                if one.is_crashed:
                    raise ClusterError(
                        f"cluster {self.address}: {MAX_DEATHS} workers died of item {one.assignment.number}"
                    )
                early[one.assignment.number] = one.value
                while number in early:
                    yield early.pop(number)
                    number += 1

    def _finished(
        self, work: Callable[[Item], Done], items: Iterable[Item], *, in_order: bool = False
    ) -> Generator[Finished, None, None]:
        if self._connection is None:
            self._connection = Connection(self.address)
        dispatch = Dispatch(self._connection, work, in_order=in_order)
        try:
            yield from dispatch.finished(items)
        finally:
            if dispatch.has_unfinished_work and self._connection is not None and self._connection.is_local:
                self.close()  # what is under way can be stopped in no other way
