import numpy as np
import pytest
from audioclass_ensembles import bagging
from audioclass_ensembles.bagging import Bagging

from audioclass import AudioclassError, plugin_manager
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.statistics import gram
from audioclass.problems import FeatureMachine
from audioclass.testing.blobs import binary_task, blobs, scores_of


def problem(spread=1.0):
    X, labels = blobs(spread=spread)
    return X, 1 - 2 * labels


def everything(y, groups, n_bags, rng):
    """Bags that hold every example once."""
    return np.ones((n_bags, len(y)), int)


@pytest.mark.parametrize("base", ["svm", "l2_svm", "least_squares"])
def test_identical_members_decide_as_one(monkeypatch, base):
    X, y = problem()
    monkeypatch.setattr(bagging, "draw_bags", everything)
    together = Bagging(base=base, n_members=3).fit(binary_task("gram", X, y))
    alone = plugin_manager().make("trainer", base).fit(binary_task("gram", X, y))
    new = blobs(seed=1)[0]
    K = gram(Gaussian(), new, X)
    np.testing.assert_allclose(together.scores(K), alone.scores(K), atol=1e-9)


def test_it_wants_what_its_members_want():
    assert [Bagging(base=base).wants for base in ("svm", "nystroem", "l2_svm")] == ["gram", "entries", "gram"]


def test_settings_reach_the_members():
    assert Bagging(base="nystroem", settings=("landmarks=7",)).member.landmarks == 7


def test_the_mean_of_kernel_machines_is_their_mean_score():
    X, y = problem()
    trainer = Bagging(n_members=4)
    task = binary_task("gram", X, y)
    machines = trainer._fit_members(task, trainer._bags(task, np.arange(len(y))))
    K = gram(Gaussian(), blobs(seed=1)[0], X)
    expected = np.mean([machine.scores(K) for machine in machines], axis=0)
    np.testing.assert_allclose(trainer.fit(binary_task("gram", X, y)).scores(K), expected, atol=1e-9)


def test_members_that_want_features(monkeypatch):
    from audioclass_ensembles.adaboost import AdaBoost

    class Manager:
        def load(self, kind, name):
            return {"adaboost": AdaBoost}[name]

        def make(self, kind, name, parameters):
            return self.load(kind, name)(**parameters)

    monkeypatch.setattr(bagging, "plugin_manager", Manager)
    trainer = Bagging(base="adaboost", settings=("n_rounds=5",), n_members=11)
    X, y = problem()
    machine, held_out = trainer.fit_out_of_bag(binary_task("features", X, y), np.arange(len(y)))
    members = bagging._split(machine.arrays)
    expected = np.mean([AdaBoost().scores(FeatureMachine(arrays), X) for arrays in members], axis=0)
    assert len(members) == 11
    np.testing.assert_allclose(trainer.scores(machine, X), expected)
    assert np.isfinite(held_out).mean() > 0.9


def over_features(monkeypatch, combination):
    from audioclass_ensembles.adaboost import AdaBoost

    class Manager:
        def load(self, kind, name):
            return AdaBoost

        def make(self, kind, name, settings):
            return AdaBoost(**settings)

    monkeypatch.setattr(bagging, "plugin_manager", Manager)
    return Bagging(base="adaboost", settings=("n_rounds=5",), n_members=11, combination=combination)


@pytest.mark.parametrize("combination", ["vote", "probability"])
def test_members_over_features_vote_or_give_probabilities(monkeypatch, combination):
    trainer = over_features(monkeypatch, combination)
    X, y = problem()
    machine, held_out = trainer.fit_out_of_bag(binary_task("features", X, y), np.arange(len(y)))
    members = [FeatureMachine(arrays) for arrays in bagging._split(machine.arrays)]
    scores = np.stack([trainer._feature_scores(each, X) for each in members])
    if combination == "vote":
        expected = np.sign(scores).mean(axis=0)
    else:
        logistic = np.stack([each.arrays["bagging_logistic"] for each in members])
        expected = (2 / (1 + np.exp(logistic[:, :1] * scores + logistic[:, 1:])) - 1).mean(axis=0)
    np.testing.assert_allclose(trainer.scores(machine, X), expected)
    known = np.isfinite(held_out)
    assert np.abs(held_out[known]).max() <= 1
    assert np.mean((held_out[known] > 0) == (y[known] > 0)) > 0.8


@pytest.mark.parametrize("combination", ["vote", "probability"])
def test_identical_members_vote_as_one(monkeypatch, combination):
    monkeypatch.setattr(bagging, "draw_bags", everything)
    trainer = over_features(monkeypatch, combination)
    X, y = problem()
    together = trainer.scores(trainer.fit(binary_task("features", X, y)), X)
    alone = trainer.member.scores(trainer.member.fit(binary_task("features", X, y)), X)
    np.testing.assert_array_equal(np.sign(together), np.sign(alone))


@pytest.mark.parametrize("combination", ["vote", "probability"])
def test_a_vote_of_kernel_machines_is_refused(combination):
    message = f"combination={combination}: members of svm are kernel machines, of which only the mean score is one"
    with pytest.raises(AudioclassError, match=message):
        Bagging(combination=combination)


@pytest.mark.parametrize("base", ["svm", "nystroem"])
def test_held_out_scores_are_means_over_members_that_missed_the_group(base):
    X, y = problem()
    trainer, groups = Bagging(base=base, n_members=6), np.arange(len(y)) // 2
    _, scores = trainer.fit_out_of_bag(binary_task(trainer.wants, X, y), groups)
    task = binary_task(trainer.wants, X, y)
    bags = trainer._bags(task, groups)
    machines = trainer._fit_members(task, bags)
    by_member = np.stack([scores_of(trainer, machine, X, X) for machine in machines])
    for row in range(len(y)):
        missed = bags[:, row] == 0
        expected = by_member[missed, row].mean() if missed.any() else np.nan
        assert scores[row] == pytest.approx(expected, nan_ok=True)


def test_an_unknown_member_gets_a_suggestion():
    with pytest.raises(AudioclassError, match="unknown trainer 'nystrom'; did you mean 'nystroem'"):
        Bagging(base="nystrom")


def test_a_wrong_setting_is_refused():
    with pytest.raises(AudioclassError, match="unknown parameter of svm 'landmarks'"):
        Bagging(settings=("landmarks=3",))
    with pytest.raises(AudioclassError, match="'landmarks' must be NAME=VALUE"):
        Bagging(base="nystroem", settings=("landmarks",))
