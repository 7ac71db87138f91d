"""One work for many recordings, in processes; a decoder that crashes costs only the recording it crashed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Protocol, TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError


class HasPath(Protocol):
    """What the work gives knows the recording it is of."""

    @property
    def path(self) -> Path:
        """The recording."""


Done = TypeVar("Done", bound=HasPath)


def for_each(
    work: Callable[[Path], Done], paths: Sequence[Path], jobs: int, crashed: Callable[[Path, str], Done]
) -> Iterator[Done]:
    """What the work gives for each recording, in order of completion; `crashed` says it where a process died."""
    done: set[Path] = set()
    try:
        for one in Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(work)(path) for path in paths):
            done.add(one.path)
            yield one
    except TerminatedWorkerError:  # a decoder crashed and took the workers along: the rest goes on one by one
        yield from _apart(work, [path for path in paths if path not in done], crashed)


def _apart(work: Callable[[Path], Done], paths: Sequence[Path], crashed: Callable[[Path, str], Done]) -> Iterator[Done]:
    for path in paths:
        try:
            with ProcessPoolExecutor(1) as pool:
                yield pool.submit(work, path).result()
        except BrokenProcessPool:
            yield crashed(path, f"{path}: the decoder crashed on it")
