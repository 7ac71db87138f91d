"""`audioclass evaluate` and `audioclass compare`: how good a model or a configuration is, and which is better."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audioclass.cli import screen
from audioclass.cli.figures import show_comparison, show_evaluation
from audioclass.cli.options import ComparisonOptions, CorpusOptions, EvaluationOptions, Json, grouped
from audioclass.errors import AudioclassError, UsageError

if TYPE_CHECKING:
    from audioclass.engine.evaluating import Evaluated
    from audioclass.evaluation.comparison import Comparison
    from audioclass.evaluation.evaluation import Evaluation
    from audioclass.run import Progress

TRAINED_ALREADY = "cannot be given with a model: it is evaluated as it is"
Folds = Annotated[
    str,
    typer.Option("--folds", help="`auto`: those of the corpus, else five; `groups`: leave one group out; or a number."),
]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a page that opens without a network.", show_default=False)
]


class GateError(AudioclassError):
    """A figure that is not as good as it was asked to be."""


@screen.with_examples(
    "audioclass evaluate birds.audioclass test/ --report birds.html",
    "audioclass evaluate corpus/",
    "audioclass evaluate corpus/ --folds groups --strategy one_vs_one --json",
    "audioclass evaluate birds.audioclass test/ --min-accuracy 0.9 --max-ece 0.05",
)
@grouped
def evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="[MODEL] CORPUS", help="A model and a corpus, or a corpus to train on by folds."),
    ],
    training: EvaluationOptions,
    gathering: CorpusOptions,
    folds: Folds = "auto",
    report: Report = None,
    min_accuracy: Annotated[
        float | None, typer.Option("--min-accuracy", min=0, max=1, help="Fail below this accuracy.", show_default=False)
    ] = None,
    max_ece: Annotated[
        float | None,
        typer.Option(
            "--max-ece", min=0, max=1, help="Fail above this expected calibration error (ECE).", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Evaluate a model on a corpus, or a configuration on grouped folds of one.

    Measures are per recording and per window, with intervals drawn over groups. The exit code is 1 where a figure is
    not as good as was asked, or a recording could not be read.
    """
    if report is not None:
        screen.check_place(report)
    with screen.progress() as progress:
        evaluated = _evaluate(paths, training, folds, gathering, progress)
    evaluation = evaluated.evaluation()
    if json:
        screen.out_json(evaluation.to_plain() | _costs(evaluated))
    else:
        show_evaluation(evaluation)
    if report is not None:
        _write_report(report, evaluation, evaluated, paths)
    for _, reason in evaluated.dataset.failures:
        screen.note(reason)
    _gate(evaluation, min_accuracy, max_ece)
    raise typer.Exit(1 if evaluated.dataset.failures else 0)


@screen.with_examples(
    "audioclass compare corpus/ --with hybrid_dendrogram --with one_vs_one --with one_vs_rest",
    "audioclass compare test/ --with old.audioclass --with new.audioclass --report compare.html",
)
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
    training: ComparisonOptions,
    gathering: CorpusOptions,
    folds: Folds = "auto",
    report: Report = None,
    json: Json = False,
) -> None:
    """Compare strategies, or models, on the same recordings and folds, with paired tests corrected for their number."""
    from audioclass.classifier.saving import SUFFIX

    if report is not None:
        screen.check_place(report)
    are_models = [name.endswith(SUFFIX) for name in systems]
    if any(are_models) != all(are_models):
        raise UsageError("strategies and model files cannot be compared with one another; give only one sort")
    with screen.progress() as progress:
        if all(are_models):
            training.refuse(TRAINED_ALREADY)
            comparison = _compare_models(corpus, systems, gathering, progress)
        else:
            comparison = _compare_strategies(corpus, systems, training, folds, gathering, progress)
    screen.out_json(comparison.to_plain()) if json else show_comparison(comparison)
    if report is not None:
        from audioclass.reports.comparison import write_comparison

        write_comparison(report, comparison, title=f"Comparison on {corpus.name}")
        screen.note(f"{report}: written")


