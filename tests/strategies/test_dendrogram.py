import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from audioclass.contracts import HasTree, Prunes
from audioclass.errors import UsageError
from audioclass.numerics import log_loss
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.additive import Additive
from audioclass.strategies.coupling import COUPLINGS
from audioclass.strategies.dendrogram import LEARNERS, HybridDendrogram, tree_of
from audioclass.strategies.descent import greedy_path, weigh_down
from audioclass.strategies.merging import merge_clear
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.strategies.temperature import fit_temperature
from audioclass.strategies.weighted import SOLVERS, NodeScores, Weighted, oppose
from audioclass.taxonomy import Taxonomy
from audioclass.testing import check_strategy
from audioclass.trees.branches import Branch, agglomerate, random_tree

FORMS = {"additive": Additive(), **{wide: Weighted(solver("wu_lin_weng")) for wide, solver in SOLVERS.items()}}


def tree_from(nested):
    """A tree from labels and lists."""
    return Branch.leaf(nested) if isinstance(nested, int) else Branch.group([tree_from(part) for part in nested])


def by_height(tree, tau):
    """The tree in which groups join those above them that are little higher."""
    return merge_clear(tree, tau, lambda node: node.height)


SIX = tree_from([[[0, 1], [2, 3]], [4, 5]])
REDUNDANT = tree_from([[0, 1, 2], [2, [3, 1]]])


def geometry(n_labels, seed=0):
    squared = squareform(pdist(np.random.default_rng(seed).normal(size=(n_labels, 3)))) ** 2
    return Geometry(np.full(n_labels, 5), squared, np.ones(n_labels))


def names(n_labels):
    return [f"label {i}" for i in range(n_labels)]


def planned(strategy, n_labels, seed=0):
    return strategy.plan(names(n_labels), geometry(n_labels, seed), None, None)


def plan_for(form, tree):
    return Plan(len(tree.labels), form.dichotomies(tree), {"tree": tree.to_plain(), "given": []})


def posteriors_for(n_labels, seed=0, n=6):
    P = np.random.default_rng(seed).dirichlet(np.ones(n_labels), n) + 1e-4
    return P / P.sum(axis=1, keepdims=True)


def perfect(plan, P):
    """What perfect machines answer where the posteriors are P: probabilities and log-odds."""
    sides = [(P[:, d.positive].sum(axis=1), P[:, d.negative].sum(axis=1)) for d in plan.dichotomies]
    r = np.stack([a / (a + b) for a, b in sides], axis=1)
    return r, np.log(r / (1 - r))


def combined(strategy, plan, probabilities, fitted=None):
    scores = np.log(np.clip(probabilities, 1e-9, 1) / np.clip(1 - probabilities, 1e-9, 1))
    return strategy.combine(plan, probabilities, scores, np.ones(plan.n_labels), fitted or {})


# --- the contract


@pytest.mark.parametrize(
    "parameters",
    [
        *({"tree": tree, "form": form} for tree in LEARNERS for form in ("additive", "weighted")),
        {"merge": "none", "decision": "path"},
        {"merge": "separability", "cuts": (2, 4)},
        {"form": "weighted", "merge": "height", "absorb": 0.6, "wide": "one_vs_rest"},
        {"form": "weighted", "wide": "softmax", "decision": "path"},
    ],
    ids=lambda parameters: " ".join(map(str, parameters.values())),
)
def test_it_keeps_its_contract(parameters):
    check_strategy(HybridDendrogram(**parameters))


def test_renaming_labels_changes_nothing():
    strategy = HybridDendrogram()
    assert strategy.plan(list("zyxw"), geometry(4), None, None) == strategy.plan(names(4), geometry(4), None, None)


# --- successive weighting


def test_six_labels_by_hand():
    plan = plan_for(FORMS["one_vs_one"], SIX)
    questions = [oppose(a, b)[0] for a, b in [((0, 1, 2, 3), (4, 5)), ((0, 1), (2, 3)), ((4,), (5,)), ((0,), (1,))]]
    columns = [plan.dichotomies.index(question) for question in [*questions, oppose((2,), (3,))[0]]]
    f1, f2, f3, f4, f5 = 0.7, 0.4, 0.9, 0.2, 0.6
    r = np.empty((1, 5))
    r[0, columns] = f1, f2, f3, f4, f5
    expected = [
        f1 * f2 * f4,
        f1 * f2 * (1 - f4),
        f1 * (1 - f2) * f5,
        f1 * (1 - f2) * (1 - f5),
        (1 - f1) * f3,
        (1 - f1) * (1 - f3),
    ]
    np.testing.assert_allclose(combined(HybridDendrogram(form="weighted"), plan, r), [expected])


