"""A strategy that plans in rounds, as a third party would write it: a filter tree."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from trainings import make_config, make_run

from audioclass.classifier.loading import load_model
from audioclass.classifier.model import Model
from audioclass.classifier.saving import save_model
from audioclass.criteria.held_out import LeaveGroupOutLogLoss
from audioclass.parameters import component
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Dichotomy, Plan, Round
from audioclass.searches.grid import Grid
from audioclass.storage import Store
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.testing import check_strategy
from audioclass.testing.blobs import blobs
from audioclass.trainers.least_squares import LeastSquares
from audioclass.training.examples import Examples
from audioclass.training.random_split import random_split_posteriors
from audioclass.training.report import machine_report
from audioclass.training.train import train_classifier

GOLDEN = Path(__file__).parents[1] / "golden" / "small.audioclass"
LABELS = ("a", "b", "c", "d", "e")
X, Y = blobs(5, n_each=16, spread=1.0)
EXAMPLES = Examples.of(X, Y, groups=np.arange(len(Y)) // 5)


@component
class FilterTree:
    """A tournament (Beygelzimer, Langford and Ravikumar, 2009): winners of one round meet in the next.

    A machine learns only from examples whose label won every match below it, as the held-out answers tell: that is the
    question it will be asked.
    """

    name: ClassVar[str] = "filter_tree"

    def plan(self, labels, geometry, taxonomy, rng):
        """The first round: labels that are neighbours in the order of their names."""
        order = sorted(range(len(labels)), key=lambda k: labels[k])
        return self._round([[k] for k in order], Plan(len(labels), (), {"matches": []}))[0]

    def plan_next(self, plan, probabilities, scores, y, counts):
        """Winners of the matches so far against one another, until one match is left."""
        players = self._players(plan)
        if len(players) == 1:
            return None
        following, new = self._round(players, plan)
        won = self._winners(plan, probabilities)
        importance = np.ones((len(y), len(new)))
        for column, match in enumerate(new):
            sides = [side for side in match if len(side) > 1]
            for side in sides:
                below = np.isin(y, side)
                importance[below, column] = won[frozenset(side)][below] == y[below]
        return Round(following, importance)

    def combine(self, plan, probabilities, scores, counts, fitted):
        """A posterior is the product of the matches that a label would have to win."""
        P = np.ones((len(probabilities), plan.n_labels))
        for column, dichotomy in enumerate(plan.dichotomies):
            P[:, dichotomy.positive] *= probabilities[:, [column]]
            P[:, dichotomy.negative] *= 1 - probabilities[:, [column]]
        return P / P.sum(axis=1, keepdims=True)

    def _round(self, players, plan):
        """The plan with a match for each pair of players."""
        pairs = [players[i : i + 2] for i in range(0, len(players), 2)]
        matches = [pair for pair in pairs if len(pair) == 2]
        dichotomies = tuple(Dichotomy(tuple(one), tuple(other)) for one, other in matches)
        levels = [*plan.structure["matches"], [[list(side) for side in pair] for pair in pairs]]
        return Plan(plan.n_labels, plan.dichotomies + dichotomies, {"matches": levels}), matches

    def _players(self, plan):
        """Those who meet in the next round: the labels of each pair of the last."""
        return [[label for side in pair for label in side] for pair in plan.structure["matches"][-1]]

    def _winners(self, plan, probabilities):
        """For each set of labels that has played, the label that won it, (n,)."""
        won = {frozenset([k]): np.full(len(probabilities), k) for k in range(plan.n_labels)}
        for column, match in enumerate(plan.dichotomies):
            one, other = (won[frozenset(side)] for side in (match.positive, match.negative))
            won[frozenset(match.positive + match.negative)] = np.where(probabilities[:, column] > 0.5, one, other)
        return won


def train(strategy=None, examples=EXAMPLES, labels=LABELS, store=None, **fields):
    config = make_config(strategy=strategy or FilterTree(), trainer=LeastSquares(), **fields)
    return config, train_classifier(examples, labels, config, make_run(), store=store)


def test_rounds_end_in_an_ordinary_plan():
    _, training = train()
    plan = training.classifier.plan
    assert [set(d.positive + d.negative) for d in plan.dichotomies] == [{0, 1}, {2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3, 4}]
    assert len(training.trained) == training.classifier.n_machines == 4
    for P in (training.held_out, training.classifier.posteriors(X)):
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert (P.argmax(axis=1) == Y).mean() > 0.6


def test_a_machine_learns_from_examples_whose_label_won_below():
    _, training = train()
    first, second, inner, _ = training.trained
    lost = np.zeros(len(Y), bool)
    for match in (first, second):
        sides = [np.isin(Y, match.dichotomy.positive), np.isin(Y, match.dichotomy.negative)]
        P = training.classifier.calibrator.probabilities(match.held_out, match.calibration)
        lost |= (sides[0] & (P <= 0.5)) | (sides[1] & (P > 0.5))
    assert lost.any()
    assert not set(np.flatnonzero(lost)) & set(inner.machine.support)
    takes_part = np.isin(Y, [0, 1, 2, 3])
    assert set(np.flatnonzero(takes_part & ~lost)) == set(inner.machine.support)
    report = machine_report(training, Y)
    assert [facts["examples"] for facts in report[:3]] == [32, 32, int((takes_part & ~lost).sum())]


def test_two_labels_are_one_machine():
    two = Examples.of(X[Y < 2], Y[Y < 2])
    posteriors = [train(strategy, two, "ab")[1].held_out for strategy in (FilterTree(), OneVsOne())]
    np.testing.assert_allclose(*posteriors)


def test_each_round_has_its_selection_and_a_store_changes_no_bit(tmp_path):
    choices = {"criterion": LeaveGroupOutLogLoss(), "search": Grid(2)}
    plain, *stored = (train(store=store, **choices)[1] for store in (None, Store(tmp_path), Store(tmp_path)))
    assert [one.kernel for one in plain.selected] == [one.kernel for one in plain.trained]
    assert all(np.array_equal(plain.held_out, training.held_out) for training in stored)


def test_a_random_split_keeps_the_filters():
    config, training = train()
    assert random_split_posteriors(EXAMPLES, config, training, make_run()).shape == training.held_out.shape


def test_the_contract_holds():
    check_strategy(FilterTree())


class Registry:
    """The built-ins, and the filter tree as if it were installed."""

    manager = plugin_manager(installed=False)

    def make(self, kind, name, parameters=None):
        return FilterTree() if name == "filter_tree" else self.manager.make(kind, name, parameters)

    def origin(self, kind, name):
        return "audioclass"


def test_a_model_file_keeps_it(tmp_path):
    model = load_model(GOLDEN, Registry(), verify=False)
    features, y = np.random.default_rng(0).normal(size=(60, model.preprocessing.n_features)), np.arange(60) % 5
    features[:, :5] += 4 * np.eye(5)[y]
    _, training = train(examples=Examples.of(features, y))
    about = {**model.about, "machines": machine_report(training, y)}
    saved = Model.of("tree", model.recipe, model.preprocessing, training.classifier, None, about)
    save_model(saved, tmp_path / "tree.audioclass")
    loaded = load_model(tmp_path / "tree.audioclass", Registry()).classifier
    assert loaded.plan == training.classifier.plan
    expected = training.classifier.posteriors(features)
    np.testing.assert_allclose(loaded.posteriors(features.astype(np.float32)), expected, atol=1e-3)


# --- rounds that are refused ----------------------------------------------------------------------------------------


def restless(following):
    """A one-vs-one whose next round is the same each time."""

    class Restless(OneVsOne):
        name = "restless"

        def plan_next(self, plan, probabilities, scores, y, counts):
            return following(plan)

    return Restless()


MORE = Dichotomy((0,), (1, 2))


@pytest.mark.parametrize(
    ("following", "message"),
    [
        (
            lambda plan: Round(Plan(5, (MORE,))),
            "plan_next: the plan must begin with the 10 dichotomies that are trained",
        ),
        (lambda plan: Round(plan), "plan_next: the plan has no new dichotomy, None ends the rounds"),
        (
            lambda plan: Round(Plan(5, (*plan.dichotomies, MORE)), np.ones((3, 1))),
            r"plan_next: importance has shape \(3, 1\), must be \(80, 1\)",
        ),
        (
            lambda plan: Round(Plan(5, (*plan.dichotomies, MORE)), np.full((80, 1), -1.0)),
            "plan_next: importance must be finite and at least 0",
        ),
    ],
)
def test_wrong_rounds_are_refused(following, message):
    with pytest.raises(ValueError, match=message):
        train(restless(following))


def test_rounds_must_end(monkeypatch):
    monkeypatch.setattr("audioclass.training.train.MOST_ROUNDS", 2)
    with pytest.raises(ValueError, match="strategy 'restless' still plans more after 2 rounds"):
        train(restless(lambda plan: Round(Plan(5, (*plan.dichotomies, MORE)))))
