import numpy as np
import pytest
from means import BagOfMeans, Means, MeansOfFeatures
from trainings import make_config, make_run

from audioclass.classifier.classifier import Classifier
from audioclass.classifier.recalibration import recalibrated
from audioclass.contracts import HoldsOutOfBag
from audioclass.kernels.linear import Linear
from audioclass.problems import FeatureMachine
from audioclass.storage import Store
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.testing.blobs import blobs
from audioclass.training.direct import train_direct
from audioclass.training.examples import Examples
from audioclass.training.folds import grouped_folds
from audioclass.training.random_split import random_split_posteriors
from audioclass.training.train import train_classifier

X, Y = blobs(3, n_each=10, spread=1.0)
GROUPS = np.arange(len(Y)) // 2


def direct(strategy, groups=GROUPS, store=None, jobs=1):
    examples, run = Examples.of(X, Y, groups=groups), make_run(jobs=jobs)
    return train_direct(examples, 3, Linear(), 1.0, make_config(strategy=strategy), run, store=store)


def test_held_out_scores_are_those_of_means_without_the_fold():
    folds = grouped_folds(Y, GROUPS, 5)
    found = direct(Means()).held_out
    for fold in range(5):
        means = np.array([X[(folds != fold) & (k == Y)].mean(axis=0) for k in range(3)])
        expected = X[folds == fold] @ means.T - (means**2).sum(axis=1) / 2
        np.testing.assert_allclose(found[folds == fold], expected, atol=1e-9)


def test_features_and_gram_matrix_say_the_same():
    one, other = direct(Means()), direct(MeansOfFeatures())
    np.testing.assert_allclose(one.held_out, other.held_out, atol=1e-9)
    assert one.fitted == other.fitted
    assert one.note == other.note == ""


def test_what_no_member_missed_is_scored_by_the_machine():
    found = direct(BagOfMeans())
    np.testing.assert_allclose(found.held_out, MeansOfFeatures().scores(found.machine, X), atol=1e-9)
    assert np.isfinite(found.held_out).all()
    assert found.fitted["inverse_temperature"] > 0


def test_a_single_group_is_noted():
    found = direct(Means(), groups=np.zeros(len(Y), int))
    assert found.note == "combined by its own training scores: a label has a single group"


@pytest.mark.parametrize("strategy", [Means(), MeansOfFeatures(), BagOfMeans()], ids=lambda one: one.name)
def test_a_store_changes_no_bit(strategy, tmp_path):
    plain = direct(strategy)
    for _ in range(2):
        kept = direct(strategy, store=Store(tmp_path))
        assert np.array_equal(kept.held_out, plain.held_out)
    assert list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize("strategy", [Means(), MeansOfFeatures(), BagOfMeans()], ids=lambda one: one.name)
def test_a_classifier_of_all_labels_at_once(strategy):
    config = make_config(strategy=strategy, kernels=(Linear(),))
    told = []
    examples = Examples.of(X, Y, groups=GROUPS)
    training = train_classifier(examples, "abc", config, make_run(progress=lambda *at: told.append(at)))
    classifier = training.classifier
    n_fits = 1 if isinstance(strategy, HoldsOutOfBag) else 1 + 5
    assert told == [("training", done, n_fits) for done in range(1, n_fits + 1)]
    assert (classifier.plan, classifier.n_machines) == (None, 1)
    P = classifier.posteriors(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P.argmax(axis=1) == Y).mean() > 0.8
    assert random_split_posteriors(examples, config, training, make_run()).shape == P.shape


def test_jobs_do_not_change_the_result():
    assert np.array_equal(direct(Means()).held_out, direct(Means(), jobs=2).held_out)


def test_a_strategy_with_a_plan_is_refused():
    with pytest.raises(ValueError, match="strategy 'one_vs_one' plans dichotomies, a direct one is needed"):
        direct(OneVsOne())


def test_labels_weigh_the_same_in_sum():
    seen = []

    class Watched(MeansOfFeatures):
        def fit(self, task):
            seen.append(np.bincount(task.y, weights=task.weights))
            return super().fit(task)

    kept = np.flatnonzero((Y != 0) | (np.arange(len(Y)) < 4))
    config = make_config(strategy=Watched())
    train_direct(Examples.of(X[kept], Y[kept]), 3, Linear(), 1.0, config, make_run())
    np.testing.assert_allclose(seen[0], len(kept) / 3)


def test_a_combination_is_fitted_anew():
    strategy = MeansOfFeatures()
    machine = FeatureMachine({"means": np.array([X[k == Y].mean(axis=0) for k in range(3)])})
    classifier = Classifier(("a", "b", "c"), strategy, (machine,), np.full(3, 10), fitted={"inverse_temperature": 0.01})
    assert recalibrated(classifier, classifier.scores(X), Y).fitted["inverse_temperature"] > 0.05


def test_labels_are_balanced_unless_the_option_says_no():
    seen = []

    class Listening(Means):
        def fit(self, task):
            seen.append(task.weights)
            return super().fit(task)

    few = np.concatenate([np.flatnonzero(Y == 0)[:4], np.flatnonzero(Y != 0)])
    examples = Examples.of(X[few], Y[few], groups=np.arange(len(few)))
    for balance in ("auto", "sides", "none"):
        seen.clear()
        config = make_config(strategy=Listening(), balance=balance)
        train_direct(examples, 3, Linear(), 1.0, config, make_run())
        sums = [seen[0][Y[few] == label].sum() for label in range(3)]
        np.testing.assert_allclose(sums, [4, 10, 10] if balance == "none" else [8, 8, 8])
