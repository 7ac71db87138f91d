import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from trainings import make_config, make_run

from audioclass.criteria.alignment import Alignment, AlignmentC
from audioclass.criteria.errors import KFoldError
from audioclass.criteria.held_out import LeaveGroupOutLogLoss, LeaveGroupOutSquaredError, LeaveOneOutSquaredError
from audioclass.kernels.gaussian import Gaussian, UnscaledGaussian
from audioclass.kernels.gaussian_scaled import ScaledGaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.polynomial import Polynomial
from audioclass.parameters import component
from audioclass.problems import Dichotomy
from audioclass.searches.gradient import Gradient
from audioclass.searches.grid import Grid
from audioclass.searches.lbfgs import LBFGS
from audioclass.searches.pattern import Pattern
from audioclass.storage import Store
from audioclass.trainers.least_squares import LeastSquares
from audioclass.trainers.svm import SVM
from audioclass.training.examples import Examples
from audioclass.training.label_machines import LabelMachines
from audioclass.training.objective import CriterionObjective, SelectionSample, SelectionTarget, joachims_error_factor
from audioclass.training.refinement import thin_features
from audioclass.training.select import select, stored_selection
from audioclass.training.stored_selection import Selected
from audioclass.training.subsampling import subsamples_of

ONE_VS_REST = [Dichotomy((0,), (1, 2)), Dichotomy((1,), (0, 2)), Dichotomy((2,), (0, 1))]
GAUSSIAN = (Gaussian(),)
PAIR = [Dichotomy((0,), (1,))]
RUN = make_run()


