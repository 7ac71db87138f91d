import subprocess
import sys

import numpy as np
import pytest
from audioclass_ensembles import adaboost, bagging, forests, gradient_boosting, neighbours, samme

from audioclass.contracts import FitsDirectCombination, HoldsOutOfBag
from audioclass.problems import LabelTask, Task
from audioclass.testing import check_direct_strategy, check_trainer
from audioclass.testing.blobs import binary_task, blobs, label_task

TRAINERS = [
    adaboost.AdaBoost(n_rounds=20),
    bagging.Bagging(n_members=8),
    bagging.Bagging(n_members=8, combination="vote"),
    bagging.Bagging(n_members=8, combination="probability"),
    bagging.Bagging(base="least_squares", n_members=20, combination="vote"),
    bagging.Bagging(base="nystroem", settings=("landmarks=20",), n_members=8),
    bagging.Bagging(base="nystroem", settings=("landmarks=20",), n_members=8, combination="probability"),
    forests.ExtraTrees(n_trees=20),
    forests.RandomForest(n_trees=20),
    gradient_boosting.GradientBoosting(n_stages=20),
    neighbours.NearestNeighbours(),
    neighbours.NearestNeighbours(k=7, votes="inverse_distance"),
]
STRATEGIES = [
    forests.ExtraTreesOfLabels(n_trees=20),
    forests.RandomForestOfLabels(n_trees=20),
    gradient_boosting.GradientBoostingOfLabels(n_stages=20),
    neighbours.NearestNeighboursOfLabels(),
    samme.Samme(n_rounds=20),
]


@pytest.mark.parametrize("trainer", TRAINERS, ids=repr)
def test_trainers_keep_their_contract(trainer):
    check_trainer(trainer)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_strategies_keep_their_contract(strategy):
    check_direct_strategy(strategy)
    assert isinstance(strategy, FitsDirectCombination)


def test_those_with_bags_hold_out_of_them():
    holding = {type(component) for component in (*TRAINERS, *STRATEGIES) if isinstance(component, HoldsOutOfBag)}
    assert holding == {
        bagging.Bagging,
        forests.ExtraTrees,
        forests.RandomForest,
        neighbours.NearestNeighbours,
        forests.ExtraTreesOfLabels,
        forests.RandomForestOfLabels,
        neighbours.NearestNeighboursOfLabels,
    }


@pytest.mark.parametrize(
    "component", [forests.RandomForest(), neighbours.NearestNeighbours(), bagging.Bagging()], ids=repr
)
def test_groups_must_be_as_many_as_examples(component):
    X, labels = blobs()
    task = binary_task(component.wants, X, 1 - 2 * labels)
    with pytest.raises(ValueError, match="3 groups for 30 examples"):
        component.fit_out_of_bag(task, np.arange(3))


def test_a_label_without_weight_is_refused():
    X, y = blobs(3)
    given = {"C": 1.0, "rng": np.random.default_rng(0), "X": X}
    with pytest.raises(ValueError, match="label 2 has no example of weight above 0"):
        samme.Samme().fit(LabelTask(y, 3, weights=(y != 2).astype(float), **given))
    with pytest.raises(ValueError, match="label 0 has no example of weight above 0"):
        adaboost.AdaBoost().fit(Task(np.where(y > 0, 1, -1), weights=(y != 0).astype(float), **given))


def test_a_gram_matrix_is_refused():
    X, y = blobs()
    with pytest.raises(ValueError, match="wants features X"):
        forests.RandomForest().fit(binary_task("gram", X, 1 - 2 * y))


@pytest.mark.parametrize(
    "component", [forests.RandomForest(n_trees=4), forests.RandomForestOfLabels(n_trees=4)], ids=repr
)
def test_examples_of_weight_zero_have_no_held_out_score(component):
    X, y = blobs()
    weights = np.where(np.arange(len(y)) < 4, 0.0, 1.0)
    given = {"C": 1.0, "weights": weights, "rng": np.random.default_rng(0), "X": X}
    is_trainer = isinstance(component, forests.RandomForest)
    task = Task(2 * y - 1, **given) if is_trainer else LabelTask(y, 2, **given)
    _, scores = component.fit_out_of_bag(task, np.arange(len(y)))
    assert np.isnan(scores[:4]).all()


def test_models_are_evaluated_without_scikit_learn(tmp_path):
    X, y = blobs(3)
    machines = {}
    for i, strategy in enumerate(STRATEGIES):
        arrays = strategy.fit(label_task("features", X, y)).arrays
        machines[i] = strategy.scores(strategy.fit(label_task("features", X, y)), X)
        np.savez(tmp_path / f"{i}.npz", **arrays)
    np.savez(tmp_path / "expected.npz", X=X, **{str(i): scores for i, scores in machines.items()})
    program = f"""
import sys
sys.modules["sklearn"] = None
import numpy as np
from audioclass.problems import FeatureMachine
from audioclass_ensembles import forests, gradient_boosting, neighbours, samme
expected = np.load({str(tmp_path / "expected.npz")!r})
components = [forests.ExtraTreesOfLabels(), forests.RandomForestOfLabels(),
          gradient_boosting.GradientBoostingOfLabels(), neighbours.NearestNeighboursOfLabels(), samme.Samme()]
for i, component in enumerate(components):
    machine = FeatureMachine(dict(np.load({str(tmp_path)!r} + f"/{{i}}.npz")))
    assert np.array_equal(component.scores(machine, expected["X"]), expected[str(i)]), component
print("same")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "same\n", done.stderr
