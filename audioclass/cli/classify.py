"""`audioclass classify`: recordings to segments with posteriors, on a terminal, in a pipe, to any format."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.exporting import output_format, write_result
from audioclass.cli.listing import InOrder, finish, print_head, print_lines, show_recordings
from audioclass.cli.options import Jobs
from audioclass.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from audioclass.contracts import LabelFormat
    from audioclass.engine.batches import Ledger, Outcome
    from audioclass.engine.streaming import SegmentationOptions
    from audioclass.run import Run


@screen.with_examples(
    "audioclass classify talk.wav",
    "audioclass classify recordings/ -o segments.csv --jobs 0 --resume",
    "audioclass classify talk.wav --model birds.audioclass --format textgrid -o talk.TextGrid",
    "audioclass classify talk.wav --report talk.html",
    "ffmpeg -i film.mkv -f wav - | audioclass classify -",
    "arecord -f S16_LE -r 16000 | audioclass classify --follow -",
)
def classify(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Recordings, folders of them, or - for a pipe.")],
    model: Annotated[
        str, typer.Option("--model", "-m", help="A model file, or the name of a shipped one.")
    ] = "broadcast",
    format: Annotated[  # noqa: A002 (the name of the option)
        str | None,
        typer.Option(
            "--format", "-f", help="csv, json, textgrid, …; see `audioclass plugins --kind format`.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here; the suffix tells the format.", show_default=False),
    ] = None,
    windows: Annotated[bool, typer.Option("--windows", help="Posteriors of every window instead of segments.")] = False,
    smooth: Annotated[
        str, typer.Option("--smooth", help="How windows agree: none, moving_average, median, hmm.")
    ] = "hmm",
    min_duration: Annotated[
        float, typer.Option("--min-duration", min=0, help="Seconds of the shortest segment.")
    ] = 0.0,
    threshold: Annotated[
        float,
        typer.Option("--threshold", min=0, max=1, help="Below it say the group above the label, or unknown."),
    ] = 0.0,
    jobs: Jobs = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a batch that was stopped (with -o).")] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write a page to look at and listen to (one recording).", show_default=False),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Print segments of a live stream as they are final: with the shipped model at most 20.1 seconds after "
            "their end, 12.1 with --smooth none.",
        ),
    ] = False,
) -> None:
    """Classify recordings: segments with their label and probability, and the runner-up.

    On a terminal a timeline and a table; in a pipe tab-separated lines. A recording that cannot be read is listed with
    its reason and skipped; the exit code is then 1. Formats that carry no probabilities leave them out: audacity,
    dcase, elan, srt, textgrid and webvtt.
    """
    from audioclass.engine.runs import make_run
    from audioclass.engine.streaming import SegmentationOptions
    from audioclass.run import executor_for

    run = make_run(executor=executor_for(jobs))
    options = SegmentationOptions.of(smooth, run, min_duration=min_duration, threshold=threshold, windows=windows)
    if follow:
        _refuse_with("--follow", {"--format": format, "--output": output, "--report": report, "--resume": resume})
        _follow(paths, model, options)
        return
    chosen = output_format(format, output)
    for place in (output, report):
        if place is not None and str(place) != "-":
            screen.check_place(place)
    if report is not None:
        _refuse_with("--report", {"--resume": resume})
        _classify_with_report(paths, model, options, report, chosen, output)
    else:
        _classify_all(paths, model, options, run, chosen, output, resume)


def _refuse_with(option: str, others: Mapping[str, object]) -> None:
    for other, value in others.items():
        if value:
            raise UsageError(f"{option} goes without {other}")


def _classify_all(
    paths: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    chosen: LabelFormat | None,
    output: Path | None,
    resume: bool,
) -> None:
    from audioclass.engine import batches
    from audioclass.engine.models import loaded

    files = _recordings(paths)
    if resume and (output is None or str(output) == "-"):
        raise UsageError("--resume needs -o: the ledger stands beside the output")
    loaded_model = loaded(model)
    options.stream(loaded_model)  # what does not fit is refused before the work
    has_ledger = output is not None and str(output) != "-"
    ledger = batches.Ledger(output, loaded_model, options, resume=resume) if output and has_ledger else None
    start = time.perf_counter()
    outcomes = _outcomes(files, model, options, run, ledger, is_lined=chosen is None and not sys.stdout.isatty())
    if chosen is not None:
        write_result(chosen, batches.joined(outcomes, loaded_model), output)
    elif sys.stdout.isatty():
        show_recordings(outcomes)
    if ledger is not None:
        ledger.close()
    finish(outcomes, time.perf_counter() - start)


def _recordings(paths: Sequence[Path]) -> list[Path]:
    from audioclass.recordings import find_recordings

    files = find_recordings(paths)
    if not files:
        raise UsageError(f"{', '.join(map(str, paths))}: no recordings found")
    return files


def _outcomes(
    files: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    run: Run,
    ledger: Ledger | None,
    *,
    is_lined: bool,
) -> list[Outcome]:
    """What became of each file, in their order; what is printed as a line is kept no longer."""
    from dataclasses import replace

    from audioclass.engine.batches import classify_many

    done: dict[Path, Outcome] = {}
    lines = InOrder(files) if is_lined else None
    with screen.progress() as progress:
        for outcome in classify_many(files, model, options, replace(run, progress=progress), ledger):
            done[outcome.path] = outcome
            progress("recordings", len(done), len(files))
            if lines is not None:
                lines.take(outcome)
                done[outcome.path] = outcome.without_result()
    return [done[file] for file in files]


def _follow(paths: Sequence[Path], model: str, options: SegmentationOptions) -> None:
    """Lines of a live stream, each flushed as soon as its segment is final."""
    from audioclass.audio.blocks import read_blocks
    from audioclass.engine.models import loaded
    from audioclass.engine.streaming import SHORT_BLOCK, classify_stream
    from audioclass.segmentation.results import result_of

    if [str(path) for path in paths] != ["-"]:
        raise UsageError("--follow reads a stream: give - as the path")
    loaded_model = loaded(model)
    recipe, lag = loaded_model.recipe, options.lag(loaded_model)
    when = f"at most {lag:.1f} s after their end" if lag < float("inf") else "when the stream ends"
    screen.note(f"segments are final {when}")
    print_head()
    sys.stdout.flush()
    blocks = read_blocks("-", recipe.framing.sample_rate, block_length=SHORT_BLOCK, trim=recipe.trim)
    for segment in classify_stream(blocks, loaded_model, options):
        print_lines(result_of([("-", segment)], loaded_model.labels, loaded_model.taxonomy))
        sys.stdout.flush()


def _classify_with_report(
    paths: Sequence[Path],
    model: str,
    options: SegmentationOptions,
    report: Path,
    chosen: LabelFormat | None,
    output: Path | None,
) -> None:
    from audioclass.engine.batches import Outcome
    from audioclass.engine.classifying import classify_recording
    from audioclass.engine.models import loaded
    from audioclass.recordings import regular
    from audioclass.reports.audio import audio_address
    from audioclass.reports.recording import recording_page
    from audioclass.storage import atomic_write

    file, *others = _recordings(paths)
    if others or str(file) == "-":
        raise UsageError(f"--report shows one recording that is a file, not {len(others) + 1 if others else 'a pipe'}")
    with screen.progress() as progress:
        classified = classify_recording(regular(file), loaded(model), options, progress, for_page=True)
    result, windows, envelope = classified.result, classified.windows, classified.envelope
    if windows is None or envelope is None:
        raise ValueError("a page needs the windows and the outline of its recording")
    address = audio_address(file, report.resolve())
    title = f"{file.name}: {', '.join(sorted({s.label for s in result.segments}))}"
    atomic_write(report, recording_page(result, windows, envelope, audio=address, title=title))
    outcome = Outcome(file, result, seconds=classified.seconds)
    if chosen is not None:
        write_result(chosen, result, output)
    elif sys.stdout.isatty():
        show_recordings([outcome])
    else:
        print_head()
        print_lines(result)
    screen.note(f"{report}: written")
    finish([outcome], classified.seconds_taken)
