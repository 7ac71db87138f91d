import json

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform
from sklearn.linear_model import LogisticRegression

from audioclass.errors import UsageError
from audioclass.problems import Dichotomy, Geometry, Plan
from audioclass.strategies.additive import Additive, _levels_at, _lowest_from_zero_up, fit_levels
from audioclass.strategies.dendrogram import LEARNERS, HybridDendrogram, tree_of
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.strategies.temperature import apply_temperature, fit_temperature, log_loss
from audioclass.strategies.trees import Branch, absorb, agglomerate, random_tree
from audioclass.strategies.weighted import (
    SOLVERS,
    Weighted,
    deepest_node,
    greedy_path,
    node_posteriors,
    oppose,
    weigh_down,
)
from audioclass.taxonomy import Taxonomy
from audioclass.testing import check_strategy

FORMS = {"additive": Additive(), **{wide: Weighted(solver) for wide, solver in SOLVERS.items()}}


def tree_from(nested):
    """A tree from labels and lists."""
    return Branch.leaf(nested) if isinstance(nested, int) else Branch.group([tree_from(part) for part in nested])


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
    return Plan(len(tree.labels), form.dichotomies(tree), {"tree": tree.to_plain()})


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


@pytest.mark.parametrize("tree", LEARNERS)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"absorb": 2.0, "decision": "path"},
        {"form": "weighted"},
        {"form": "weighted", "absorb": 2.0, "decision": "path"},
        {"form": "weighted", "absorb": 0.6, "wide": "one_vs_rest"},
        {"form": "weighted", "absorb": 0.6, "wide": "softmax"},
    ],
    ids=str,
)
def test_it_keeps_its_contract(tree, parameters):
    check_strategy(HybridDendrogram(tree=tree, **parameters))


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
    strategy = HybridDendrogram(form="weighted", wide=wide, absorb=2.0)
    plan = planned(strategy, n_labels, seed)
    np.testing.assert_allclose(combined(strategy, plan, perfect(plan, P)[0]), P, atol=1e-12)


@pytest.mark.parametrize("wide", ["one_vs_one", "one_vs_rest"])
@given(n_labels=st.integers(2, 15), seed=st.integers(0, 200), tau=st.floats(0, 1))
def test_so_does_a_tree_with_wide_nodes(wide, n_labels, seed, tau):
    P = posteriors_for(n_labels, seed)
    strategy = HybridDendrogram(form="weighted", wide=wide, absorb=tau)
    plan = planned(strategy, n_labels, seed)
    np.testing.assert_allclose(combined(strategy, plan, perfect(plan, P)[0]), P, atol=1e-6)


@pytest.mark.parametrize("form", FORMS)
@given(n_labels=st.integers(2, 60), seed=st.integers(0, 200), tau=st.sampled_from([2.0, 0.8]))
def test_rows_sum_to_one_for_any_tree_and_any_machines(form, n_labels, seed, tau):
    rng = np.random.default_rng(seed)
    heights = rng.random((n_labels, n_labels))
    tree = random_tree(n_labels, rng) if tau > 1 else absorb(agglomerate(heights + heights.T, "average"), tau)
    plan = plan_for(FORMS[form], tree)
    r = rng.random((3, len(plan.dichotomies))).round(1)  # exact 0 and 1 among them
    strategy = HybridDendrogram() if form == "additive" else HybridDendrogram(form="weighted", wide=form)
    P = combined(strategy, plan, r)
    assert P.shape == (3, n_labels)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-9)


@given(st.integers(3, 9), st.integers(0, 100))
def test_without_groups_it_is_coupled_one_vs_one(n_labels, seed):
    strategy = HybridDendrogram(form="weighted", absorb=0.0)
    plan, flat = planned(strategy, n_labels, seed), OneVsOne().plan(names(n_labels), None, None, None)
    assert plan.dichotomies == flat.dichotomies
    r = np.random.default_rng(seed).random((4, len(plan.dichotomies)))
    np.testing.assert_allclose(combined(strategy, plan, r), OneVsOne().combine(flat, r, r, None, {}), atol=1e-12)


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
    assert len(planned(HybridDendrogram(form="weighted", absorb=2.0), 20).dichotomies) == 19


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


# --- the additive form


