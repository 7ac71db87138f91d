"""What `audioclass classify --follow` does: lines of a live stream, final ones and, before them, provisional ones."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from audioclass.audio.decode import open_audio
from audioclass.audio.raw import RawFormat
from audioclass.classifier.model import Model
from audioclass.cli import screen
from audioclass.cli.listing import print_head, result_fields
from audioclass.engine.following import follow_stream, live_blocks
from audioclass.engine.models import loaded
from audioclass.engine.previewing import preview_lag
from audioclass.engine.streaming import SegmentationOptions
from audioclass.errors import UsageError
from audioclass.segmentation.results import result_of
from audioclass.segmentation.segments import ClassifiedSegment

STATE, FINAL, PROVISIONAL = "state", "final", "provisional"


def follow_recording(
    paths: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    further: Sequence[str],
    raw: RawFormat | None,
    provisional: bool,
    *,
    strict: bool,
) -> None:
    """Lines of a live stream, each flushed as soon as its segment is final; provisional ones where they are wanted.

    A terminal shows the newest of these in its last line, unless they are to be lines of their own.
    """
    if [str(path) for path in paths] != ["-"]:
        raise UsageError("--follow reads a stream: give - as the path")
    loaded_model = loaded(model)
    options.stream(loaded_model)  # what does not fit is refused before the stream is waited for
    note_limits(options, loaded_model)
    if note := options.stream_windows_note(loaded_model):
        screen.note(f"{loaded_model.name}: {note}")
    lines = LiveLines(loaded_model, options, further, states=provisional)
    on_provisional = lines.tell if provisional or lines.redraws else None
    with open_audio("-", strict=strict, raw=raw) as audio, lines:
        screen.note(options.finality(loaded_model, audio.sample_rate))
        if on_provisional is not None:
            lag = preview_lag(options.fitted(loaded_model), audio.sample_rate)
            screen.note(f"provisional lines come at most {math.ceil(10 * lag) / 10:.1f} s after the sound")
        for segment in follow_stream(live_blocks(audio, loaded_model), loaded_model, options, on_provisional):
            lines.print(segment)
    if audio.cut is not None:
        screen.note(f"{audio.name}: {audio.cut.reason}; classified up to there")
        raise typer.Exit(1)


def note_limits(options: SegmentationOptions, model: Model) -> None:
    """Tell what a user should know of the levels that were asked for."""
    for note in options.notes(model):
        screen.note(f"{model.name}: {note}")


class LiveLines:
    """Final lines, and provisional ones that are marked by their state or, on a terminal, drawn in one place."""

    def __init__(
        self, model: Model, options: SegmentationOptions, further: Sequence[str] = (), *, states: bool = False
    ) -> None:
        self._model, self._options, self._further, self._states = options.fitted(model), options, further, states
        self.redraws = not states and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._drawn = ""
        print_head([*further, STATE] if states else further)
        sys.stdout.flush()

    def __enter__(self) -> None:
        """Nothing is drawn yet."""

    def __exit__(self, *_: object) -> None:
        self._draw("")

    def print(self, segment: ClassifiedSegment) -> None:
        """A segment that is final; the line that is drawn stays below it."""
        drawn = self._drawn
        self._draw("")
        self._line(segment, FINAL)
        self._draw(drawn)
        sys.stdout.flush()

    def tell(self, segments: Sequence[ClassifiedSegment]) -> None:
        """Segments that may change; only the newest is drawn."""
        if self.redraws:
            _, start, end, label, probability, *_ = self._fields(segments[-1])
            self._draw(f"{start}  {end}  {label}  {probability}  ({PROVISIONAL})")
        else:
            for segment in segments:
                self._line(segment, PROVISIONAL)
        sys.stdout.flush()

    def _line(self, segment: ClassifiedSegment, state: str) -> None:
        screen.out("\t".join([*self._fields(segment), *([state] if self._states else [])]))

    def _fields(self, segment: ClassifiedSegment) -> tuple[str, ...]:
        model = self._model
        result = result_of([("-", segment)], model.labels, model.taxonomy, independent=model.is_multi_label)
        [fields] = result_fields(self._options.with_sets(result, self._model), self._further)
        return fields

    def _draw(self, text: str) -> None:
        """Replace the last line of the terminal; it must not reach the edge, or it would become two."""
        if text or self._drawn:
            width = shutil.get_terminal_size().columns
            sys.stdout.write(f"\r{text[: max(width - 1, 0)]}\x1b[K")
        self._drawn = text