def rings(n=60, seed=0, extra=0):
    """Three labels as rings around each other: no straight line tells them apart; `extra` features are noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = y + 0.5 + 0.15 * rng.standard_normal(n)
    noise = rng.standard_normal((n, extra))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), noise]), y


def examples(**more):
    return Examples.of(*rings(**more))


def choose(dichotomies=ONE_VS_REST, kernels=GAUSSIAN, C=1.0, given=None, run=RUN, **changes):
    changes = {"trainer": LeastSquares(), "criterion": LeaveGroupOutLogLoss(), "search": Pattern(), **changes}
    config = make_config(kernels=kernels, C=C, **changes)
    return select(dichotomies, given or examples(), config, run)


def sample(X, y, n_folds=5):
    """The first label against the rest."""
    n = len(y)
    target = SelectionTarget(rows=np.arange(n), y=np.where(y == 0, 1, -1))
    return SelectionSample(X=X, targets=(target,), weights=np.ones(n), groups=np.arange(n), n_folds=n_folds)


def test_the_default_finds_a_kernel_as_good_as_the_best_of_a_grid():
    found = choose()[0]
    best = choose(search=Grid(8))[0]
    assert found.value <= best.value + 0.01
    assert len(found.trace) < len(best.trace)
    assert found.value == min(trial.value for trial in found.trace)


def test_dichotomies_over_the_same_rows_share_one_choice_unless_told_otherwise():
    shared = choose(ONE_VS_REST + PAIR)
    assert shared[0] is shared[1] is shared[2]
    assert shared[3] is not shared[0]
    own = choose(selection_scope="node")
    assert len({(choice.kernel, choice.C) for choice in own}) > 1


def test_own_choices_are_at_least_as_good_as_a_shared_one_for_a_criterion_of_single_machines():
    shared, own = (choose(criterion=LeaveGroupOutSquaredError(), selection_scope=scope) for scope in ("shared", "node"))
    assert np.mean([choice.value for choice in own]) <= shared[0].value + 1e-6


def test_machines_of_each_label_against_the_rest_are_judged_together():
    given = examples()
    trace = choose(C=3.0, given=given, search=Grid(2), c_rule="fixed")[0].trace
    [trial] = [each for each in trace if each.point["sigma"] == pytest.approx(0.1)]
    K = given.statistics.gram(Gaussian(0.1), np.arange(60))
    machines = LabelMachines(K, given.y, 3, 1 / 3.0, np.ones(60))
    assert trial.value == pytest.approx(machines.held_out_losses(given.groups).mean())


@pytest.mark.parametrize(
    "change",
    [{"balance": "sides"}, {"trainer": SVM()}, {"selection_scope": "node"}, {"held_out": "folds"}],
    ids=["balanced", "hinge", "alone", "folds"],
)
def test_machines_that_cannot_be_joined_are_judged_one_by_one(change):
    config = make_config(kernels=GAUSSIAN, criterion=LeaveGroupOutLogLoss(), **{"trainer": LeastSquares(), **change})
    for subsample in subsamples_of(ONE_VS_REST, examples(), config):
        assert all(set(target.y) == {-1, 1} for target in subsample.targets)


def test_a_label_without_a_machine_of_its_own_is_not_judged_together():
    config = make_config(kernels=GAUSSIAN, criterion=LeaveGroupOutLogLoss(), trainer=LeastSquares())
    [subsample] = subsamples_of(ONE_VS_REST[:2], examples(), config)
    assert [set(target.y) for target in subsample.targets] == [{-1, 1}, {-1, 1}]
    [subsample] = subsamples_of(ONE_VS_REST, examples(), config)
    np.testing.assert_array_equal(subsample.targets[0].y, examples().y[subsample.rows])


def test_an_own_choice_is_that_of_the_dichotomy_alone():
    alone = choose([ONE_VS_REST[1]])[0]
    together = choose(selection_scope="node")[1]
    assert (alone.kernel, alone.C) == (together.kernel, together.C)


@pytest.mark.parametrize("search", [Grid(5), Pattern(), Gradient(), LBFGS()], ids=lambda search: search.name)
@pytest.mark.parametrize("criterion", [LeaveGroupOutLogLoss(), AlignmentC()], ids=lambda criterion: criterion.name)
@pytest.mark.parametrize("c_rule", ["searched", "joachims", "fixed"])
def test_every_search_serves_every_rule(search, criterion, c_rule):
    found = choose(search=search, criterion=criterion, c_rule=c_rule)[0]
    expected = {"joachims": joachims_error_factor(found.kernel, examples().statistics.X), "fixed": 1.0}
    np.testing.assert_allclose(found.C, expected.get(c_rule, found.C))
    assert ("C" in found.trace[-1].point) == (c_rule == "searched")


def test_better_higher_is_climbed_and_shown_as_it_is():
    found = choose(criterion=AlignmentC(), search=LBFGS(), c_rule="joachims")[0]
    assert found.value == max(trial.value for trial in found.trace) > 0


def test_a_criterion_blind_to_C_gets_the_value_of_joachims():
    found = choose(criterion=Alignment(), search=Grid(5))[0]
    np.testing.assert_allclose(found.C, joachims_error_factor(found.kernel, examples().statistics.X))
    assert found.note == "alignment does not depend on C, Joachims' value is taken"


@component
class FlatAtFirst:
    """Knows no C under the kernel that a search begins with, but does under wider ones."""

    name: ClassVar[str] = "flat_at_first"
    better: ClassVar[str] = "lower"
    depends_on: ClassVar[frozenset[str]] = frozenset({"C"})

    def value(self, problem):
        sigma = problem.parameters["sigma"]
        return 1.0 if sigma <= 1 else 1 - 1 / (1 + abs(math.log(problem.C / 30)))


def test_C_is_searched_where_the_criterion_states_it_even_if_the_first_kernel_does_not_show_it():
    chosen = choose(criterion=FlatAtFirst(), search=Grid(7), c_range=(0.3, 3000.0))[0]
    assert "C" in chosen.trace[0].point
    np.testing.assert_allclose(chosen.C, 30)
    assert chosen.note == ""


@component
class NoisyAboutC:
    """Differs by rounding with C and states that it does not depend on it."""

    name: ClassVar[str] = "noisy_about_c"
    better: ClassVar[str] = "lower"
    depends_on: ClassVar[frozenset[str]] = frozenset()

    def value(self, problem):
        return Alignment().value(problem) + 1e-16 * math.log(problem.C)


def test_C_is_not_searched_where_the_criterion_does_not_state_it():
    chosen = choose(criterion=NoisyAboutC(), search=Grid(5))[0]
    assert "C" not in chosen.trace[0].point
    assert chosen.note == "noisy_about_c does not depend on C, Joachims' value is taken"


@pytest.mark.parametrize("c_rule", ["searched", "joachims"])
def test_the_value_of_joachims_is_that_of_the_kernel_made_finer(c_rule):
    given = shifted()
    chosen = choose(PAIR, given=given, criterion=Alignment(), c_rule=c_rule, feature_shares=(0.5,))[0]
    assert isinstance(chosen.kernel, ScaledGaussian)
    rows = np.flatnonzero(given.y < 2)
    np.testing.assert_allclose(chosen.C, joachims_error_factor(chosen.kernel, given.statistics.X[rows]))


def test_kernels_compete():
    kernels = (Linear(), Gaussian(), Polynomial())
    alone = [choose(PAIR, (kernel,))[0].value for kernel in kernels]
    found = choose(PAIR, kernels)[0]
    assert found.value == min(alone)
    assert found.kernel.name == kernels[int(np.argmin(alone))].name != "linear"


@component
class Whimsical:
    """Fails on kernels of a name."""

    name: ClassVar[str] = "whimsical"
    better: ClassVar[str] = "lower"
    depends_on: ClassVar[frozenset[str]] = frozenset({"C", "groups"})

    def value(self, problem):
        if "degree" in problem.parameters:
            raise ValueError("no polynomials, please")
        return LeaveGroupOutLogLoss().value(problem)


def test_a_kernel_that_cannot_be_judged_is_noted_and_passed_over():
    found = choose(kernels=(Polynomial(), Gaussian()), criterion=Whimsical(), search=Grid(3))[0]
    assert found.kernel.name == "gaussian"
    assert found.note == "polynomial: no polynomials, please"


def test_where_nothing_can_be_judged_the_kernel_is_taken_as_given():
    found = choose(kernels=(Polynomial(),), criterion=Whimsical(), C=3.0, c_rule="fixed")[0]
    assert (found.kernel, found.C) == (Polynomial(), 3.0)
    assert found.note == "nothing could be evaluated, taken as given: polynomial: no polynomials, please"
    assert math.isnan(found.value)


def test_one_group_of_all_examples_is_noted():
    X, y = rings()
    found = choose(given=Examples.of(X, y, groups=np.zeros(60)))[0]
    assert "a side or a label has a single group, so nothing can be held out" in found.note


def test_a_criterion_without_derivatives_is_not_climbed():
    found = choose(criterion=KFoldError(), search=LBFGS())[0]
    assert "k_fold_error has no derivatives, which search lbfgs needs" in found.note


def test_criteria_that_train_on_folds_work():
    found = choose(PAIR, criterion=KFoldError(), search=Grid(3), c_rule="fixed", selection_folds=3)[0]
    assert 0 <= found.value < 0.3


def test_whole_numbers_stay_whole():
    found = choose(kernels=(Polynomial(),), search=Grid(3))[0]
    assert isinstance(found.kernel.degree, int)


def test_a_kernel_without_parameters_is_judged_as_it_is():
    found = choose(PAIR, (Linear(),), c_rule="joachims")[0]
    assert [dict(trial.point) for trial in found.trace] == [{}]


def test_few_rows_are_looked_at_where_there_are_many():
    sizes = []

    @dataclass(frozen=True)
    class Counting(LeaveOneOutSquaredError):
        def value(self, problem):
            sizes.append(len(problem.y))
            return super().value(problem)

    choose(criterion=Counting(), search=Grid(2), selection_rows=30)
    assert set(sizes) == {30}


def test_progress_and_processes_change_nothing():
    told = []
    plan = [Dichotomy((0,), (1,)), Dichotomy((0,), (2,)), Dichotomy((1,), (2,))]
    one = choose(plan, search=Grid(2), run=make_run(progress=lambda *at: told.append(at)))
    two = choose(plan, search=Grid(2), run=make_run(jobs=2))
    assert told == [("selection", 1, 3), ("selection", 2, 3), ("selection", 3, 3)]
    assert [(choice.kernel, choice.C) for choice in one] == [(choice.kernel, choice.C) for choice in two]


def test_features_that_tell_nothing_are_left_out():
    found = choose(given=shifted(), feature_shares=(0.5, 0.1))[0]
    assert isinstance(found.kernel, ScaledGaussian)
    kept = np.flatnonzero(found.kernel.factors)
    assert {0, 1} <= set(kept)
    assert len(kept) < 20


def shifted():
    """Twenty features of which the first two alone tell the labels apart."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 20))
    X[:, 0] += 2 * (y == 0)
    X[:, 1] += 2 * (y == 1)
    return Examples.of(X, y)


