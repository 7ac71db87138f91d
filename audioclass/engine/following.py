"""Live streams: segments as they are final, and provisional ones before them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from audioclass.audio.blocks import cut_blocks
from audioclass.audio.decode import Decoder, open_audio
from audioclass.audio.raw import RawFormat
from audioclass.classifier.model import Model
from audioclass.data import Block
from audioclass.engine.models import DEFAULT_MODEL, loaded
from audioclass.engine.previewing import Preview
from audioclass.engine.runs import make_run
from audioclass.engine.streaming import DEFAULT_SMOOTHER, SHORT_BLOCK, SegmentationOptions, classify_stream
from audioclass.run import Run
from audioclass.segmentation.segments import ClassifiedSegment
from audioclass.segmentation.silence import DEFAULT_SILENCE, SilenceRule

OnProvisional = Callable[[list[ClassifiedSegment]], None]


def follow(
    source: str | Path | BinaryIO = "-",
    model: str | Path | Model = DEFAULT_MODEL,
    *,
    on_provisional: OnProvisional | None = None,
    smooth: Any = DEFAULT_SMOOTHER,
    min_duration: float = 0.0,
    threshold: float = 0.0,
    windows: bool = False,
    unknown: float = 0.0,
    silence: float | str | None = DEFAULT_SILENCE.level,
    min_silence: float = DEFAULT_SILENCE.least,
    depth: int | None = None,
    strict: bool = False,
    sample_rate: int | None = None,
    encoding: str | None = None,
    channels: int | None = None,
    run: Run | None = None,
) -> Iterator[ClassifiedSegment]:
    """The segments of a live stream, each with its `segment`, `posteriors` and `novelty`, as soon as it is final.

    They are those that `classify` gives for the same recording, whose options these are. `on_provisional` is called
    with segments as they would be if the stream ended now, about every second of audio: those that are new or changed,
    in order of time, each standing for all provisional ones from its start on. With the shipped model they come within
    2 seconds of the sound, while a segment is final up to 22 seconds after its end.
    """
    run = run or make_run()
    options = SegmentationOptions.of(
        smooth,
        run,
        min_duration=min_duration,
        threshold=threshold,
        windows=windows,
        unknown=unknown,
        silence=SilenceRule.of(silence, min_silence),
        depth=depth,
    )
    raw, ready = RawFormat.stated(sample_rate, encoding, channels), loaded(model)
    with open_audio(source, strict=strict or run.strict, raw=raw) as audio:
        yield from follow_stream(live_blocks(audio, ready), ready, options, on_provisional)


def live_blocks(audio: Decoder, model: Model) -> Iterator[Block]:
    """The blocks of an open stream for a model, short ones so that none is waited for long."""
    recipe = model.recipe
    return cut_blocks(audio, recipe.framing.sample_rate, block_length=SHORT_BLOCK, trim=recipe.trim)


def follow_stream(
    blocks: Iterable[Block],
    model: Model,
    options: SegmentationOptions,
    on_provisional: OnProvisional | None = None,
) -> Iterator[ClassifiedSegment]:
    """Segments of a stream of blocks as they are final; the provisional ones are told while blocks are taken in."""
    if on_provisional is None:
        yield from classify_stream(blocks, model, options)
        return
    preview = Preview(model, options)
    for final in classify_stream(_previewed(blocks, preview, on_provisional), model, options):
        preview.settle(final)
        yield final


def _previewed(blocks: Iterable[Block], preview: Preview, on_provisional: OnProvisional) -> Iterator[Block]:
    for block in blocks:
        for changed in preview.push(block):
            if changed:
                on_provisional(changed)
        yield block
