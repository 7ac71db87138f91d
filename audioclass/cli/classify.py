"""`audioclass classify`: recordings to segments with posteriors, on a terminal, in a pipe, to any format."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import OptionGroup, Strict, WorkOptions, grouped
from audioclass.run import Run

if TYPE_CHECKING:
    from audioclass.engine.streaming import SegmentationOptions


@dataclass(frozen=True)
class SegmentOptions(OptionGroup):
    """How posteriors become segments, and what is told of these."""

    windows: Annotated[bool, typer.Option("--windows", help="Posteriors of every window instead of segments.")] = False
    smooth: Annotated[
        str, typer.Option("--smooth", help="Smoother: none, moving_average, median or hmm, such as hmm:duration=20.")
    ] = "hmm"
    min_duration: Annotated[
        float,
        typer.Option(
            "--min-duration", min=0, help="Seconds of the shortest segment; what is shorter joins a neighbour."
        ),
    ] = 0.0
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            min=0,
            max=1,
            help="Below it say the group above the label, whose probability is the sum over its labels, or unknown.",
        ),
    ] = 0.0
    unknown: Annotated[
        float,
        typer.Option(
            "--unknown",
            min=0,
            max=1,
            help="Say unknown of what is stranger than all but this share of the training recordings, such as 0.01.",
        ),
    ] = 0.0
    risk: Annotated[
        float,
        typer.Option(
            "--risk",
            min=0,
            max=1,
            help="With each segment the fewest labels of which one is right but for this share, such as 0.05.",
        ),
    ] = 0.0
    risk_sets: Annotated[
        str,
        typer.Option(
            "--risk-sets",
            metavar="labels|node",
            help="What --risk gives: any labels, or one node: the smallest group of the model's tree that is enough.",
        ),
    ] = "labels"
    hop: Annotated[
        str | None,
        typer.Option(
            "--hop",
            metavar="SECONDS|recipe",
            help="Seconds from one window to the next, or recipe for the windows of the model's recipe; by default a"
            " model of clips has windows as long as these, a fifth of it apart.",
            show_default=False,
        ),
    ] = None

    def resolved(self, run: Run) -> SegmentationOptions:
        """As the engine takes them, the smoother by its name."""
        from audioclass.engine.streaming import SegmentationOptions

        values = dataclasses.asdict(self)
        return SegmentationOptions.of(values.pop("smooth"), run, **values)


@dataclass(frozen=True)
class OutputOptions(OptionGroup):
    """What is written, and where; nothing stated is the terminal, or lines in a pipe."""

    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="csv, json, textgrid, …, with parameters such as raven:high=4000 or csv:formulas=escape; see "
            "`audioclass plugins --kind format`.",
            show_default=False,
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here; the suffix tells the format.", show_default=False),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option("--report", help="Write a page to look at and listen to (one recording).", show_default=False),
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a batch that was stopped (with -o).")] = False


@screen.with_examples(
    "audioclass classify talk.wav",
    "audioclass classify recordings/ -o segments.csv --jobs 0 --resume",
    "audioclass classify talk.wav --model birds.audioclass --format textgrid -o talk.TextGrid",
    "audioclass classify birds/ --format raven:high=4000 -o birds.selections.txt",
    "audioclass classify talk.wav --report talk.html",
    "audioclass classify recordings/ -m sounds.audioclass --unknown 0.01 --risk 0.05 -o segments.csv",
    "audioclass classify walk.wav -m sounds.audioclass --risk 0.05 --risk-sets node",
    "audioclass classify walk.wav -m clips.audioclass --hop 0.5",
    "ffmpeg -i film.mkv -f wav - | audioclass classify -",
    "arecord -f S16_LE -r 16000 | audioclass classify --follow -",
)
@grouped
def classify(
    *,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Recordings, folders of them, or - for a pipe.")],
    work: WorkOptions,
    model: Annotated[
        str, typer.Option("--model", "-m", help="A model file, or the name of a shipped one.")
    ] = "broadcast",
    output: OutputOptions,
    segments: SegmentOptions,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Print segments of a live stream as they are final; the run says how long after their end that is.",
        ),
    ] = False,
    strict: Strict = False,
) -> None:
    """Classify recordings: segments with their label and probability, and the runner-up.

    The label is the one with the largest posterior, smoothed and averaged over the windows of the segment; its
    probability is that average, and the runner-up the likeliest label besides it, or outside its group.

    On a terminal a timeline and a table; in a pipe tab-separated lines. A recording that cannot be read is listed with
    its reason and skipped, a damaged one is classified as far as it can be read; the exit code is then 1. Formats that
    carry no probabilities leave them out: audacity, dcase, elan, srt, textgrid and webvtt.

    A model that was trained on clips classifies longer recordings with windows as long as its clips, and says so;
    --hop states the distance of windows.

    `novelty` is the probability that a training recording, held out, would be as strange as the segment; the model must
    have been trained on 20 groups or more. `set` holds the labels of `--risk`, the likeliest first; with `--risk-sets
    node` it is one group by its name, or unknown where only all labels together hold enough. The groups are those of
    the model's taxonomy; a model without one has groups of labels that it takes for one another, told by these.
    """
    from audioclass.cli.actions import classify_recordings

    classify_recordings.classify(paths, model, segments, output, executor=work.executor, follow=follow, strict=strict)