def _compare_models(corpus: Path, files: list[str], gathering: CorpusOptions, progress: Progress) -> Comparison:
    from audioclass.engine import comparing
    from audioclass.engine.models import load_model

    names = [Path(file).stem for file in files]
    names = names if len(set(names)) == len(names) else files
    comparing.check_several(names)
    models = {name: load_model(file) for name, file in zip(names, files, strict=True)}
    return comparing.compare_models(corpus, models, reader=gathering.reader, run=gathering.run(progress))


def _compare_strategies(
    corpus: Path,
    strategies: list[str],
    training: ComparisonOptions,
    folds: str,
    gathering: CorpusOptions,
    progress: Progress,
) -> Comparison:
    from audioclass.engine import comparing

    comparing.check_several(strategies)
    stated = training.beside(corpus)
    run = gathering.run(progress, stated.seed)
    configs = {strategy: stated.config(run, strategy=strategy) for strategy in strategies}
    return comparing.compare_configs(corpus, configs, folds=folds, reader=gathering.reader, run=run)


def _evaluate(
    paths: list[Path], training: EvaluationOptions, folds: str, gathering: CorpusOptions, progress: Progress
) -> Evaluated:
    from audioclass.engine import evaluating
    from audioclass.engine.models import load_model

    if len(paths) == 1:
        stated = training.beside(paths[0])
        run = gathering.run(progress, stated.seed)
        config = stated.config(run)
        return evaluating.cross_validate(paths[0], config=config, folds=folds, reader=gathering.reader, run=run)
    if len(paths) > 2:
        raise UsageError(f"{len(paths)} paths; give a model and a corpus, or a corpus alone")
    training.refuse(TRAINED_ALREADY)
    if folds != "auto":
        raise UsageError(f"--folds {TRAINED_ALREADY}")
    model = load_model(str(paths[0]))
    evaluated = evaluating.evaluate_model(model, paths[1], reader=gathering.reader, run=gathering.run(progress))
    if evaluating.was_trained_on(model, evaluated.dataset):
        screen.warn(f"{paths[0]} was trained on this very corpus: these figures say nothing about new recordings")
    return evaluated


def _costs(evaluated: Evaluated) -> dict[str, float]:
    names = ("train_seconds", "predict_seconds", "machines", "support_rows")
    return {name: float(getattr(evaluated, name)) for name in names}


def _write_report(path: Path, evaluation: Evaluation, evaluated: Evaluated, paths: list[Path]) -> None:
    from audioclass.reports.evaluation import write_evaluation
    from audioclass.reports.players import relative_link

    def link(clip: str) -> str:
        return relative_link(Path(clip.partition("#t=")[0]), path.resolve())

    notes = {"corpus": str(paths[-1]), "recordings": str(len(set(evaluated.dataset.clip_names)))}
    if len(paths) == 2:
        notes["model"] = str(paths[0])
    elif evaluated.tree:
        notes["tree"] = "as it was learnt without the first fold"
    title = f"Evaluation on {paths[-1].resolve().name}"
    write_evaluation(path, evaluation, title=title, notes=notes, drawing=_drawing(evaluated.tree), audio=link)
    screen.note(f"{path}: written")


def _drawing(tree: str) -> str:
    """The picture of a tree from its text."""
    from audioclass.trees.drawing import draw_svg
    from audioclass.trees.reading import read_toml

    return draw_svg(read_toml(tree)) if tree else ""


def _gate(evaluation: Evaluation, min_accuracy: float | None, max_ece: float | None) -> None:
    measures = evaluation.main.measures
    accuracy, error = measures["accuracy"].value, measures["calibration_error"].value
    if min_accuracy is not None and accuracy < min_accuracy:
        raise GateError(f"accuracy {accuracy:.4f} is below {min_accuracy:g}")
    if max_ece is not None and error > max_ece:
        raise GateError(f"expected calibration error {error:.4f} is above {max_ece:g}")
