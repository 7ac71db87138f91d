import numpy as np
import pytest
from audioclass_ensembles.adaboost import AdaBoost, boost_stumps
from audioclass_ensembles.labelled import Dataset
from audioclass_ensembles.rounds import TINY
from audioclass_ensembles.samme import Samme, boost_trees
from audioclass_ensembles.stumps import BELOW_ALL, SortedFeatures, Stump
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from audioclass.testing.blobs import binary_task, blobs, label_task

seeds = st.integers(0, 1000)


def problem(seed, n=30, d=3):
    """Noisy sides on a coarse grid, so that values repeat."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1, -1)
    return np.round(rng.normal(size=(n, d)) + 0.4 * y[:, None], 1), y


def every_stump(X):
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        for threshold in (BELOW_ALL, *((values[:-1] + values[1:]) / 2)):
            for side in (1, -1):
                yield Stump(feature, float(threshold), side)


@settings(max_examples=20)
@given(seeds)
def test_the_stump_is_the_best_of_all_and_the_first_of_equals(seed):
    X, y = problem(seed)
    w = np.random.default_rng(seed).dirichlet(np.ones(len(y)))
    stumps = list(every_stump(X))
    errors = np.array([w[stump.of(X) != y].sum() for stump in stumps])
    expected = stumps[int(np.argmax(errors <= errors.min() + 1e-12))]
    found = SortedFeatures(X).best(y, w)
    assert (found.feature, found.side) == (expected.feature, expected.side)
    assert found.threshold == pytest.approx(expected.threshold)


@settings(max_examples=20)
@given(seeds)
def test_the_identities_of_the_rounds(seed):
    X, y = problem(seed)
    rounds = boost_stumps(X, y, np.ones(len(y)), 30)
    f, product = np.zeros(len(y)), 1.0
    np.testing.assert_allclose(rounds[0].weights, 1 / len(y))
    for i, each in enumerate(rounds):
        h = each.member.of(X)
        Z = (each.weights * np.exp(-each.alpha * y * h)).sum()
        f, product = f + each.alpha * h, product * Z
        assert pytest.approx(2 * np.sqrt(each.error * (1 - each.error))) == Z
        after = each.weights * np.exp(-each.alpha * y * h) / Z
        assert after[h != y].sum() == pytest.approx(0.5)
        if i + 1 < len(rounds):
            np.testing.assert_allclose(rounds[i + 1].weights, after)
        assert product == pytest.approx(np.mean(np.exp(-y * f)))
        assert np.mean(np.sign(f) != y) <= product + 1e-12


@settings(max_examples=10)
@given(seeds)
def test_scores_are_the_sum_of_the_votes(seed):
    X, y = problem(seed)
    machine = AdaBoost(n_rounds=15).fit(binary_task("features", X, y))
    f = sum(each.alpha * each.member.of(X) for each in boost_stumps(X, y, np.ones(len(y)), 15))
    np.testing.assert_allclose(AdaBoost().scores(machine, X), f, atol=1e-12)


def test_three_rounds_worked_out_by_hand():
    # x = 1 2 3 4, y = + + - +: the first stump below all values says + everywhere, ε = 1/4; x = 3 then weighs 1/2.
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([1, 1, -1, 1])
    first, second, third = boost_stumps(X, y, np.ones(4), 3)
    assert (first.member, first.error) == (Stump(0, BELOW_ALL, 1), 0.25)
    assert first.alpha == pytest.approx(0.5 * np.log(3))
    np.testing.assert_allclose(second.weights, [1 / 6, 1 / 6, 1 / 2, 1 / 6])
    assert second.member == Stump(0, 2.5, -1)  # wrong for x = 4 alone
    assert second.error == pytest.approx(1 / 6)
    np.testing.assert_allclose(third.weights, [0.1, 0.1, 0.3, 0.5])
    assert third.member == Stump(0, 3.5, 1)  # wrong for x = 1 and 2


def test_a_perfect_stump_is_kept_and_the_last():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([-1, -1, 1])
    [only] = boost_stumps(X, y, np.ones(3), 50)
    assert only.member == Stump(0, 3.0, 1)
    assert only.alpha == pytest.approx(0.5 * np.log((1 - 1e-10) / 1e-10))


def test_chance_gives_the_majority_and_says_so():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])  # exclusive or: every stump errs by a half
    with pytest.warns(UserWarning, match="no stump is better than chance"):
        machine = AdaBoost().fit(binary_task("features", X, np.array([1, 1, -1, -1])))
    np.testing.assert_array_equal(AdaBoost().scores(machine, X), np.full(4, TINY))


def test_a_score_of_zero_goes_to_the_majority():
    machine = AdaBoost().fit(binary_task("features", np.array([[0.0], [1.0], [2.0]]), np.array([-1, -1, 1])))
    empty = {name: array[:0] for name, array in machine.arrays.items() if name != "majority"}
    silent = type(machine)(empty | {"majority": machine.arrays["majority"]})
    np.testing.assert_array_equal(AdaBoost().scores(silent, np.zeros((2, 1))), [-TINY, -TINY])


def test_a_constant_stump_is_constant_for_new_examples_too():
    assert (Stump(0, BELOW_ALL, -1).of(np.array([[-1e300], [1e300]])) == -1).all()


def test_neighbouring_floats_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    stump = SortedFeatures(X).best(np.array([-1, 1]), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(stump.of(X), [-1, 1])


@settings(max_examples=10)
@given(seeds, st.integers(2, 5))
def test_samme_keeps_its_condition_and_evens_out_each_round(seed, n_labels):
    X, y = blobs(n_labels, n_each=8, spread=2.5, seed=seed)
    rounds = boost_trees(Dataset.of(label_task("features", X, y)), 6, 1)
    assert rounds
    for each in rounds:
        assert 0 < each.error < 1 - 1 / n_labels
        expected = 0.5 * np.log((1 - each.error) / each.error) + 0.5 * np.log(n_labels - 1)
        assert each.alpha == pytest.approx(expected)
        wrong = each.member.predict(X.astype(np.float32)) != y
        after = each.weights * np.exp(each.alpha * np.where(wrong, 1, -1))
        assert after[wrong].sum() / after.sum() == pytest.approx(1 - 1 / n_labels)


def test_samme_agrees_with_scikit_learn():
    X, y = blobs(4, n_each=20, spread=1.0)
    strategy = Samme(n_rounds=25, max_depth=2)
    scores = strategy.scores(strategy.fit(label_task("features", X, y)), X)
    judge = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=25, random_state=0).fit(X, y)
    assert np.mean(scores.argmax(axis=1) == judge.predict(X)) >= 0.95  # ties between splits are broken at random


def test_samme_at_chance_gives_the_majority_and_says_so():
    X = np.ones((6, 2))
    with pytest.warns(UserWarning, match="no tree is better than chance"):
        machine = Samme().fit(label_task("features", X, np.array([0, 1, 2, 0, 1, 2])))
    np.testing.assert_array_equal(Samme().scores(machine, X[:1]), [[TINY, 0, 0]])
