from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import pdist, squareform

from audioclass.errors import CorpusError, UsageError
from audioclass.plain import is_plain
from audioclass.taxonomy import Taxonomy
from audioclass.trees.branches import (
    LINKAGES,
    Branch,
    agglomerate,
    halve,
    learn_below,
    measure,
    merge,
    of_taxonomy,
    random_tree,
    split_greedily,
)

LEARNERS = [*((lambda D, name=name: agglomerate(D, name)) for name in LINKAGES), halve, split_greedily]
learners = pytest.mark.parametrize("learn", LEARNERS, ids=[*LINKAGES, "half", "greedy"])


def distances(n_labels, seed=0):
    return squareform(pdist(np.random.default_rng(seed).normal(size=(n_labels, 3))))


def nested(tree):
    """The tree without heights: labels and lists."""
    return [nested(child) for child in tree.children] if tree.children else tree.labels[0]


def groups(tree):
    return [node for node in tree.walk() if node.children]


def leaves(tree):
    return [label for label, _ in tree.ways()]


def permuted(tree, order):
    """The tree in which label k is called where k stands in the order."""
    if not tree.children:
        return Branch.leaf(order.index(tree.labels[0]))
    return Branch.group([permuted(child, order) for child in tree.children], tree.height)


# --- bottom up


@pytest.mark.parametrize("name", LINKAGES)
@given(st.integers(2, 25), st.integers(0, 1000))
def test_heights_are_those_of_scipy(name, n_labels, seed):
    D = distances(n_labels, seed)
    tree = agglomerate(D, name)
    expected = linkage(squareform(D), name)
    np.testing.assert_allclose(sorted(node.height for node in groups(tree)), expected[:, 2], rtol=1e-9)
    joined = squareform(cophenet(expected))
    for node in groups(tree):
        for a, b in combinations(node.children, 2):
            np.testing.assert_allclose(joined[np.ix_(a.labels, b.labels)], node.height, rtol=1e-9)


def test_equal_distances_are_joined_in_order():
    assert nested(agglomerate(1 - np.eye(4), "average")) == [[[0, 1], 2], 3]
    D = np.array([[0, 2, 1, 2], [2, 0, 2, 1], [1, 2, 0, 2], [2, 1, 2, 0]])
    assert nested(agglomerate(D, "single")) == [[0, 2], [1, 3]]


def test_labels_at_one_point_are_legal():
    tree = agglomerate(np.zeros((3, 3)), "ward")
    assert nested(tree) == [[0, 1], 2]
    assert tree.height == 0


def test_an_unknown_linkage_is_refused():
    with pytest.raises(UsageError, match="unknown linkage 'averge'; did you mean 'average'"):
        agglomerate(np.zeros((2, 2)), "averge")


# --- every learnt tree


@learners
@settings(max_examples=40)
@given(n_labels=st.integers(1, 30), seed=st.integers(0, 1000))
def test_every_label_is_one_leaf_and_heights_never_fall(learn, n_labels, seed):
    tree = learn(distances(n_labels, seed))
    assert sorted(leaves(tree)) == list(range(n_labels)) == list(tree.labels)
    assert all(len(node.children) == 2 for node in groups(tree))
    assert all(child.height <= node.height for node in groups(tree) for child in node.children)


@learners
@settings(max_examples=40)
@given(order=st.permutations(range(9)), seed=st.integers(0, 1000))
def test_permuting_labels_permutes_the_tree(learn, order, seed):
    D = distances(9, seed)
    moved = learn(D[np.ix_(order, order)])
    assert nested(moved) == nested(permuted(learn(D), order))


@pytest.mark.parametrize(
    ("D", "match"),
    [
        (np.zeros((2, 3)), "distances have shape \\(2, 3\\), must be labels by labels"),
        (np.zeros((0, 0)), "distances have shape \\(0, 0\\)"),
        (np.array([[0, 1], [2, 0]]), "must be finite, at least 0 and symmetric"),
        (np.array([[0, -1], [-1, 0]]), "must be finite, at least 0 and symmetric"),
        (np.full((2, 2), np.nan), "must be finite"),
    ],
)
@learners
def test_what_are_no_distances_is_refused(learn, D, match):
    with pytest.raises(ValueError, match=match):
        learn(D)


