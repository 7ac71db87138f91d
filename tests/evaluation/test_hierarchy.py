import numpy as np
import pytest
from answers import examples
from hypothesis import given

from audioclass.evaluation.confusion import accuracy, confusion_matrix
from audioclass.evaluation.hierarchy import ancestry, hierarchical_rates

PATHS = [("animal", "cat"), ("animal", "dog"), ("engine",)]


def test_names_on_the_way_by_hand():
    # cat, cat, engine taken for dog, cat, cat: shared names 1 + 2 + 0, estimated 6, reference 5
    confusion = confusion_matrix(np.array([0, 0, 2]), np.array([1, 0, 0]), 3)
    rates = hierarchical_rates(confusion, ancestry(PATHS))
    assert rates.precision == pytest.approx(3 / 6)
    assert rates.recall == pytest.approx(3 / 5)
    assert rates.f == pytest.approx(6 / 11)


def test_recall_counts_more_with_a_greater_beta():
    confusion = confusion_matrix(np.array([0, 0, 2]), np.array([1, 0, 0]), 3)
    assert hierarchical_rates(confusion, ancestry(PATHS), beta=2).f == pytest.approx(5 * 0.3 / (4 * 0.5 + 0.6))


def test_the_root_is_left_out():
    rooted = [("sound", *path) for path in PATHS]
    np.testing.assert_array_equal(ancestry(rooted), ancestry(PATHS))


def test_a_label_in_several_groups_stands_for_all_of_them():
    membership = ancestry([("out", "in", "speech"), ("out", "wind"), ("in", "music")])
    np.testing.assert_array_equal(membership @ membership.T, [[3, 1, 1], [1, 2, 0], [1, 0, 2]])


@given(examples())
def test_without_groups_all_three_are_the_accuracy(sample):
    y, P, weights = sample
    confusion = confusion_matrix(y, P.argmax(axis=1), P.shape[1], weights)
    rates = hierarchical_rates(confusion, ancestry([(str(label),) for label in range(P.shape[1])]))
    assert (rates.precision, rates.recall, rates.f) == pytest.approx((accuracy(confusion),) * 3)


def test_mistakes_within_a_group_cost_less():
    near, far = (confusion_matrix(np.array([0]), np.array([other]), 3) for other in (1, 2))
    membership = ancestry(PATHS)
    assert hierarchical_rates(near, membership).f > hierarchical_rates(far, membership).f == 0


def test_without_examples_nothing_is_known():
    assert np.isnan(hierarchical_rates(np.zeros((3, 3)), ancestry(PATHS)).f)
