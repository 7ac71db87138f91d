"""`audioclass evaluate` and `audioclass compare`: how good a model or a way to train is, and which is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.cli.options import Gathering, Json, Learning, grouped
from audioclass.errors import AudioclassError, UsageError

if TYPE_CHECKING:
    from audioclass.engine.evaluating import Judged
    from audioclass.evaluation.comparison import Comparison
    from audioclass.evaluation.evaluation import Evaluation

EXAMPLES = screen.examples(
    "audioclass evaluate birds.audioclass test/ --report birds.html",
    "audioclass evaluate corpus/",
    "audioclass evaluate corpus/ --folds groups --strategy one_vs_one --json",
    "audioclass evaluate birds.audioclass test/ --min-accuracy 0.9 --max-ece 0.05",
)
COMPARE_EXAMPLES = screen.examples(
    "audioclass compare corpus/ --with hybrid_dendrogram --with one_vs_one --with one_vs_rest",
    "audioclass compare test/ --with old.audioclass --with new.audioclass --report compare.html",
)
Folds = Annotated[
    str,
    typer.Option("--folds", help="`auto`: those of the corpus, else five; `groups`: leave one group out; or a number."),
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a page that opens without a network.", show_default=False)
]


class GateError(AudioclassError):
    """A figure that is not as good as it was asked to be."""


@grouped
def evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="[MODEL] CORPUS", help="A model and a corpus, or a corpus to train on by folds."),
    ],
    learning: Learning,
    gathering: Gathering,
    folds: Folds = "auto",
    report: Report = None,
    min_accuracy: Annotated[
        float | None, typer.Option("--min-accuracy", min=0, max=1, help="Fail below this accuracy.", show_default=False)
    ] = None,
    max_ece: Annotated[
        float | None,
        typer.Option("--max-ece", min=0, max=1, help="Fail above this calibration error.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Judge a model on a corpus, or a way to train on grouped folds of one.

    Measures are per recording and per window, with intervals drawn over groups. The exit code is 1 where a figure is
    not as good as was asked, or a recording could not be read.
    """
    if report is not None:
        screen.check_place(report)
    with screen.stages() as progress:
        judged = _judge(paths, learning, folds, {"progress": progress, **gathering.options})
    evaluation = judged.evaluation()
    if json:
        screen.out_json(evaluation.to_plain() | _costs(judged))
    else:
        _show(evaluation)
    if report is not None:
        _write_report(report, evaluation, judged, paths)
    for _, reason in judged.labelled.failures:
        screen.note(reason)
    _gate(evaluation, min_accuracy, max_ece)
    raise typer.Exit(1 if judged.labelled.failures else 0)


@grouped
def compare(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder or file of labelled recordings.")],
    systems: Annotated[
        list[str],
        typer.Option(
            "--with",
            "--strategy",
            help="A strategy (`NAME` or `NAME:parameter=value`) or a model file; again for more.",
        ),
    ],
    gathering: Gathering,
    recipe: Annotated[str, typer.Option("--recipe", help="How recordings become features.")] = "environment",
    trainer: Annotated[str, typer.Option("--trainer", help="Binary trainer of every strategy.")] = "least_squares",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Where all randomness starts.")] = 0,
    folds: Folds = "auto",
    report: Report = None,
    json: Json = False,
) -> None:
    """Compare strategies, or models, on the same recordings and folds, with paired tests corrected for their number."""
    from audioclass.engine import comparing
    from audioclass.engine.choices import Choices
    from audioclass.engine.models import load_model
    from audioclass.engine.training import Setup
    from audioclass.model.saving import SUFFIX

    if report is not None:
        screen.check_place(report)
    are_models = [name.endswith(SUFFIX) for name in systems]
    if any(are_models) != all(are_models):
        raise UsageError("strategies and model files cannot be compared with one another; give only one sort")
    with screen.stages() as progress:
        if all(are_models):
            models = dict(comparing.named_setups([(Path(name).stem, load_model(name)) for name in systems]))
            found = comparing.compare_models(corpus, models, progress=progress, **gathering.options)
        else:
            choices = [Choices(strategy=name, trainer=trainer, seed=seed) for name in systems]
            setups = comparing.named_setups([(one.strategy, Setup.of(recipe, one)) for one in choices])
            found = comparing.compare_setups(corpus, setups, folds=folds, progress=progress, **gathering.options)
    screen.out_json(found.to_plain()) if json else _show_comparison(found)
    if report is not None:
        from audioclass.reports.comparison import write_comparison

        write_comparison(report, found, title=f"Comparison on {corpus.name}")
        screen.note(f"{report}: written")


