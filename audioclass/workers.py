"""Processes that work for this one: none is left behind, however this one ends."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

LOOK_EVERY = 0.5  # seconds


def end_with_parent(parent: int) -> None:
    """Called first in a new process: it ends as soon as its parent is gone.

    A parent that is killed can tell nobody; its children are given to another process, which they notice.
    """
    threading.Thread(target=_watch, args=(parent,), name="end with parent", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY)
    os._exit(1)


def process_backend() -> Any:
    """What joblib starts processes with: its own, which end with their parent, or the one that a user has chosen."""
    from joblib._parallel_backends import LokyBackend  # its public name is a text, to which nothing can be added
    from joblib.parallel import get_active_backend

    class WatchedBackend(LokyBackend):  # type: ignore[misc]  # joblib has no types
        def configure(self, *args: Any, **options: Any) -> Any:
            return super().configure(*args, initializer=end_with_parent, initargs=(os.getpid(),), **options)

    active, _ = get_active_backend()
    if not isinstance(active, LokyBackend):
        return active
    return WatchedBackend(
        nesting_level=active.nesting_level, inner_max_num_threads=getattr(active, "inner_max_num_threads", None)
    )


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C waits until the end of the context, and processes that are started in it never see one.

    A terminal sends it to all of them; it is this process that ends the others.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with _quiet_trackers():
        for module in ("multiprocessing.resource_tracker", "joblib.externals.loky.backend.resource_tracker"):
            import_module(module).ensure_running()  # it lets interrupts through when it is started: not later, then
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _quiet_trackers() -> Iterator[None]:
    """Processes that are started tell nobody what they clear away where this one is killed; the user cannot help it."""
    before = list(sys.warnoptions)
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        yield
    finally:
        sys.warnoptions[:] = before


@contextlib.contextmanager
def workers_ended(results: Any) -> Iterator[None]:
    """Where this process is stopped, or nobody wants the rest of the results, workers are stopped too, at once."""
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit):
        reusable = sys.modules.get("joblib.externals.loky.reusable_executor")
        executor = getattr(reusable, "_executor", None)
        if executor is not None:
            executor.shutdown(wait=False, kill_workers=True)
        with warnings.catch_warnings(action="ignore"):  # joblib's, that work was left undone
            results.close()
        raise