def test_thinned_kernels_keep_the_mean_distance():
    X, y = rings(30, extra=2)
    [thin] = thin_features(sample(X, y), UnscaledGaussian(), [0.5])
    assert (X * thin.factors).var(axis=0).sum() == pytest.approx(X.var(axis=0).sum())


def test_joachims_value_moves_the_slope_of_what_follows_it():
    X, y = rings(30)
    objective = CriterionObjective(sample(X, y), Gaussian(), AlignmentC(), C=1.0, c_rule="joachims", climbs=True)
    h = 1e-5
    difference = (objective.value({"sigma": 0.8 + h}) - objective.value({"sigma": 0.8 - h})) / (2 * h)
    assert objective.gradient({"sigma": 0.8})["sigma"] == pytest.approx(difference, rel=1e-4)


def test_joachims_error_factor_worked_out_by_hand():
    X = np.array([[3.0, 4.0], [0.0, 1.0]])
    assert joachims_error_factor(Linear(), X) == pytest.approx(1 / 9)  # (5 + 1) / 2 = 3
    assert joachims_error_factor(Gaussian(1e-3), X) == pytest.approx(0.5)
    assert joachims_error_factor(Gaussian(1e3), X) > 1e4
    with pytest.raises(ValueError, match="every example is at 0"):
        joachims_error_factor(Linear(), np.zeros((3, 2)))


