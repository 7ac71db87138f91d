"""`python -m audioclass` and the console script: one that is stopped while it is still being imported says so too."""

import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line; until it takes care of signals itself, Ctrl-C ends the process with one word."""
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not where it is ignored, as by nohup
    if is_ours:
        signal.signal(signal.SIGINT, _stop)
    from audioclass import cli

    try:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        cli.main()
    except KeyboardInterrupt:
        _stop(signal.SIGINT, None)


def _stop(number: int, _frame: FrameType | None) -> None:
    """Nothing has begun, or all is done: nothing is to be put in order."""
    try:
        os.write(2, b"stopped\n")
    finally:
        os._exit(128 + number)


if __name__ == "__main__":
    main()