@pytest.mark.parametrize("wide", SOLVERS)
@given(n_labels=st.integers(2, 15), seed=st.integers(0, 200))
def test_a_binary_tree_of_consistent_machines_gives_back_the_posteriors(wide, n_labels, seed):
    P = posteriors_for(n_labels, seed)
    strategy = HybridDendrogram(form="weighted", wide=wide, merge="none")
    plan = planned(strategy, n_labels, seed)
    np.testing.assert_allclose(combined(strategy, plan, perfect(plan, P)[0]), P, atol=1e-12)


@pytest.mark.parametrize("wide", ["one_vs_one", "one_vs_rest"])
@given(n_labels=st.integers(2, 15), seed=st.integers(0, 200), tau=st.floats(0, 1))
def test_so_does_a_tree_with_wide_nodes(wide, n_labels, seed, tau):
    P = posteriors_for(n_labels, seed)
    strategy = HybridDendrogram(form="weighted", wide=wide, merge="height", absorb=tau)
    plan = planned(strategy, n_labels, seed)
    np.testing.assert_allclose(combined(strategy, plan, perfect(plan, P)[0]), P, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@given(n_labels=st.integers(2, 60), seed=st.integers(0, 200), tau=st.sampled_from([2.0, 0.8]))
def test_rows_sum_to_one_for_any_tree_and_any_machines(form, n_labels, seed, tau):
    rng = np.random.default_rng(seed)
    heights = rng.random((n_labels, n_labels))
    tree = random_tree(n_labels, rng) if tau > 1 else by_height(agglomerate(heights + heights.T, "average"), tau)
    plan = plan_for(FORMS[form], tree)
    r = rng.random((3, len(plan.dichotomies))).round(1)  # exact 0 and 1 among them
    strategy = HybridDendrogram() if form == "additive" else HybridDendrogram(form="weighted", wide=form)
    P = combined(strategy, plan, r)
    assert P.shape == (3, n_labels)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-9)


@given(st.integers(3, 9), st.integers(0, 100))
def test_without_groups_it_is_coupled_one_vs_one(n_labels, seed):
    strategy = HybridDendrogram(form="weighted", merge="height", absorb=0.0)
    plan, flat = planned(strategy, n_labels, seed), OneVsOne().plan(names(n_labels), None, None, None)
    assert plan.dichotomies == flat.dichotomies
    r = np.random.default_rng(seed).random((4, len(plan.dichotomies)))
    np.testing.assert_allclose(combined(strategy, plan, r), OneVsOne().combine(flat, r, r, None, {}), atol=1e-12)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_a_wide_node_takes_any_coupling(coupling):
    strategy = HybridDendrogram(form="weighted", merge="height", absorb=0.0, coupling=coupling)
    plan, flat = planned(strategy, 6), OneVsOne().plan(names(6), None, None, None)
    r = np.random.default_rng(0).random((4, len(plan.dichotomies)))
    P = strategy.combine(plan, r, r, np.arange(1, 7), {})
    np.testing.assert_allclose(P, OneVsOne(coupling).combine(flat, r, r, np.arange(1, 7), {}), atol=1e-12)


def test_examples_of_a_child_are_those_of_its_labels():
    plan = Plan(4, (Dichotomy((0, 1), (2,)), Dichotomy((0, 1), (3,)), Dichotomy((2,), (3,))))
    node_scores = NodeScores(plan, np.full((1, 3), 0.5), np.zeros((1, 3)), np.array([5, 6, 7, 8]))
    assert [node_scores.count(group) for group in ((0, 1), (2,), (3,))] == [11, 7, 8]


@pytest.mark.parametrize("wide", SOLVERS)
def test_two_labels_are_their_one_machine(wide):
    strategy = HybridDendrogram(form="weighted", wide=wide)
    plan = planned(strategy, 2)
    assert plan.dichotomies == (Dichotomy((0,), (1,)),)
    np.testing.assert_allclose(combined(strategy, plan, np.array([[0.3]])), [[0.3, 0.7]])


@pytest.mark.parametrize("form", ["additive", "weighted"])
def test_one_label_is_certain(form):
    strategy = HybridDendrogram(form=form)
    plan = planned(strategy, 1)
    assert plan.dichotomies == ()
    np.testing.assert_array_equal(combined(strategy, plan, np.empty((3, 0))), np.ones((3, 1)))


