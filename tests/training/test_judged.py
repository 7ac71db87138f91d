"""A criterion judges the trainer, the weights and the held-out method of the training that follows."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from means import BagOfMeans, Means
from trainings import make_config, make_run

from audioclass.criteria.alignment import Alignment, AlignmentC, CentredAlignment, WeightedAlignment
from audioclass.criteria.bounds import SupportVectors, XiAlpha
from audioclass.criteria.errors import ExactLeaveOneOut, KFoldError
from audioclass.criteria.held_out import LeaveGroupOutError, LeaveGroupOutLogLoss, LeaveOneOutLogLoss
from audioclass.criteria.parzen import ParzenSeparability
from audioclass.criteria.radius_margin import RadiusMargin
from audioclass.criteria.separability import ClassSeparability, ClassSeparabilityC
from audioclass.criteria.span import Span
from audioclass.errors import UsageError
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.numerics import balanced_sides, log_loss
from audioclass.problems import Dichotomy, Task
from audioclass.searches.grid import Grid
from audioclass.searches.lbfgs import LBFGS
from audioclass.testing.blobs import blobs
from audioclass.trainers.hard_margin import HardMargin
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.landmarks import Landmarks
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.nystroem import Nystroem
from audioclass.trainers.svm import SVM
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.direct import train_direct
from audioclass.training.examples import Examples
from audioclass.training.folds import grouped_folds
from audioclass.training.select import select, select_for_labels
from audioclass.training.train import train_classifier

RUN = make_run()
X, Y = blobs(3, n_each=12, spread=1.0)
X, Y = X[6:], Y[6:]  # 6, 12 and 12 examples
WEIGHTS = np.random.default_rng(3).uniform(0.5, 2, len(Y))
ONE_VS_REST = Dichotomy((0,), (1, 2))
SIDES = np.where(Y == 0, 1, -1)
FIXED = {"search": Grid(2), "c_rule": "fixed", "kernels": (Gaussian(),), "C": 3.0}


@dataclass(frozen=True)
class Spy:
    """Alignment, which says what problems it was given; as a criterion of labels, or of two sides."""

    takes_labels: bool = False
    seen: list = field(default_factory=list)
    name: ClassVar[str] = "spy"
    better: ClassVar[str] = "higher"
    depends_on: ClassVar[frozenset] = frozenset()

    def value(self, problem):
        self.seen.append(problem)
        return Alignment().value(problem)


@dataclass(frozen=True)
class Unstated:
    """Least squares that says nothing of its loss: its own closed form is asked."""

    name: ClassVar[str] = "unstated"
    wants: ClassVar[str] = "gram"

    def fit(self, task):
        return LeastSquares().fit(task)

    def fit_and_hold_out(self, task, Y, groups):
        return LeastSquares().fit_and_hold_out(task, Y, groups)


@dataclass(frozen=True)
class Bag(Unstated):
    """Holds out every other group."""

    name: ClassVar[str] = "bag"
    fit_and_hold_out: ClassVar[None] = None

    def fit_out_of_bag(self, task, groups):
        inside = groups % 2 == 0
        part = Task(task.y[inside], task.C, task.weights[inside], task.rng, K=task.K[np.ix_(inside, inside)])
        scores = np.where(inside, np.nan, self.fit(part).scores(task.K[:, inside]))
        return self.fit(task), scores


def examples(groups=None):
    return Examples.of(X, Y, WEIGHTS, np.arange(len(Y)) if groups is None else groups)


def problem_of(given=None, dichotomy=ONE_VS_REST, takes_labels=False, **changes):
    """What a criterion is given for one label against the rest at the kernel as it is, and the configuration."""
    config = make_config(**FIXED | changes, criterion=Spy(takes_labels))
    given = given or examples()
    if config.is_direct:
        select_for_labels(given, 3, config, RUN)
    else:
        select([dichotomy], given, config, RUN)
    at_one = [problem for problem in config.criterion.seen if problem.parameters["sigma"] == 1.0] or [
        config.criterion.seen[-1]
    ]
    return at_one[0], config


# --- the machine ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trainer", [SVM(), L2SVM(), LeastSquares(), Nystroem()], ids=lambda one: one.name)
def test_the_problem_has_the_trainer_of_the_configuration(trainer):
    assert problem_of(trainer=trainer)[0].learner is trainer


def test_where_another_trainer_takes_over_it_is_judged():
    assert problem_of(trainer=SVM(), large=Landmarks(), large_rows=2)[0].learner == Landmarks()


@pytest.mark.parametrize("trainer", [SVM(), L2SVM(), LeastSquares()], ids=lambda one: one.name)
def test_errors_on_folds_are_those_of_the_trainer_with_balanced_sides(trainer):
    problem, _ = problem_of(trainer=trainer, held_out="folds", selection_folds=4)
    folds = grouped_folds(SIDES, np.arange(len(Y)), 4)
    errors = []
    for fold in range(4):
        rest = folds != fold
        weights = balanced_sides(WEIGHTS[rest], SIDES[rest])
        task = Task(SIDES[rest], problem.C, weights, np.random.default_rng(0), K=problem.K[np.ix_(rest, rest)])
        machine = trainer.fit(task)
        errors.append(np.mean(SIDES[~rest] * machine.scores(problem.K[np.ix_(~rest, rest)]) < 0))
    assert KFoldError().value(problem) == pytest.approx(np.mean(errors))


def test_weights_that_multiply_c_are_those_of_training():
    problem, _ = problem_of(trainer=SVM())
    np.testing.assert_allclose(problem.task_weights, balanced_sides(WEIGHTS, SIDES))
    np.testing.assert_allclose(problem.ridge, 1 / (problem.C * balanced_sides(WEIGHTS, SIDES)))
    in_closed_form, _ = problem_of(trainer=LeastSquares())
    np.testing.assert_array_equal(in_closed_form.task_weights, WEIGHTS)


@pytest.mark.parametrize("trainer", [SVM(), LeastSquares()], ids=lambda one: one.name)
@pytest.mark.parametrize(("balance", "balanced"), [("sides", True), ("none", False)])
def test_the_option_of_balance_holds_for_selection(trainer, balance, balanced):
    problem, _ = problem_of(trainer=trainer, balance=balance)
    np.testing.assert_allclose(problem.task_weights, balanced_sides(WEIGHTS, SIDES) if balanced else WEIGHTS)


# --- what is held out -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("balance", ["auto", "sides", "none"])
@pytest.mark.parametrize("size", [1, 5], ids=["single", "groups of five"])
@pytest.mark.parametrize(
    ("trainer", "method"),
    [
        (LeastSquares(), "auto"),
        (LeastSquares(), "folds"),
        (SVM(), "auto"),
        (SVM(), "folds"),
        (SVM(), "span"),
        (L2SVM(), "auto"),
        (Landmarks(), "auto"),
        (Unstated(), "auto"),
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_held_out_scores_are_those_that_training_calibrates_on(trainer, method, size, balance):
    given = examples(np.arange(len(Y)) // size)
    problem, config = problem_of(given, trainer=trainer, held_out=method, balance=balance)
    kernel = Gaussian(problem.parameters["sigma"])
    [trained] = train_dichotomies([ONE_VS_REST], given, [kernel], [problem.C], config, RUN)
    tolerance = 1e-3 if isinstance(trainer, Landmarks) else 1e-8  # of which the exact form is judged
    np.testing.assert_allclose(problem.held_out_scores, trained.held_out, atol=tolerance)


def test_what_no_bag_left_out_is_passed_over():
    given = examples(np.arange(len(Y)))
    problem, _ = problem_of(given, trainer=Bag())
    known = np.arange(len(Y)) % 2 == 1
    np.testing.assert_array_equal(np.isfinite(problem.held_out_scores), known)
    wrong = SIDES[known] * problem.held_out_scores[known] < 0
    assert LeaveGroupOutError().value(problem) == pytest.approx(WEIGHTS[known] @ wrong / WEIGHTS[known].sum())
    assert np.isfinite(LeaveGroupOutLogLoss().value(problem))


@pytest.mark.parametrize("balance", ["auto", "none"])
def test_held_out_scores_of_all_labels_are_those_of_the_direct_strategy(balance):
    given = examples(np.arange(len(Y)) // 2)
    problem, config = problem_of(given, takes_labels=True, strategy=Means(), balance=balance)
    kernel = Gaussian(problem.parameters["sigma"])
    trained = train_direct(given, 3, kernel, problem.C, config, RUN)
    np.testing.assert_allclose(problem.held_out_scores, trained.held_out, atol=1e-9)
    expected = log_loss(Means().combine(trained.held_out, trained.fitted), Y, WEIGHTS)
    assert LeaveGroupOutLogLoss().value(problem) == pytest.approx(expected)
    wrong = trained.held_out.argmax(axis=1) != Y
    assert LeaveGroupOutError().value(problem) == pytest.approx(WEIGHTS @ wrong / WEIGHTS.sum())


def test_the_kernel_of_a_support_vector_machine_is_chosen_by_its_own_held_out_scores():
    config = make_config(trainer=SVM(), criterion=LeaveGroupOutError(), **FIXED)
    [found] = select([ONE_VS_REST], examples(), config, RUN)
    values = []
    for trial in found.trace:
        [trained] = train_dichotomies([ONE_VS_REST], examples(), [Gaussian(trial.point["sigma"])], [3.0], config, RUN)
        values.append(WEIGHTS @ (SIDES * trained.held_out < 0) / WEIGHTS.sum())
    np.testing.assert_allclose([trial.value for trial in found.trace], values)


def test_what_has_no_derivatives_for_the_trainer_is_not_climbed():
    config = make_config(**FIXED | {"trainer": SVM(), "criterion": LeaveGroupOutLogLoss(), "search": LBFGS()})
    [found] = select([ONE_VS_REST], examples(), config, RUN)
    assert "has derivatives for least squares in closed form only, not for svm" in found.note


# --- what cannot be judged ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "trainer", "known"),
    [
        (Span(), LeastSquares(), "svm"),
        (ExactLeaveOneOut(), Nystroem(), "svm"),
        (SupportVectors(), LeastSquares(), "svm or l2_svm or hard_margin"),
        (XiAlpha(), L2SVM(), "svm or hard_margin"),
        (RadiusMargin(), SVM(), "l2_svm or hard_margin"),
        (LeaveOneOutLogLoss(), SVM(), "least_squares"),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_a_criterion_of_another_machine_is_refused(criterion, trainer, known):
    with pytest.raises(UsageError, match=f"criterion {criterion.name} judges machines of the trainer.* {known}"):
        make_config(criterion=criterion, trainer=trainer, chosen=frozenset({"trainer"}))
    config = make_config(**FIXED | {"criterion": criterion, "trainer": trainer})
    with pytest.raises(UsageError, match=f"criterion {criterion.name} judges machines of the trainer.* {known}"):
        select([ONE_VS_REST], examples(), config, RUN)


@pytest.mark.parametrize("criterion", [Span(), RadiusMargin(), LeaveOneOutLogLoss()], ids=lambda one: one.name)
def test_a_criterion_of_two_sides_is_refused_for_all_labels_at_once(criterion):
    with pytest.raises(UsageError, match=f"criterion {criterion.name} judges machines .* not of means"):
        make_config(criterion=criterion, strategy=Means(), chosen=frozenset({"criterion"}))
    config = make_config(**FIXED | {"criterion": criterion, "strategy": Means()})
    with pytest.raises(UsageError, match=f"criterion {criterion.name} judges machines .* not of means"):
        select_for_labels(examples(), 3, config, RUN)


def test_a_trainer_that_takes_over_is_refused_too():
    config = make_config(criterion=SupportVectors(), trainer=SVM(), large=Landmarks(), large_rows=2)
    with pytest.raises(UsageError, match="support_vectors judges machines .* not of landmarks"):
        select([ONE_VS_REST], examples(), config, RUN)


def test_a_hard_margin_has_its_own_radius_margin():
    far = Examples.of(X + 40.0 * np.eye(3)[Y][:, :2], Y)
    problem, _ = problem_of(far, Dichotomy((0,), (1,)), trainer=HardMargin(), held_out="folds")
    signed = problem.alpha * problem.y
    R2 = problem.ball.squared_radius
    assert RadiusMargin().value(problem) == pytest.approx(R2 * (signed @ problem.K @ signed) / len(problem.y), rel=1e-4)
    assert RadiusMargin().gradient(problem)["C"] == 0


# --- all labels at once ---------------------------------------------------------------------------------------------


def by_hand(K, y, centred=False, weighted=False):
    """⟨K, T⟩/(‖K‖‖T‖), T_ij = 1 within a label and −1/(Q−1) between two, each over n_k n_l where weighted."""
    T = np.where(y[:, None] == y, 1.0, -1 / (len(np.unique(y)) - 1))
    if weighted:
        n = np.bincount(y)[y]
        T = T / np.outer(n, n)
    if centred:
        H = np.eye(len(y)) - 1 / len(y)
        K, T = H @ K @ H, H @ T @ H
    return np.vdot(K, T) / np.linalg.norm(K) / np.linalg.norm(T)


def test_a_direct_strategy_hands_all_labels_to_a_criterion_that_takes_them():
    problem, _ = problem_of(takes_labels=True, strategy=Means())
    np.testing.assert_array_equal(problem.y, Y)
    assert problem.learner == Means()
    K = gram(Gaussian(problem.parameters["sigma"]), X)
    assert Alignment().value(problem) == pytest.approx(by_hand(K, Y))
    assert WeightedAlignment().value(problem) == pytest.approx(by_hand(K, Y, weighted=True))
    assert CentredAlignment().value(problem) == pytest.approx(by_hand(K, Y, centred=True))
    assert AlignmentC().value(problem) == pytest.approx(by_hand(K + np.diag(problem.ridge), Y))
    assert ClassSeparability().value(problem) == pytest.approx(separability(K, Y))
    assert ClassSeparabilityC().value(problem) == pytest.approx(separability(K + np.diag(problem.ridge), Y))


def separability(K, y):
    """tr S_b / tr S_w over all labels (specification 12.5)."""
    within = sum(K[np.ix_(y == k, y == k)].sum() / np.sum(y == k) for k in np.unique(y))
    return (within - K.sum() / len(y)) / (np.trace(K) - within)


@pytest.mark.parametrize("criterion", [Alignment(), ClassSeparabilityC(), KFoldError()], ids=lambda one: one.name)
def test_the_chosen_value_is_that_of_all_labels(criterion):
    config = make_config(**FIXED, strategy=Means(), criterion=criterion, selection_folds=3)
    training = train_classifier(examples(), "abc", config, RUN)
    [found] = training.selected
    K = gram(found.kernel, X)
    problem, _ = problem_of(takes_labels=True, strategy=Means(), selection_folds=3)
    ridge = np.diag(problem.ridge * problem.C / found.C)
    folds = grouped_folds(Y, np.arange(len(Y)), 3)
    expected = {
        "alignment": lambda: by_hand(K, Y),
        "class_separability_c": lambda: separability(K + ridge, Y),
        "k_fold_error": lambda: np.mean([fold_error(K, folds == fold) for fold in range(3)]),
    }
    assert found.value == pytest.approx(expected[criterion.name]())


def fold_error(K, held):
    """Share of wrong labels of means by weight; labels weigh the same, which does not move a mean."""
    A = np.eye(3)[Y[~held]] * WEIGHTS[~held][:, None]
    A = A / A.sum(axis=0)
    inner = K[np.ix_(~held, ~held)]
    scores = K[np.ix_(held, ~held)] @ A - np.einsum("ik,ij,jk->k", A, inner, A) / 2
    return np.mean(scores.argmax(axis=1) != Y[held])


def test_other_criteria_get_each_label_against_the_rest():
    criterion = Spy()
    config = make_config(**FIXED, strategy=Means(), criterion=criterion)
    select_for_labels(examples(), 3, config, RUN)
    sides = {tuple(problem.y) for problem in criterion.seen}
    assert sides == {tuple(np.where(k == Y, 1, -1)) for k in range(3)}
    assert all(problem.learner is None for problem in criterion.seen)
    config = make_config(**FIXED, strategy=Means(), criterion=ParzenSeparability())
    assert select_for_labels(examples(), 3, config, RUN).value > 0


def test_bags_hold_out_for_the_criterion_as_for_training():
    config = make_config(**FIXED, strategy=BagOfMeans(), criterion=LeaveGroupOutLogLoss())
    training = train_classifier(examples(), "abc", config, RUN)  # wants features: nothing to choose
    assert [choice.kernel for choice in training.selected] == [Gaussian()]


def test_what_was_not_chosen_as_asked_for_is_told():
    config = make_config(**FIXED | {"trainer": SVM(), "criterion": LeaveGroupOutLogLoss(), "search": LBFGS()})
    training = train_classifier(examples(), "abc", config, RUN)
    [note] = [note for note in training.notes if note.startswith("choice of kernels: ")]
    assert "nothing could be evaluated, taken as given" in note
