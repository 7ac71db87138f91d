"""The page of a recording that was classified: to look at and listen to."""

from __future__ import annotations

from pathlib import Path

from audioclass.classifier.model import Model
from audioclass.engine.classifying import ClassifiedRecording, classify_recording
from audioclass.engine.streaming import SegmentationOptions
from audioclass.outputs import atomic_write
from audioclass.recordings import regular
from audioclass.reports.audio import audio_address
from audioclass.reports.recording import recording_page
from audioclass.run import Progress, silent


def classify_to_page(
    file: Path,
    page: Path,
    model: Model,
    options: SegmentationOptions,
    progress: Progress = silent,
    *,
    strict: bool = False,
) -> ClassifiedRecording:
    """Classify a recording and write its page, with its waveform, its segments and a player."""
    classified = classify_recording(regular(file), model, options, progress, for_page=True, strict=strict)
    result, windows, envelope = classified.result, classified.windows, classified.envelope
    if windows is None or envelope is None:
        raise ValueError("a page needs the windows and the outline of its recording")
    title = f"{file.name}: {', '.join(sorted({segment.label for segment in result.segments}))}"
    title += "".join(f" (damaged: up to {cut.seconds:.2f} s)" for cut in result.cuts.values())
    address = audio_address(file, page.resolve())
    atomic_write(page, recording_page(result, windows, envelope, audio=address, title=title))
    return classified
