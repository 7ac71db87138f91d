import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from audioclass.problems import Dichotomy, Geometry
from audioclass.strategies.binary_relevance import HIGHEST, LOWEST, BinaryRelevance, best_threshold


def planned(names):
    n = len(names)
    return BinaryRelevance().plan(names, Geometry(np.ones(n), np.ones((n, n)), np.ones(n)), None, None)


def test_each_label_is_told_from_the_sets_without_it():
    plan = planned(["", "music", "music+speech", "speech"])
    assert plan.dichotomies == (Dichotomy((1, 2), (0, 3)), Dichotomy((2, 3), (0, 1)))


def test_a_label_of_every_window_is_refused():
    with pytest.raises(ValueError, match="'music' is in every window"):
        planned(["music", "music+speech"])


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_no_threshold_has_a_larger_f1(seed):
    rng = np.random.default_rng(seed)
    holds = rng.random(30) < 0.4
    p = np.clip(0.3 * holds + rng.random(30) * 0.7, 0, 1).round(2)
    threshold = best_threshold(p, holds)
    tried = [f1_score(holds, p >= t, zero_division=0) for t in np.linspace(LOWEST, HIGHEST, 181)]
    assert f1_score(holds, p >= threshold, zero_division=0) >= max(tried) - 1e-12 or not holds.any()


def test_one_half_is_one_half():
    strategy, plan = BinaryRelevance("half"), planned(["a", "b"])
    fitted = strategy.fit_combination(plan, np.array([[0.9, 0.1]]), np.zeros((1, 2)), np.array([0]), np.ones(2))
    assert strategy.thresholds(fitted) == [0.5, 0.5]
