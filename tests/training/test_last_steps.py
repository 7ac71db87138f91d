"""Last steps chosen in inner folds: what competes, what is honest, and what does not depend on how it was computed."""

from dataclasses import replace

import numpy as np
import pytest
from trainings import make_config, make_run

from audioclass.classifier.recalibration import recalibrated
from audioclass.classifier.step_contest import StepContest
from audioclass.numerics import log_loss, softmax
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import LabelEvidence
from audioclass.strategies.last_step import LastStep, StepKind
from audioclass.strategies.links import LogLink, TemperatureLink
from audioclass.testing.blobs import blobs
from audioclass.training.examples import Examples
from audioclass.training.folds import calibration_folds
from audioclass.training.inner_folds import are_cheap, clean_folds, cross_folds, inner_folds
from audioclass.training.random_split import random_split_posteriors
from audioclass.training.train import train_classifier

MANAGER = plugin_manager(installed=False)
LINKS = (LogLink(), TemperatureLink())
X, Y = blobs(6, n_each=20, spread=1.2)  # so that many are taken for others
EXAMPLES = Examples.of(X, Y, groups=np.arange(len(Y)) // 2)


def trained(strategy="one_vs_rest", trainer="least_squares", examples=EXAMPLES, jobs=1, **choices):
    parts = {kind: MANAGER.make(kind, name) for kind, name in (("strategy", strategy), ("trainer", trainer))}
    config = make_config(**{"links": LINKS, "second_stage": "auto", **parts, **choices})
    return config, train_classifier(examples, "abcdef"[: examples.y.max() + 1], config, make_run(jobs=jobs))


def scores_of(training):
    return np.stack([result.held_out for result in training.trained], axis=1)


@pytest.fixture(scope="module")
def one():
    return trained()


def test_what_competed_stands_beside_what_was_chosen(one):
    _, training = one
    stated = training.last_step
    assert (stated["clean"], stated["folds"]) == (True, 5)
    assert stated["chosen"] == str(training.classifier.last_step.kind)
    assert stated["log_loss"][stated["chosen"]] == pytest.approx(log_loss(training.held_out, Y))
    assert {"strategy", "link log", "link temperature"} < set(stated["log_loss"])
    assert any("second stage" in name for name in stated["log_loss"])


def test_groups_never_cross_the_inner_folds(one):
    config, training = one
    scores = scores_of(training)
    for folds in (cross_folds(scores, EXAMPLES), clean_folds(training.trained, EXAMPLES, config, make_run())):
        outside = np.array([~fold.inside for fold in folds])
        assert (outside.sum(axis=0) == 1).all()
        for fold in folds:
            assert set(EXAMPLES.groups[fold.inside]).isdisjoint(EXAMPLES.groups[~fold.inside])


def test_clean_folds_are_trained_without_the_fold(one):
    config, training = one
    fold = clean_folds(training.trained, EXAMPLES, config, make_run())[2]
    inside = fold.inside
    some = Examples.of(X[inside], Y[inside], groups=EXAMPLES.groups[inside])
    other = train_classifier(some, "abcdef", replace(config, second_stage="none"), make_run())
    np.testing.assert_allclose(fold.scores[inside], scores_of(other), atol=1e-8)
    np.testing.assert_allclose(fold.scores[~inside], other.classifier.scores(X[~inside]), atol=1e-8)


def test_versions_of_a_window_stay_on_one_side_of_a_clean_fold(one):
    config, training = one
    rows, windows = np.repeat(X, 2, axis=0), np.repeat(np.arange(len(Y)), 2)
    rows[1::2] += 0.1
    several = Examples.of(rows, Y, groups=EXAMPLES.groups, windows=windows)
    fold = clean_folds(training.trained, several, config, make_run())[1]
    inside, of_rows = fold.inside, fold.inside[windows]
    _, number = np.unique(windows[of_rows], return_inverse=True)
    some = Examples.of(rows[of_rows], Y[inside], groups=EXAMPLES.groups[inside], windows=number)
    other = train_classifier(some, "abcdef", replace(config, second_stage="none"), make_run())
    np.testing.assert_allclose(fold.scores[inside], scores_of(other), atol=1e-8)
    new = other.classifier.scores(rows[~of_rows]).reshape(-1, 2, 6).mean(axis=1)
    np.testing.assert_allclose(fold.scores[~inside], new, atol=1e-8)


def test_held_out_posteriors_of_clean_folds_never_saw_their_rows(one):
    config, training = one
    fold = clean_folds(training.trained, EXAMPLES, config, make_run())[0]
    inside, kind = fold.inside, training.classifier.last_step.kind
    some = Examples.of(X[inside], Y[inside], groups=EXAMPLES.groups[inside])
    other = train_classifier(some, "abcdef", replace(config, second_stage="none"), make_run()).classifier
    evidence = other.evidence(fold.scores[inside])
    step = kind.fit(evidence, Y[inside], np.ones(inside.sum()))
    expected = other.with_last_step(step).posteriors(X[~inside])
    np.testing.assert_allclose(training.held_out[~inside], expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:platt")
@pytest.mark.parametrize("trainer", ["least_squares", "svm"])
def test_clean_folds_are_for_whom_they_are_cheap(trainer):
    config, training = trained(trainer=trainer)
    assert training.last_step["clean"] == are_cheap(training.trained, EXAMPLES, config) == (trainer == "least_squares")


@pytest.mark.filterwarnings("ignore:platt")
def test_clean_folds_are_for_everybody_who_asks():
    three = Examples.of(X[Y < 3][:36], Y[Y < 3][:36])
    config, training = trained(trainer="svm", examples=three, second_stage="clean", folds=2)
    assert training.last_step["clean"]
    assert inner_folds(scores_of(training), (), three, config, make_run()).are_clean is False


def test_the_rule_judges_one_penalty_by_cross_folds():
    _, training = trained(second_stage="rule")
    stages = [name for name in training.last_step["log_loss"] if "second stage" in name]
    assert not training.last_step["clean"]
    assert stages
    assert all(name.endswith("at 0.333") for name in stages)  # 40 / 120 rows


def test_a_single_link_is_taken_as_it_is():
    _, training = trained(links=(TemperatureLink(),), second_stage="none")
    assert training.classifier.link.link == TemperatureLink()
    assert training.classifier.posterior_calibration is None
    assert list(training.last_step["log_loss"]) == ["link temperature"]


def test_nothing_competes_where_nothing_is_wanted():
    _, training = trained(links=(), second_stage="none", calibrate_posteriors=False)
    assert training.classifier.last_step.kind == StepKind()
    assert list(training.last_step["log_loss"]) == ["strategy"]


@pytest.mark.parametrize("strategy", ["one_vs_one", "output_code", "nested_dichotomies", "hybrid_dendrogram", "dag"])
def test_every_strategy_has_last_steps(strategy):
    _, training = trained(strategy)
    P = training.classifier.posteriors(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    best = min(training.last_step["log_loss"].values())
    assert training.last_step["log_loss"][training.last_step["chosen"]] <= best + 0.1


def test_the_same_bytes_for_any_number_of_processes(one):
    _, training = one
    _, other = trained(jobs=2)
    np.testing.assert_array_equal(other.held_out, training.held_out)
    np.testing.assert_array_equal(other.classifier.posteriors(X), training.classifier.posteriors(X))
    assert other.last_step == training.last_step


@pytest.mark.filterwarnings("ignore:platt")
def test_a_label_of_one_group_leaves_cross_folds():
    lonely = Examples.of(X, Y, groups=np.where(Y == 0, 0, 1 + np.arange(len(Y)) // 2))
    _, training = trained(examples=lonely)
    assert not training.last_step["clean"]


def test_one_group_leaves_the_strategy_as_it_is():
    _, training = trained(examples=Examples.of(X, Y, groups=np.zeros(len(Y))))
    assert training.classifier.last_step.kind == StepKind()
    assert training.last_step == {}


@pytest.mark.parametrize(("n_groups", "competes"), [(7, False), (8, True)])
def test_a_second_stage_competes_where_groups_are_enough(n_groups, competes):
    few = Examples.of(X, Y, groups=np.arange(len(Y)) % n_groups)
    _, training = trained(examples=few)
    assert any("second stage" in name for name in training.last_step["log_loss"]) == competes


def test_a_random_split_has_the_kind_of_the_training(one):
    config, training = one
    P = random_split_posteriors(EXAMPLES, config, training, make_run())
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert not np.array_equal(P, training.held_out)


def test_weights_of_a_contest_are_repeated_rows():
    _, training = trained(second_stage="none")
    scores, weights = scores_of(training), np.where(np.arange(len(Y)) % 3 == 0, 2, 1)
    twice = np.repeat(np.arange(len(Y)), weights)
    losses = []
    for rows, each in ((np.arange(len(Y)), weights), (twice, np.ones(len(twice)))):
        some = Examples.of(X[rows], Y[rows], groups=EXAMPLES.groups[rows])
        folds = [replace(f, inside=f.inside[rows], scores=f.scores[rows]) for f in cross_folds(scores, EXAMPLES, 4)]
        contest = StepContest(training.classifier, folds, some.y, each.astype(float))
        losses.append(contest.loss(StepKind(link=LogLink(), penalty=0.1)))
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)


# --- kinds ------------------------------------------------------------------------------------------------------------


def evidence(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    z = 2 * np.eye(4)[y] + rng.normal(size=(n, 4))
    return LabelEvidence(softmax(z), 2 * softmax(z) - 1, rng.normal(size=(n, 2))), y, np.ones(n)


KINDS = [
    StepKind(),
    StepKind("temperature"),
    StepKind("all"),
    StepKind(link=LogLink()),
    StepKind(link=TemperatureLink(), penalty=0.5),
    StepKind("all", penalty=0.1, reads_columns=True),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_step_knows_its_kind(kind):
    step = kind.fit(*evidence())
    assert step.kind == kind
    np.testing.assert_allclose(step.posteriors(evidence()[0]).sum(axis=1), 1)


def test_a_penalty_without_end_leaves_the_link_with_offsets():
    stated, y, weights = evidence()
    link = StepKind(link=LogLink()).fit(stated, y, weights)
    stage = StepKind(link=LogLink(), penalty=1e6).fit(stated, y, weights)
    assert np.abs(stage.stage.weights).max() < 1e-5
    z = stage.stage.scale * np.log(link.posteriors(stated)) + stage.stage.offsets
    np.testing.assert_allclose(stage.posteriors(stated), softmax(z), atol=1e-4)


def test_no_step_gives_the_posteriors_of_the_strategy():
    stated = evidence()[0]
    assert LastStep().posteriors(stated) is stated.P


# --- fitted anew ------------------------------------------------------------------------------------------------------


def test_a_second_stage_is_kept_or_goes_when_a_model_is_calibrated_anew():
    _, training = trained(second_stage="none", links=(LogLink(),))
    scores = scores_of(training)
    kind = StepKind(link=LogLink(), penalty=0.1)
    step = kind.fit(training.classifier.evidence(scores), Y, np.ones(len(Y)))
    classifier = training.classifier.with_last_step(step)
    again = recalibrated(classifier, scores, Y, folds=calibration_folds(Y, EXAMPLES.groups))
    assert again.second_stage in (None, step.stage)
    assert recalibrated(classifier, scores, Y).second_stage is step.stage
