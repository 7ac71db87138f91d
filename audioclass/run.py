"""One run: where its work is done, what it may keep, whom it tells, which components there are, and its one seed.

A `Run` is made once at the edge and handed down as one argument. Results never depend on it: the same posteriors come
from one process or many, with a cache or without one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from audioclass.errors import UsageError
from audioclass.parameters import parse_assignments, parse_component
from audioclass.workers import end_with_parent, interrupts_held, process_backend, workers_ended

Item = TypeVar("Item")
Done = TypeVar("Done")


class Progress(Protocol):
    """Is told where a long work stands."""

    def __call__(self, stage: str, done: float, total: float | None) -> None:
        """So much of a stage is done, of so much; None where nobody knows how much there is."""


def silent(stage: str, done: float, total: float | None) -> None:
    """Tells nobody."""


@runtime_checkable
class NeedsFiles(Protocol):
    """A part of a work that uses files: wherever the work is done they must be the same."""

    def needed_files(self) -> Sequence[Path]:
        """The files, as they are now."""


class Executor(Protocol):
    """Where independent items of work are done: here, in processes, or on other machines.

    Work and items must survive pickling unless it `shares_memory`; an item is done on one thread.
    """

    @property
    def shares_memory(self) -> bool:
        """Whether work is done in this process, so that it can tell of its progress."""

    def map(self, work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
        """What the work gives for each item, in the order of the items."""

    def map_unordered(
        self, work: Callable[[Item], Done], items: Sequence[Item], crashed: Callable[[Item], Done]
    ) -> Iterator[Done]:
        """The same as it is done; `crashed` answers for an item that took its process along."""

    def close(self) -> None:
        """End what was started for the work, where it does not end by itself."""


@dataclass(frozen=True)
class SerialExecutor:
    """One item after the other, in this process."""

    shares_memory: ClassVar[bool] = True

    def map(self, work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
        """In order, each when it is asked for."""
        return (work(item) for item in items)

    def map_unordered(
        self, work: Callable[[Item], Done], items: Sequence[Item], crashed: Callable[[Item], Done]
    ) -> Iterator[Done]:
        """In order; what crashes takes us along."""
        return (work(item) for item in items)

    def close(self) -> None:
        """Nothing was started."""


@dataclass(frozen=True)
class ProcessExecutor:
    """Several processes of this machine, or whatever joblib's backend names, such as Dask."""

    processes: int
    shares_memory: ClassVar[bool] = False

    def map(self, work: Callable[[Item], Done], items: Iterable[Item]) -> Iterator[Done]:
        """In order; a single item is not worth a process."""
        source = iter(items)
        first = list(itertools.islice(source, 2))
        if len(first) < 2:
            return (work(item) for item in first)
        return self._generator(work, itertools.chain(first, source), "generator")

    def map_unordered(
        self, work: Callable[[Item], Done], items: Sequence[Item], crashed: Callable[[Item], Done]
    ) -> Iterator[Done]:
        """In order of completion; after a crash the rest goes on, each item in a process of its own."""
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        numbered = enumerate(items)
        finished: set[int] = set()
        try:
            for number, result in self._generator(_Numbered(work), numbered, "generator_unordered"):
                finished.add(number)
                yield result
        except TerminatedWorkerError:
            yield from _one_by_one(work, [item for i, item in enumerate(items) if i not in finished], crashed)

    def close(self) -> None:
        """Processes that wait for more work end by themselves, and with this one."""

    def _generator(self, work: Callable[[Any], Any], items: Iterable[Any], order: str) -> Iterator[Any]:
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=self.processes, return_as=order, backend=process_backend())
        with interrupts_held():  # while processes are started, which are not to see them
            results = parallel(delayed(work)(item) for item in items)
        with workers_ended(results):
            # Not `yield from`, which would end the results before the workers.
            for result in results:  # noqa: UP028
                yield result


@dataclass(frozen=True)
class _Numbered:
    """The work on an item, with the item's number."""

    work: Callable[[Any], Any]

    def __call__(self, numbered: tuple[int, Any]) -> tuple[int, Any]:
        return numbered[0], self.work(numbered[1])


def _one_by_one(work: Callable[[Item], Done], items: Sequence[Item], crashed: Callable[[Item], Done]) -> Iterator[Done]:
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    for item in items:
        try:
            with ProcessPoolExecutor(1, initializer=end_with_parent, initargs=(os.getpid(),)) as pool:
                yield pool.submit(work, item).result()
        except BrokenProcessPool:
            yield crashed(item)


def executor_for(jobs: int) -> Executor:
    """So many processes; 0 is one for each core, 1 is this process."""
    processes = jobs or os.cpu_count() or 1
    return SerialExecutor() if processes == 1 else ProcessExecutor(processes)


class Registry(Protocol):
    """What a run needs of the plugin manager: names become components, and say where they come from."""

    def load(self, kind: str, name: str) -> type:
        """The class of a name."""

    def make(self, kind: str, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """The component of a name with these parameters."""

    def names(self, kind: str) -> list[str]:
        """The names of a kind, sorted."""

    def kind(self, kind: str, name: str) -> str:
        """The kind of a name: an option that chooses among several kinds looks them up together."""

    def origin(self, kind: str, name: str) -> str:
        """The distribution of a name and its version."""


@dataclass(frozen=True)
class Run:
    """What every step of a run shares.

    `cache` is the folder where results are kept, None to keep nothing. All randomness starts from `seed`. `outputs`
    are the files that are written in the end: none of them may be read as an input. Where it is `strict`, a damaged
    recording is refused instead of used up to its damage.
    """

    registry: Registry
    executor: Executor = field(default_factory=SerialExecutor)
    cache: Path | None = None
    progress: Progress = silent
    seed: int = 0
    outputs: tuple[Path, ...] = ()
    strict: bool = False

    def component(self, kind: str, stated: Any) -> Any:
        """A component from its name, from `name:parameter=value,…`, from a table with its name, or as it is."""
        if isinstance(stated, str):
            name, assignments = parse_component(stated)
            values = parse_assignments(self.registry.load(kind, name), assignments)
            return self.registry.make(kind, name, values)
        if isinstance(stated, Mapping):
            if not isinstance(stated.get("name"), str):
                raise UsageError(f"{kind} {dict(stated)!r} must have a name")
            return self.registry.make(kind, stated["name"], {k: v for k, v in stated.items() if k != "name"})
        if isinstance(stated, type) or not hasattr(stated, "name"):
            raise UsageError(f"{kind}={stated!r} must be a name or a {kind}, not a {type(stated).__name__}")
        return stated

    def telling(self, prefix: str) -> Run:
        """The same run, whose stages are told with a prefix: a part of something larger."""

        def tell(stage: str, done: float, total: float | None) -> None:
            self.progress(f"{prefix}, {stage}", done, total)

        return replace(self, progress=tell)

    def map(self, stage: str, work: Callable[[Item], Done], items: Sequence[Item]) -> Iterator[Done]:
        """What the work gives for each item, in their order; progress is told item by item."""
        for number, result in enumerate(self.executor.map(work, items), start=1):
            yield result
            self.progress(stage, number, len(items))
