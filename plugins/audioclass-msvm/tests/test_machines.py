import numpy as np
import pytest
from audioclass_msvm.machines import BredensteinerBennett, CrammerSinger, WestonWatkins, register_direct_strategies
from audioclass_msvm.solver import Problem, solve

from audioclass.contracts import FitsDirectCombination
from audioclass.problems import LabelTask
from audioclass.testing import check_direct_strategy
from audioclass.testing.blobs import blobs, label_task

MACHINES = (WestonWatkins, BredensteinerBennett, CrammerSinger)


def task_of(problem, C, **changes):
    n = len(problem.y)
    given = {"weights": np.ones(n), "rng": np.random.default_rng(0), "K": problem.K}
    return LabelTask(problem.y, problem.n_labels, C, **given | changes)


@pytest.mark.parametrize("machine", [m(bias=b) for m in MACHINES for b in (False, True)], ids=repr)
def test_they_keep_their_contract(machine):
    check_direct_strategy(machine)
    assert isinstance(machine, FitsDirectCombination)


def test_the_hard_margin_keeps_the_contract():
    check_direct_strategy(WestonWatkins(hard_margin=True, posteriors="temperature"))


def test_they_are_offered():
    assert register_direct_strategies() == list(MACHINES)


def test_bredensteiner_bennett_is_weston_watkins_with_less_c(random_problem):
    problem = random_problem(3, 1.0, n_labels=4)
    one = BredensteinerBennett(tolerance=1e-9).fit(task_of(problem, 5.0))
    other = WestonWatkins(tolerance=1e-9).fit(task_of(problem, 1.0))
    np.testing.assert_allclose(one.scores(problem.K), other.scores(problem.K), atol=1e-6)


def test_the_objective_of_bredensteiner_bennett_is_least_there(random_problem):
    problem = random_problem(6, 2.0 / 4, n_labels=3)
    solution = BredensteinerBennett(tolerance=1e-9).solve(task_of(problem, 2.0))

    def objective(beta, bias):
        G = beta.T @ problem.K @ beta
        apart = np.triu(G.diagonal()[:, None] + G.diagonal() - 2 * G).sum()
        lacks = np.maximum(1 - problem.margins(problem.K @ beta + bias), 0)
        return 0.5 * apart + 0.5 * np.trace(G) + 2.0 * lacks.sum()

    best = objective(solution.beta, solution.bias)
    assert best == pytest.approx(4 * solution.primal)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * rng.normal(size=solution.beta.shape)
        assert objective(solution.beta + step, solution.bias) >= best * (1 - 1e-8)


def test_weights_multiply_c_and_zero_leaves_out(random_problem):
    problem = random_problem(8, 1.0, n_labels=3)
    weights = np.random.default_rng(0).integers(1, 3, len(problem.y)).astype(float)
    weights[np.arange(len(weights)) > len(weights) - 4] = 0
    weights[:3] = 1
    twice = np.repeat(np.arange(len(weights)), weights.astype(int))
    repeated = Problem(problem.K[np.ix_(twice, twice)], problem.y[twice], np.full(len(twice), 1.0), "sum", True)
    machine = WestonWatkins(tolerance=1e-9).fit(task_of(problem, 1.0, weights=weights))
    np.testing.assert_allclose(machine.scores(problem.K)[twice], solve(repeated, 1e-9).scores, atol=1e-4)
    assert not np.isin(machine.support, np.flatnonzero(weights == 0)).any()


def test_few_examples_support_a_machine_of_labels_far_apart():
    X, y = blobs(3, spread=0.1)
    machine = CrammerSinger().fit(label_task("gram", X, y))
    assert len(machine.support) < len(y) / 2


def test_a_label_of_weight_zero_is_named():
    X, y = blobs(3)
    task = label_task("gram", X, y)
    bad = LabelTask(task.y, 3, 1.0, (y != 2).astype(float), task.rng, K=task.K)
    with pytest.raises(ValueError, match="label 2 has no example of weight above 0"):
        WestonWatkins().fit(bad)


def test_features_are_refused():
    X, y = blobs(3)
    with pytest.raises(ValueError, match="holds no Gram matrix K"):
        WestonWatkins().fit(label_task("features", X, y))


def test_a_gap_that_is_not_reached_is_said(random_problem, monkeypatch):
    monkeypatch.setattr("audioclass_msvm.solver.VISITS", (5, 0))
    with pytest.warns(RuntimeWarning, match=r"weston_watkins: relative duality gap .* where 0.001 was asked for"):
        WestonWatkins().fit(task_of(random_problem(4, 1.0), 1.0))


def test_no_margin_is_an_error_of_the_hard_machine():
    X, y = blobs(3, spread=3.0)
    task = LabelTask(y, 3, 1.0, np.ones(len(y)), np.random.default_rng(0), K=X @ X.T)
    with pytest.raises(ValueError, match="no margin separates the labels"):
        WestonWatkins(hard_margin=True).fit(task)