def scored(plan, n=300, noise=1.0, seed=0):
    """Noisy scores of about ±1 from every machine, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(plan.n_labels, size=n)
    sides = [
        [(label in d.positive) * 1.0 - (label in d.negative) for d in plan.dichotomies]
        for label in range(plan.n_labels)
    ]
    return np.array(sides)[y] + noise * rng.normal(size=(n, len(plan.dichotomies))), y


@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_without_groups_it_is_one_vs_rest_with_a_temperature(noise):
    strategy = HybridDendrogram(absorb=0.0)
    plan = planned(strategy, 5)
    scores, y = scored(plan, noise=noise)
    fitted = strategy.fit_combination(plan, scores, scores, y, None)
    against_rest = scores * [1 if len(d.positive) == 1 else -1 for d in plan.dichotomies]
    order = np.argsort([min(d.positive, d.negative, key=len)[0] for d in plan.dichotomies])
    T = fit_temperature(against_rest[:, order], y)
    assert fitted == {"levels": [pytest.approx(1 / T)]}
    P = strategy.combine(plan, scores, scores, None, fitted)
    np.testing.assert_allclose(P, apply_temperature(against_rest[:, order], T), atol=1e-12)


def test_every_node_has_a_machine_against_the_rest():
    assert FORMS["additive"].dichotomies(SIX) == (
        Dichotomy((0, 1, 2, 3), (4, 5)),  # and the other child of the root
        Dichotomy((0, 1), (2, 3, 4, 5)),
        Dichotomy((0,), (1, 2, 3, 4, 5)),
        Dichotomy((0, 2, 3, 4, 5), (1,)),
        Dichotomy((0, 1, 4, 5), (2, 3)),
        Dichotomy((0, 1, 3, 4, 5), (2,)),
        Dichotomy((0, 1, 2, 4, 5), (3,)),
        Dichotomy((0, 1, 2, 3, 5), (4,)),
        Dichotomy((0, 1, 2, 3, 4), (5,)),
    )


@pytest.mark.parametrize("seed", range(3))
def test_it_has_fewer_machines_than_one_vs_one(seed):
    for n_labels in (6, 10, 60):
        assert len(planned(HybridDendrogram(absorb=2.0), n_labels, seed).dichotomies) == 2 * n_labels - 3


def test_scores_add_up_on_the_way_by_hand():
    plan = plan_for(FORMS["additive"], tree_from([[0, 1], 2, 3]))
    machines = [Dichotomy((0, 1), (2, 3)), *(oppose((k,), set(range(4)) - {k})[0] for k in range(4))]
    scores = np.empty((1, 5))
    scores[0, [plan.dichotomies.index(d) for d in machines]] = 0.5, 1.0, -0.2, -0.3, -0.4
    expected = np.exp([2 * 1.0 + 3 * 0.5, 2 * 0.2 + 3 * 0.5, 2 * 0.3, 2 * 0.4])  # 1, 2 and 3 are negative sides
    P = HybridDendrogram().combine(plan, scores, scores, None, {"levels": [2.0, 3.0]})
    np.testing.assert_allclose(P, [expected / expected.sum()])


def test_two_labels_are_one_machine_in_the_additive_form_too():
    strategy = HybridDendrogram()
    plan = planned(strategy, 2)
    assert plan.dichotomies == (Dichotomy((0,), (1,)),)
    P = strategy.combine(plan, np.empty((1, 1)), np.array([[0.4]]), None, {"levels": [1.5]})
    np.testing.assert_allclose(P[0, 0], 1 / (1 + np.exp(-2 * 1.5 * 0.4)))


@pytest.mark.parametrize("seed", range(3))
def test_levels_lower_the_log_loss_of_one_vs_rest(seed):
    plan = plan_for(FORMS["additive"], SIX)
    scores, y = scored(plan, seed=seed)
    strategy = HybridDendrogram()
    fitted = strategy.fit_combination(plan, scores, scores, y, None)
    assert len(fitted["levels"]) == 3  # leaves; pairs; the four
    leaves_only = {"levels": [1 / temperature_of_leaves(plan, scores, y), 0.0, 0.0]}
    losses = [log_loss(strategy.combine(plan, scores, scores, None, fit), y) for fit in (fitted, leaves_only)]
    assert losses[0] < losses[1] - 0.01


def temperature_of_leaves(plan, scores, y):
    asked = [oppose((k,), set(range(plan.n_labels)) - {k}) for k in range(plan.n_labels)]
    columns = [plan.dichotomies.index(dichotomy) for dichotomy, _ in asked]
    return fit_temperature(scores[:, columns] * [1 if is_positive else -1 for _, is_positive in asked], y)


def level_scores(n=200, n_labels=4, n_levels=3, seed=0):
    """Scores of levels that tell something, one of them the wrong way round."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_labels, size=n)
    told = np.array([1.0, 0.5, -0.5])[:n_levels, None, None]
    return told * np.eye(n_labels)[y] + rng.normal(size=(n_levels, n, n_labels)), y


@pytest.mark.parametrize("seed", range(3))
def test_another_minimiser_finds_the_same_weights(seed):
    scores, y = level_scores(seed=seed)
    T = fit_temperature(scores[0], y)

    def loss(weights):
        P = apply_temperature(np.tensordot(weights / T, scores, 1), 1.0)
        return len(y) * log_loss(P, y) + ((weights - [1, 0, 0]) ** 2).sum() / 2

    found = scipy.optimize.minimize(loss, np.ones(3), bounds=[(0, None)] * 3, method="SLSQP", tol=1e-12)
    weights = fit_levels(scores, y)
    np.testing.assert_allclose(weights * T, found.x, atol=1e-4)
    assert weights[2] == 0  # a level that misleads is not listened to