def _judge(paths: list[Path], learning: Learning, folds: str, options: dict[str, Any]) -> Judged:
    from audioclass.engine import evaluating
    from audioclass.engine.models import load_model

    if len(paths) == 1:
        return evaluating.cross_validate(
            paths[0], setup=learning.setup(), folds=folds, taxonomy=learning.tree(), **options
        )
    if len(paths) > 2:
        raise UsageError(f"{len(paths)} paths; give a model and a corpus, or a corpus alone")
    model = load_model(str(paths[0]))
    judged = evaluating.evaluate_model(model, paths[1], **options)
    if evaluating.was_trained_on(model, judged.labelled):
        screen.warn(f"{paths[0]} was trained on this very corpus: these figures say nothing about new recordings")
    return judged


def _show(evaluation: Evaluation) -> None:
    units = [view.unit for view in evaluation.views]
    head = ("measure", *(cell for unit in units for cell in (f"per {unit}", "95 %")))
    screen.table(head, [row[: len(head)] for row in evaluation.rows()])
    screen.out("")
    main = evaluation.main
    rates = main.to_plain()["labels"]
    if isinstance(rates, list) and rates and isinstance(rates[0], dict):
        columns = ("precision", "recall", "f1")
        rows = [(str(one["label"]), *(f"{one[name] or 0:.3f}" for name in columns)) for one in rates]
        screen.table(("label", *columns), rows)


def _show_comparison(found: Comparison) -> None:
    costs = list(found.systems[0].costs)
    screen.table(
        ("system", "accuracy", "log-loss", "calibration error", *(c.replace("_", " ") for c in costs)), found.rows()
    )
    screen.out("")
    tests = list(found.pairs[0].adjusted) if found.pairs else []
    screen.table(("first", "second", found.measure, "95 %", *(f"p {test}" for test in tests)), found.pair_rows())


def _costs(judged: Judged) -> dict[str, float]:
    names = ("train_seconds", "predict_seconds", "machines", "support_rows")
    return {name: float(getattr(judged, name)) for name in names}


def _write_report(path: Path, evaluation: Evaluation, judged: Judged, paths: list[Path]) -> None:
    from audioclass.reports.evaluation import write_evaluation
    from audioclass.reports.players import relative_link

    def link(clip: str) -> str:
        return relative_link(Path(clip.partition("#t=")[0]), path.resolve())

    notes = {"corpus": str(paths[-1]), "recordings": str(len(set(judged.labelled.clips)))}
    if len(paths) == 2:
        notes["model"] = str(paths[0])
    write_evaluation(path, evaluation, title=f"Evaluation on {paths[-1].name}", notes=notes, audio=link)
    screen.note(f"{path}: written")


def _gate(evaluation: Evaluation, min_accuracy: float | None, max_ece: float | None) -> None:
    measures = evaluation.main.measures
    accuracy, error = measures["accuracy"].value, measures["calibration_error"].value
    if min_accuracy is not None and accuracy < min_accuracy:
        raise GateError(f"accuracy {accuracy:.4f} is below {min_accuracy:g}")
    if max_ece is not None and error > max_ece:
        raise GateError(f"calibration error {error:.4f} is above {max_ece:g}")
