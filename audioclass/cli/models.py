"""`audioclass model show|verify|card` and `audioclass calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.options import CorpusOptions, Json, grouped
from audioclass.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from audioclass.classifier.model import Model

app = typer.Typer(
    name="model",
    help="Look at a model file: what it knows, whether it still computes what it did, its card.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
ModelPath = Annotated[str, typer.Argument(metavar="MODEL", help="A model file, or the name of a shipped model.")]


@app.command(epilog=screen.examples("audioclass model show birds.audioclass", "audioclass model show broadcast"))
def show(model: ModelPath, json: Json = False) -> None:
    """Labels, tree, machines, report and provenance of a model."""
    from audioclass.classifier.saving import manifest_of
    from audioclass.classifier.tree import learnt_tree
    from audioclass.trees.drawing import draw_lines

    loaded = _load(model)
    if json:
        screen.out_json(manifest_of(loaded))
        return
    tree = learnt_tree(loaded)
    screen.out(_summary(loaded))
    screen.out("")
    screen.out("\n".join(draw_lines(tree)) if tree else loaded.taxonomy.draw())


@app.command(epilog=screen.examples("audioclass model verify birds.audioclass"))
def verify(model: ModelPath, json: Json = False) -> None:
    """Recompute the golden posteriors: from a signal that we generate, through features, to the last digit."""
    from audioclass.classifier.archive import naming
    from audioclass.classifier.golden import TOLERANCE

    loaded = _load(model, verify=False)
    with naming(Path(model)):
        drift = loaded.drift()
    if json:
        screen.out_json({"model": model, "drift": drift, "tolerance": TOLERANCE, "steady": drift <= TOLERANCE})
    else:
        screen.out(f"{model}: golden posteriors differ by {drift:.2g}; up to {TOLERANCE:g} is rounding")
    if drift > TOLERANCE:
        raise ModelError(f"{model}: drifts by {drift:.2g} on this machine; train it again or use the versions it names")


@app.command(epilog=screen.examples("audioclass model card birds.audioclass > CARD.md"))
def card(model: ModelPath) -> None:
    """A readable card in Markdown."""
    from audioclass.classifier.card import card_of

    screen.out(card_of(_load(model)).rstrip())


@screen.with_examples("audioclass calibrate broadcast.audioclass local/ -o local.audioclass")
@grouped
def calibrate(
    model: ModelPath,
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="A few labelled recordings of every label.")],
    gathering: CorpusOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The new model file (MODEL-calibrated.audioclass).")
    ] = None,
    json: Json = False,
) -> None:
    """Fit only the calibration of a model anew, from local recordings; its machines stay as they are.

    Says what the log-loss on held-out groups was before, and is after.
    """
    from audioclass.classifier.saving import SUFFIX, save_model
    from audioclass.engine import calibrating

    output = output or Path(f"{Path(model).stem}-calibrated{SUFFIX}")
    screen.check_place(output)
    with screen.progress() as progress:
        calibrated = calibrating.calibrate(model, corpus, reader=gathering.reader, run=gathering.run(progress))
    save_model(calibrated.model, output)
    before, after = calibrated.log_loss_before, calibrated.log_loss_after
    if json:
        screen.out_json(
            {"model": str(output), "log_loss_before": before, "log_loss_after": after if after == after else None}
        )
    else:
        screen.out(f"{output}: log-loss {before:.3f} before, {after:.3f} after, on groups that were held out")
    if not after < before:
        screen.warn("the new calibration is no better than the old one on recordings that it did not see")


def _load(model: str, *, verify: bool = True) -> Model:
    from audioclass.engine.models import load_model

    return load_model(model, verify=verify)


def _summary(model: Model) -> str:
    about, classifier = model.about, model.classifier
    report = about.get("report", {}).get("grouped", {})
    main: Mapping[str, float] = next(iter(report.values()), {})
    lines = [
        f"{model.name}: {len(model.labels)} labels, {classifier.n_machines} machines over {classifier.n_support} rows",
        f"strategy {classifier.strategy.name}, recipe {model.recipe.name} ({len(model.recipe.columns)} features),"
        f" windows of {model.recipe.window:g} s every {model.recipe.window_hop:g} s",
    ]
    if main:
        figures = ", ".join(f"{key.replace('_', ' ')} {value:.3f}" for key, value in main.items())
        lines.append(f"held out by group, per {next(iter(report))}: {figures}")
    if model.transitions is not None:
        n_changes = int(model.transitions.sum() - model.transitions.trace())
        lines.append(f"hmm: transitions learnt from continuous recordings, {n_changes} changes of label")
    versions = about.get("versions", {})
    lines.append("made with " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    return "\n".join(lines)
