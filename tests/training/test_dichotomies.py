from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trainings import make_config, make_run

from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.parameters import component
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Dichotomy, FeatureMachine, Task
from audioclass.run import silent
from audioclass.storage import Store
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.testing.blobs import blobs
from audioclass.training.dichotomies import problem_for, train_dichotomies, trainer_for
from audioclass.training.examples import Examples
from audioclass.training.folds import fold_count, grouped_folds
from audioclass.training.held_out import scoring_for
from audioclass.training.problem import DichotomyProblem
from audioclass.training.statistics import PairwiseStatistics

MANAGER = plugin_manager(installed=False)
SVM = MANAGER.make("trainer", "svm")
X, Y = blobs(3, n_each=14, spread=1.3)
GROUPS = np.arange(len(Y)) // 6


def trained(
    trainer=SVM,
    *,
    held_out="auto",
    groups=GROUPS,
    jobs=1,
    dichotomies=None,
    progress=silent,
    everywhere=False,
    store=None,
):
    examples = Examples.of(X, Y, groups=groups)
    plan = dichotomies or OneVsOne().plan(["a", "b", "c"], None, None, None).dichotomies
    config, run = make_config(trainer=trainer, held_out=held_out), make_run(jobs=jobs, progress=progress)
    kernels, Cs = [Gaussian()] * len(plan), [2.0] * len(plan)
    return train_dichotomies(plan, examples, kernels, Cs, config, run, everywhere=everywhere, store=store)


def brute_force(dichotomy, fold_of):
    """Held-out scores by retraining without each fold, written out."""
    rows = np.flatnonzero(np.isin(Y, (*dichotomy.positive, *dichotomy.negative)))
    sides = np.where(np.isin(Y, dichotomy.positive), 1, -1)
    scores = np.full(len(Y), np.nan)
    for fold in np.unique(fold_of[rows]):
        kept, away = rows[fold_of[rows] != fold], rows[fold_of[rows] == fold]
        weights = np.array([len(kept) / (2 * np.sum(sides[kept] == side)) for side in sides[kept]])
        task = Task(sides[kept], 2.0, weights, np.random.default_rng(0), K=gram(Gaussian(), X[kept]))
        scores[away] = SVM.fit(task).scores(gram(Gaussian(), X[away], X[kept]))
    return rows, scores


def test_held_out_scores_are_those_of_machines_that_never_saw_the_group():
    for result in trained(held_out="folds"):
        rows = np.flatnonzero(np.isin(Y, (*result.dichotomy.positive, *result.dichotomy.negative)))
        sides = np.where(np.isin(Y, result.dichotomy.positive), 1, -1)[rows]
        fold_of = np.zeros(len(Y), int)
        fold_of[rows] = grouped_folds(sides, GROUPS[rows], fold_count(sides, GROUPS[rows]))
        _, expected = brute_force(result.dichotomy, fold_of)
        np.testing.assert_allclose(result.held_out[rows], expected[rows], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 8), st.integers(0, 100))
