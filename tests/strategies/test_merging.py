import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.problems import Geometry
from audioclass.strategies.merging import clarity, merge_clear, separability
from audioclass.trees.branches import Branch, agglomerate, merge, random_tree


def examples(seed, n_labels=5):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(n_labels), rng.integers(n_labels, size=40))
    return rng.normal(size=(len(y), 3)) + 2 * rng.normal(size=(n_labels, 3))[y], y


@given(st.integers(0, 200), st.sampled_from([[(0,), (1,)], [(0, 1), (2, 3, 4)], [(0, 3), (1,), (2, 4)]]))
def test_it_is_the_ratio_of_scatters_in_the_space_of_the_examples(seed, groups):
    X, y = examples(seed)
    parts = [X[np.isin(y, group)] for group in groups]
    centre = np.concatenate(parts).mean(axis=0)
    within = sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)
    between = sum(len(part) * ((part.mean(axis=0) - centre) ** 2).sum() for part in parts)
    assert separability(Geometry.of_gram(X @ X.T, y, 5), groups) == pytest.approx(between / within)


def test_labels_without_width_are_infinitely_apart():
    still = Geometry(np.ones(2), np.array([[0, 1.0], [1.0, 0]]), np.zeros(2))
    assert separability(still, [(0,), (1,)]) == float("inf")
    assert separability(Geometry(np.ones(2), np.zeros((2, 2)), np.zeros(2)), [(0,), (1,)]) == 0


def heights(node):
    return node.height


@given(st.integers(2, 15), st.integers(0, 50), st.floats(-0.5, 1.5))
def test_by_height_it_is_absorbing(n_labels, seed, tau):
    D = np.random.default_rng(seed).random((n_labels, n_labels))
    tree = agglomerate(D + D.T)
    absorbed = merge(tree, lambda node, above: node.height >= tau * above.height)
    assert merge_clear(tree, tau, heights) == (tree if tau > 1 else absorbed)


def test_given_groups_stay():
    tree = random_tree(6, np.random.default_rng(0))
    given_groups = [node.labels for node in tree.walk() if node.children]
    assert merge_clear(tree, 0.0, heights, given_groups) == tree
    assert len(merge_clear(tree, 0.0, heights).children) == 6


def test_a_pair_is_as_clear_as_its_two_labels_are_separable():
    X, y = examples(0)
    geometry = Geometry.of_gram(X @ X.T, y, 5)
    pair = Branch.group([Branch.leaf(1), Branch.leaf(3)])
    assert clarity(pair, geometry) == separability(geometry, [(1,), (3,)])
