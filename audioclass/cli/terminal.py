"""What is drawn where a terminal is: coloured lines, tables and bars of progress; imported only there, by `screen`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from rich import progress as bars
from rich.console import Console
from rich.table import Table

from audioclass.display import printable
from audioclass.run import Progress

MOST_BARS = 2


def print_coloured(line: str, colour: str) -> None:
    """A line on standard error."""
    Console(stderr=True).print(line, style=colour, markup=False, highlight=False, soft_wrap=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on standard output; fields that are too long go on in the next line."""
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    Console(markup=False, highlight=False).print(drawn)


@contextlib.contextmanager
def progress_bars() -> Iterator[Progress]:
    """Bars for the stages of a long work, on standard error; a stage that is done makes room.

    Two are drawn, such as the recordings and the one at hand: some stages never say that they are done, as a recording
    of unknown length, and their bars must not pile up.
    """
    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[amount]}"),
        bars.TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with bars.Progress(*columns, console=console, transient=True, redirect_stdout=False, refresh_per_second=5) as drawn:
        tasks: dict[str, bars.TaskID] = {}

        def tell(stage: str, done: float, total: float | None) -> None:
            amount = f"{done:.0f}" if total is None else f"{done:.0f} of {total:.0f}"
            known = tasks.pop(stage, None)  # put back at the end: the first is the one that was told of longest ago
            tasks[stage] = drawn.add_task(printable(stage), total=total, amount=amount) if known is None else known
            drawn.update(tasks[stage], completed=done, total=total, amount=amount)
            if total is not None and done >= total:
                drawn.remove_task(tasks.pop(stage))
            elif len(tasks) > MOST_BARS:
                drawn.remove_task(tasks.pop(next(iter(tasks))))

        yield tell
