"""Segments as lines for programs and as a timeline with a table for people, and the summary at the end."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import typer

from audioclass.cli import screen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from audioclass.data import Result
    from audioclass.engine.batches import Outcome
    from audioclass.formats.rows import Row

COLUMNS = ("file", "start", "end", "label", "posterior", "second", "its posterior")


class InOrder:
    """Lines of many recordings in the order of the files, each as soon as all before it are printed."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._left = deque(files)
        self._done: dict[Path, Outcome] = {}
        print_head()

    def take(self, outcome: Outcome) -> None:
        """One more is done."""
        self._done[outcome.path] = outcome
        while self._left and self._left[0] in self._done:
            result = self._done.pop(self._left.popleft()).result
            if result is not None:
                print_lines(result)


def print_head() -> None:
    """The names of the columns."""
    screen.out("\t".join(COLUMNS))


def print_lines(result: Result) -> None:
    """A line for each segment."""
    for fields in _fields(result):
        screen.out("\t".join(fields))


def _fields(result: Result) -> Iterator[tuple[str, ...]]:
    from audioclass.formats.rows import rows_of

    for row in rows_of(result):
        posterior = "" if row.posterior is None else f"{row.posterior:.3f}"
        yield (
            " ".join(row.file.split()),
            f"{row.start:.3f}",
            f"{row.end:.3f}",
            " ".join(row.label.split()),
            posterior,
            *_runner_up(row, result),
        )


def _runner_up(row: Row, result: Result) -> tuple[str, str]:
    """The best label outside what a segment is called, and its posterior."""
    outside = [i for i, path in enumerate(result.paths) if row.label not in path]
    if not outside:
        return "", ""
    second = max(outside, key=lambda i: row.posteriors[i])
    return " ".join(result.labels[second].split()), f"{row.posteriors[second]:.3f}"


def show_recordings(outcomes: Sequence[Outcome]) -> None:
    """A timeline and a table of each recording, for people."""
    from audioclass.cli.timeline import print_timeline

    for outcome in outcomes:
        if outcome.result is not None:
            print_timeline(outcome.result)
            screen.table(COLUMNS[1:], [fields[1:] for fields in _fields(outcome.result)])


def finish(outcomes: Sequence[Outcome], seconds: float) -> None:
    """Reasons and a summary on standard error; the exit code says whether all went well."""
    failed = [outcome for outcome in outcomes if outcome.reason]
    for outcome in failed:
        screen.note(outcome.reason)
    fresh = sum(outcome.seconds for outcome in outcomes if not outcome.was_finished)
    kept = sum(outcome.was_finished for outcome in outcomes)
    before = f" ({kept} from before)" if kept else ""
    speed = f", {fresh / seconds:.0f} times faster than real time" if fresh else ""
    audio = sum(outcome.seconds for outcome in outcomes)
    good = len(outcomes) - len(failed)
    screen.note(f"{good} of {len(outcomes)} recordings{before}, {audio:.0f} s of audio in {seconds:.1f} s{speed}")
    raise typer.Exit(1 if failed else 0)
