import numpy as np
import pytest
from trainings import make_config, make_run

from audioclass.criteria.held_out import LeaveGroupOutLogLoss
from audioclass.errors import UsageError
from audioclass.problems import Geometry
from audioclass.strategies.dendrogram import HybridDendrogram
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.strategies.one_vs_rest import OneVsRest
from audioclass.testing.blobs import blobs
from audioclass.trainers.least_squares import LeastSquares
from audioclass.training.examples import Examples
from audioclass.training.levels import levels_of
from audioclass.training.train import train_classifier
from audioclass.trees.branches import Branch

# ((0 1) (2 3)) (4 5)
FOUR = Branch.group([Branch.group([Branch.leaf(0), Branch.leaf(1)]), Branch.group([Branch.leaf(2), Branch.leaf(3)])])
SIX = Branch.group([FOUR, Branch.group([Branch.leaf(4), Branch.leaf(5)])])


def levels(form):
    strategy = HybridDendrogram(form=form, merge="none")
    plan = strategy.plan_for(SIX)
    return dict(zip(plan.dichotomies, levels_of(strategy, plan), strict=True))


def test_a_group_against_the_rest_stands_where_the_group_stands():
    of = {
        min(dichotomy.positive, dichotomy.negative, key=len): level for dichotomy, level in levels("additive").items()
    }
    groups = {(4, 5): 1, (0, 1): 2, (2, 3): 2}  # the other side of the first is the group of four, as deep
    leaves = {(0,): 3, (1,): 3, (2,): 3, (3,): 3, (4,): 2, (5,): 2}
    assert of == groups | leaves


def test_children_that_are_told_apart_stand_where_their_group_stands():
    of = {(dichotomy.positive, dichotomy.negative): level for dichotomy, level in levels("weighted").items()}
    assert of == {
        ((0, 1, 2, 3), (4, 5)): 0,
        ((0, 1), (2, 3)): 1,
        ((4,), (5,)): 1,
        ((0,), (1,)): 2,
        ((2,), (3,)): 2,
    }


def test_machines_of_merged_trees_have_the_level_of_the_tree_they_come_from():
    X, y = blobs(6, n_each=6)
    strategy = HybridDendrogram(form="weighted")
    plan = strategy.plan([str(k) for k in range(6)], Geometry.of_gram(X @ X.T, y, 6), None, np.random.default_rng(0))
    n_of_tree = len(strategy.plan_for(strategy.tree_in(plan)).dichotomies)
    assert len(plan.dichotomies) > n_of_tree
    assert levels_of(strategy, plan)[:n_of_tree] == levels_of(strategy, strategy.plan_for(strategy.tree_in(plan)))


def choices(strategy, scope):
    """The dichotomies of a trained strategy with the kernel and C of each."""
    X, y = blobs(6, n_each=10, spread=1.0)
    changes = {"strategy": strategy, "trainer": LeastSquares(), "criterion": LeaveGroupOutLogLoss()}
    config = make_config(**changes, selection_scope=scope, selection_rows=36)
    training = train_classifier(Examples.of(X, y), [str(k) for k in range(6)], config, make_run())
    np.testing.assert_allclose(training.held_out.sum(axis=1), 1)
    return training


@pytest.mark.parametrize("form", ["additive", "weighted"])
def test_a_level_shares_one_choice_and_levels_differ(form):
    strategy = HybridDendrogram(form=form, merge="none")
    training = choices(strategy, "level")
    of = levels_of(strategy, training.classifier.plan)
    of_level = {}
    for level, chosen in zip(of, training.selected, strict=True):
        of_level.setdefault(level, set()).add((chosen.kernel, chosen.C))
    assert all(len(shared) == 1 for shared in of_level.values())
    assert len(set.union(*of_level.values())) > 1


def test_every_node_of_the_additive_dendrogram_may_have_a_kernel_of_its_own():
    counts = {
        scope: len({(c.kernel, c.C) for c in choices(HybridDendrogram(merge="none"), scope).selected})
        for scope in ("node", "level", "shared")
    }
    assert counts["node"] > counts["level"] > counts["shared"] == 1


def test_a_flat_plan_has_no_levels():
    for strategy in (OneVsOne(), OneVsRest()):
        with pytest.raises(UsageError, match=f"selection_scope=level: strategy '{strategy.name}' has no tree"):
            make_config(strategy=strategy, selection_scope="level")