def test_without_a_criterion_the_first_kernel_is_taken_as_it_is():
    assert choose(PAIR, (Polynomial(), Gaussian()), C=3.0, criterion=None) == [Selected(Polynomial(), 3.0)]


def test_examples_of_importance_0_are_not_looked_at():
    sizes = []

    @dataclass(frozen=True)
    class Counting(LeaveOneOutSquaredError):
        def value(self, problem):
            sizes.append(len(problem.y))
            return super().value(problem)

    importance = (np.arange(60) < 30).astype(float)[:, None] * np.ones(3)
    config = make_config(trainer=LeastSquares(), criterion=Counting(), search=Grid(2))
    select(ONE_VS_REST, examples(), config, RUN, importance=importance)
    assert set(sizes) == {30}


def test_a_store_gives_the_same_choice(tmp_path):
    config = make_config(trainer=LeastSquares(), criterion=LeaveGroupOutLogLoss(), search=Grid(2))
    stores = (None, Store(tmp_path), Store(tmp_path))
    one, *others = (stored_selection(store, PAIR, examples(), config, RUN) for store in stores)
    assert all(repr(other) == repr(one) for other in others)
    assert len(list(tmp_path.rglob("*.npz"))) == 1


def test_a_search_that_ends_at_the_end_of_a_stated_range_says_so():
    stated = choose(criterion=FlatAtFirst(), kernels=(Gaussian(2.0),), c_range=(0.1, 10.0))[0]
    assert pytest.approx(10) == stated.C
    assert "C=10 is at the upper end of its range, a better one may lie beyond" in stated.note


def test_the_range_of_C_is_widened_unless_it_was_stated():
    @dataclass(frozen=True)
    class LikesLargeC(FlatAtFirst):
        def value(self, problem):
            return 1 + abs(math.log(problem.C / 5e4))

    widened = choose(criterion=LikesLargeC(), kernels=(Gaussian(2.0),))[0]
    assert pytest.approx(5e4, rel=0.5) == widened.C
    assert widened.note == ""