@given(st.integers(1, 8), st.integers(0, 1000))
def test_scipy_finds_the_same_lowest_point_from_zero_up(n, seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n + 2, n)), rng.normal(size=n + 2)
    np.testing.assert_allclose(_lowest_from_zero_up(A.T @ A, -A.T @ b), scipy.optimize.nnls(A, b)[0], atol=1e-8)


@given(st.integers(0, 100))
def test_derivatives_agree_with_differences(seed):
    scores, y = level_scores(20, seed=seed)
    weights, start = np.random.default_rng(seed).random(3), np.eye(3)[0]
    _, gradient, hessian = _levels_at(weights, start, scores, y)
    above, below = ([_levels_at(weights + h * e, start, scores, y) for e in np.eye(3)] for h in (1e-5, -1e-5))
    pairs = list(zip(above, below, strict=True))
    np.testing.assert_allclose(gradient, [(a[0] - b[0]) / 2e-5 for a, b in pairs], atol=1e-6)
    np.testing.assert_allclose(hessian, [(a[1] - b[1]) / 2e-5 for a, b in pairs], atol=1e-6)


def test_scikit_learn_finds_the_same_two_weights_for_two_labels():
    scores, y = level_scores(3000, 2, 2)
    margins = (scores[:, :, 1] - scores[:, :, 0]).T
    expected = LogisticRegression(C=1e6, fit_intercept=False, tol=1e-10).fit(margins, y).coef_[0]
    np.testing.assert_allclose(fit_levels(scores, y), expected, rtol=5e-3)  # a ridge of one example in 3000


@settings(max_examples=20)
@given(st.floats(1e-3, 1e3), st.integers(0, 20))
def test_a_factor_on_the_scores_divides_the_weights(c, seed):
    scores, y = level_scores(60, seed=seed)
    np.testing.assert_allclose(c * fit_levels(c * scores, y), fit_levels(scores, y), rtol=1e-9, atol=1e-12)


def test_scores_that_are_always_right_have_finite_weights():
    plan = plan_for(FORMS["additive"], SIX)
    scores, y = scored(plan, 30, noise=0.0)
    weights = HybridDendrogram().fit_combination(plan, scores, scores, y, None)["levels"]
    assert np.isfinite(weights).all()
    assert max(weights) < 10


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
    strategy = HybridDendrogram(tree="taxonomy", absorb=0.0)
    tree = tree_of(strategy.plan(names(7), geometry(7), TAXONOMY, None))
    assert [child.labels for child in tree.children] == [(0, 3, 5, 6), (1, 2, 4)]
    assert [len(child.children) for child in tree.children] == [4, 3]


def test_a_taxonomy_is_divided_further_below():
    strategy = HybridDendrogram(tree="taxonomy", below="half", absorb=2.0)
    tree = tree_of(strategy.plan(names(7), geometry(7), TAXONOMY, None))
    assert [child.labels for child in tree.children] == [(0, 3, 5, 6), (1, 2, 4)]
    assert all(len(node.children) in (0, 2) for node in tree.walk())


@pytest.mark.parametrize("form", ["additive", "weighted"])
@pytest.mark.parametrize("below", ["as given", "average"])
def test_a_taxonomy_may_repeat_a_label(form, below):
    groups = {"a": [f"label {i}" for i in (0, 1, 2, 3)], "b": [f"label {i}" for i in (3, 4, 5)]}
    strategy = HybridDendrogram(tree="taxonomy", below=below, form=form)
    plan = strategy.plan(names(6), geometry(6), Taxonomy.of(groups, repeats=True), None)
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


def test_inner_posteriors_are_sums_over_leaves():
    P = posteriors_for(6)
    nodes = dict(zip([node.labels for node in SIX.walk()], node_posteriors(SIX, P).T, strict=True))
    np.testing.assert_allclose(nodes[tuple(range(6))], 1)
    np.testing.assert_allclose(nodes[0, 1, 2, 3], P[:, :4].sum(axis=1))
    np.testing.assert_array_equal(nodes[5,], P[:, 5])


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


@pytest.mark.parametrize(
    ("threshold", "labels"),
    [
        (0.0, (0,)),
        (0.4, (0,)),
        (0.5, (0, 1)),
        (0.6, (0, 1)),
        (0.8, (0, 1, 2, 3)),
        (0.95, (0, 1, 2, 3, 4, 5)),
        (2, (0, 1, 2, 3, 4, 5)),
    ],
)
def test_an_unsure_row_backs_off_to_a_group(threshold, labels):
    p = np.array([0.45, 0.25, 0.1, 0.1, 0.06, 0.04])
    assert deepest_node(SIX, p, threshold).labels == labels
