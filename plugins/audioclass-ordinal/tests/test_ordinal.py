from importlib.metadata import entry_points

import numpy as np
import pytest
from audioclass_ordinal import Ordinal

from audioclass.errors import UsageError
from audioclass.estimator import AudioclassClassifier
from audioclass.problems import Dichotomy
from audioclass.testing import check_strategy


def test_it_keeps_its_contract():
    check_strategy(Ordinal())


def test_three_levels_by_hand():
    plan = Ordinal(order=("low", "middle", "high")).plan(["high", "low", "middle"], None, None, None)
    assert plan.dichotomies == (Dichotomy((2, 0), (1,)), Dichotomy((0,), (1, 2)))
    P = Ordinal().combine(plan, np.array([[0.7, 0.2], [0.3, 0.6]]), None, None, {})
    np.testing.assert_allclose(P, [[0.2, 0.3, 0.5], [0.3, 0.7, 0.0]])


def test_consistent_machines_give_back_the_posteriors():
    truth = np.random.default_rng(0).dirichlet(np.ones(5), 20)
    plan = Ordinal().plan(list("abcde"), None, None, None)
    above = np.stack([truth[:, list(d.positive)].sum(axis=1) for d in plan.dichotomies], axis=1)
    np.testing.assert_allclose(Ordinal().combine(plan, above, None, None, {}), truth, atol=1e-12)


def test_an_order_of_other_labels_is_refused():
    with pytest.raises(UsageError, match="ordinal: order a, b must hold each of a, c once"):
        Ordinal(order=("a", "b")).plan(["a", "c"], None, None, None)


INSTALLED = "ordinal" in entry_points(group="audioclass").names


@pytest.mark.skipif(not INSTALLED, reason="a name is known once the distribution is installed")
def test_it_trains_by_name():
    rng = np.random.default_rng(0)
    y = np.repeat(["1 calm", "2 busy", "3 loud"], 20)
    X = np.repeat([0.0, 2.0, 4.0], 20)[:, None] + 0.4 * rng.normal(size=(60, 3))
    model = AudioclassClassifier(strategy="ordinal").fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-9)
