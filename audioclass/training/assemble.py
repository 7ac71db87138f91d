"""A classifier of trained machines: those that the strategy keeps, with its combination fitted on held-out answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.classifier import Classifier
from audioclass.contracts import FitsCombination, Fitted, Kernel, Prunes, StatesMercer
from audioclass.kernels.mercer import check_mercer
from audioclass.parameters import parameter_values
from audioclass.problems import Dichotomy, FeatureMachine, Machine, Plan
from audioclass.strategies.posterior_calibration import choose_posterior_calibration
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, planning_strategy
from audioclass.training.direct import TrainedDirect, direct_strategy
from audioclass.training.examples import Examples, spread_rows
from audioclass.training.folds import calibration_folds
from audioclass.training.stored_selection import Selected


@dataclass(frozen=True, eq=False)
class Training:
    """A classifier, the held-out posteriors (n, n_labels) of its examples, and what was learnt on the way.

    The last step of the classifier is fitted without the group of an example to give its held-out posteriors.

    `trained` and `selected` go with the dichotomies that the strategy kept; both are empty for a direct strategy, but
    for its one selection. `notes` are for the user: results that stand but may surprise.
    """

    classifier: Classifier
    held_out: np.ndarray
    trained: tuple[TrainedDichotomy, ...] = ()
    selected: tuple[Selected, ...] = ()
    notes: tuple[str, ...] = field(default=())


def assemble(
    examples: Examples,
    labels: Sequence[str],
    config: TrainingConfig,
    plan: Plan,
    trained: Sequence[TrainedDichotomy],
    selected: Sequence[Selected] = (),
) -> Training:
    """The classifier of a plan whose dichotomies are trained, every example scored by each."""
    strategy = planning_strategy(config)
    counts = np.bincount(examples.y, minlength=len(labels))
    probabilities, scores = held_out_answers(config, trained)
    if isinstance(strategy, Prunes):
        pruned = strategy.prune(plan, probabilities, scores, examples.y, counts)
        places = plan.places(pruned)
        plan, trained = pruned, [trained[place] for place in places]
        selected = [selected[place] for place in places] if selected else ()
        probabilities, scores = held_out_answers(config, trained)
    fitted: Fitted = {}
    if isinstance(strategy, FitsCombination):
        fitted = strategy.fit_combination(plan, probabilities, scores, examples.y, counts)
    classifier = Classifier(
        tuple(labels),
        strategy,
        _machines(examples, trained),
        counts,
        plan=plan,
        trainer=config.trainer,
        calibrator=config.calibrator,
        calibrations=tuple(result.calibration for result in trained),
        fitted=fitted,
    )
    notes = [f"{_sides(result.dichotomy, labels)}: {result.note}" for result in trained if result.note]
    if isinstance(classifier.machines, Bank):
        notes += mercer_notes(examples, (result.kernel for result in trained), config.selection_rows)
    notes += selection_notes(selected)
    P = classifier.combine_calibrated(probabilities, scores)
    if not all(result.note for result in trained):
        classifier, P = with_posterior_calibration(classifier, P, examples, config)
    return Training(
        classifier,
        P,
        trained=tuple(trained),
        selected=tuple(selected),
        notes=tuple(notes),
    )


def assemble_direct(
    examples: Examples, labels: Sequence[str], config: TrainingConfig, trained: TrainedDirect, selected: Selected
) -> Training:
    """The classifier of a direct strategy's one machine."""
    counts = np.bincount(examples.y, minlength=len(labels))
    machines = _label_machines(trained.machine, examples, selected.kernel, len(labels))
    classifier = Classifier(tuple(labels), direct_strategy(config), machines, counts, fitted=trained.fitted)
    notes = [trained.note] if trained.note else []
    if isinstance(machines, Bank):
        notes += mercer_notes(examples, [selected.kernel], config.selection_rows)
    notes += selection_notes([selected])
    P = classifier.strategy_posteriors(trained.held_out)
    if not trained.note:
        classifier, P = with_posterior_calibration(classifier, P, examples, config)
    return Training(classifier, P, selected=(selected,), notes=tuple(notes))


def with_posterior_calibration(
    classifier: Classifier, P: np.ndarray, examples: Examples, config: TrainingConfig
) -> tuple[Classifier, np.ndarray]:
    """With the last step that held-out posteriors of its strategy ask for, and these after it, cross-fitted by group.

    Both as they are where that is off, or no better.
    """
    if not config.calibrate_posteriors:
        return classifier, P
    folds = calibration_folds(examples.y, examples.groups)
    calibration, P = choose_posterior_calibration(P, examples.y, folds, examples.weights)
    return replace(classifier, posterior_calibration=calibration), P


def held_out_answers(config: TrainingConfig, trained: Sequence[TrainedDichotomy]) -> tuple[np.ndarray, np.ndarray]:
    """(n, n_dichotomies) calibrated probabilities of every example, and the held-out scores they come from."""
    scores = np.stack([result.held_out for result in trained], axis=1)
    probabilities = [config.calibrator.probabilities(result.held_out, result.calibration) for result in trained]
    return np.stack(probabilities, axis=1), scores


def selection_notes(selected: Sequence[Selected]) -> list[str]:
    """What could not be evaluated, searched or weighed as it was asked for, once for all dichotomies alike."""
    return [f"choice of kernels: {note}" for note in dict.fromkeys(choice.note for choice in selected) if note]


def mercer_notes(examples: Examples, kernels: Iterable[Kernel], most_rows: int) -> list[str]:
    """A note for each kernel that promises no positive semi-definite Gram matrices and has none on these examples.

    As many examples are looked at as a selection does: the eigenvalues of all would cost more than the training.
    """
    rows, notes = spread_rows(examples.y, most_rows), []
    for kernel in dict.fromkeys(kernels):
        if not isinstance(kernel, StatesMercer) or kernel.is_mercer:
            continue
        check = check_mercer(examples.statistics.gram(kernel, examples.firsts[rows]))
        if not check.holds:
            values = ", ".join(f"{name}={_short(value)}" for name, value in parameter_values(kernel).items())
            notes.append(
                f"kernel {kernel.name} ({values}) is not positive semi-definite on these examples: "
                f"smallest eigenvalue {check.smallest:.3g}"
            )
    return notes


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _machines(examples: Examples, trained: Sequence[TrainedDichotomy]) -> Bank | tuple[FeatureMachine, ...]:
    over_features = tuple(result.machine for result in trained if isinstance(result.machine, FeatureMachine))
    if over_features:
        return over_features
    over_rows = [result.machine for result in trained if isinstance(result.machine, Machine)]
    return Bank.of(examples.statistics.X, over_rows, [result.kernel for result in trained])


def _label_machines(
    machine: Machine | FeatureMachine, examples: Examples, kernel: Kernel, n_labels: int
) -> Bank | tuple[FeatureMachine, ...]:
    """The outputs of a direct strategy's machine, one for each label."""
    if isinstance(machine, FeatureMachine):
        return (machine,)
    if machine.members is not None:
        raise ValueError("a direct strategy gave a machine of members, must give one with an output for each label")
    intercepts = np.broadcast_to(machine.intercept, n_labels)
    each = [Machine(machine.support, machine.coefficients[:, k], float(intercepts[k])) for k in range(n_labels)]
    return Bank.of(examples.statistics.X, each, [kernel] * n_labels)


def _sides(dichotomy: Dichotomy, labels: Sequence[str]) -> str:
    sides = (dichotomy.positive, dichotomy.negative)
    return " against ".join("{" + ", ".join(labels[i] for i in side) + "}" for side in sides)
