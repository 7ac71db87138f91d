"""What `audioclass train` does: a model file, and its tree and figures on the screen."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from audioclass.classifier.about import splits_of
from audioclass.classifier.saving import SUFFIX, save_model
from audioclass.classifier.tree import learnt_tree
from audioclass.cli import screen
from audioclass.cli.actions.corpus_run import corpus_progress, corpus_run
from audioclass.cli.figures import different_views
from audioclass.cli.options import CorpusOptions, TrainingOptions
from audioclass.engine import training as engine
from audioclass.engine import updating
from audioclass.engine.trained import Trained
from audioclass.errors import UsageError
from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.multi_label import OF_LABELS, MultiLabelEvaluation
from audioclass.label_sets import NO_LABEL
from audioclass.recordings import FOLDER, irregularity
from audioclass.taxonomy import Taxonomy
from audioclass.trees.drawing import draw_lines
from audioclass.trees.files import read_tree

MEASURES = {"accuracy": "accuracy", "log_loss": "log-loss", "calibration_error": "ECE"}
OWN_METHOD = "cannot be given with --update: a model is added to by its own method"


def train(
    training: TrainingOptions,
    gathering: CorpusOptions,
    *,
    corpus: Path | None,
    output: Path | None,
    update: Path | None,
    tree: Path | None,
    json: bool,
) -> None:
    """Train or update a model, save it and show what it reaches on groups that were held out."""
    default_name = _default_name(corpus, update, tree)
    output = output or Path(f"{default_name}{SUFFIX}")
    inputs = [path for path in (update, tree, *training.files(corpus)) if path is not None]
    screen.check_place(output, inputs)
    start = time.perf_counter()
    trained = _train(corpus, training, gathering, output, update, tree)
    save_model(trained.model, output)
    seconds = time.perf_counter() - start
    screen.out_json(_plain(trained, output, seconds)) if json else _show(trained)
    for message in (*(reason for _, reason in trained.dataset.failures), *trained.choices):
        screen.note(message)
    for warning in trained.warnings:
        screen.warn(warning)
    size = output.stat().st_size / 1000
    screen.note(f"{output}: {len(trained.model.labels)} labels, {size:,.0f} kB, trained in {seconds:.1f} s")
    raise typer.Exit(1 if trained.dataset.failures else 0)


def _default_name(corpus: Path | None, update: Path | None, tree: Path | None) -> str:
    """The name of the corpus, or of the model whose tree was edited."""
    if corpus is None:
        if update is None or tree is None:
            raise UsageError("CORPUS is missing; only --update with --tree goes without")
        return f"{update.stem}-edited"
    path = Path(os.path.realpath(corpus))  # which takes links that lead to themselves as they are
    return path.name if irregularity(path) == FOLDER else path.stem


def _train(
    corpus: Path | None,
    training: TrainingOptions,
    gathering: CorpusOptions,
    output: Path,
    update: Path | None,
    tree: Path | None,
) -> Trained:
    name, outputs = output.stem, [output]
    written = None if tree is None else read_tree(tree)
    if update is not None:
        training.refuse(OWN_METHOD, but=["taxonomy"])
        groups = training.values.get("taxonomy")
        taxonomy = None if groups in (None, "learn") else Taxonomy.read(Path(groups))
        with corpus_progress(gathering) as progress:
            run = corpus_run(gathering, progress, outputs=outputs)
            return updating.update(
                update, corpus, name=name, taxonomy=taxonomy, tree=written, reader=gathering.reader, run=run
            )
    if corpus is None:
        raise UsageError("CORPUS is missing")
    stated = training.beside(corpus)
    with corpus_progress(gathering) as progress:
        run = corpus_run(gathering, progress, stated.seed, outputs)
        config = stated.config(run)
        return engine.train(corpus, config=config, tree=written, reader=gathering.reader, name=name, run=run)


def _show(trained: Trained) -> None:
    _show_nodes(trained)
    splits = splits_of(trained.model.about)
    if isinstance(trained.grouped, MultiLabelEvaluation):
        view = trained.grouped.main
        screen.table((f"{splits.held_out}, per {view.unit}", "windows", *OF_LABELS.values()), view.label_rows())
        screen.out("")
        screen.table(("all labels", "value", "95 %"), view.rows())
        return
    views = {splits.held_out: trained.grouped, splits.random: trained.random_split}
    rows = [
        (f"{name}, per {view.unit}", *(f"{view.measures[key].value:.3f}" for key in MEASURES))
        for name, evaluation in views.items()
        if isinstance(evaluation, Evaluation)
        for view in different_views(evaluation)
    ]
    screen.table(("out of fold", *MEASURES.values()), rows)


def _show_nodes(trained: Trained) -> None:
    """The tree with what was chosen at each node, or a table of the machines where there is no tree."""
    tree = learnt_tree(trained.model)
    if tree is not None:
        for line in draw_lines(tree):
            screen.out(line)
    else:
        n_classes = len(trained.model.classifier.classes)
        machines = [_machine(one, n_classes) for one in trained.model.about["machines"]]
        screen.table(("label or group", "against", "kernel", "C", "examples", "log-loss"), machines)
    screen.out("")


def _machine(one: Mapping[str, Any], n_labels: int) -> tuple[str, ...]:
    """A row for a machine: its smaller side against the other, which may be all the rest."""
    smaller, larger = sorted((_shown(one["positive"]), _shown(one["negative"])), key=len)
    is_rest = len(smaller) + len(larger) == n_labels > 2
    kernel = [f"{key}={value:.3g}" for key, value in one["kernel"].items() if isinstance(value, (int, float))]
    return (
        ", ".join(smaller),
        "the rest" if is_rest else ", ".join(larger),
        " ".join([one["kernel"]["name"], *kernel]),
        f"{one['C']:.3g}",
        str(one["examples"]),
        f"{one['log_loss']:.3f}",
    )


def _shown(side: Sequence[str]) -> list[str]:
    return [name or NO_LABEL for name in side]


def _plain(trained: Trained, output: Path, seconds: float) -> dict[str, Any]:
    about = trained.model.about
    return {
        "model": str(output),
        "labels": list(trained.model.labels),
        "seconds": seconds,
        "report": about["report"],
        "held_out": splits_of(about).held_out,
        "corpus": about["corpus"],
        "machines": about["machines"],
        "choices": trained.choices,
        "warnings": trained.warnings,
        "failures": [reason for _, reason in trained.dataset.failures],
    }
