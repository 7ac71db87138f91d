from dataclasses import replace

import numpy as np
import pytest
from trainings import make_config, make_run

from audioclass.classifier.recalibration import recalibrated
from audioclass.classifier.step_contest import recombined
from audioclass.criteria.held_out import LeaveGroupOutLogLoss
from audioclass.evaluation.calibration import Binning
from audioclass.numerics import log_loss
from audioclass.parameters import make, parse_assignments
from audioclass.plugins.manager import plugin_manager
from audioclass.searches.grid import Grid
from audioclass.storage import Store
from audioclass.strategies.posterior_calibration import fit_posterior_calibration
from audioclass.testing.blobs import blobs
from audioclass.training.examples import Examples
from audioclass.training.folds import calibration_folds
from audioclass.training.inner_folds import CROSS_FOLDS, cross_folds
from audioclass.training.random_split import random_split_posteriors
from audioclass.training.train import geometry_of, plan_of, train_classifier

MANAGER = plugin_manager(installed=False)
LABELS = ("a", "b", "c", "d")
X, Y = blobs(4, n_each=12, spread=0.6)
EXAMPLES = Examples.of(X, Y, groups=np.arange(len(Y)) // 2)
STRATEGIES = ("hybrid_dendrogram", "hybrid_dendrogram:form=weighted", "one_vs_one", "one_vs_rest", "dag")


def component(kind, text):
    name, _, assignments = text.partition(":")
    cls = MANAGER.load(kind, name)
    return make(cls, parse_assignments(cls, assignments.split(",") if assignments else []))


def configured(strategy="one_vs_one", trainer="least_squares", kernel="gaussian", **fields):
    parts = {"strategy": component("strategy", strategy), "trainer": component("trainer", trainer)}
    return make_config(**parts, kernels=(component("kernel", kernel),), **fields)


def trained(strategy="one_vs_one", examples=EXAMPLES, store=None, jobs=1, **choices):
    config = configured(strategy, **choices)
    return config, train_classifier(examples, LABELS, config, make_run(jobs=jobs), store=store)


@pytest.mark.parametrize("trainer", ["least_squares", "svm"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_posteriors_of_new_rows_and_held_out_ones(strategy, trainer):
    _, training = trained(strategy, trainer=trainer)
    P = training.classifier.posteriors(X)
    for posteriors in (P, training.held_out):
        assert posteriors.shape == (len(Y), 4)
        np.testing.assert_allclose(posteriors.sum(axis=1), 1)
        assert (posteriors.argmax(axis=1) == Y).mean() > 0.5
    assert len(training.trained) == training.classifier.n_machines
    assert training.classifier.posteriors(X[:0]).shape == (0, 4)


def test_selected_kernels_are_those_of_the_machines():
    _, training = trained("hybrid_dendrogram", criterion=LeaveGroupOutLogLoss(), search=Grid(3))
    assert [one.kernel for one in training.selected] == [one.kernel for one in training.trained]
    assert len(training.selected) == training.classifier.n_machines


def test_single_precision_is_near():
    classifier = trained()[1].classifier
    assert np.abs(classifier.in_single.posteriors(X.astype(np.float32)) - classifier.posteriors(X)).max() < 1e-3
    assert classifier.in_single.machines.X.dtype == np.float32


def test_a_store_changes_no_bit(tmp_path):
    plain = trained(trainer="svm")[1]
    for _ in range(2):
        kept = trained(trainer="svm", store=Store(tmp_path))[1]
        assert np.array_equal(kept.held_out, plain.held_out)
        assert np.array_equal(kept.classifier.posteriors(X), plain.classifier.posteriors(X))


def test_another_kernel_is_not_taken_from_the_store(tmp_path):
    one = trained(store=Store(tmp_path))[1]
    other = trained(store=Store(tmp_path), kernel="gaussian:sigma=3")[1]
    assert not np.array_equal(one.held_out, other.held_out)


def test_one_label_is_refused():
    with pytest.raises(ValueError, match="1 labels, at least 2 are needed"):
        train_classifier(Examples.of(X, np.zeros(len(Y), int)), ("a",), configured(), make_run())


def test_geometry_counts_all_examples(monkeypatch):
    from audioclass.kernels.gaussian import Gaussian
    from audioclass.training import train as module

    monkeypatch.setattr(module, "GEOMETRY_ROWS", 8)
    assert geometry_of(EXAMPLES, Gaussian(), 4).counts.tolist() == [12] * 4


def test_a_plan_is_the_strategy_s():
    assert len(plan_of(EXAMPLES, LABELS, configured(), make_run()).dichotomies) == 6


def test_a_direct_strategy_has_no_plan():
    direct = make_config(strategy=type("Direct", (), {"name": "direct", "wants": "gram"})())
    with pytest.raises(ValueError, match="strategy 'direct' fits all labels at once, one with a plan is needed"):
        plan_of(EXAMPLES, LABELS, direct, make_run())


def test_a_kernel_that_is_not_positive_is_noted():
    [note] = trained(kernel="tanh:slope=0.01", trainer="svm")[1].notes
    statement = "kernel tanh (slope=0.01, offset=0) is not positive semi-definite on these examples"
    assert note.startswith(f"{statement}: smallest eigenvalue -")
    assert trained()[1].notes == ()


# --- a random split, for comparison ----------------------------------------------------------------------------


def test_a_random_split_knows_the_group():
    """Two copies of each row are a group: a random split has seen the twin."""
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.normal(size=(24, 8)), 2, axis=0) + 1e-3 * rng.normal(size=(48, 8))
    examples = Examples.of(rows, np.repeat(np.arange(24) % 4, 2), groups=np.repeat(np.arange(24), 2))
    with pytest.warns(UserWarning, match="no higher scores"):
        config, training = trained(examples=examples, trainer="least_squares")
    leaking = random_split_posteriors(examples, config, training, make_run())
    leaks, honest = ((P.argmax(axis=1) == examples.y).mean() for P in (leaking, training.held_out))
    assert leaks > 0.95 > honest


def test_groups_of_one_leak_nothing():
    examples = Examples.of(X, Y)
    config, training = trained(examples=examples)
    np.testing.assert_allclose(random_split_posteriors(examples, config, training, make_run()), training.held_out)


# --- calibration fitted anew ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_same_scores_give_the_same_calibration(strategy):
    _, training = trained(strategy, trainer="least_squares", second_stage="none")
    scores = np.stack([result.held_out for result in training.trained], axis=1)
    again = recalibrated(training.classifier, scores, Y, folds=calibration_folds(Y, EXAMPLES.groups, CROSS_FOLDS))
    np.testing.assert_allclose(again.combine(scores), training.classifier.combine(scores), atol=1e-6)
    assert again.machines is training.classifier.machines


def test_a_side_without_examples_keeps_its_calibration():
    _, training = trained()
    scores = training.classifier.scores(X)
    known = Y < 2
    again = recalibrated(training.classifier, scores[known], Y[known])
    assert again.calibrations[5] == training.classifier.calibrations[5]
    assert again.calibrations[0] != training.classifier.calibrations[0]


def test_a_spoilt_calibration_is_mended():
    _, training = trained()
    scores = np.stack([result.held_out for result in training.trained], axis=1)
    spoilt = replace(
        training.classifier, calibrations=tuple(dict(one, offset=9.0) for one in training.classifier.calibrations)
    )
    losses = [
        -np.log(c.combine(scores)[np.arange(len(Y)), Y]).mean() for c in (spoilt, recalibrated(spoilt, scores, Y))
    ]
    assert losses[1] < 0.5 * losses[0]


@pytest.mark.parametrize("strategy", ["dag", "pairs_and_rest", "hybrid_dendrogram:merge=none,decision=path"])
def test_held_out_posteriors_follow_the_decision_of_the_strategy(strategy):
    vague = Examples.of(*blobs(4, n_each=12, spread=1.2), groups=np.arange(len(Y)) // 2)
    _, training = trained(strategy, vague, second_stage="none")
    classifier = training.classifier
    scores = np.stack([result.held_out for result in training.trained], axis=1)
    P = classifier.strategy.combine(
        classifier.plan, classifier.probabilities(scores), scores, classifier.counts, classifier.fitted
    )
    decided = classifier.strategy.decide(classifier.plan, P, scores)
    assert (decided != P.argmax(axis=1)).any()
    np.testing.assert_array_equal(classifier.combine(scores).argmax(axis=1), decided)
    for fold in cross_folds(scores, vague):  # each combined without its own rows
        inside = fold.inside
        without = recombined(classifier, scores[inside], vague.y[inside], vague.weights[inside])
        expected = without.strategy_posteriors(scores[~inside]).argmax(axis=1)
        np.testing.assert_array_equal(training.held_out[~inside].argmax(axis=1), expected)


# --- the last step ----------------------------------------------------------------------------------------------------

BLURRED = Examples.of(*blobs(6, n_each=40, spread=0.6), groups=np.arange(240) // 2)
SHARED_OUT = {  # posteriors as their combination gives them: too faint, or shares that are none
    "one_vs_one": "one_vs_one",
    "votes": "one_vs_one_vote",
    "dag": "dag",
    "pairs and rest": "pairs_and_rest",
    "output code": "output_code",
    "distances of an output code": "output_code:decoding=l1",
    "nested dichotomies": "nested_dichotomies",
}


def blurred(strategy, **choices):
    config = configured(strategy, **choices)
    return train_classifier(BLURRED, "abcdef", config, make_run())


def judged(P, y):
    return log_loss(P, y), Binning.of(P.max(axis=1), P.argmax(axis=1) == y).reliability().error


@pytest.mark.parametrize("strategy", SHARED_OUT.values(), ids=SHARED_OUT)
def test_posteriors_of_every_strategy_are_calibrated(strategy):
    new, y = blobs(6, n_each=300, spread=0.6, seed=1)
    raw, mended = (blurred(strategy, calibrate_posteriors=on).classifier.posteriors(new) for on in (False, True))
    (raw_loss, raw_ece), (loss, ece) = judged(raw, y), judged(mended, y)
    assert loss < raw_loss
    assert ece < min(raw_ece, 0.05)
    np.testing.assert_array_equal(mended.argmax(axis=1), raw.argmax(axis=1))


def test_held_out_posteriors_are_cross_fitted():
    training = blurred("one_vs_one", second_stage="none")
    scores = np.stack([result.held_out for result in training.trained], axis=1)
    folds = cross_folds(scores, BLURRED)
    assert len(folds) == 10
    for fold in folds:  # calibrations, combination and last step never saw the rows that they are judged on
        inside, y = fold.inside, BLURRED.y
        without = recombined(training.classifier, scores[inside], y[inside], BLURRED.weights[inside])
        step = fit_posterior_calibration(without.strategy_posteriors(scores[inside]), y[inside])
        expected = step.apply(without.strategy_posteriors(scores[~inside]))
        np.testing.assert_allclose(training.held_out[~inside], expected, atol=1e-12)
        assert set(BLURRED.groups[inside]).isdisjoint(BLURRED.groups[~inside])
    assert not np.array_equal(training.held_out, training.classifier.combine(scores))


def test_what_is_no_better_is_left_out_to_the_bit():
    off, on = (blurred("one_vs_rest_temperature", calibrate_posteriors=choice) for choice in (False, True))
    assert on.classifier.posterior_calibration is None
    np.testing.assert_array_equal(on.held_out, off.held_out)
    np.testing.assert_array_equal(on.classifier.posteriors(X), off.classifier.posteriors(X))


def test_one_group_gives_no_last_step():
    training = train_classifier(Examples.of(X, Y, groups=np.zeros(len(Y))), LABELS, configured(), make_run())
    assert training.classifier.posterior_calibration is None
