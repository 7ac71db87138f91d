"""`audioclass train`: a labelled corpus to a model file, with a report that does not lie."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.cli.options import Gathering, Json, Learning, grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from audioclass.engine.training import Trained

EXAMPLES = screen.examples(
    "audioclass train corpus/ -o birds.audioclass",
    "audioclass train corpus/ --strategy one_vs_one --trainer svm --jobs 0",
    "audioclass train corpus/ --taxonomy tree.toml --config choices.toml",
    "audioclass train more/ --update birds.audioclass -o birds2.audioclass",
)


@grouped
def train(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder or file of labelled recordings.")],
    learning: Learning,
    gathering: Gathering,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The model file (CORPUS.audioclass).", show_default=False),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Folds of held-out scores that calibrate.")] = 5,
    update: Annotated[
        Path | None,
        typer.Option("--update", help="Add the corpus to this model; only what it touches is trained again."),
    ] = None,
    json: Json = False,
) -> None:
    """Train a model on a labelled corpus.

    Windows of one group (a recording, a speaker) never stand on both sides of a fold. The report shows what groups that
    were held out say of the model, beside what a split that leaks would claim. A run that was killed goes on where it
    stopped when it is started again.
    """
    from audioclass.engine import training, updating
    from audioclass.model.saving import SUFFIX, save_model

    output = output or Path(corpus.resolve().name).with_suffix(SUFFIX)
    screen.check_place(output)
    setup, start = learning.setup(folds=folds), time.perf_counter()
    with screen.stages() as progress:
        asked = {"setup": setup, "taxonomy": learning.tree(), "progress": progress, **gathering.options}
        if update is None:
            trained = training.train(corpus, name=output.stem, **asked)
        else:
            trained = updating.update(update, corpus, name=output.stem, **asked)
    save_model(trained.model, output)
    seconds = time.perf_counter() - start
    screen.out_json(_plain(trained, output, seconds)) if json else _show(trained)
    for _, reason in trained.labelled.failures:
        screen.note(reason)
    for warning in trained.warnings:
        screen.warn(warning)
    size = output.stat().st_size / 2**20
    screen.note(f"{output}: {len(trained.model.labels)} labels, {size:.1f} MB, trained in {seconds:.1f} s")
    raise typer.Exit(1 if trained.labelled.failures else 0)


def _show(trained: Trained) -> None:
    _show_machines(trained.model.about["machines"])
    views = {"held out by group": trained.grouped, "naive": trained.naive}
    rows = [
        (f"{name}, per {view.unit}", *(f"{view.measures[key].value:.3f}" for key in MEASURES))
        for name, evaluation in views.items()
        if evaluation is not None
        for view in evaluation.views
    ]
    screen.table(("out of fold", *(key.replace("_", " ") for key in MEASURES)), rows)


def _show_machines(machines: Sequence[Mapping[str, Any]]) -> None:
    """What was chosen for each dichotomy, the widest first."""
    rows = [
        (
            ", ".join(one["positive"]),
            "the rest" if len(one["negative"]) > MOST_NAMES else ", ".join(one["negative"]),
            " ".join(f"{key}={value:.3g}" for key, value in one["kernel"].items() if key != "name"),
            f"{one['C']:.3g}",
            str(one["examples"]),
            f"{one['log_loss']:.3f}",
        )
        for one in machines
    ]
    screen.table(("label or group", "against", "kernel", "C", "examples", "log-loss"), rows)
    screen.out("")


MOST_NAMES = 3
MEASURES = ("accuracy", "log_loss", "calibration_error")


def _plain(trained: Trained, output: Path, seconds: float) -> dict[str, Any]:
    about = trained.model.about
    return {
        "model": str(output),
        "labels": list(trained.model.labels),
        "seconds": seconds,
        "report": about["report"],
        "corpus": about["corpus"],
        "machines": about["machines"],
        "warnings": trained.warnings,
        "failures": [reason for _, reason in trained.labelled.failures],
    }
