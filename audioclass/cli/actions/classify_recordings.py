"""What `audioclass classify` does: recordings to lines, a timeline, a file of any format or a page."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import open_audio
from audioclass.classifier.model import Model
from audioclass.cli import screen
from audioclass.cli.classify import OutputOptions, SegmentOptions
from audioclass.cli.exporting import output_format, write_result
from audioclass.cli.listing import InOrder, finish, print_head, print_lines, show_recordings
from audioclass.contracts import LabelFormat
from audioclass.engine.batches import Ledger, Outcome, classified_outcome, classify_many, joined
from audioclass.engine.models import loaded
from audioclass.engine.recording_pages import classify_to_page
from audioclass.engine.runs import make_run
from audioclass.engine.streaming import SHORT_BLOCK, SegmentationOptions, classify_stream
from audioclass.errors import UsageError
from audioclass.outputs import refuse_inputs, written_file
from audioclass.recordings import find_recordings
from audioclass.run import Executor, Run
from audioclass.segmentation.results import result_of


def classify(
    paths: list[Path],
    model: str,
    segments: SegmentOptions,
    wanted: OutputOptions,
    *,
    executor: Executor,
    follow: bool,
    strict: bool,
) -> None:
    """Classify and print; a live stream with `follow`, one recording with its page where a report is wanted."""
    run = make_run(executor=executor, strict=strict)
    options, output, report = segments.resolved(run), wanted.output, wanted.report
    if follow:
        others = {"--format": wanted.format, "--output": output, "--report": report, "--resume": wanted.resume}
        _refuse_with("--follow", others)
        _follow(paths, model, options, strict=strict)
        return
    chosen = output_format(wanted.format, output)
    files = find_recordings(paths)
    written = [place for place in (output, report) if place is not None and str(place) != "-"]
    for place in written:
        screen.check_place(place)
    refuse_inputs(written, [Path(model), *files])
    if report is not None:
        _refuse_with("--report", {"--resume": wanted.resume})
        _classify_with_report(files, model, options, run, report, chosen, output)
    else:
        _classify_all(files, model, options, run, chosen, output, wanted.resume)


def further_columns(options: SegmentationOptions) -> list[str]:
    """What is told of a segment because it was asked for."""
    return [name for name, level in (("novelty", options.unknown), ("set", options.risk)) if level]


def _note_limits(options: SegmentationOptions, model: Model) -> None:
    for note in options.notes(model):
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
) -> None:
    place = None if output is None or str(output) == "-" else written_file(output)
    if resume and place is None:
        raise UsageError("--resume needs -o with a file: the ledger stands beside the output")
    loaded_model = loaded(model)
    options.stream(loaded_model)  # what does not fit is refused before the work
    _note_limits(options, loaded_model)
    ledger = None if place is None else Ledger(place, loaded_model, options, resume=resume, strict=run.strict)
    start = time.perf_counter()
    further = further_columns(options)
    lines = InOrder(files, further) if chosen is None and not sys.stdout.isatty() else None
    outcomes = _outcomes(files, model, options, run, ledger, lines)
    if chosen is not None:
        write_result(chosen, joined(outcomes, loaded_model), output)
    elif sys.stdout.isatty():
        show_recordings(outcomes, further)
    if ledger is not None:
        ledger.close()
    finish(outcomes, time.perf_counter() - start)


def _outcomes(
    files: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    ledger: Ledger | None,
    lines: InOrder | None,
) -> list[Outcome]:
    """What became of each file, in their order; what is printed as a line is kept no longer."""
    done: dict[Path, Outcome] = {}
    hint = "" if ledger is None else "start it again to go on" if ledger.resumes else "add --resume to go on"
    with screen.progress("recordings", hint) as progress:
        progress("recordings", 0, len(files))
        for outcome in classify_many(files, model, options, replace(run, progress=progress), ledger):
            done[outcome.path] = outcome
            progress("recordings", len(done), len(files))
            if lines is not None:
                lines.take(outcome)
                done[outcome.path] = outcome.without_result()
    return [done[file] for file in files]


def _follow(paths: Sequence[Path], model: str, options: SegmentationOptions, *, strict: bool) -> None:
    """Lines of a live stream, each flushed as soon as its segment is final."""
    if [str(path) for path in paths] != ["-"]:
        raise UsageError("--follow reads a stream: give - as the path")
    loaded_model = loaded(model)
    recipe = loaded_model.recipe
    options.stream(loaded_model)  # what does not fit is refused before the stream is waited for
    _note_limits(options, loaded_model)
    further = further_columns(options)
    print_head(further)
    sys.stdout.flush()
    with open_audio("-", strict=strict) as audio:
        screen.note(options.finality(loaded_model, audio.sample_rate))
        blocks = cut_blocks(audio, recipe.framing.sample_rate, block_length=SHORT_BLOCK, trim=recipe.trim)
        for segment in classify_stream(blocks, loaded_model, options):
            independent = loaded_model.is_multi_label
            result = result_of([("-", segment)], loaded_model.labels, loaded_model.taxonomy, independent=independent)
            print_lines(options.with_sets(result, loaded_model), further)
            sys.stdout.flush()
    if audio.cut is not None:
        screen.note(f"{audio.name}: {audio.cut.reason}; classified up to there")
        raise typer.Exit(1)


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
    _note_limits(options, loaded_model)
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
    finish([outcome], classified.seconds_taken)
