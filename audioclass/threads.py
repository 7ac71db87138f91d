"""One thread for BLAS and OpenMP while results are computed, so that their digits do not depend on how many there are.

OpenBLAS cuts a product by the number of its threads and sums the parts in another order: the last digits differ. The
number of threads belongs to the process, not to the caller. So those who compute are counted: the first in sets the
limit, the last out lifts it, and in between other threads of this process that use BLAS have one thread too. OpenMP
counts threads for each caller: there every thread sets and lifts its own limit.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import ContextDecorator
from typing import Any


def one_thread() -> _Limit:
    """Within it, or within a function that it decorates, results do not depend on the number of threads and cores.

    It may be entered in many threads and many times over; from the second time on that costs a few microseconds. Do not
    hold it where a generator yields: its caller would be limited too.
    """
    return _LIMIT


class _Limit(ContextDecorator):
    """How many are inside, and how many threads each library had before the first of them came."""

    def __init__(self) -> None:
        self._begin(0)
        self._here = _Here()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _begin(self, n_inside: int) -> None:
        self._lock = threading.Lock()
        self._n_inside = n_inside
        self._libraries = _Libraries()
        self._before: dict[str, int] = {}

    def __enter__(self) -> None:
        here = self._here
        with self._lock:
            self._libraries.look()
            for library in self._libraries.blas:  # again each time: one may have come, another may have changed it
                self._before.setdefault(library.filepath, library.num_threads)
                _set_threads(library, 1)
            self._n_inside += 1
        for library in self._libraries.openmp:
            here.before.setdefault(library.filepath, library.num_threads)
            library.set_num_threads(1)
        here.depth += 1

    def __exit__(self, *_: object) -> None:
        here = self._here
        here.depth -= 1
        if here.depth == 0:
            for library in self._libraries.openmp:
                if library.filepath in here.before:
                    library.set_num_threads(here.before.pop(library.filepath))
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._lift()

    def _lift(self) -> None:
        for library in self._libraries.blas:
            if library.filepath in self._before:
                _set_threads(library, self._before.pop(library.filepath))

    def _forked(self) -> None:
        """In a new process there is one thread: what others held, the lock included, is held no more."""
        before = self._before
        self._begin(self._here.depth)
        self._before = before
        if before and not self._n_inside:
            self._libraries.look()
            self._lift()


class _Here(threading.local):
    """What this thread alone knows: how deep it is inside, and what OpenMP gave it before."""

    def __init__(self) -> None:
        self.depth = 0
        self.before: dict[str, int] = {}


class _Libraries:
    """The BLAS and OpenMP libraries of this process; looking for them takes milliseconds, so only after imports."""

    def __init__(self) -> None:
        self.blas: list[Any] = []
        self.openmp: list[Any] = []
        self._n_modules = -1

    def look(self) -> None:
        """Find those that came with imports since the last look."""
        n_modules = len(sys.modules)  # before the look: what another thread imports meanwhile is found by the next
        if n_modules == self._n_modules:
            return
        from threadpoolctl import ThreadpoolController

        controllers = ThreadpoolController().lib_controllers
        self.blas = [one for one in controllers if one.user_api == "blas"]
        self.openmp = [one for one in controllers if one.user_api == "openmp"]
        self._n_modules = n_modules


def _set_threads(library: Any, count: int) -> None:
    # From 3.8 on threadpoolctl ignores whoever does not control the pool, and we count for all threads.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(count)


_LIMIT = _Limit()