def test_no_machine_is_scored_on_a_group_it_was_trained_on(size, seed):
    groups = np.random.default_rng(seed).permutation(np.arange(len(Y)) // size)
    group_of = dict(zip(X[:, 0].tolist(), groups.tolist(), strict=True))
    seen, leaks = [], []

    class Watching:
        name = "watching"
        wants = "features"

        def fit(self, task):
            seen.append({group_of[x] for x in task.X[:, 0].tolist()})
            return FeatureMachine({})

        def scores(self, machine, new):
            leaks.extend(group_of[x] in seen[-1] for x in new[:, 0].tolist())
            return new[:, 0]

    examples = Examples.of(X, Y, groups=groups)
    problem = DichotomyProblem.of(Dichotomy((0,), (1, 2)), examples, kernel=Gaussian(), C=1.0, trainer=Watching())
    scoring = scoring_for(problem, "folds", 5)
    for fold in scoring.trainable:
        scoring.scores_without(fold, problem, examples)
    assert leaks
    assert not any(leaks)


def test_jobs_do_not_change_the_result():
    ways = [("svm", "folds"), ("svm", "span"), ("least_squares", "auto"), ("landmarks", "auto")]
    made = [(MANAGER.make("trainer", name), held_out) for name, held_out in ways]
    results = [[r for m, way in made for r in trained(m, held_out=way, jobs=jobs)] for jobs in (1, 2, 4)]
    for one, *others in zip(*results, strict=True):
        for other in others:
            assert np.array_equal(one.held_out, other.held_out, equal_nan=True)
            assert np.array_equal(one.machine.coefficients, other.machine.coefficients)
            assert one.calibration == other.calibration


def test_closed_form_scores_are_those_of_retraining():
    least_squares = MANAGER.make("trainer", "least_squares")
    rest = [Dichotomy((k,), tuple({0, 1, 2} - {k})) for k in range(3)]
    for result in trained(least_squares, dichotomies=rest):
        for group in np.unique(GROUPS):
            away = group == GROUPS
            sides = np.where(np.isin(Y, result.dichotomy.positive), 1, -1)
            K = gram(Gaussian(), X[~away])
            machine = least_squares.fit(Task(sides[~away], 2.0, np.ones((~away).sum()), np.random.default_rng(0), K=K))
            expected = machine.scores(gram(Gaussian(), X[away], X[~away]))
            np.testing.assert_allclose(result.held_out[away], expected, atol=1e-8)


def test_span_scores_need_no_retraining():
    steps = []
    results = trained(held_out="span", groups=None, progress=lambda stage, done, total: steps.append((done, total)))
    assert steps[-1] == (3, 3)
    folds = trained(groups=None, held_out="folds")
    for span, fold in zip(results, folds, strict=True):
        rows = np.flatnonzero(np.isin(Y, (*span.dichotomy.positive, *span.dichotomy.negative)))
        assert np.corrcoef(span.held_out[rows], fold.held_out[rows])[0, 1] > 0.8


def test_progress_counts_machines_and_folds():
    steps = []
    trained(held_out="folds", progress=lambda stage, done, total: steps.append((done, total)))
    assert steps[-1][0] == steps[-1][1] == 3 * 6


def test_a_side_of_one_group_is_calibrated_on_its_own_scores_and_says_so():
    groups = np.where(Y == 0, 0, 1 + np.arange(len(Y)))
    first, _, last = trained(groups=groups, held_out="folds")
    assert "a side has a single group" in first.note
    assert last.note == ""


def test_a_dichotomy_without_examples_is_refused():
    with pytest.raises(ValueError, match=r"dichotomy \(0,\) against \(7,\): no example of labels \(7,\)"):
        trained(dichotomies=(Dichotomy((0,), (7,)),))


def test_examples_outside_a_dichotomy_are_scored_by_its_machine():
    result = trained(everywhere=True)[0]
    assert np.isnan(trained()[0].held_out[Y == 2]).all()
    outside = np.flatnonzero(Y == 2)
    np.testing.assert_allclose(result.held_out[outside], result.machine.scores(gram(Gaussian(), X[outside], X)))


def test_beyond_the_budget_the_large_trainer_takes_over():
    examples = Examples(PairwiseStatistics(X, budget=1000), Y, np.ones(len(Y)), GROUPS)
    config = make_config(large=MANAGER.make("trainer", "nystroem", {"landmarks": 10}))
    [trained_pair] = train_dichotomies([Dichotomy((0,), (1,))], examples, [Gaussian()], [2.0], config, make_run())
    assert len(trained_pair.machine.support) == 10
    assert np.isfinite(trained_pair.held_out[Y < 2]).all()


class Bag:
    """Two members, each of which leaves one half of the groups out; the last group is left out by none."""

    name = "bag"
    wants = "features"

    def fit(self, task):
        return FeatureMachine({"centre": task.X.mean(axis=0)})

    def fit_out_of_bag(self, task, groups):
        halves = np.unique(groups, return_inverse=True)[1] % 2
        scores = np.where(halves == 0, *(task.X[halves == half][:, 0].mean() for half in (1, 0)))
        return self.fit(task), np.where(groups == groups.max(), np.nan, task.X[:, 0] - scores)

    def scores(self, machine, new):
        return (new - machine.arrays["centre"])[:, 0]


def test_what_the_bags_left_out_is_held_out_and_the_rest_is_scored_by_the_machine():
    [first, *_] = trained(Bag())
    rows = np.flatnonzero(Y < 2)
    halves, unknown = np.unique(GROUPS[rows], return_inverse=True)[1] % 2, GROUPS[rows] == GROUPS[rows].max()
    means = [X[rows][halves == half][:, 0].mean() for half in (1, 0)]
    expected = X[rows][:, 0] - np.where(halves == 0, *means)
    np.testing.assert_allclose(first.held_out[rows][~unknown], expected[~unknown])
    own = Bag().scores(first.machine, X[rows])
    np.testing.assert_allclose(first.held_out[rows][unknown], own[unknown])


@pytest.mark.parametrize("name", ["svm", "least_squares", "landmarks"])
def test_a_store_changes_no_bit_and_saves_every_fit(name, tmp_path, monkeypatch):
    made = MANAGER.make("trainer", name)
    results = [trained(made, store=store) for store in (None, Store(tmp_path))]
    monkeypatch.setattr("audioclass.training.fit.arrays_of", lambda *_: pytest.fail("fitted again"))
    results.append(trained(made, store=Store(tmp_path)))
    for one, *others in zip(*results, strict=True):
        assert all(np.array_equal(one.held_out, other.held_out, equal_nan=True) for other in others)
        assert all(np.array_equal(one.machine.coefficients, other.machine.coefficients) for other in others)


def test_machines_with_a_label_in_common_have_its_landmarks_in_common():
    pairs = trained(MANAGER.make("trainer", "landmarks", {"landmarks": 8}))
    assert {len(pair.machine.support) for pair in pairs} == {8}
    assert len(np.unique(np.concatenate([pair.machine.support for pair in pairs]))) == 3 * 4


@component
class Bags:
    """A trainer whose every member saw every group: nothing is out of the bag."""

    name: ClassVar[str] = "bags"
    wants: ClassVar[str] = "features"

    def fit(self, task):
        return FeatureMachine({"w": task.X.T @ task.y})

    def fit_out_of_bag(self, task, groups):
        return self.fit(task), np.full(len(task.y), np.nan)

    def scores(self, machine, X):
        return X @ machine.arrays["w"]


def test_without_anything_out_of_the_bag_it_says_so():
    X, y = np.eye(4), np.array([0, 0, 1, 1])
    config = make_config(trainer=Bags())
    [trained] = train_dichotomies([Dichotomy((0,), (1,))], Examples.of(X, y), [Gaussian()], [1.0], config, make_run())
    assert trained.note == "calibrated on its own training scores: a side has a single group"
    assert np.isfinite(trained.held_out).all()


# --- examples that a strategy weighs --------------------------------------------------------------------------------


def weighed(importance, trainer="svm"):
    examples = Examples.of(X, Y, groups=GROUPS)
    config = make_config(trainer=MANAGER.make("trainer", trainer), held_out="auto")
    pair = [Dichotomy((0,), (1,))]
    factors = [importance]
    return train_dichotomies(
        pair, examples, [Gaussian()], [2.0], config, make_run(), importance=factors, everywhere=True
    )[0]


@pytest.mark.parametrize("trainer", ["svm", "least_squares", "landmarks"])
def test_an_example_of_importance_0_is_left_out(trainer):
    counts = (np.arange(len(Y)) % 5 > 0).astype(float)
    result = weighed(counts, trainer)
    assert not set(result.machine.support) & set(np.flatnonzero(counts == 0))
    assert np.isfinite(result.held_out).all()
    assert result.importance is counts


@pytest.mark.parametrize("trainer", ["svm", "least_squares"])
def test_an_importance_of_one_changes_nothing(trainer):
    [plain, weighty] = [weighed(importance, trainer) for importance in (None, np.ones(len(Y)))]
    assert np.array_equal(plain.held_out, weighty.held_out)


def test_a_side_that_nobody_counts_in_is_refused():
    with pytest.raises(ValueError, match=r"no example of labels \(1,\) counts in this round"):
        weighed((Y == 0).astype(float))


# --- who trains what ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_rows", "n_sets", "name"),
    [(6000, 1, "svm"), (6001, 1, "landmarks"), (3000, 8, "svm"), (3000, 9, "landmarks"), (50_000, 1, "landmarks")],
)
def test_landmarks_take_over_where_factorisations_would_cost_too_much(n_rows, n_sets, name):
    config = make_config(held_out="span", large=MANAGER.make("trainer", "landmarks"))
    trainer, held_out = trainer_for(config, n_rows, n_sets, PairwiseStatistics(X))
    assert trainer.name == name
    assert held_out == ("span" if name == "svm" else "folds")


