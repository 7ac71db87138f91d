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
    from audioclass.audio.raw import RawFormat
    from audioclass.engine.streaming import SegmentationOptions


@dataclass(frozen=True)
class SegmentOptions(OptionGroup):
    """How posteriors become segments, and what is told of these."""

    windows: Annotated[bool, typer.Option("--windows", help="Posteriors of every window instead of segments.")] = False
    smooth: Annotated[
        str,
        typer.Option(
            "--smooth",
            help="Smoother: none, moving_average, median or hmm, such as hmm:duration=20; with hmm:look_ahead=2 a live "
            "stream waits for 2 windows instead of 8.",
        ),
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
    silence: Annotated[
        str,
        typer.Option(
            "--silence",
            metavar="DB|auto",
            help="Level below which a recording is silent, in dB of full scale; auto: -60, or at its noise floor.",
        ),
    ] = "-60"
    no_silence: Annotated[
        bool, typer.Option("--no-silence", help="Tell no silence by its level: only labels of the model.")
    ] = False
    min_silence: Annotated[float, typer.Option("--min-silence", min=0.04, help="Seconds of the shortest silence.")] = (
        0.2
    )
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

    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            help="How deep the model's tree of labels is told: 1 is its largest groups, whose probabilities are sums"
            " over their labels; by default as the model says, else its labels.",
            show_default=False,
        ),
    ] = None

    def resolved(self, run: Run) -> SegmentationOptions:
        """As the engine takes them, the smoother by its name."""
        from audioclass.engine.streaming import SegmentationOptions
        from audioclass.segmentation.silence import SilenceRule

        values = dataclasses.asdict(self)
        silence, least, is_off = (values.pop(name) for name in ("silence", "min_silence", "no_silence"))
        rule = None if is_off else SilenceRule.of(silence, least)
        return SegmentationOptions.of(values.pop("smooth"), run, silence=rule, **values)


@dataclass(frozen=True)
class RawOptions(OptionGroup):
    """What samples without a header are; nothing stated is recordings that say it themselves."""

    rate: Annotated[
        int | None,
        typer.Option(
            "--rate", metavar="HERTZ", help="Sample rate of raw samples, which have no header.", show_default=False
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            "--encoding",
            metavar="NAME",
            help="Encoding of raw samples as ffmpeg calls it: u8, s16le, s24le, s32le, f32le, f64le, the same with be, "
            "mulaw or alaw.",
            show_default=False,
        ),
    ] = None
    channels: Annotated[
        int | None,
        typer.Option("--channels", metavar="N", help="Interleaved channels of raw samples (1).", show_default=False),
    ] = None

    def resolved(self) -> RawFormat | None:
        """As decoders take them."""
        from audioclass.audio.raw import RawFormat

        return RawFormat.stated(self.rate, self.encoding, self.channels)


@dataclass(frozen=True)
class LiveOptions(OptionGroup):
    """A live stream, and when what is told of it."""

    follow: Annotated[
        bool,
        typer.Option(
            "--follow",
            help="Print segments of a live stream as they are final; the run says how long after their end that is.",
        ),
    ] = False
    provisional: Annotated[
        bool,
        typer.Option(
            "--provisional",
            help="With --follow: lines as they would be if the stream ended now too, in a column `state` marked "
            "provisional.",
        ),
    ] = False


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
    "audioclass classify tape.wav --silence auto --min-silence 0.5",
    "audioclass classify recordings/ -m sounds.audioclass --unknown 0.01 --risk 0.05 -o segments.csv",
    "audioclass classify walk.wav -m sounds.audioclass --risk 0.05 --risk-sets node",
    "audioclass classify walk.wav -m clips.audioclass --hop 0.5",
    "audioclass classify walk.wav -m sounds.audioclass --depth 1",
    "ffmpeg -i film.mkv -f wav - | audioclass classify -",
    "arecord -f S16_LE -r 16000 | audioclass classify --follow -",
    "rtl_fm -M wbfm -f 98.5M -r 32000 - | audioclass classify --follow - --rate 32000 --encoding s16le",
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
    raw: RawOptions,
    live: LiveOptions,
    strict: Strict = False,
) -> None:
    """Classify recordings: segments with their label and probability, and the runner-up.

    The label is the one with the largest posterior, smoothed and averaged over the windows of the segment; its
    probability is that average, and the runner-up the likeliest label besides it, or outside its group. Segments begin
    and end where the sound changes, and silence is told by its level, for every model.

    On a terminal a timeline and a table; in a pipe tab-separated lines. A recording that cannot be read is listed with
    its reason and skipped, a damaged one is classified as far as it can be read; the exit code is then 1. Formats that
    carry no probabilities leave them out: audacity, dcase, elan, srt, textgrid and webvtt.

    A model that was trained on clips classifies longer recordings with windows as long as its clips, and says so;
    --hop states the distance of windows.

    A model whose labels form a tree may tell its largest groups by default, as `audioclass model show` says; --depth 2
    tells what these hold, and so on down to its labels.

    `novelty` is the probability that a training recording, held out, would be as strange as the segment; the model must
    have been trained on 20 groups or more. `set` holds the labels of `--risk`, the likeliest first; with `--risk-sets
    node` it is one group by its name, or unknown where only all labels together hold enough. The groups are those of
    the model's taxonomy; a model without one has groups of labels that it takes for one another, told by these.

    Recordings shorter than the model's window are noted: their probabilities are less sure, and flattened where they
    are very short.

    With `--follow` a terminal shows what is heard within 3 seconds, in a line that is drawn anew until its segment is
    final; elsewhere only final lines are printed, unless with `--provisional`: a provisional line stands for all
    provisional ones from its start on.
    """
    from audioclass.cli.actions import classify_recordings

    classify_recordings.classify(paths, model, segments, output, raw, live, executor=work.executor, strict=strict)