def test_a_binary_tree_has_a_machine_fewer_than_labels():
    assert len(planned(HybridDendrogram(form="weighted", merge="none"), 20).dichotomies) == 19


def test_machines_against_siblings_are_divided_by_their_sum():
    plan = plan_for(FORMS["one_vs_rest"], tree_from([0, 1, 2]))
    assert plan.dichotomies == (Dichotomy((0,), (1, 2)), Dichotomy((0, 2), (1,)), Dichotomy((0, 1), (2,)))
    strategy = HybridDendrogram(form="weighted", wide="one_vs_rest")
    P = combined(strategy, plan, np.array([[0.2, 1 - 0.3, 1 - 0.1], [0.0, 1.0, 1.0]]))
    np.testing.assert_allclose(P, [[2 / 6, 3 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3]])


def test_a_wide_node_has_the_temperature_of_its_own_rows():
    tree = tree_from([[0, 1, 2], [3, 4]])
    strategy = HybridDendrogram(form="weighted", wide="softmax")
    plan = plan_for(FORMS["softmax"], tree)
    rng = np.random.default_rng(0)
    y = np.arange(200) % 5
    scores = (
        rng.normal(size=(200, len(plan.dichotomies)))
        + np.array(
            [[(label in d.positive) * 1.0 - (label in d.negative) for d in plan.dichotomies] for label in range(5)]
        )[y]
    )
    fitted = strategy.fit_combination(plan, scores, scores, y, None)
    signs = {(0,): 1, (1,): -1, (2,): -1}
    columns = [plan.dichotomies.index(oppose((k,), set(range(3)) - {k})[0]) for k in range(3)]
    own = scores[y < 3][:, columns] * list(signs.values())
    assert fitted == {"temperatures": [pytest.approx(fit_temperature(own, y[y < 3]))]}


# --- a label in several groups


@pytest.mark.parametrize("form", FORMS)
def test_rows_sum_to_one_with_redundant_labels(form):
    tree = tree_from([[0, 1, 2], [2, 3, 4]])
    plan = plan_for(FORMS[form], tree)
    r = np.random.default_rng(0).random((20, len(plan.dichotomies)))
    strategy = HybridDendrogram() if form == "additive" else HybridDendrogram(form="weighted", wide=form)
    P = combined(strategy, plan, r)
    assert (P > 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)


def test_a_label_on_both_sides_is_left_out_and_has_the_sum_of_its_leaves():
    plan = plan_for(FORMS["one_vs_one"], tree_from([[0, 1], [1, 2]]))
    assert plan.dichotomies == (Dichotomy((0,), (2,)), Dichotomy((0,), (1,)), Dichotomy((1,), (2,)))
    P = combined(HybridDendrogram(form="weighted"), plan, np.array([[0.6, 0.3, 0.8]]))
    np.testing.assert_allclose(P, [[0.6 * 0.3, 0.6 * 0.7 + 0.4 * 0.8, 0.4 * 0.2]])


def test_a_deeper_redundant_tree_sums_to_one():
    plan = plan_for(FORMS["one_vs_one"], REDUNDANT)
    r = np.random.default_rng(0).random((20, len(plan.dichotomies)))
    np.testing.assert_allclose(combined(HybridDendrogram(form="weighted"), plan, r).sum(axis=1), 1, atol=1e-12)


def test_a_group_within_its_sibling_is_refused():
    with pytest.raises(UsageError, match="node \\(0, 1\\) against \\(0, 1, 2\\): all labels of one are in the other"):
        FORMS["one_vs_one"].dichotomies(tree_from([[0, 1], [0, 1, 2]]))


# --- merging by held-out log-loss