@pytest.mark.parametrize(
    ("trainer", "asked", "method"),
    [("least_squares", "auto", "closed form"), ("svm", "auto", "closed form"), ("svm", "folds", "folds")],
)
def test_who_takes_over_has_the_cheapest_method_of_its_own_unless_another_was_asked_for(trainer, asked, method):
    large = MANAGER.make("trainer", "landmarks", {"landmarks": 10})
    config = make_config(trainer=MANAGER.make("trainer", trainer), held_out=asked, large=large, large_rows=10)
    pair = Dichotomy((0,), (1,))
    problem, scoring = problem_for(pair, Examples.of(X, Y), config, kernel=Gaussian(), C=1.0, n_sets=1)
    assert (problem.trainer.name, scoring.name) == ("landmarks", method)
    assert problem.balanced == (method != "closed form")


def test_landmarks_take_over_where_the_matrix_does_not_fit():
    config = make_config(large=MANAGER.make("trainer", "landmarks"), large_rows=100)
    statistics = PairwiseStatistics(X, budget=50 * 50 * 4)
    assert trainer_for(config, 50, 1, statistics)[0].name == "svm"
    assert trainer_for(config, 51, 1, statistics)[0].name == "landmarks"


@pytest.mark.parametrize("fields", [{}, {"trainer": Bag(), "large": MANAGER.make("trainer", "landmarks")}])
def test_a_trainer_without_a_matrix_or_without_another_stays(fields):
    config = make_config(**fields)
    assert trainer_for(config, 10**6, 1, PairwiseStatistics(X)) == (config.trainer, "auto")


