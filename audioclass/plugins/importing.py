"""Foreign code while it is imported and asked what it offers: bounded in time, and without lasting effects on ours.

The limit is an alarm of the operating system in the main thread. It ends whatever Python runs and calls that wait, such
as a sleep or a socket, but not a loop in C that never returns; in other threads, and on Windows, a line on standard
error says which plugin is slow. `audioclass plugins doctor` imports in a process of its own, which it can end anyhow.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from audioclass.errors import UsageError

LIMIT = "AUDIOCLASS_IMPORT_SECONDS"
DEFAULT_LIMIT = 30.0  # longer than any honest import: large frameworks take ten seconds from a cold disk
NUMPY_DEFAULTS = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


class ImportTimeout(BaseException):
    """The limit is over; no `Exception`, which a plugin may catch."""


class UserInterrupt(KeyboardInterrupt):
    """The user pressed Ctrl-C; a plugin that raises KeyboardInterrupt itself is another thing."""


def import_limit() -> float:
    """Seconds that a plugin may take to be imported; 0 for any time."""
    text = os.environ.get(LIMIT, "")
    try:
        seconds = float(text) if text else DEFAULT_LIMIT
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UsageError(f"{LIMIT}={text!r} must be a number of seconds, 0 for no limit")
    return seconds


@contextlib.contextmanager
def contained(distribution: str, seconds: float) -> Iterator[None]:
    """Run the foreign code of a distribution: an ImportTimeout ends it, a UserInterrupt is the user's.

    What it prints goes to standard error, where it can close nothing; numpy's handling of errors stays as it was.
    """
    with (
        contextlib.redirect_stdout(_StandardError()),
        _numpy_restored(),
        _interrupts_told(),
        _limited(distribution, seconds),
    ):
        yield


class _StandardError(io.TextIOBase):
    """Hands on what is written; to close it closes nothing else."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


@contextlib.contextmanager
def _numpy_restored() -> Iterator[None]:
    numpy = sys.modules.get("numpy")
    before = numpy.geterr() if numpy is not None else NUMPY_DEFAULTS
    try:
        yield
    finally:
        numpy = sys.modules.get("numpy")
        if hasattr(numpy, "seterr") and numpy is not None:
            numpy.seterr(**before)


@contextlib.contextmanager
def _interrupts_told() -> Iterator[None]:
    """Make an interrupt by the user a UserInterrupt."""
    before = signal.getsignal(signal.SIGINT)
    if not _is_main_thread() or not callable(before):
        yield
        return

    def pressed(number: int, frame: Any) -> None:
        try:
            before(number, frame)
        except KeyboardInterrupt:
            raise UserInterrupt from None

    with _handling(signal.SIGINT, pressed):
        yield


@contextlib.contextmanager
def _limited(distribution: str, seconds: float) -> Iterator[None]:
    if not seconds:
        yield
    elif not _is_main_thread() or not hasattr(signal, "setitimer"):
        with _watched(distribution, seconds):
            yield
    else:

        def over(number: int, frame: Any) -> NoReturn:
            raise ImportTimeout(f"not imported after {seconds:g} s; {LIMIT} sets another limit")

        with _handling(signal.SIGALRM, over):
            left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, left, interval)


@contextlib.contextmanager
def _handling(number: signal.Signals, handler: Any) -> Iterator[None]:
    """A signal handled so, and afterwards as before whatever the code in between did to it."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextlib.contextmanager
def _watched(distribution: str, seconds: float) -> Iterator[None]:
    """Where nothing can end it, at least say what everybody is waiting for."""
    line = f"{distribution}: not imported after {seconds:g} s, still waiting\n"
    watchdog = threading.Timer(seconds, lambda: sys.stderr.write(line))
    watchdog.daemon = True
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
