"""What `audioclass classify` does: recordings to lines, a timeline, a file of any format or a page."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from audioclass.audio.decode import open_audio
from audioclass.audio.raw import RawFormat
from audioclass.classifier.model import Model
from audioclass.cli import screen
from audioclass.cli.actions.follow_stream import follow_recording, note_limits
from audioclass.cli.classify import LiveOptions, OutputOptions, RawOptions, SegmentOptions
from audioclass.cli.exporting import output_format, write_result
from audioclass.cli.listing import InOrder, finish, print_head, print_lines, show_recordings
from audioclass.contracts import LabelFormat
from audioclass.engine.batches import Ledger, Outcome, classified_outcome, classify_many, joined
from audioclass.engine.models import loaded
from audioclass.engine.recording_pages import classify_to_page
from audioclass.engine.runs import make_run
from audioclass.engine.short_recordings import short_recordings_note
from audioclass.engine.streaming import SegmentationOptions
from audioclass.errors import AudioFileError, UsageError
from audioclass.outputs import refuse_inputs, written_file
from audioclass.recordings import RAW_SUFFIXES, SUFFIXES, find_recordings
from audioclass.run import Executor, Run


def classify(
    paths: list[Path],
    model: str,
    segments: SegmentOptions,
    wanted: OutputOptions,
    stated: RawOptions,
    live: LiveOptions,
    *,
    executor: Executor,
    strict: bool,
) -> None:
    """Classify and print; a live stream is followed, one recording has its page where a report is wanted."""
    run = make_run(executor=executor, strict=strict)
    options, output, report, raw = segments.resolved(run), wanted.output, wanted.report, stated.resolved()
    if live.provisional and not live.follow:
        raise UsageError("--provisional goes with --follow: other lines are final")
    if live.follow:
        others = {"--format": wanted.format, "--output": output, "--report": report, "--resume": wanted.resume}
        _refuse_with("--follow", others)
        follow_recording(paths, model, options, further_columns(options), raw, live.provisional, strict=strict)
        return
    chosen = output_format(wanted.format, output)
    files = find_recordings(paths, SUFFIXES if raw is None else RAW_SUFFIXES)
    written = [place for place in (output, report) if place is not None and str(place) != "-"]
    for place in written:
        screen.check_place(place)
    refuse_inputs(written, [Path(model), *files])
    if report is not None:
        _refuse_with("--report", {"--resume": wanted.resume, "--encoding": raw})  # browsers play no raw samples
        _classify_with_report(files, model, options, run, report, chosen, output)
    else:
        _classify_all(files, model, options, run, chosen, output, wanted.resume, raw)


def further_columns(options: SegmentationOptions) -> list[str]:
    """What is told of a segment because it was asked for."""
    return [name for name, level in (("novelty", options.unknown), ("set", options.risk)) if level]


def _note_windows(options: SegmentationOptions, model: Model, seconds: float) -> None:
    """Tell of windows that are not the recipe's, where a recording has several."""
    if (note := options.stream_windows_note(model)) and seconds > options.fitted(model).recipe.window:
        screen.note(f"{model.name}: {note}")


def _refuse_with(option: str, others: Mapping[str, object]) -> None:
    for other, value in others.items():
        if value:
            raise UsageError(f"{option} goes without {other}")


def _classify_all(
    files: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    chosen: LabelFormat | None,
    output: Path | None,
    resume: bool,
    raw: RawFormat | None,
) -> None:
    place = None if output is None or str(output) == "-" else written_file(output)
    if resume and place is None:
        raise UsageError("--resume needs -o with a file: the ledger stands beside the output")
    loaded_model = loaded(model)
    options.stream(loaded_model)  # what does not fit is refused before the work
    _refuse_headers(files, raw)
    note_limits(options, loaded_model)
    ledger = None if place is None else Ledger(place, loaded_model, options, resume=resume, strict=run.strict, raw=raw)
    start = time.perf_counter()
    further = further_columns(options)
    lines = InOrder(files, further) if chosen is None and not sys.stdout.isatty() else None
    outcomes = _outcomes(files, model, options, run, ledger, lines, raw)
    if chosen is not None:
        write_result(chosen, joined(outcomes, options.fitted(loaded_model)), output)
    elif sys.stdout.isatty():
        show_recordings(outcomes, further)
    if ledger is not None:
        ledger.close()
    _note_short(outcomes, loaded_model)
    _note_windows(options, loaded_model, max((outcome.seconds for outcome in outcomes), default=0.0))
    finish(outcomes, time.perf_counter() - start)


def _note_short(outcomes: Sequence[Outcome], model: Model) -> None:
    if note := short_recordings_note(outcomes, model):
        screen.note(note)


def _refuse_headers(files: Sequence[Path], raw: RawFormat | None) -> None:
    """What is said to be raw and is not is refused before the work; what cannot be read is told when its turn comes."""
    for file in files if raw is not None else ():
        if str(file) != "-":
            with contextlib.suppress(AudioFileError):
                open_audio(file, raw=raw).close()


def _outcomes(
    files: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    ledger: Ledger | None,
    lines: InOrder | None,
    raw: RawFormat | None,
) -> list[Outcome]:
    """What became of each file, in their order; what is printed as a line is kept no longer."""
    done: dict[Path, Outcome] = {}
    hint = "" if ledger is None else "start it again to go on" if ledger.resumes else "add --resume to go on"
    with screen.progress("recordings", hint) as progress:
        progress("recordings", 0, len(files))
        for outcome in classify_many(files, model, options, replace(run, progress=progress), ledger, raw=raw):
            done[outcome.path] = outcome
            progress("recordings", len(done), len(files))
            if lines is not None:
                lines.take(outcome)
                done[outcome.path] = outcome.without_result()
    return [done[file] for file in files]


def _classify_with_report(
    files: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    report: Path,
    chosen: LabelFormat | None,
    output: Path | None,
) -> None:
    file, *others = files
    if others or str(file) == "-":
        raise UsageError(f"--report shows one recording that is a file, not {len(others) + 1 if others else 'a pipe'}")
    loaded_model, further = loaded(model), further_columns(options)
    options.stream(loaded_model)
    note_limits(options, loaded_model)
    with screen.progress() as progress:
        classified = classify_to_page(file, report, loaded_model, options, progress, strict=run.strict)
    outcome = classified_outcome(file, classified.result, classified.seconds)
    if chosen is not None:
        write_result(chosen, classified.result, output)
    elif sys.stdout.isatty():
        show_recordings([outcome], further)
    else:
        print_head(further)
        print_lines(classified.result, further)
    screen.note(f"{report}: written")
    _note_short([outcome], loaded_model)
    _note_windows(options, loaded_model, classified.seconds)
    finish([outcome], classified.seconds_taken)
