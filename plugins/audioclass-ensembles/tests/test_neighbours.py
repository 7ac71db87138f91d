import numpy as np
import pytest
from audioclass_ensembles import neighbours
from audioclass_ensembles.neighbours import NearestNeighbours, NearestNeighboursOfLabels
from sklearn.neighbors import KNeighborsClassifier

from audioclass.testing.blobs import binary_task, blobs, label_task


def shares(strategy, scores):
    """The plain shares behind smoothed logarithms."""
    return (np.exp(scores) * (strategy.k + 1) - 1 / scores.shape[1]) / strategy.k


@pytest.mark.parametrize(("votes", "weights"), [("equal", "uniform"), ("inverse_distance", "distance")])
def test_scikit_learn_agrees(votes, weights):
    X, y = blobs(3, spread=1.5)
    new = np.concatenate([blobs(3, spread=1.5, seed=1)[0], X[:5]])
    strategy = NearestNeighboursOfLabels(k=7, votes=votes)
    scores = strategy.scores(strategy.fit(label_task("features", X, y)), new)
    judge = KNeighborsClassifier(7, weights=weights).fit(X, y)
    np.testing.assert_allclose(shares(strategy, scores), judge.predict_proba(new), atol=1e-9)


def test_votes_worked_out_by_hand():
    # neighbours of 0: at 1 (+), 2 (-), 4 (-); by distance 1 against 1/2 + 1/4
    X, y = np.array([[1.0], [-2.0], [4.0], [100.0]]), np.array([1, -1, -1, 1])
    task = binary_task("features", X, y)
    equal, inverse = (NearestNeighbours(k=3, votes=votes) for votes in ("equal", "inverse_distance"))
    zero = np.zeros((1, 1))
    assert equal.scores(equal.fit(task), zero)[0] == pytest.approx(np.log((1 + 0.5) / (2 + 0.5)))
    plus, minus = 1 / 1.75, 0.75 / 1.75
    expected = np.log((3 * plus + 0.5) / (3 * minus + 0.5))
    assert inverse.scores(inverse.fit(task), zero)[0] == pytest.approx(expected)


def test_held_out_scores_are_those_of_a_machine_without_the_group():
    X, y = blobs(3, spread=1.2)
    groups = np.arange(len(y)) // 3
    strategy = NearestNeighboursOfLabels(k=4)
    _, scores = strategy.fit_out_of_bag(label_task("features", X, y), groups)
    for group in range(4):
        away = groups == group
        without = strategy.fit(label_task("features", X[~away], y[~away]))
        np.testing.assert_allclose(scores[away], strategy.scores(without, X[away]), atol=1e-12)


def test_one_group_has_nobody_to_ask():
    X, y = blobs(2)
    _, scores = NearestNeighbours().fit_out_of_bag(binary_task("features", X, 1 - 2 * y), np.zeros(len(y)))
    assert np.isnan(scores).all()


def test_blocks_of_rows_do_not_matter(monkeypatch):
    X, y = blobs(3)
    strategy = NearestNeighboursOfLabels()
    machine = strategy.fit(label_task("features", X, y))
    whole = strategy.scores(machine, X)
    monkeypatch.setattr(neighbours, "PAIRS_TOGETHER", 100)
    np.testing.assert_allclose(strategy.scores(machine, X), whole, atol=1e-12)


def test_more_neighbours_than_examples_are_all_examples():
    X, y = blobs(2, n_each=2)
    strategy = NearestNeighboursOfLabels(k=50)
    np.testing.assert_allclose(strategy.scores(strategy.fit(label_task("features", X, y)), X), np.log(0.5))
