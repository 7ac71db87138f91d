"""Pages to look at and listen to: a recording that was classified, and a model or configuration that was evaluated."""

from __future__ import annotations

from pathlib import Path

from audioclass.classifier.model import Model
from audioclass.engine.classifying import ClassifiedRecording, classify_recording
from audioclass.engine.evaluating import Evaluated
from audioclass.engine.streaming import SegmentationOptions
from audioclass.evaluation.evaluation import Evaluation
from audioclass.recordings import regular
from audioclass.reports.audio import audio_address
from audioclass.reports.evaluation import write_evaluation
from audioclass.reports.players import relative_link
from audioclass.reports.recording import recording_page
from audioclass.run import Progress, silent
from audioclass.storage import atomic_write
from audioclass.trees.drawing import draw_svg
from audioclass.trees.reading import read_toml


def classify_to_page(
    file: Path, page: Path, model: Model, options: SegmentationOptions, progress: Progress = silent
) -> ClassifiedRecording:
    """Classify a recording and write its page, with its waveform, its segments and a player."""
    classified = classify_recording(regular(file), model, options, progress, for_page=True)
    result, windows, envelope = classified.result, classified.windows, classified.envelope
    if windows is None or envelope is None:
        raise ValueError("a page needs the windows and the outline of its recording")
    title = f"{file.name}: {', '.join(sorted({segment.label for segment in result.segments}))}"
    address = audio_address(file, page.resolve())
    atomic_write(page, recording_page(result, windows, envelope, audio=address, title=title))
    return classified


def write_evaluation_page(
    page: Path, evaluated: Evaluated, evaluation: Evaluation, corpus: Path, model: Path | None = None
) -> None:
    """The page of an evaluation on a corpus: of a model, or of a configuration where there is none."""

    def link(clip: str) -> str:
        return relative_link(Path(clip.partition("#t=")[0]), page.resolve())

    notes = {"corpus": str(corpus), "recordings": str(len(set(evaluated.dataset.clip_names)))}
    if model is not None:
        notes["model"] = str(model)
    elif evaluated.tree:
        notes["tree"] = "as it was learnt without the first fold"
    drawing = draw_svg(read_toml(evaluated.tree)) if evaluated.tree else ""
    title = f"Evaluation on {corpus.resolve().name}"
    write_evaluation(page, evaluation, title=title, notes=notes, drawing=drawing, audio=link)
