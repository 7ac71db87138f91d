"""The last step: the corpus of clips becomes the shipped model with its card, judged by leaving whole sources out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LANDMARKS = 3500
CHOICES = {
    "strategy": "one_vs_rest",
    "kernel": "gaussian_unscaled:sigma=0.8",
    "trainer": f"landmarks:landmarks={LANDMARKS}",
    "large": f"landmarks:landmarks={LANDMARKS}",
    "criterion": "fixed",
    "C": 3.0,
}
REMARKS = Path(__file__).with_name("REMARKS.md")


def train_model(corpus: Path, output: Path, cache: Path, jobs: int = 1) -> None:
    """The model file and its card beside it; groups of the corpus are its sources, so what is held out is unseen."""
    from audioclass.classifier.card import card_of
    from audioclass.classifier.saving import save_model
    from audioclass.classifier.summary import Summary
    from audioclass.engine.runs import make_run
    from audioclass.engine.training import train
    from audioclass.run import executor_for

    run = make_run(executor=executor_for(jobs), cache=cache)
    trained = train(corpus, recipe="broadcast", **CHOICES, name="broadcast", run=run)
    output.parent.mkdir(parents=True, exist_ok=True)
    save_model(trained.model, output)
    labelled, P = trained.dataset, trained.training.held_out
    figures = recalls(labelled.labels, labelled.y, P, labelled.clip_names)
    remarks = f"{recall_table(figures)}\n\n{REMARKS.read_text(encoding='utf-8')}"
    output.with_suffix(".md").write_text(card_of(Summary.of(trained.model), remarks), encoding="utf-8")
    print(recall_table(figures))


def recalls(labels: tuple[str, ...], y: np.ndarray, P: np.ndarray, clips: list[str]) -> dict[str, tuple[float, float]]:
    """For each label its recall over windows and over clips, a clip by the mean posterior of its windows."""
    names, which = np.unique(clips, return_inverse=True)
    sums = np.zeros((len(names), P.shape[1]))
    np.add.at(sums, which, P)
    reference = np.zeros(len(names), dtype=int)
    reference[which] = y
    return {
        label: (_recall(y, P.argmax(axis=1), i), _recall(reference, sums.argmax(axis=1), i))
        for i, label in enumerate(labels)
        if (y == i).any()
    }


def recall_table(figures: dict[str, tuple[float, float]]) -> str:
    """The recalls as a table of Markdown."""
    rows = [f"| {label} | {window:.3f} | {clip:.3f} |" for label, (window, clip) in figures.items()]
    head = ["| label | recall of windows | recall of clips |", "| --- | --- | --- |"]
    return "\n".join(["Each source (package) judged by machines that were trained without it:", "", *head, *rows])


def _recall(reference: np.ndarray, estimated: np.ndarray, label: int) -> float:
    return float((estimated[reference == label] == label).mean())
