"""Segments as lines for programs and as a timeline with a table for people, and the summary at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from audioclass.cli import screen
from audioclass.data import Result
from audioclass.display import printable
from audioclass.engine.batches import Outcome
from audioclass.formats.rows import COLUMNS, rows_of, set_text


class InOrder:
    """Lines of many recordings in the order of the files, each as soon as all before it are printed."""

    def __init__(self, files: Sequence[Path], further: Sequence[str] = ()) -> None:
        self._left = deque(files)
        self._done: dict[Path, Outcome] = {}
        self._further = further
        print_head(further)

    def take(self, outcome: Outcome) -> None:
        """One more is done."""
        self._done[outcome.path] = outcome
        while self._left and self._left[0] in self._done:
            result = self._done.pop(self._left.popleft()).result
            if result is not None:
                print_lines(result, self._further)


def print_head(further: Sequence[str] = ()) -> None:
    """The names of the columns, those that were asked for besides the usual ones at the end."""
    screen.out("\t".join([*COLUMNS, *further]))


def print_lines(result: Result, further: Sequence[str] = ()) -> None:
    """A line for each segment."""
    for fields in result_fields(result, further):
        screen.out("\t".join(fields))


def result_fields(result: Result, further: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """The columns of each segment as texts."""
    for row in rows_of(result):
        known = {"novelty": "" if row.novelty is None else f"{row.novelty:.4f}", "set": printable(set_text(row))}
        yield (
            printable(row.file),
            f"{row.start:.3f}",
            f"{row.end:.3f}",
            printable(row.label),
            _probability(row.probability),
            printable(row.runner_up or ""),
            _probability(row.runner_up_probability),
            *(known[name] for name in further),
        )


def _probability(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def show_recordings(outcomes: Sequence[Outcome], further: Sequence[str] = ()) -> None:
    """A timeline and a table of each recording, for people; below its name where there are several."""
    from audioclass.cli.timeline import print_timeline  # what draws on a terminal is not imported for a pipe

    for outcome in outcomes:
        if outcome.result is not None:
            if len(outcomes) > 1:
                screen.out(printable(str(outcome.path)))
            print_timeline(outcome.result)
            screen.table([*COLUMNS[1:], *further], [fields[1:] for fields in result_fields(outcome.result, further)])


def finish(outcomes: Sequence[Outcome], seconds: float) -> None:
    """Reasons and a summary on standard error; the exit code says whether all went well."""
    failed = [outcome for outcome in outcomes if outcome.reason]
    for outcome in failed:
        screen.note(outcome.reason)
    fresh = sum(outcome.seconds for outcome in outcomes if not outcome.was_finished)
    n_resumed = sum(outcome.was_finished for outcome in outcomes)
    before = f" ({n_resumed} from before)" if n_resumed else ""
    speed = f", {fresh / seconds:.0f} times faster than real time" if fresh else ""
    audio = sum(outcome.seconds for outcome in outcomes)
    good = sum(outcome.was_classified for outcome in outcomes)
    screen.note(f"{good} of {len(outcomes)} recordings{before}, {audio:.0f} s of audio in {seconds:.1f} s{speed}")
    raise typer.Exit(1 if failed else 0)
