import numpy as np
import pytest
from segmentation.windows import drawn, segments_of, windows_of

from audioclass.errors import UsageError
from audioclass.segmentation.back_off import BackOffPath
from audioclass.taxonomy import Taxonomy

LABELS = ("cat", "dog", "hen", "engine")
TREE = Taxonomy.of({"animal": {"pet": ["cat", "dog"], "hen": {}}, "engine": {}})


@pytest.mark.parametrize(
    ("posteriors", "name"),
    [
        ([0.7, 0.1, 0.1, 0.1], "cat"),
        ([0.4, 0.3, 0.1, 0.2], "pet"),
        ([0.3, 0.2, 0.2, 0.3], "animal"),
        ([0.3, 0.1, 0.1, 0.5], "unknown"),
    ],
)
def test_the_smallest_group_that_is_sure_enough_gives_the_name(posteriors, name):
    assert BackOffPath(LABELS, TREE, 0.6).name(0, np.array(posteriors)) == name


@pytest.mark.parametrize(
    ("posteriors", "name"),
    [([0.3, 0.4, 0.1, 0.2], "pet"), ([0.0, 0.4, 0.2, 0.4], "noisy"), ([0.45, 0.1, 0.2, 0.25], "unknown")],
)
def test_a_label_in_two_groups_goes_to_the_smallest_that_is_sure_enough(posteriors, name):
    tree = Taxonomy.of({"noisy": ["dog", "hen", "engine"], "pet": ["cat", "dog"]})
    assert BackOffPath(LABELS, tree, 0.6).name(1, np.array(posteriors)) == name


def test_without_a_taxonomy_there_is_nothing_between_label_and_unknown():
    ladder = BackOffPath(LABELS, None, 0.6)
    assert ladder.name(0, np.array([0.6, 0.2, 0.1, 0.1])) == "cat"
    assert ladder.name(0, np.array([0.5, 0.3, 0.1, 0.1])) == "unknown"


def test_a_group_of_all_labels_says_nothing():
    ladder = BackOffPath(LABELS[:2], Taxonomy.of({"all": ["cat", "dog"]}), 0.9)
    assert ladder.name(0, np.array([0.6, 0.4])) == "unknown"


def test_without_a_threshold_every_label_stands():
    assert BackOffPath(LABELS, TREE, 0.0).name(3, np.zeros(4)) == "engine"


def test_neighbours_of_one_name_are_one_segment():
    rows = [[0.5, 0.3, 0.2], [0.3, 0.5, 0.2], [0.1, 0.1, 0.8]]
    tree = Taxonomy.of({"ab": ["a", "b"], "c": {}})
    assert drawn(segments_of(windows_of(rows), tree, threshold=0.7)) == "ab2 c1"


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_the_threshold_must_be_a_probability(value):
    with pytest.raises(UsageError, match=f"threshold={value} must be at least 0 and at most 1"):
        BackOffPath(LABELS, TREE, value)


@pytest.mark.parametrize(
    ("posteriors", "name"), [([0.7, 0.1, 0.2], "pet"), ([0.4, 0.3, 0.3], "animal"), ([0.4, 0.1, 0.5], "unknown")]
)
def test_groups_that_are_told_as_labels_back_off_to_those_above_them(posteriors, name):
    assert BackOffPath(("pet", "hen", "engine"), TREE.at_depth(2), 0.6).name(0, np.array(posteriors)) == name
