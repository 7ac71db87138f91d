"""A command that is stopped: by Ctrl-C, or asked to end by the system, it ends in order and says how far it got."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

from audioclass.run import Progress

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Stopped(KeyboardInterrupt):
    """The user or the system wants the command to end; the text says how far it got."""

    def __init__(self, number: int = signal.SIGINT, text: str = "stopped") -> None:
        super().__init__(text)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What shells expect of a program that a signal ends: 130 for Ctrl-C, 143 for a request to terminate."""
        return 128 + self.number


def end_in_order() -> None:
    """Have every signal that asks this process to end raise `Stopped`; one that is ignored, as by nohup, stays so."""
    for name in SIGNALS:
        number = getattr(signal, name, None)  # not every system has all of them
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> None:
    signal.signal(number, _stop_at_once)
    raise Stopped(number)


def _stop_at_once(number: int, _frame: FrameType | None) -> None:
    """Who asks twice does not wait for what is under way."""
    with contextlib.suppress(OSError):
        os.write(2, b"stopped at once\n")  # a stream may be in use just now
    os._exit(128 + number)


@contextlib.contextmanager
def telling_how_far(progress: Progress, counted: str | None, hint: str) -> Iterator[Progress]:
    """The same progress; where the work is stopped, the error says how much of a stage is done and how to go on.

    Where no stage is to be counted, it is the one that was told of last.
    """
    latest: list[tuple[str, float, float]] = []

    def tell(stage: str, done: float, total: float | None) -> None:
        if total is not None and counted in (None, stage):
            latest[:] = [(stage, done, total)]
        progress(stage, done, total)

    try:
        yield tell
    except KeyboardInterrupt as error:
        reached = "".join(f": {stage}, {done:.0f} of {total:.0f} done" for stage, done, total in latest)
        number = error.number if isinstance(error, Stopped) else signal.SIGINT
        raise Stopped(number, f"stopped{reached}{f'; {hint}' if hint else ''}") from error
