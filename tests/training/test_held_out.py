from typing import ClassVar

import numpy as np
import pytest

from audioclass.criteria.spans import span_scores
from audioclass.errors import UsageError
from audioclass.kernels.linear import Linear
from audioclass.parameters import component
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Dichotomy, FeatureMachine
from audioclass.training.examples import Examples
from audioclass.training.held_out import ClosedForm, Folds, GroupSpan, OutOfBag, scoring_for
from audioclass.training.problem import DichotomyProblem, LabelsProblem

MANAGER = plugin_manager(installed=False)
X, Y = np.random.default_rng(0).normal(size=(12, 3)), np.arange(12) % 2


def trainer(name):
    return MANAGER.make("trainer", name)


@component
class Bagging:
    """Leaves some groups out of each member."""

    name: ClassVar[str] = "bagging"
    wants: ClassVar[str] = "features"

    def fit(self, task):
        return FeatureMachine({"centre": task.X.mean(axis=0)})

    def fit_out_of_bag(self, task, groups):
        return self.fit(task), task.X[:, 0]


def problem(learner, groups):
    examples = Examples.of(X, Y, groups=groups)
    return DichotomyProblem.of(Dichotomy((0,), (1,)), examples, kernel=Linear(), C=1.0, trainer=learner)


@pytest.mark.parametrize(
    ("learner", "asked", "size", "method"),
    [
        (trainer("least_squares"), "auto", 6, "closed form"),
        (trainer("landmarks"), "auto", 6, "closed form"),
        (trainer("least_squares"), "auto", 12, "in sample"),
        (trainer("least_squares"), "folds", 6, "folds"),
        (Bagging(), "auto", 6, "out of bag"),
        (Bagging(), "folds", 6, "folds"),
        (trainer("svm"), "auto", 2, "span"),
        (trainer("svm"), "span", 6, "span"),
        (trainer("svm"), "auto", 3, "folds"),
        (trainer("l2_svm"), "auto", 1, "folds"),
    ],
)
def test_held_out_scores_are_had_in_the_cheapest_honest_way(learner, asked, size, method):
    assert scoring_for(problem(learner, np.arange(12) // size), asked, 5).name == method


@pytest.mark.parametrize(
    ("learner", "asked", "method"),
    [
        (Bagging(), "auto", OutOfBag),
        (Bagging(), "out_of_bag", OutOfBag),
        (Bagging(), "folds", Folds),
        (trainer("least_squares"), "auto", Folds),
        (trainer("least_squares"), "folds", Folds),
    ],
)
def test_all_labels_at_once_know_bags_and_folds(learner, asked, method):
    one = LabelsProblem.of(Examples.of(X, Y), n_labels=2, kernel=Linear(), C=1.0, strategy=learner)
    assert isinstance(scoring_for(one, asked, 5), method)


@pytest.mark.parametrize(
    ("learner", "asked", "methods"),
    [
        (trainer("least_squares"), "span", "closed_form, folds"),
        (trainer("svm"), "closed_form", "span, folds"),
        (Bagging(), "span", "out_of_bag, folds"),
    ],
)
def test_a_method_that_the_learner_does_not_have_is_refused(learner, asked, methods):
    with pytest.raises(UsageError, match=f"held_out={asked}: {learner.name} has {methods}$"):
        scoring_for(problem(learner, None), asked, 5)


@pytest.mark.parametrize("name", ["svm", "l2_svm", "hard_margin"])
def test_the_span_is_that_of_the_machine_of_its_trainer(name):
    learner, y = trainer(name), np.where(np.arange(12) % 2 == 0, 1, -1)
    apart = X + 4 * y[:, None]
    one = DichotomyProblem.of(Dichotomy((0,), (1,)), Examples.of(apart, Y), kernel=Linear(), C=1.0, trainer=learner)
    machine, scores = GroupSpan().fit(one, Examples.of(apart, Y))
    K = apart @ apart.T
    expected = span_scores(K, machine, y, 1.0, loss=learner.loss)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_the_span_of_a_machine_without_support_vectors_is_refused():
    with pytest.raises(ValueError, match="least_squares fits no support vectors, which the span needs"):
        GroupSpan().fit(problem(trainer("least_squares"), None), Examples.of(X, Y))


def test_one_dichotomy_alone_is_one_of_those_together():
    one, examples = problem(trainer("least_squares"), None), Examples.of(X, Y)
    machine, scores = ClosedForm().fit(one, examples)
    [(again, same), _] = ClosedForm().fit_together([one, one], examples)
    np.testing.assert_allclose(machine.coefficients, again.coefficients)
    np.testing.assert_allclose(scores, same)


@pytest.mark.parametrize("method", [ClosedForm(), OutOfBag(), GroupSpan()], ids=lambda method: method.name)
def test_a_learner_without_the_ability_is_refused(method):
    with pytest.raises((TypeError, ValueError), match="watching"):
        method.fit(problem(Watching(), None), Examples.of(X, Y))


@component
class Watching:
    """A trainer over features with no ability but to fit."""

    name: ClassVar[str] = "watching"
    wants: ClassVar[str] = "features"

    def fit(self, task):
        return FeatureMachine({})


def test_what_cannot_score_its_features_is_refused():
    one, examples = problem(Watching(), None), Examples.of(X, Y)
    with pytest.raises(TypeError, match="watching gave a machine over features that it cannot score"):
        one.scores(FeatureMachine({}), examples, np.arange(3))
