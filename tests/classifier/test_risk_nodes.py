"""Sets that are nodes of a tree, by hand, and their coverage."""

import numpy as np
import pytest

from audioclass.classifier.risk import Risk
from audioclass.classifier.risk_nodes import NodeRisk, marks_of_groups, node_nonconformities
from audioclass.taxonomy import Taxonomy
from audioclass.training.risk import HeldOutPosteriors, fit_confusion_risk, fit_node_risk, groups_of_confusion

TREE = Taxonomy.of({"animal": {"pet": ["cat", "dog"], "cow": {}}, "bell": {}, "wind": {}})
LABELS = ("bell", "cat", "cow", "dog", "wind")
NODES = marks_of_groups(TREE, LABELS)
PAIRS = np.kron(np.eye(4, dtype=bool), np.ones((1, 2), bool))
P = np.array([[0.05, 0.5, 0.15, 0.25, 0.05], [0.6, 0.1, 0.1, 0.1, 0.1]])


def node_risk(values=(0.1, 0.4)):
    values = np.array(values, np.float32)
    weights = np.ones(len(values), np.float32)
    return NodeRisk(NODES, Risk(values, weights, values, weights))


def names_in(inside):
    return [{label for label, is_in in zip(LABELS, row, strict=True) if is_in} for row in inside]


def test_the_groups_of_a_taxonomy_are_its_nodes_but_the_one_of_all():
    assert names_in(NODES) == [{"cat", "cow", "dog"}, {"cat", "dog"}]


def test_the_set_is_the_smallest_node_around_the_likeliest_label_that_is_above_the_threshold():
    sets = [names_in(node_risk().members_of(P, threshold)) for threshold in (0.4, 0.5, 0.75, 0.9)]
    assert [first for first, _ in sets] == [{"cat"}, {"cat", "dog"}, {"cat", "cow", "dog"}, set(LABELS)]
    assert [second for _, second in sets] == [{"bell"}, {"bell"}, set(LABELS), set(LABELS)]


def test_the_nonconformity_is_the_posterior_of_the_largest_node_without_the_true_label():
    values = [node_nonconformities(P[:1], np.array([label]), NODES)[0] for label in range(len(LABELS))]
    assert values == pytest.approx([0.9, 0, 0.75, 0.5, 0.9])


def test_a_label_is_in_its_set_up_to_its_nonconformity():
    rng = np.random.default_rng(0)
    rows, y = rng.dirichlet(np.ones(5), 200), rng.integers(5, size=200)
    values = node_nonconformities(rows, y, NODES)
    for threshold in (0.2, 0.6, 0.9):
        inside = node_risk().members_of(rows, threshold)
        assert np.array_equal(inside[np.arange(200), y], values <= threshold + 1e-6)


def test_of_groups_that_overlap_the_smallest_is_gone_by():
    marks = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], bool)
    values = node_nonconformities(np.array([[0.35, 0.25, 0.25, 0.15]]), np.array([2]), marks)
    assert values == pytest.approx([0.6])


def test_labels_that_are_taken_for_one_another_stand_together():
    held_out = np.array([[0.6, 0.0, 0.4, 0.0], [0.0, 0.7, 0.0, 0.3], [0.3, 0.0, 0.7, 0.0], [0.1, 0.3, 0.0, 0.6]])
    assert sorted(groups_of_confusion(held_out, np.arange(4)).tolist()) == [
        [False, True, False, True],
        [True, False, True, False],
    ]


@pytest.mark.parametrize("fit", [lambda held_out: fit_node_risk(held_out, PAIRS), fit_confusion_risk])
def test_new_groups_are_covered_as_promised(fit):
    rng, rates = np.random.default_rng(1), []
    for _ in range(30):
        rows = rng.dirichlet(np.ones(8) / 3, 900)
        y = (rng.random(900)[:, None] > rows.cumsum(axis=1)).sum(axis=1).clip(max=7)
        known = fit(HeldOutPosteriors(rows[:400], y[:400], np.arange(400), [str(i) for i in range(400)]))
        inside = known.members_of(rows[400:], known.risk.threshold(0.1))
        rates.append(inside[np.arange(500), y[400:]].mean())
    assert np.mean(rates) == pytest.approx(0.9 + 0.015, abs=0.012)  # a standard error of 400 groups more


def test_arrays_come_back():
    again = NodeRisk.of_arrays(node_risk().arrays(), 5)
    assert np.array_equal(again.members_of(P, 0.6), node_risk().members_of(P, 0.6))


@pytest.mark.parametrize("nodes", [NODES[:, :4], NODES.astype(np.uint8), NODES[0], np.ones((9000, 5), bool)])
def test_arrays_that_are_no_tree_are_refused(nodes):
    with pytest.raises(ValueError, match="nodes of .* for 5 labels"):
        NodeRisk.of_arrays(node_risk().arrays() | {"nodes": nodes}, 5)
