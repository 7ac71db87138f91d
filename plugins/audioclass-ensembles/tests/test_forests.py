import numpy as np
import pytest
from audioclass_ensembles.forests import ExtraTreesOfLabels, Forest, RandomForest, RandomForestOfLabels, mean_values
from audioclass_ensembles.labelled import Dataset
from audioclass_ensembles.trees import Trees
from sklearn.tree import DecisionTreeClassifier

from audioclass.testing.blobs import binary_task, blobs, label_task


def noisy(n_labels=3, spread=1.5):
    return blobs(n_labels, n_each=20, spread=spread)


def reach(trees, X):
    """For each tree and node, inner ones first, which rows come by."""
    n_inner = len(trees.features)
    passed = np.zeros((n_inner + len(trees.values), len(X)), bool)
    passed[trees.roots] = True
    for root in trees.roots:
        stack = [root]
        while stack:
            node = stack.pop()
            if node < n_inner:
                right = X[:, trees.features[node]].astype(np.float32) > trees.thresholds[node]
                for child, goes in zip(trees.children[node], (~right, right), strict=True):
                    passed[child] = passed[node] & goes
                    stack.append(child)
    return passed


def test_no_split_raises_the_gini_impurity():
    X, y = noisy()
    trees = Trees.of(RandomForestOfLabels(n_trees=5, bootstrap=False).fit(label_task("features", X, y)).arrays)
    passed = reach(trees, X)
    shares = np.stack([passed[:, y == label].sum(axis=1) for label in range(3)], axis=1) / passed.sum(axis=1)[:, None]
    impurity = (1 - (shares**2).sum(axis=1)) * passed.sum(axis=1)
    decrease = impurity[: len(trees.features)] - impurity[trees.children].sum(axis=1)
    assert len(trees.features) > 20
    assert decrease.min() >= -1e-9


def test_trees_of_full_depth_make_no_training_error():
    X, y = noisy()
    strategy = RandomForestOfLabels(n_trees=3, bootstrap=False)
    scores = strategy.scores(strategy.fit(label_task("features", X, y)), X)
    assert (scores.argmax(axis=1) == y).all()


def test_all_features_and_no_bootstrap_give_one_tree_many_times():
    X, y = noisy()
    X = X[:, :1]  # of two features, equally good splits would be chosen between at random
    arrays = Forest(n_trees=4, n_candidates=1, bootstrap=False).fit_labels(Dataset.of(label_task("features", X, y)))
    new = noisy(3, 2.0)[0][:, :1]
    one = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert len(np.unique(arrays["thresholds"])) == len(arrays["thresholds"]) / 4
    np.testing.assert_allclose(mean_values(Trees.of(arrays), new), one.predict_proba(new), atol=1e-12)


def test_constant_features_never_split():
    X, y = noisy()
    padded = np.column_stack([X, np.ones(len(X))])
    arrays = ExtraTreesOfLabels(n_trees=5).fit(label_task("features", padded, y)).arrays
    assert set(arrays["features"]) == {0, 1}


def test_examples_that_are_all_alike_make_a_leaf():
    machine = RandomForest(n_trees=3).fit(binary_task("features", np.ones((6, 2)), np.array([1, 1, 1, 1, -1, -1])))
    assert len(machine.arrays["features"]) == 0
    assert np.ptp(RandomForest().scores(machine, np.zeros((2, 2)))) == 0


def test_more_candidates_than_features_are_all_features():
    X, y = noisy()
    strategy = RandomForestOfLabels(n_trees=2, n_candidates=50)
    assert strategy.scores(strategy.fit(label_task("features", X, y)), X).shape == (60, 3)


def test_depth_and_leaves_are_limited():
    X, y = noisy()
    shallow = RandomForestOfLabels(n_trees=1, max_depth=2).fit(label_task("features", X, y)).arrays
    assert len(shallow["values"]) <= 4
    large = RandomForestOfLabels(n_trees=1, min_leaf=15).fit(label_task("features", X, y)).arrays
    assert len(large["values"]) <= 4


def test_scores_are_logarithms_of_smoothed_frequencies():
    X, y = noisy()
    strategy = RandomForestOfLabels(n_trees=9)
    machine = strategy.fit(label_task("features", X, y))
    P = mean_values(Trees.of(machine.arrays), X)
    np.testing.assert_allclose(np.exp(strategy.scores(machine, X)), (9 * P + 1 / 3) / 10, atol=1e-12)
    np.testing.assert_allclose(strategy.combine(strategy.scores(machine, X), {}), (9 * P + 1 / 3) / 10, atol=1e-12)


@pytest.mark.parametrize("bootstrap", [True, False], ids=["bags", "all examples"])
def test_out_of_bag_scores_predict_the_loss_of_new_examples(bootstrap):
    X, y = blobs(3, n_each=40, spread=1.3)
    strategy = RandomForestOfLabels(n_trees=60, bootstrap=bootstrap)
    machine, held_out = strategy.fit_out_of_bag(label_task("features", X, y), np.arange(len(y)))
    new, new_y = blobs(3, n_each=100, spread=1.3, seed=7)
    ahead = np.mean(held_out.argmax(axis=1) == y)
    assert ahead == pytest.approx(np.mean(strategy.scores(machine, new).argmax(axis=1) == new_y), abs=0.08)
    assert np.mean(strategy.scores(machine, X).argmax(axis=1) == y) > ahead + 0.05


def test_the_fitted_temperature_lowers_the_loss():
    X, y = blobs(3, n_each=40, spread=1.3)
    strategy = ExtraTreesOfLabels(n_trees=30)
    machine, held_out = strategy.fit_out_of_bag(label_task("features", X, y), np.arange(len(y)))
    new, new_y = blobs(3, n_each=100, spread=1.3, seed=7)
    scores = strategy.scores(machine, new)
    losses = [
        -np.mean(np.log(strategy.combine(scores, fitted)[np.arange(len(new)), new_y]))
        for fitted in (strategy.fit_combination(held_out, y), {})
    ]
    assert losses[0] < losses[1]
