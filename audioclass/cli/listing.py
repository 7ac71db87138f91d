"""Segments as lines for programs and as a timeline with a table for people, and the summary at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from audioclass.cli import screen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from audioclass.data import Result
    from audioclass.engine.batches import Outcome

COLUMNS = ("file", "start", "end", "label", "posterior", "second", "its posterior")


class InOrder:
    """Lines of many recordings in the order of the files, each as soon as all before it are printed."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._left = list(files)
        self._done: dict[Path, Outcome] = {}
        print_head()

    def take(self, outcome: Outcome) -> None:
        """One more is done."""
        self._done[outcome.path] = outcome
        while self._left and self._left[0] in self._done:
            result = self._done.pop(self._left.pop(0)).result
            if result is not None:
                print_lines(result)


def print_head() -> None:
    """The names of the columns."""
    screen.out("\t".join(COLUMNS))


def print_lines(result: Result) -> None:
    """A line for each segment."""
    for fields in _fields(result):
        screen.out("\t".join(fields))


def _fields(result: Result) -> Iterable[tuple[str, ...]]:
    for file, segment, row in zip(result.files, result.segments, result.P, strict=True):
        first, second = _best(segment.label, row, result)
        yield (
            " ".join(file.split()),
            f"{segment.start:.3f}",
            f"{segment.end:.3f}",
            segment.label,
            f"{first:.3f}",
            *second,
        )


def _best(label: str, row: Any, result: Result) -> tuple[float, tuple[str, str]]:
    """The posterior of what a segment is called, group or label, and the best label outside it."""
    inside = [i for i, path in enumerate(result.paths) if label in path] or []
    outside = [i for i in range(len(row)) if i not in inside]
    posterior = float(row[inside].sum()) if inside else float(row.max())
    if not outside:
        return posterior, ("", "")
    second = max(outside, key=lambda i: row[i])
    return posterior, (result.labels[second], f"{row[second]:.3f}")


def show_recordings(outcomes: Sequence[Outcome]) -> None:
    """A timeline and a table of each recording, for people."""
    from audioclass.cli.timeline import print_timeline

    for outcome in outcomes:
        if outcome.result is not None:
            print_timeline(outcome.result)
            screen.table(COLUMNS[1:], [fields[1:] for fields in _fields(outcome.result)])


def finish(outcomes: Sequence[Outcome], seconds: float) -> None:
    """Reasons and a summary on standard error; the exit code says whether all went well."""
    failed = [outcome for outcome in outcomes if outcome.result is None]
    for outcome in failed:
        screen.note(outcome.reason)
    fresh = sum(outcome.seconds for outcome in outcomes if not outcome.was_kept)
    kept = sum(outcome.was_kept for outcome in outcomes)
    before = f" ({kept} from before)" if kept else ""
    speed = f", {fresh / seconds:.0f} times faster than real time" if fresh else ""
    audio = sum(outcome.seconds for outcome in outcomes)
    good = len(outcomes) - len(failed)
    screen.note(f"{good} of {len(outcomes)} recordings{before}, {audio:.0f} s of audio in {seconds:.1f} s{speed}")
    raise typer.Exit(1 if failed else 0)
