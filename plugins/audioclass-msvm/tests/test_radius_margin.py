from typing import ClassVar

import numpy as np
import pytest
from audioclass_msvm.machines import WestonWatkins
from audioclass_msvm.radius_margin import MulticlassRadiusMargin, register_criteria
from audioclass_msvm.solver import Problem, solve

from audioclass.criteria.problem import SelectionProblem
from audioclass.engine.runs import make_run
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.searches.grid import Grid
from audioclass.testing import check_criterion
from audioclass.testing.blobs import blobs
from audioclass.trainers.l2_svm import L2SVM
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.train import train_classifier


def case_of(n_labels=3, sigma=1.0, C=2.0, spread=0.7, **changes):
    X, y = blobs(n_labels, n_each=8, spread=spread)
    return SelectionProblem(gram(Gaussian(sigma), X), y, C, **changes)


def test_it_keeps_its_contract():
    check_criterion(MulticlassRadiusMargin())


def test_it_is_offered():
    assert register_criteria() == [MulticlassRadiusMargin]


def test_two_sides_have_the_value_of_the_binary_machine_with_squared_slacks():
    X, y = blobs(2, n_each=12, spread=1.0)
    problem = SelectionProblem(gram(Gaussian(), X), 1 - 2 * y, 2.0, learner=L2SVM())
    support = problem.alpha > 1e-6 * problem.alpha.max()
    ball = problem.restricted(support).l2_ball  # under K + I/C, of the support alone
    bound = MulticlassRadiusMargin().bound(problem)
    assert bound.value == pytest.approx(4 * ball.squared_radius * problem.alpha.sum(), rel=1e-5)
    assert MulticlassRadiusMargin().value(problem) == pytest.approx(bound.value / 24)


def test_names_of_labels_do_not_matter():
    problem = case_of(3)
    renamed = SelectionProblem(problem.K, 10 * (2 - problem.y), problem.C)
    assert MulticlassRadiusMargin().value(renamed) == pytest.approx(MulticlassRadiusMargin().value(problem), rel=1e-3)


def test_many_labels_far_apart_are_better_than_mixed_ones():
    problem = case_of(4, spread=0.2)
    mixed = SelectionProblem(problem.K, np.random.default_rng(0).permutation(problem.y), problem.C)
    assert MulticlassRadiusMargin().value(problem) < MulticlassRadiusMargin().value(mixed)


def test_every_part_is_there():
    bound = MulticlassRadiusMargin().bound(case_of(3))
    off = ~np.eye(3, dtype=bool)
    assert bound.problem_3.shape == (24, 3)
    assert np.nanmin(bound.problem_3) >= 2
    assert bound.constant == pytest.approx(np.sqrt(2 * np.nanmax(bound.problem_3)))
    assert (bound.deltas[off] >= -1e-6).all()
    assert (bound.margins[off] > 0).all()
    assert np.isnan(np.diag(bound.deltas)).all()


def test_without_slacks_c_plays_no_part():
    criterion = MulticlassRadiusMargin(squared_slacks=False)
    values = [criterion.value(case_of(3, sigma=0.4, C=C)) for C in (0.1, 10.0)]
    assert values[0] == values[1]


def test_a_large_c_leads_to_the_machine_without_slacks():
    hard = MulticlassRadiusMargin(squared_slacks=False).bound(case_of(2, sigma=0.4))
    soft = MulticlassRadiusMargin().bound(case_of(2, sigma=0.4, C=1e7))
    assert soft.value == pytest.approx(hard.value, rel=1e-3)


def test_what_no_margin_separates_cannot_be_judged_without_slacks():
    X, y = blobs(3, spread=3.0)
    problem = SelectionProblem(X @ X.T, y, 1.0)
    assert np.isnan(MulticlassRadiusMargin(squared_slacks=False).value(problem))
    assert np.isfinite(MulticlassRadiusMargin().value(problem))


@pytest.mark.parametrize("squared_slacks", [True, False])
def test_it_depends_on_C_where_slacks_are_squared(squared_slacks):
    assert MulticlassRadiusMargin(squared_slacks=squared_slacks).depends_on == ({"C"} if squared_slacks else set())


class Listening(MulticlassRadiusMargin):
    """The bound, with the problems that it was given."""

    seen: ClassVar[list] = []

    def value(self, problem):
        self.seen.append(problem)
        return super().value(problem)


def test_under_a_direct_strategy_it_bounds_all_labels():
    X, y = blobs(3, n_each=6, spread=0.7)
    stated = {"strategy": WestonWatkins(), "kernel": Gaussian(), "criterion": Listening(), "search": Grid(2)}
    run = make_run()
    training = train_classifier(Examples.of(X, y), "abc", TrainingConfig.of({**stated, "recipe": None}, run), run)
    [chosen] = training.selected
    assert {tuple(problem.y) for problem in Listening.seen} == {tuple(y)}
    alone = SelectionProblem(
        gram(chosen.kernel, X), y, chosen.C
    )  # labels are of the same size, so balance changes nothing
    assert chosen.value == pytest.approx(MulticlassRadiusMargin().value(alone), rel=1e-6)
    bound = MulticlassRadiusMargin().bound(alone)
    K = gram(chosen.kernel, X) + np.eye(len(y)) / chosen.C
    margins = Problem(K, y, np.full(len(y), np.inf), "sum", has_bias=True)
    norm = solve(margins, 1e-8).norm  # specification 9: the bound is K D² Σ‖w_k‖²
    assert bound.value == pytest.approx(bound.constant * bound.squared_diameter * norm, rel=1e-3)