@learners
def test_distances_are_left_as_they_were(learn):
    D = distances(6)
    kept = D.copy()
    learn(D)
    np.testing.assert_array_equal(D, kept)


# --- half against half


@settings(max_examples=30)
@given(st.integers(2, 40), st.integers(0, 100))
def test_halves_are_equal(n_labels, seed):
    tree = halve(distances(n_labels, seed))
    assert all(abs(len(node.children[0].labels) - len(node.children[1].labels)) <= 1 for node in groups(tree))
    assert max(len(way) for _, way in tree.ways()) == int(np.ceil(np.log2(n_labels)))


@pytest.mark.parametrize("n_labels", [6, 7])
def test_no_other_halves_are_farther_apart(n_labels):
    D = distances(n_labels)
    first, second = halve(D).children
    cuts = [list(group) for group in combinations(range(n_labels), n_labels // 2)]
    means = [D[np.ix_(cut, sorted(set(range(n_labels)) - set(cut)))].mean() for cut in cuts]
    assert D[np.ix_(first.labels, second.labels)].mean() == pytest.approx(max(means))


@pytest.mark.parametrize("n_labels", [20, 21])
def test_many_labels_in_two_clouds_are_cut_between_them(n_labels):
    points = np.random.default_rng(0).normal(size=(n_labels, 2))
    far = np.arange(n_labels) % 2 == 1
    points[far] += 50
    first, second = halve(squareform(pdist(points))).children
    assert (first.labels, second.labels) == (tuple(range(0, n_labels, 2)), tuple(range(1, n_labels, 2)))


def test_exchanges_leave_no_better_exchange():
    D = distances(24, 3)
    first, second = (list(child.labels) for child in halve(D).children)
    across = D[np.ix_(first, second)].sum()
    for i in range(12):
        for j in range(12):
            a, b = first[:i] + first[i + 1 :] + [second[j]], second[:j] + second[j + 1 :] + [first[i]]
            assert D[np.ix_(a, b)].sum() <= across + 1e-9


def test_equal_halves_are_taken_in_lexicographic_order():
    assert nested(halve(1 - np.eye(4))) == [[0, 1], [2, 3]]
    assert nested(halve(1 - np.eye(5))) == [[0, 1], [2, [3, 4]]]


# --- greedy


def test_greedy_by_hand():
    points = np.array([0.0, 1.0, 4.0, 10.0])  # 0 and 3 are the seeds; 1 leans by 8, 2 by 2.5 once 1 has joined 0
    assert nested(split_greedily(np.abs(points[:, None] - points))) == [[[0, 1], 2], 3]


def test_a_label_in_the_middle_joins_the_first_seed():
    points = np.array([0.0, 2.0, 1.0])
    assert nested(split_greedily(np.abs(points[:, None] - points))) == [[0, 2], 1]


# --- random trees


@pytest.mark.parametrize("balanced", [False, True])
@given(n_labels=st.integers(1, 60), seed=st.integers(0, 1000))
def test_a_random_tree_has_every_label_once(balanced, n_labels, seed):
    tree = random_tree(n_labels, np.random.default_rng(seed), balanced=balanced)
    assert sorted(leaves(tree)) == list(range(n_labels))
    assert len(groups(tree)) == n_labels - 1


def test_all_trees_are_equally_likely():
    rng = np.random.default_rng(0)
    drawn = [str(nested(random_tree(4, rng))) for _ in range(3000)]
    shapes, counts = np.unique(drawn, return_counts=True)
    assert len(shapes) == 15
    assert (np.abs(counts - 200) < 60).all()


# --- taxonomies


def test_a_taxonomy_is_its_tree():
    taxonomy = Taxonomy.of({"animal": {"cat": {}, "bird": ["owl", "duck"]}, "engine": {}})
    tree = of_taxonomy(taxonomy, ["cat", "duck", "engine", "owl"])
    assert nested(tree) == [[0, [1, 3]], 2]
    assert [node.height for node in groups(tree)] == [3, 2, 1]


def test_a_label_may_stand_in_two_groups():
    taxonomy = Taxonomy.of({"a": ["x", "y"], "b": ["y", "z"]})
    tree = of_taxonomy(taxonomy, ["x", "y", "z"])
    assert nested(tree) == [[0, 1], [1, 2]]
    assert tree.labels == (0, 1, 2)


def test_labels_that_the_taxonomy_lacks_are_refused():
    with pytest.raises(CorpusError, match="label 'dog' is not in the taxonomy"):
        of_taxonomy(Taxonomy.of(["cat", "owl"]), ["cat", "dog"])


def test_a_given_top_is_kept_and_learnt_below():
    points = np.array([0.0, 9.0, 1.0, 10.0, 5.0, 5.5])
    D = np.abs(points[:, None] - points)
    top = Branch.group([Branch.group([Branch.leaf(label) for label in group]) for group in ([0, 1, 2, 3], [4, 5])])
    tree = learn_below(top, D, agglomerate)
    assert nested(tree) == [[[0, 2], [1, 3]], [4, 5]]
    assert [node.height for node in groups(tree)] == pytest.approx([9, 9, 1, 1, 0.5])


@given(st.integers(1, 20), st.integers(0, 100))
def test_a_flat_top_is_learnt_as_without_it(n_labels, seed):
    D = distances(n_labels, seed)
    flat = absorb(agglomerate(D, "average"), 0)
    assert nested(learn_below(flat, D, agglomerate)) == nested(agglomerate(D))


@given(st.integers(2, 20), st.integers(0, 100))
def test_measured_heights_are_those_of_average_linkage(n_labels, seed):
    D = distances(n_labels, seed)
    tree = agglomerate(D, "average")
    heights = [node.height for node in measure(random_heights(tree), D).walk()]
    np.testing.assert_allclose(heights, [node.height for node in tree.walk()], rtol=1e-9)


def random_heights(tree):
    """The tree with heights that tell nothing."""
    return Branch.group([random_heights(child) for child in tree.children], 1.0) if tree.children else tree


# --- absorbing


def absorb(tree, tau):
    """The tree in which a group takes in those below it that are at least τ times as high."""
    return tree if tau > 1 else merge(tree, lambda node, above: node.height >= tau * above.height)


@learners
def test_above_one_nothing_is_absorbed(learn):
    for D in (distances(12), np.zeros((5, 5)), 1 - np.eye(6)):
        assert absorb(learn(D), 1.001) == learn(D)


@learners
@pytest.mark.parametrize("tau", [0.0, -1.0])
def test_at_zero_the_tree_is_flat(learn, tau):
    for D in (distances(12), np.zeros((5, 5))):
        assert nested(absorb(learn(D), tau)) == list(range(len(D)))


def test_equal_heights_are_absorbed_at_one():
    assert nested(absorb(agglomerate(1 - np.eye(4)), 1.0)) == [0, 1, 2, 3]


def test_a_group_is_compared_with_the_one_it_would_join():
    pair = Branch.group([Branch.leaf(0), Branch.leaf(1)], 0.7)
    three = Branch.group([pair, Branch.leaf(2)], 0.85)
    tree = Branch.group([three, Branch.leaf(3)], 1.0)
    assert nested(absorb(tree, 0.8)) == [[0, 1], 2, 3]
    assert nested(absorb(tree, 0.7)) == [0, 1, 2, 3]
    assert nested(absorb(tree, 0.9)) == [[[0, 1], 2], 3]


@given(st.integers(2, 20), st.integers(0, 100), st.floats(-0.5, 1.5))
def test_absorbing_twice_is_absorbing_once(n_labels, seed, tau):
    tree = absorb(agglomerate(distances(n_labels, seed)), tau)
    assert absorb(tree, tau) == tree
    assert sorted(leaves(tree)) == list(range(n_labels))


# --- as plain values


@given(st.integers(1, 20), st.integers(0, 100), st.floats(0, 1.5))
def test_plain_values_give_the_tree_back(n_labels, seed, tau):
    tree = absorb(agglomerate(distances(n_labels, seed)), tau)
    assert is_plain(tree.to_plain())
    assert Branch.of_plain(tree.to_plain()) == tree