def scored(plan, n=400, noise=1.0, seed=0, deaf=()):
    """Labels, and held-out scores of about ±1 from every machine; those of the `deaf` dichotomies tell nothing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(plan.n_labels, size=n)
    sides = np.array(
        [[(k in d.positive) * 1.0 - (k in d.negative) for d in plan.dichotomies] for k in range(plan.n_labels)]
    )
    told = sides[y] * [d not in deaf for d in plan.dichotomies]
    scores = told + noise * rng.normal(size=told.shape)
    return 1 / (1 + np.exp(-2 * scores)), scores, y


def test_a_group_that_tells_nothing_is_merged_and_its_machine_dropped():
    strategy = HybridDendrogram()
    assert isinstance(strategy, Prunes)
    plan, deaf = plan_for(FORMS["additive"], SIX), oppose((2, 3), (0, 1, 4, 5))[0]
    kept = strategy.prune(plan, *scored(plan, deaf=[deaf]), np.ones(6))
    assert set(plan.dichotomies) - set(kept.dichotomies) == {deaf}
    assert [node.labels for node in tree_of(kept).walk() if len(node.labels) == 2] == [(0, 1), (4, 5)]


def test_a_price_beyond_any_gain_leaves_one_vs_rest():
    strategy, plan = HybridDendrogram(price=100.0), plan_for(FORMS["additive"], SIX)
    kept = strategy.prune(plan, *scored(plan), np.ones(6))
    assert kept.dichotomies == tuple(d for d in plan.dichotomies if 1 in (len(d.positive), len(d.negative)))
    assert tree_of(kept).labels == tuple(range(6))
    assert all(not child.children for child in tree_of(kept).children)


@pytest.mark.parametrize("seed", range(3))
def test_dropped_groups_change_no_posterior(seed):
    strategy = HybridDendrogram()
    plan = planned(strategy, 9, seed)
    probabilities, scores, y = scored(plan, seed=seed)
    whole = strategy.combine(
        plan, probabilities, scores, None, strategy.fit_combination(plan, probabilities, scores, y, None)
    )
    kept = strategy.prune(plan, probabilities, scores, y, None)
    columns = plan.places(kept)
    fitted = strategy.fit_combination(kept, probabilities[:, columns], scores[:, columns], y, None)
    assert min(fitted["groups"], default=1) > 0
    parts = strategy.combine(kept, probabilities[:, columns], scores[:, columns], None, fitted)
    np.testing.assert_allclose(parts, whole, atol=1e-6)


def test_given_groups_stay_in_the_tree_without_their_machines():
    strategy = HybridDendrogram(tree="taxonomy", price=100.0)
    plan = strategy.plan(names(7), geometry(7), TAXONOMY, None)
    kept = strategy.prune(plan, *scored(plan), np.ones(7))
    assert tree_of(kept) == tree_of(plan)
    assert len(kept.dichotomies) == 7


@pytest.mark.parametrize("wide", SOLVERS)
def test_the_weighted_form_takes_the_tree_of_the_lowest_held_out_log_loss(wide):
    strategy = HybridDendrogram(form="weighted", wide=wide)
    plan = planned(strategy, 8)
    candidates = [Branch.of_plain(tree) for tree in plan.structure["trees"]]
    assert tree_of(plan) == candidates[0]
    assert len(candidates) > 1
    probabilities, scores, y = scored(plan, noise=2.0)
    kept = strategy.prune(plan, probabilities, scores, y, None)
    losses = []
    for tree in candidates:
        alone = Plan(8, plan.dichotomies, {"tree": tree.to_plain()})
        fitted = strategy.fit_combination(alone, probabilities, scores, y, None)
        losses.append(log_loss(strategy.combine(alone, probabilities, scores, None, fitted), y))
    assert tree_of(kept) == candidates[int(np.argmin(losses))]
    assert kept.dichotomies == tuple(d for d in plan.dichotomies if d in FORMS[wide].dichotomies(tree_of(kept)))


@pytest.mark.parametrize("merge", ["height", "separability", "none"])
def test_other_merges_leave_nothing_to_prune(merge):
    strategy = HybridDendrogram(merge=merge)
    plan = planned(strategy, 6)
    assert strategy.prune(plan, *scored(plan), np.ones(6)) is plan


# --- merging by geometry


def test_separability_merges_a_split_as_clear_as_the_one_above():
    points = np.array([0.0, 0.1, 5.0, 10.0])  # 0 and 1 lie together; the others are apart alike
    squared = (points[:, None] - points) ** 2
    place = Geometry(np.full(4, 5), squared, np.full(4, 0.01))
    strategy = HybridDendrogram(merge="separability", absorb=0.2)
    assert [child.labels for child in strategy.grow(names(4), place, None)[0].children] == [(0, 1), (2,), (3,)]


@pytest.mark.parametrize(("absorb", "n_groups"), [(2.0, 8), (0.0, 1)])
def test_separability_has_the_two_ends_of_heights(absorb, n_groups):
    tree, _ = HybridDendrogram(merge="separability", absorb=absorb).grow(names(9), geometry(9), None)
    assert sum(1 for node in tree.walk() if node.children) == n_groups


def test_cuts_keep_their_groups_only():
    tree, _ = HybridDendrogram(merge="none", cuts=(2, 5)).grow(names(12), geometry(12), None)
    assert len(tree.children) == 2
    assert sum(max(len(child.children), 1) if child.children else 1 for child in tree.children) == 5


# --- growing


@pytest.mark.parametrize("tree", LEARNERS)
@pytest.mark.parametrize("form", ["additive", "weighted"])
def test_permuting_labels_permutes_columns(tree, form):
    strategy = HybridDendrogram(tree=tree, form=form)
    here, order = geometry(7), np.array([4, 2, 6, 0, 1, 5, 3])
    there = Geometry(here.counts, here.squared_distances[np.ix_(order, order)], here.scatter)
    truth = posteriors_for(7)
    answers = []
    for place, P in ((here, truth), (there, truth[:, order])):
        plan = strategy.plan(names(7), place, None, None)
        answers.append(strategy.combine(plan, *perfect(plan, P), None, {}))
    np.testing.assert_allclose(answers[1], answers[0][:, order], atol=1e-9)


TAXONOMY = Taxonomy.of({"animal": [f"label {i}" for i in (0, 3, 5, 6)], "machine": [f"label {i}" for i in (1, 2, 4)]})


def test_a_taxonomy_is_taken_as_given():
    strategy = HybridDendrogram(tree="taxonomy", merge="height", absorb=0.0)
    tree = tree_of(strategy.plan(names(7), geometry(7), TAXONOMY, None))
    assert [child.labels for child in tree.children] == [(0, 3, 5, 6), (1, 2, 4)]
    assert [len(child.children) for child in tree.children] == [4, 3]


def test_a_taxonomy_is_divided_further_below():
    strategy = HybridDendrogram(tree="taxonomy", below="half", merge="none")
    tree = tree_of(strategy.plan(names(7), geometry(7), TAXONOMY, None))
    assert [child.labels for child in tree.children] == [(0, 3, 5, 6), (1, 2, 4)]
    assert all(len(node.children) in (0, 2) for node in tree.walk())


@pytest.mark.parametrize("form", ["additive", "weighted"])
@pytest.mark.parametrize("below", ["as given", "average"])
def test_a_taxonomy_may_repeat_a_label(form, below):
    groups = {"a": [f"label {i}" for i in (0, 1, 2, 3)], "b": [f"label {i}" for i in (3, 4, 5)]}
    strategy = HybridDendrogram(tree="taxonomy", below=below, form=form)
    plan = strategy.plan(names(6), geometry(6), Taxonomy.of(groups), None)
    P = combined(strategy, plan, np.random.default_rng(0).random((9, len(plan.dichotomies))))
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    assert [label for label, _ in tree_of(plan).ways()].count(3) == 2


def test_a_missing_taxonomy_is_reported():
    with pytest.raises(UsageError, match="hybrid_dendrogram: tree='taxonomy' needs a taxonomy, none is given"):
        planned(HybridDendrogram(tree="taxonomy"), 3)


def test_the_tree_survives_json():
    plan = planned(HybridDendrogram(), 9)
    again = Plan(9, plan.dichotomies, json.loads(json.dumps(plan.structure)))
    assert tree_of(again) == tree_of(plan)


# --- inner nodes and decisions


def test_the_path_may_end_elsewhere_than_the_largest_posterior():
    p = np.array([[0.15, 0.15, 0.15, 0.16, 0.39, 0.0]])
    assert greedy_path(SIX, p).tolist() == [3]
    plan = plan_for(FORMS["additive"], SIX)
    assert HybridDendrogram().decide(plan, p, p).tolist() == [4]
    assert HybridDendrogram(decision="path").decide(plan, p, p).tolist() == [3]


@given(st.integers(2, 12), st.integers(0, 100))
def test_hard_nodes_make_the_path_the_posterior(n_labels, seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(n_labels, rng)
    hard = {node: rng.integers(2, size=8).astype(float) for node in tree.walk() if node.children}
    P = weigh_down(tree, lambda node: np.stack([hard[node], 1 - hard[node]], axis=1), 8)
    assert sorted(P.max(axis=1)) == [1] * 8
    np.testing.assert_array_equal(greedy_path(tree, P), P.argmax(axis=1))


def test_its_tree_is_that_of_its_plan():
    assert isinstance(HybridDendrogram(), HasTree)
    assert HybridDendrogram().tree_in(plan_for(FORMS["additive"], SIX)) == SIX