# --- balance --------------------------------------------------------------------------------------------------------


def machine_of(trainer, balance, held_out="auto"):
    """The machine of one label against two, and what it should be with the sides balanced and not."""
    dichotomy, weights = Dichotomy((0,), (1, 2)), np.random.default_rng(0).uniform(0.5, 2, len(Y))
    examples = Examples.of(X, Y, weights)
    config = make_config(trainer=trainer, balance=balance, held_out=held_out)
    [result] = train_dichotomies([dichotomy], examples, [Gaussian()], [2.0], config, make_run())
    sides, K = np.where(np.isin(Y, dichotomy.positive), 1, -1), gram(Gaussian(), X)
    factors = {
        "sides": len(Y) / 2 / np.where(sides > 0, *(weights[sides == side].sum() for side in (1, -1))),
        "none": 1.0,
    }
    expected = {
        name: trainer.fit(Task(sides, 2.0, weights * factor, np.random.default_rng(0), K=K)).scores(K)
        for name, factor in factors.items()
    }
    return result.machine.scores(K), expected


@pytest.mark.parametrize("name", ["svm", "l2_svm", "least_squares"])
@pytest.mark.parametrize("held_out", ["auto", "folds"])
@pytest.mark.parametrize("balance", ["sides", "none"])
def test_sides_are_balanced_or_not_as_the_option_says(name, held_out, balance):
    scores, expected = machine_of(MANAGER.make("trainer", name), balance, held_out=held_out)
    np.testing.assert_allclose(scores, expected[balance], atol=1e-8)
    assert np.abs(expected["sides"] - expected["none"]).max() > 1e-2


@pytest.mark.parametrize(
    ("name", "held_out", "same_as"),
    [("svm", "auto", "sides"), ("least_squares", "auto", "none"), ("least_squares", "folds", "sides")],
)
def test_by_itself_sides_are_balanced_but_in_closed_form(name, held_out, same_as):
    scores, expected = machine_of(MANAGER.make("trainer", name), "auto", held_out=held_out)
    np.testing.assert_allclose(scores, expected[same_as], atol=1e-8)


def test_balanced_dichotomies_in_closed_form_share_no_factorisation_of_other_weights():
    trainer = MANAGER.make("trainer", "least_squares")
    rest = [Dichotomy((k,), tuple(other for other in range(3) if other != k)) for k in range(3)]
    unequal = np.flatnonzero((Y != 0) | (np.arange(len(Y)) % 2 == 0))
    examples = Examples.of(X[unequal], Y[unequal])
    config = make_config(trainer=trainer, balance="sides")
    arguments = ([Gaussian()] * 3, [2.0] * 3, config, make_run())
    together = train_dichotomies(rest, examples, *arguments)
    for dichotomy, result in zip(rest, together, strict=True):
        [alone] = train_dichotomies([dichotomy], examples, [Gaussian()], [2.0], config, make_run())
        np.testing.assert_allclose(result.held_out, alone.held_out, atol=1e-12)
        np.testing.assert_allclose(result.machine.coefficients, alone.machine.coefficients, atol=1e-12)
