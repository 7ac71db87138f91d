import numpy as np
import pytest
import sklearn.metrics
from answers import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.evaluation.confusion import (
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    f_beta,
    label_rates,
    macro,
    micro_f,
    weighted,
)

MATRICES = {  # E004-4, which prints them transposed: predictions in rows
    "first": ([[200, 100], [300, 400]], 0.4, 2 / 3, 0.4, 0.5),
    "its printed figures": ([[200, 300], [300, 200]], 0.6, 0.4, 0.4, 0.4),
    "third": ([[400, 300], [100, 200]], 0.4, 4 / 7, 0.8, 2 / 3),
}


@pytest.mark.parametrize(("printed", "error", "precision", "recall", "f"), MATRICES.values(), ids=MATRICES)
def test_worked_examples(printed, error, precision, recall, f):
    confusion = np.array(printed).T
    rates = label_rates(confusion)
    assert 1 - accuracy(confusion) == pytest.approx(error)
    assert (rates.precision[0], rates.recall[0], rates.f[0]) == pytest.approx((precision, recall, f))


def test_rows_are_the_reference_and_absent_labels_have_rows_of_zeros():
    confusion = confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 3)
    np.testing.assert_array_equal(confusion, [[1, 1, 0], [0, 1, 0], [0, 0, 0]])


@settings(max_examples=40)
@given(examples(), st.sampled_from([0.5, 1.0, 2.0]))
def test_scikit_learn_agrees_label_by_label(drawn, beta):
    y, P, weights = drawn
    estimated, labels = P.argmax(axis=1), range(P.shape[1])
    confusion = confusion_matrix(y, estimated, P.shape[1], weights)
    judged = sklearn.metrics.confusion_matrix(y, estimated, labels=labels, sample_weight=weights)
    np.testing.assert_allclose(confusion, judged)
    rates = label_rates(confusion, beta)
    precision, recall, f, support = sklearn.metrics.precision_recall_fscore_support(
        y, estimated, beta=beta, labels=labels, sample_weight=weights, zero_division=0
    )
    np.testing.assert_allclose(rates.precision, precision)
    np.testing.assert_allclose(rates.recall, recall)
    np.testing.assert_allclose(rates.f, f)
    np.testing.assert_allclose(rates.support, support)


@settings(max_examples=40)
@given(examples())
def test_scikit_learn_agrees_on_averages(drawn):
    y, P, weights = drawn
    estimated, known = P.argmax(axis=1), {"sample_weight": weights}
    confusion = confusion_matrix(y, estimated, P.shape[1], weights)
    rates = label_rates(confusion)
    assert accuracy(confusion) == pytest.approx(sklearn.metrics.accuracy_score(y, estimated, **known))
    for average, ours in (
        ("macro", macro(rates, "f")),
        ("weighted", weighted(rates, "f")),
        ("micro", micro_f(confusion)),
    ):
        every = {"labels": range(P.shape[1]), "zero_division": 0}
        judged = sklearn.metrics.f1_score(y, estimated, average=average, **every, **known)
        assert ours == pytest.approx(judged)


@given(examples())
def test_balanced_accuracy_is_the_accuracy_of_labels_made_equally_frequent(drawn):
    y, P, _ = drawn
    frequency = np.bincount(y, minlength=P.shape[1])
    estimated = P.argmax(axis=1)
    even = confusion_matrix(y, estimated, P.shape[1], 1 / frequency[y])
    assert balanced_accuracy(confusion_matrix(y, estimated, P.shape[1])) == pytest.approx(accuracy(even))


@given(examples(), st.sampled_from([0.5, 1.0, 2.0]))
def test_micro_f_is_the_accuracy(drawn, beta):
    y, P, weights = drawn
    confusion = confusion_matrix(y, P.argmax(axis=1), P.shape[1], weights)
    assert micro_f(confusion, beta) == pytest.approx(accuracy(confusion))


@given(examples())
def test_f_is_the_harmonic_mean_of_precision_and_recall(drawn):
    y, P, weights = drawn
    rates = label_rates(confusion_matrix(y, P.argmax(axis=1), P.shape[1], weights))
    expected = [f_beta(p, r) for p, r in zip(rates.precision, rates.recall, strict=True)]
    np.testing.assert_allclose(rates.f, expected)
    both = (rates.precision > 0) & (rates.recall > 0)
    np.testing.assert_allclose(rates.f[both], 2 / (1 / rates.precision[both] + 1 / rates.recall[both]))


def test_nothing_over_nothing_is_zero_and_flagged():
    rates = label_rates(np.array([[3, 0, 0], [2, 0, 0], [0, 0, 0]]))
    assert list(rates.precision) == [0.6, 0, 0]
    assert list(rates.flags["precision"]) == [False, True, True]
    assert list(rates.flags["recall"]) == [False, False, True]
    assert list(rates.flags["f"]) == [False, False, True]
    assert macro(rates, "recall") == pytest.approx(1 / 3)  # of three labels, one of which nothing has
    assert macro(rates, "recall", rates.occurs) == 0.5


def test_what_stands_for_nothing_over_nothing_can_be_chosen():
    rates = label_rates(np.array([[3, 0], [0, 0]]), undefined=np.nan)
    assert np.isnan(rates.recall[1])
    assert rates.false_positive_rate[1] == 0


def test_false_positive_rate_by_hand():
    assert label_rates(np.array([[5, 5], [2, 8]])).false_positive_rate == pytest.approx([0.2, 0.5])


def test_without_examples_nothing_is_known():
    empty = np.zeros((2, 2))
    assert np.isnan([accuracy(empty), balanced_accuracy(empty), micro_f(empty), macro(label_rates(empty), "f")]).all()
