import numpy as np
import pytest
from audioclass_ensembles import trees as trees_module
from audioclass_ensembles.forests import frequencies, mean_values
from audioclass_ensembles.gradient_boosting import boosted_arrays, raw_scores
from audioclass_ensembles.trees import Trees, candidates
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier


def problem(n_labels, seed=0, n=80):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_labels
    return rng.normal(size=(n, 5)) + 0.5 * y[:, None], y


def flattened(forest, n_labels):
    return Trees.flatten(
        [tree.tree_ for tree in forest.estimators_], [frequencies(tree, n_labels) for tree in forest.estimators_]
    )


@settings(max_examples=10)
@given(st.sampled_from([RandomForestClassifier, ExtraTreesClassifier]), st.integers(2, 5), st.integers(0, 50))
def test_forests_agree_with_scikit_learn(forest_of, n_labels, seed):
    X, y = problem(n_labels, seed)
    forest = forest_of(n_estimators=7, random_state=seed).fit(X, y)
    new = problem(n_labels, seed + 1)[0]
    np.testing.assert_allclose(mean_values(flattened(forest, n_labels), new), forest.predict_proba(new), atol=1e-12)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_gradient_boosting_agrees_with_scikit_learn(n_labels):
    X, y = problem(n_labels)
    model = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y, sample_weight=1.0 + y)
    new = problem(n_labels, 1)[0]
    expected = model.decision_function(new).reshape(len(new), -1)
    np.testing.assert_allclose(raw_scores(boosted_arrays(model, X), new), expected, rtol=0, atol=1e-12)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    X, y = problem(3)
    trees = flattened(RandomForestClassifier(n_estimators=5, random_state=0).fit(X, y), 3)
    whole = mean_values(trees, X)
    monkeypatch.setattr(trees_module, "PAIRS_TOGETHER", 35)
    np.testing.assert_array_equal(mean_values(trees, X), whole)


def test_a_tree_worked_out_by_hand():
    # node 0: x_1 > 2.5 goes to leaf 1, else to node 1: x_0 > -1 goes to leaf 2, else to leaf 0
    tree = Trees(
        np.array([0]),
        np.array([1, 0]),
        np.array([2.5, -1.0]),
        np.array([[1, 3], [2, 4]]),
        np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]),
    )
    X = np.array([[0.0, 3.0], [0.0, 2.5], [-1.0, 2.0]])
    np.testing.assert_array_equal(mean_values(tree, X), [[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])


def test_a_tree_may_be_a_single_leaf():
    none = np.empty(0, int)
    tree = Trees(np.array([0]), none, np.empty(0), none.reshape(0, 2), np.array([[0.25, 0.75]]))
    np.testing.assert_array_equal(mean_values(tree, np.zeros((2, 3))), [[0.25, 0.75]] * 2)


def test_rows_that_no_tree_counts_for_are_nan():
    X, y = problem(2)
    trees = flattened(RandomForestClassifier(n_estimators=2, random_state=0).fit(X, y), 2)
    counts = np.zeros((len(X), 2), bool)
    counts[0, 1] = True
    means = mean_values(trees, X, counts)
    assert np.isnan(means[1:]).all()
    assert means[0].sum() == pytest.approx(1)


@pytest.mark.parametrize(("asked", "n_features", "tried"), [(None, 10, 4), (3, 10, 3), (50, 10, 10), (None, 1, 1)])
def test_nodes_try_the_square_root_of_the_features(asked, n_features, tried):
    assert candidates(asked, n_features) == tried
