"""A classifier of trained machines: those that the strategy keeps, with its combination fitted on held-out answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.classifier import Classifier
from audioclass.contracts import FitsCombination, Fitted, Kernel, Prunes, StatesMercer, TellsLabelsIndependently
from audioclass.kernels.mercer import check_mercer
from audioclass.label_sets import LabelSets
from audioclass.numerics import log_loss
from audioclass.parameters import parameter_values
from audioclass.problems import Dichotomy, FeatureMachine, Machine, Plan
from audioclass.run import Run
from audioclass.storage import Store
from audioclass.training.config import TrainingConfig
from audioclass.training.dichotomies import TrainedDichotomy, planning_strategy
from audioclass.training.direct import TrainedDirect, direct_strategy
from audioclass.training.examples import Examples, spread_rows
from audioclass.training.inner_folds import InnerFolds, inner_folds
from audioclass.training.last_steps import chosen_step
from audioclass.training.stored_selection import Selected


@dataclass(frozen=True, eq=False)
class Training:
    """A classifier, the held-out posteriors (n, n_labels) of its examples, and what was learnt on the way.

    To give the held-out posteriors of an example, calibrations, combination and last step are fitted without its inner
    fold. Where folds are clean, so are the machines: those posteriors are what new recordings would have, from machines
    with a fifth fewer examples. Elsewhere the machines that scored the rows of the fit had seen the example, which
    makes the posteriors of a second stage look a little worse than they are. Kernels, C, the groups of a tree and the
    kind of the last step are chosen with all examples in view either way. Where nothing can be held out, posteriors are
    in sample.
    `last_step` says in plain values what was chosen last, by which folds and log-losses.

    `trained` and `selected` go with the dichotomies that the strategy kept; both are empty for a direct strategy, but
    for its one selection. `notes` are for the user: results that stand but may surprise. `choices` say what was chosen
    besides machines, and why.
    """

    classifier: Classifier
    held_out: np.ndarray
    trained: tuple[TrainedDichotomy, ...] = ()
    selected: tuple[Selected, ...] = ()
    notes: tuple[str, ...] = field(default=())
    choices: tuple[str, ...] = field(default=())
    last_step: Mapping[str, Any] = field(default_factory=dict)

    def log_loss(self, y: np.ndarray) -> float:
        """Of the held-out posteriors; of labels that are independent the mean over them, each against its absence."""
        sets = self.classifier.label_sets
        if sets is None:
            return log_loss(self.held_out, y)
        return independent_log_loss(self.held_out, sets.membership[y])


def independent_log_loss(P: np.ndarray, holds: np.ndarray) -> float:
    """The mean over labels and rows of −log of the probability of what is true: `holds` is (n, n_labels)."""
    P, holds = P.ravel(), holds.ravel()
    return log_loss(np.stack([1 - P, P], axis=1), holds.astype(int))


def assemble(
    examples: Examples,
    labels: Sequence[str],
    config: TrainingConfig,
    plan: Plan,
    trained: Sequence[TrainedDichotomy],
    selected: Sequence[Selected] = (),
    *,
    run: Run | None = None,
    store: Store | None = None,
) -> Training:
    """The classifier of a plan whose dichotomies are trained, every example scored by each.

    With a `run` machines may be trained again in inner folds, where the configuration has any use for that.
    """
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
    classifier = _classifier(examples, labels, config, plan, trained, fitted)
    folds = InnerFolds(())
    if not all(result.note for result in trained):
        folds = inner_folds(scores, trained, examples, config, run, store=store)
    choice = chosen_step(classifier, scores, folds, examples, config, trained)
    notes = [f"{_sides(result.dichotomy, labels)}: {result.note}" for result in trained if result.note]
    if isinstance(classifier.machines, Bank):
        notes += mercer_notes(examples, (result.kernel for result in trained), config.selection_rows)
    return Training(
        classifier.with_last_step(choice.step),
        choice.held_out,
        trained=tuple(trained),
        selected=tuple(selected),
        notes=(*notes, *selection_notes(selected)),
        last_step=choice.to_plain(folds),
    )


def _classifier(
    examples: Examples,
    labels: Sequence[str],
    config: TrainingConfig,
    plan: Plan,
    trained: Sequence[TrainedDichotomy],
    fitted: Fitted,
) -> Classifier:
    """Before its last step is chosen."""
    strategy = planning_strategy(config)
    sets = LabelSets.of_names(labels) if isinstance(strategy, TellsLabelsIndependently) else None
    return Classifier(
        tuple(labels) if sets is None else sets.labels,
        strategy,
        _machines(examples, trained),
        np.bincount(examples.y, minlength=len(labels)),
        plan=plan,
        trainer=config.trainer,
        calibrator=config.calibrator,
        calibrations=tuple(result.calibration for result in trained),
        fitted=fitted,
        label_sets=sets,
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
    folds = InnerFolds(()) if trained.note else inner_folds(trained.held_out, (), examples, config)
    choice = chosen_step(classifier, trained.held_out, folds, examples, config)
    return Training(
        classifier.with_last_step(choice.step),
        choice.held_out,
        selected=(selected,),
        notes=tuple(notes),
        last_step=choice.to_plain(folds),
    )


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
