import numpy as np
import pytest
from audioclass_ensembles import bagging
from audioclass_ensembles.bagging import Bagging
from scipy.optimize import root
from sklearn.svm import SVC

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


def judged(task, bag):
    """LIBSVM's machine of a bag."""
    rows = np.flatnonzero(bag)
    svc = SVC(kernel="precomputed", C=task.C, tol=1e-10)
    return rows, svc.fit(task.K[np.ix_(rows, rows)], task.y[rows], sample_weight=bag[rows])


def platts_answer(scores, fitted):
    """Twice the probability less 1."""
    return 2 / (1 + np.exp(-(fitted[0] * scores + fitted[1]))) - 1


def platts_map(scores, y, mask):
    """Slope a and offset b of P = 1/(1+exp(−(a f + b))) of the least log-loss against Platt's targets, in a mask."""
    scores, y = scores[mask], y[mask]
    n, m = np.sum(y > 0), np.sum(y < 0)
    targets = np.where(y > 0, (n + 1) / (n + 2), 1 / (m + 2))

    def gradient(at):
        residuals = 1 / (1 + np.exp(-at[0] * scores - at[1])) - targets
        return [residuals @ scores, residuals.sum()]

    return root(gradient, [1.0, 0.0], tol=1e-12).x


@pytest.mark.parametrize("combination", ["score", "vote", "probability"])
def test_kernel_machines_are_combined_as_libsvm_and_the_definition_say(combination):
    X, y = problem()
    trainer = Bagging(settings=("tolerance=1e-9",), n_members=7, combination=combination)
    machine, held_out = trainer.fit_out_of_bag(binary_task("gram", X, y), np.arange(len(y)) // 2)
    task, new = binary_task("gram", X, y), blobs(spread=1.0, seed=1)[0]
    groups = np.arange(len(y)) // 2
    bags, K = trainer._bags(task, groups), gram(Gaussian(), new, X)
    answers, missed = [], []
    for bag in bags:
        rows, svc = judged(task, bag)
        scores = svc.decision_function(np.concatenate([K, task.K])[:, rows])
        if combination == "vote":
            assert np.abs(scores).min() > 1e-6  # no vote of these hangs on rounding
            scores = np.sign(scores)
        elif combination == "probability":
            fold_of = np.full(len(y), -1)
            fold_of[bag == 0] = np.unique(groups[bag == 0], return_inverse=True)[1] % 5
            maps = [platts_map(scores[len(K) :], y, (bag == 0) & (fold_of != fold)) for fold in range(5)]
            held = np.array([platts_answer(f, maps[fold]) for f, fold in zip(scores[len(K) :], fold_of, strict=True)])
            mapped = platts_answer(scores[: len(K)], platts_map(scores[len(K) :], y, bag == 0))
            scores = np.concatenate([mapped, held])
        answers.append(scores[: len(K)])
        missed.append(np.where(bag == 0, scores[len(K) :], np.nan))
    np.testing.assert_allclose(machine.scores(K), np.mean(answers, axis=0), atol=1e-5)
    known = ~np.isnan(missed).all(axis=0)
    np.testing.assert_allclose(held_out[known], np.nanmean(np.array(missed)[:, known], axis=0), atol=1e-5)
    assert np.isnan(held_out[~known]).all()


@pytest.mark.parametrize("combination", ["vote", "probability"])
def test_identical_kernel_machines_decide_as_one(monkeypatch, combination):
    X, y = problem()
    monkeypatch.setattr(bagging, "draw_bags", everything)
    together = Bagging(n_members=3, combination=combination).fit(binary_task("gram", X, y))
    alone = plugin_manager().make("trainer", "svm").fit(binary_task("gram", X, y))
    K = gram(Gaussian(), blobs(seed=1)[0], X)
    assert together.coefficients.shape == (len(together.support), 3)
    np.testing.assert_array_equal(np.sign(together.scores(K)), np.sign(alone.scores(K)))


def test_the_mean_of_scores_has_no_members():
    X, y = problem()
    machine = Bagging(n_members=3).fit(binary_task("gram", X, y))
    assert machine.members is None
    assert machine.coefficients.ndim == 1


def test_a_member_that_knows_nothing_says_so_quietly():
    """Its scores fall from the negative side to the positive: the best map that does not fall is constant."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(12, 2)), rng.permutation(np.repeat([-1, 1], 6))
    machine = Bagging(n_members=8, combination="probability").fit(binary_task("gram", X, y))
    assert (machine.members.slopes == 0).any()
    assert np.isfinite(machine.scores(gram(Gaussian(), X))).all()


@pytest.mark.parametrize("inner", ["vote", "probability"])
def test_members_of_members_are_refused(monkeypatch, inner):
    class Manager:
        def load(self, kind, name):
            return Bagging if name == "bagging" else plugin_manager().load(kind, name)

        def make(self, kind, name, settings):
            return self.load(kind, name)(**settings)

    monkeypatch.setattr(bagging, "plugin_manager", Manager)
    with pytest.raises(AudioclassError, match="base=bagging: its machines have members that vote or give"):
        Bagging(base="bagging", settings=(f"combination={inner}",))
    assert Bagging(base="bagging", combination=inner).member.combination == "score"


@pytest.mark.parametrize("combination", ["score", "vote"])
@pytest.mark.parametrize("base", ["svm", "nystroem"])
def test_held_out_scores_are_means_over_members_that_missed_the_group(base, combination):
    X, y = problem()
    trainer, groups = Bagging(base=base, n_members=6, combination=combination), np.arange(len(y)) // 2
    _, scores = trainer.fit_out_of_bag(binary_task(trainer.wants, X, y), groups)
    task = binary_task(trainer.wants, X, y)
    bags = trainer._bags(task, groups)
    machines = trainer._fit_members(task, bags)
    by_member = np.stack([scores_of(trainer, machine, X, X) for machine in machines])
    for row in range(len(y)):
        missed = bags[:, row] == 0
        expected = by_member[missed, row].mean() if missed.any() else np.nan
        assert scores[row] == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("combination", ["score", "vote", "probability"])
@pytest.mark.parametrize("base", ["svm", "adaboost"])
def test_labels_of_a_group_turned_round_change_none_of_its_own_held_out_scores(monkeypatch, base, combination):
    X, y = problem()
    groups = np.arange(len(y)) // 2
    if base == "adaboost":
        trainer = over_features(monkeypatch, combination)
    else:
        trainer = Bagging(n_members=11, combination=combination)
    _, scores = trainer.fit_out_of_bag(binary_task(trainer.wants, X, y), groups)
    for group in range(0, 15, 3):
        turned = np.where(groups == group, -y, y)
        _, others = trainer.fit_out_of_bag(binary_task(trainer.wants, X, turned), groups)
        np.testing.assert_allclose(others[groups == group], scores[groups == group], atol=1e-12)


def test_an_unknown_member_gets_a_suggestion():
    with pytest.raises(AudioclassError, match="unknown trainer 'nystrom'; did you mean 'nystroem'"):
        Bagging(base="nystrom")


def test_a_wrong_setting_is_refused():
    with pytest.raises(AudioclassError, match="unknown parameter of svm 'landmarks'"):
        Bagging(settings=("landmarks=3",))
    with pytest.raises(AudioclassError, match="'landmarks' must be NAME=VALUE"):
        Bagging(base="nystroem", settings=("landmarks",))
