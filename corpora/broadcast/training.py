"""The last step: clips become the shipped models with their cards, judged by leaving whole sources out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from clips import file_name
from figures import Judged, label_table, part_table, treatment_table
from mixed_clips import plan_overlaps, write_overlaps
from plan import WHOLE, Clip, Material, plan

from audioclass.engine.runs import make_run
from audioclass.run import Progress, Run, executor_for, silent

if TYPE_CHECKING:
    from audioclass.classifier.model import Model
    from audioclass.engine.trained import Trained
    from audioclass.evaluation.multi_label import MultiLabelEvaluation

LANDMARKS = 6000
CHOICES = {
    "kernel": "gaussian_unscaled:sigma=0.8",
    "trainer": f"landmarks:landmarks={LANDMARKS}",
    "criterion": "fixed",
    "C": 3.0,
    "group_weights": "equal",
    "normalisation": "rank",
    "axes": 500,
}
HERE = Path(__file__).resolve().parent
OVERLAP = "overlap"
DEFAULT_DEPTH = 1  # of the taxonomy: its four top labels


def train_models(
    materials: Sequence[Material],
    work: Path,
    output: Path,
    seed: int = 0,
    size: float = 1.0,
    jobs: int = 1,
    progress: Progress = silent,
) -> Iterator[Path]:
    """The model of one label at a time, then the one of labels that overlap; the corpus of the first is at hand."""
    run = make_run(executor=executor_for(jobs), cache=work / "cache", progress=progress)
    train_model(work / "corpus", materials, plan(materials, seed, size), output, run)
    yield output
    clips = plan_overlaps(materials, seed, size)
    write_overlaps(clips, work, work / "overlaps", jobs, progress)
    overlap = output.with_name(f"{OVERLAP}{output.suffix}")
    train_overlap_model(work / "overlaps", overlap, run)
    yield overlap


def train_model(corpus: Path, materials: Sequence[Material], clips: Sequence[Clip], output: Path, run: Run) -> None:
    """The model file and its card beside it; groups of the corpus are its sources, so what is held out is unseen."""
    trained = _train(corpus, run, name=output.stem, strategy="one_vs_rest", **CHOICES)
    model = replace(trained.model, default_depth=DEFAULT_DEPTH)
    dataset = trained.dataset
    names = [Path(name).name for name in dataset.clip_names]
    judged = Judged.of_windows(
        dataset.labels, dataset.y, trained.training.held_out, names, dataset.groups, model.combine
    )
    kinds = {one.file: one.part for one in materials if one.group.startswith(WHOLE)}
    _save(model, output, _figures(judged, {file_name(clip): clip for clip in clips}, kinds))


def train_overlap_model(corpus: Path, output: Path, run: Run) -> None:
    """The same of labels that overlap; groups are pools of sources."""
    trained = _train(corpus, run, name=output.stem, strategy="binary_relevance", **CHOICES)
    _save(trained.model, output, _overlap_table(trained.grouped))


def _train(corpus: Path, run: Run, **choices: Any) -> Trained:
    from audioclass.engine.training import train

    return train(corpus, recipe=str(HERE / "streams.toml"), **choices, run=run)


def _save(model: Model, output: Path, figures: str) -> None:
    from audioclass.classifier.card import card_of
    from audioclass.classifier.saving import save_model
    from audioclass.classifier.summary import Summary
    from audioclass.engine.models import load_model

    output.parent.mkdir(parents=True, exist_ok=True)
    save_model(model, output)
    remarks = (HERE / f"{output.stem}.remarks.md").read_text(encoding="utf-8")
    output.with_suffix(".md").write_text(
        card_of(Summary.of(load_model(output)), f"{figures}\n\n{remarks}"), encoding="utf-8"
    )


def _figures(judged: Judged, plan_of: dict[str, Clip], kinds: dict[str, str]) -> str:
    """Clips of each source by machines that were trained without it, then by treatment, by source and by kind."""
    plain = np.array([not _treated(plan_of[name]) for name in judged.names])
    as_they_are = [name if not plan_of[name].treatments else "" for name in judged.names]
    kind_of = [kinds.get(plan_of[name].pieces[0][0], "") if name else "" for name in as_they_are]
    sections = (
        "Clips of each source by machines that were trained without that source, whatever was done to them:",
        label_table(judged),
        "Those of them to which nothing was done but a level:",
        label_table(judged.some(plain)),
        "By what was done to them; a clip that met several treatments counts for each:",
        treatment_table(judged, plan_of),
        "By source; of ESC-50 and of three packages each author or speaker was left out by itself:",
        part_table(judged, [group.partition(" ")[0] for group in judged.groups], "source"),
        "Clips of ESC-50 as they are, by what they are:",
        part_table(judged, kind_of, "kind"),
    )
    return "\n\n".join(sections)


def _overlap_table(evaluation: MultiLabelEvaluation) -> str:
    """Windows of each pool of sources by machines that were trained without it."""
    rows = [
        f"| {row['label']} | {row['precision']:.3f} | {row['recall']:.3f} | {row['f1']:.3f} |"
        for row in evaluation.windows.to_plain()["labels"]
    ]
    head = ["| label | precision | recall | F1 |", "| --- | --- | --- | --- |"]
    return "\n".join(["Windows of each pool of sources by machines that were trained without it:", "", *head, *rows])


def _treated(clip: Clip) -> bool:
    return any(name not in ("level", "silence") for name, _ in clip.treatments)
