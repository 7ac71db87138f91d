"""Numeric work on one thread, here or in other processes: its digits do not depend on where it was done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from audioclass.run import Run, SerialExecutor
from audioclass.threads import one_thread

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass(frozen=True)
class _OnOneThread(Generic[Item, Done]):
    """Work that sets its own limit: that of the process which asks for it does not reach the one that does it."""

    work: Callable[[Item], Done]

    def __call__(self, item: Item) -> Done:
        with one_thread():
            return self.work(item)


def map_on_one_thread(run: Run, stage: str, work: Callable[[Item], Done], items: Sequence[Item]) -> Iterator[Done]:
    """What the work gives for each item, in their order; the caller, too, must hold `one_thread` while it reads.

    A single item is done here: to send its matrices to another process would cost more than it saves.
    """
    if len(items) < 2 or isinstance(run.executor, SerialExecutor):
        return replace(run, executor=SerialExecutor()).map(stage, work, items)
    return run.map(stage, _OnOneThread(work), items)
