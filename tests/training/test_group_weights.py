"""Weights of groups of features: found where they help on unseen sources, and refused where they do not."""

from dataclasses import replace

import numpy as np
import pytest
from trainings import make_config

from audioclass.errors import UsageError
from audioclass.training.group_weights import fit_preprocessing

GREEDY = make_config(group_weights="greedy")
FEATURE_GROUPS = ("signal",) * 3 + ("noise",) * 3 + ("hum",) * 3


def sources(n=150, noise=1.0, seed=0):
    """Three labels that the first group of features alone tells apart; two examples to a source."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) // 2 % 3
    X = rng.standard_normal((n, len(FEATURE_GROUPS))) * noise
    X[:, :3] = rng.standard_normal((n, 3)) + 1.5 * np.eye(3)[y]
    return X, y, np.arange(n) // 2


def fitted(X, y, groups, config=GREEDY, **more):
    more = {"sample_weights": np.ones(len(y)), "feature_groups": FEATURE_GROUPS, **more}
    result = fit_preprocessing(X, y, groups, config, **more)
    return result.preprocessing, result.group_weights


def shares(preprocessing, X):
    """Of each group of features in the mean squared distance."""
    spreads = 2 * preprocessing.apply(X).var(axis=0)
    return {name: spreads[np.array(FEATURE_GROUPS) == name].sum() for name in dict.fromkeys(FEATURE_GROUPS)}


def test_a_group_that_tells_labels_apart_gets_the_weight():
    X, y, groups = sources()
    preprocessing, weights = fitted(X, y, groups)
    assert weights.are_chosen
    assert weights.chosen < weights.given
    assert weights.weights["signal"] > 0.6
    assert sum(weights.weights.values()) == pytest.approx(1)
    for name, share in shares(preprocessing, X).items():
        assert share == pytest.approx(weights.weights[name], abs=1e-9)


def test_the_same_seed_gives_the_same_weights():
    X, y, groups = sources(90)
    assert fitted(X, y, groups)[1] == fitted(X, y, groups)[1]


def test_weights_that_do_not_hold_on_unseen_sources_are_refused():
    """Every group tells as much as the others: what a search prefers is chance."""
    refused = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y, groups = np.arange(120) // 2 % 3, np.arange(120) // 2
        X = rng.standard_normal((120, len(FEATURE_GROUPS))) + np.tile(np.eye(3)[y], 3)
        preprocessing, weights = fitted(X, y, groups)
        assert weights.are_chosen == (weights.chosen < weights.given)
        if not weights.are_chosen:
            refused += 1
            assert weights.weights == pytest.approx(dict.fromkeys(weights.weights, 1 / 3))
            np.testing.assert_array_equal(preprocessing.factors, fitted(X, y, groups, make_config())[0].factors)
    assert refused


def test_the_search_starts_from_given_weights_and_those_of_0_stay():
    X, y, groups = sources()
    given = {"signal": 1.0, "noise": 0.0, "hum": 3.0}
    preprocessing, weights = fitted(X, y, groups, given=given)
    assert weights.weights["noise"] == 0
    assert weights.weights["signal"] > 0.4
    assert shares(preprocessing, X)["noise"] == 0


def test_few_sources_keep_the_given_weights():
    X, y, _ = sources(60)
    _, weights = fitted(X, y, np.arange(60) % 3)
    assert weights.to_plain() == {"weights": pytest.approx(dict.fromkeys(weights.weights, 1 / 3)), "are_chosen": False}


def test_features_without_groups_are_refused_where_weights_were_asked_for():
    X, y, groups = sources(30)
    assert fitted(X, y, groups, feature_groups=None)[1] is None
    asked = replace(GREEDY, chosen=frozenset({"group_weights"}))
    with pytest.raises(UsageError, match="group_weights=greedy has no effect: the features are not in groups"):
        fitted(X, y, groups, asked, feature_groups=None)
