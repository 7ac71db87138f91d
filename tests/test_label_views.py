"""A tree of labels told less deep: sums that lose nothing, and what cannot be summed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.errors import UsageError
from audioclass.label_views import LabelView
from audioclass.taxonomy import Taxonomy

TREE = Taxonomy.of({"music": {"song": ["choir", "solo"], "band": {}}, "speech": {}})
LABELS = ("band", "choir", "solo", "speech")
TWICE = Taxonomy.of({"indoors": ["speech", "music"], "outdoors": ["speech", "wind"]})


def view(depth, labels=LABELS, taxonomy=TREE):
    return LabelView.at_depth(labels, taxonomy, depth)


def test_labels_are_the_nodes_at_a_depth_or_leaves_above_it():
    assert view(1).labels == ("music", "speech")
    assert view(2).labels == ("band", "song", "speech")
    assert view(2).taxonomy.path("song") == ("music", "song")


@pytest.mark.parametrize("depth", [3, 4, 99])
def test_leaves_are_no_view(depth):
    assert view(depth) is None


def test_a_group_of_all_labels_is_no_level():
    everything = Taxonomy.of({"sound": {"music": ["band", "choir"], "speech": {}}})
    assert view(1, ("band", "choir", "speech"), everything).labels == ("music", "speech")
    assert view(1, ("a", "b"), Taxonomy.of({"all": ["a", "b"]})) is None
    assert view(1, ("a",), Taxonomy.of(["a"])) is None


@given(st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_sums_are_the_same_to_the_bit_whatever_rows_come_together(n, seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(4), n)
    sums = view(1).sums(P)
    np.testing.assert_array_equal(sums, np.concatenate([view(1).sums(P[i : i + 1]) for i in range(n)]))
    np.testing.assert_allclose(sums.sum(axis=1), 1, atol=1e-12)


def test_a_view_of_a_view_is_the_view_of_the_leaves():
    P = np.random.default_rng(1).dirichlet(np.ones(4), 9)
    deep = view(2)
    again = LabelView.at_depth(deep.labels, deep.taxonomy, 1)
    assert again.labels == view(1).labels
    np.testing.assert_allclose(again.sums(deep.sums(P)), view(1).sums(P), atol=1e-12)


def test_permuting_leaves_permutes_no_sum():
    P, order = np.random.default_rng(2).dirichlet(np.ones(4), 5), [3, 1, 0, 2]
    other = view(1, tuple(LABELS[k] for k in order))
    columns = [other.labels.index(label) for label in view(1).labels]
    np.testing.assert_allclose(other.sums(P[:, order])[:, columns], view(1).sums(P), atol=1e-12)


def test_transitions_between_groups_count_those_between_their_labels():
    counts = np.arange(16).reshape(4, 4)
    blocks = view(1).block_sums(counts)
    np.testing.assert_array_equal(blocks, [[counts[:3, :3].sum(), 3 + 7 + 11], [12 + 13 + 14, 15]])
    assert blocks.sum() == counts.sum()


def test_durations_are_means_of_what_is_known():
    assert view(1).means({"band": 4.0, "solo": 2.0}, LABELS) == {"music": 3.0}


def test_a_label_of_several_groups_is_not_counted_twice():
    with pytest.raises(
        UsageError, match="depth=1: label 'speech' stands in several groups, which would count it twice"
    ):
        view(1, ("music", "speech", "wind"), TWICE)


def test_a_label_of_several_groups_within_one_is_summed_once():
    tree = Taxonomy.of({"heard": {"in": ["speech", "music"], "out": ["speech", "wind"]}, "silence": {}})
    assert view(1, ("music", "silence", "speech", "wind"), tree).members == ((0, 2, 3), (1,))


def test_independent_probabilities_are_not_summed():
    with pytest.raises(UsageError, match="depth=1: labels overlap, their probabilities do not add up"):
        LabelView.at_depth(LABELS, TREE, 1, independent=True)
    assert LabelView.at_depth(("a", "b"), Taxonomy.of(["a", "b"]), 1, independent=True) is None


def test_no_depth_is_above_the_first():
    with pytest.raises(UsageError, match="depth=0 must be a whole number of at least 1"):
        view(0)
