"""What `audioclass evaluate` does: the figures of a model or of a configuration, and whether they are good enough."""

from __future__ import annotations

from pathlib import Path

import typer

from audioclass.cli import screen
from audioclass.cli.actions.corpus_run import corpus_progress, corpus_run
from audioclass.cli.figures import show_evaluation
from audioclass.cli.options import CorpusOptions, EvaluationOptions
from audioclass.engine import evaluating
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.evaluation_pages import write_evaluation_page
from audioclass.engine.models import SUFFIX, load_model
from audioclass.errors import AudioclassError, UsageError
from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.multi_label import MultiLabelEvaluation
from audioclass.run import Progress

TRAINED_ALREADY = "cannot be given with a model: it is evaluated as it is"


class GateError(AudioclassError):
    """A figure that is not as good as it was asked to be."""


def evaluate(
    paths: list[Path],
    training: EvaluationOptions,
    gathering: CorpusOptions,
    *,
    folds: str,
    depth: int | None,
    report: Path | None,
    min_accuracy: float | None,
    max_ece: float | None,
    json: bool,
) -> None:
    """Evaluate, show the figures and fail where one of them is not as good as was asked."""
    if report is not None:
        screen.check_place(report, [*training.files(paths[0] if len(paths) == 1 else None), *paths])
    with corpus_progress(gathering) as progress:
        evaluated = _evaluate(paths, training, folds, depth, gathering, progress, report)
    evaluation = evaluated.evaluation()
    if json:
        screen.out_json(evaluation.to_plain() | _costs(evaluated) | evaluated.facts(evaluation))
    else:
        show_evaluation(evaluation)
    if report is not None:
        write_evaluation_page(report, evaluated, evaluation, paths[-1], paths[0] if len(paths) == 2 else None)
        screen.note(f"{report}: written")
    for warning in evaluated.warnings(evaluation):
        screen.warn(warning)
    for note in (*evaluated.notes, *(reason for _, reason in evaluated.dataset.failures)):
        screen.note(note)
    _gate(evaluation, min_accuracy, max_ece)
    raise typer.Exit(1 if evaluated.dataset.failures else 0)


def _evaluate(
    paths: list[Path],
    training: EvaluationOptions,
    folds: str,
    depth: int | None,
    gathering: CorpusOptions,
    progress: Progress,
    report: Path | None,
) -> Evaluated:
    if len(paths) == 1:
        if paths[0].suffix == SUFFIX and paths[0].is_file():
            raise UsageError(f"{paths[0]}: a model is evaluated on a corpus, which must be given after it")
        if depth is not None:
            raise UsageError("--depth is that of a model: give one before the corpus")
        stated = training.beside(paths[0])
        run = corpus_run(gathering, progress, stated.seed, [report])
        config = stated.config(run)
        return evaluating.cross_validate(paths[0], config=config, folds=folds, reader=gathering.reader, run=run)
    if len(paths) > 2:
        raise UsageError(f"{len(paths)} paths; give a model and a corpus, or a corpus alone")
    training.refuse(TRAINED_ALREADY)
    if folds != "auto":
        raise UsageError(f"--folds {TRAINED_ALREADY}")
    model = load_model(str(paths[0]))
    run = corpus_run(gathering, progress, outputs=[report])
    evaluated = evaluating.evaluate_model(model, paths[1], depth=depth, reader=gathering.reader, run=run)
    if warning := evaluating.trained_already(model, evaluated.dataset):
        screen.warn(f"{paths[0]} {warning}")
    return evaluated


def _costs(evaluated: Evaluated) -> dict[str, float]:
    names = ("train_seconds", "predict_seconds", "machines", "support_rows")
    return {name: float(getattr(evaluated, name)) for name in names}


def _gate(evaluation: Evaluation | MultiLabelEvaluation, min_accuracy: float | None, max_ece: float | None) -> None:
    if isinstance(evaluation, MultiLabelEvaluation):
        for option, stated in (("--min-accuracy", min_accuracy), ("--max-ece", max_ece)):
            if stated is not None:
                raise UsageError(f"{option} is for labels of which one holds at a time, those of the corpus overlap")
        return
    measures = evaluation.main.measures
    accuracy, error = measures["accuracy"].value, measures["calibration_error"].value
    if min_accuracy is not None and accuracy < min_accuracy:
        raise GateError(f"accuracy {accuracy:.4f} is below {min_accuracy:g}")
    if max_ece is not None and error > max_ece:
        raise GateError(f"expected calibration error {error:.4f} is above {max_ece:g}")
