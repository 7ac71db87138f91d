import numpy as np
import pytest
from answers import LABELS, drawn, examples
from hypothesis import given, settings

from audioclass.evaluation.predictions import Predictions
from audioclass.evaluation.summary import LOWER_IS_BETTER, MEASURES, summary_measures

PATHS = (("animal", "dog"), ("water", "rain"), ("water", "sea waves"))


def test_every_measure_has_a_name_to_show():
    y, P = drawn()
    found = summary_measures(Predictions.of(LABELS, y, P), PATHS)(np.ones(40))
    assert set(found) == set(MEASURES) - {"auc_pairs"}
    assert set(MEASURES) >= LOWER_IS_BETTER


def test_hierarchical_measures_need_paths():
    y, P = drawn()
    assert not any(name.startswith("hier") for name in summary_measures(Predictions.of(LABELS, y, P))(np.ones(40)))


@settings(max_examples=40)
@given(examples())
def test_a_multiplicity_is_a_repetition(sample):
    y, P, counts = sample
    labels = tuple("abcd"[: P.shape[1]])
    rows = np.repeat(np.arange(len(y)), counts.astype(int))
    weighted = summary_measures(Predictions.of(labels, y, P))(counts)
    repeated = summary_measures(Predictions.of(labels, y[rows], P[rows]))(np.ones(len(rows)))
    assert weighted == pytest.approx(repeated, nan_ok=True)


def test_multiplicities_multiply_the_weights():
    y, P = drawn()
    weights, counts = np.arange(1.0, 41), np.tile([0, 1, 2, 3], 10)
    assert summary_measures(Predictions.of(LABELS, y, P, weights=weights))(counts) == pytest.approx(
        summary_measures(Predictions.of(LABELS, y, P, weights=weights * counts))(np.ones(40))
    )


def test_without_any_weight_nothing_is_known():
    y, P = drawn()
    assert np.isnan(list(summary_measures(Predictions.of(LABELS, y, P), PATHS)(np.zeros(40)).values())).all()


def test_macro_means_count_every_label_of_the_list():
    y, P = np.array([0, 0, 1, 1]), np.eye(4)[[0, 0, 1, 0]]
    found = summary_measures(Predictions.of(tuple("abcd"), y, P))(np.ones(4))
    assert found["macro_recall"] == pytest.approx((1 + 0.5 + 0 + 0) / 4)
    assert found["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 4)
    assert found["balanced_accuracy"] == pytest.approx(0.75)  # of those that have examples


def test_a_label_that_a_resample_leaves_out_is_unknown_in_it():
    y, P = np.array([0, 0, 1, 1]), np.eye(3)[[0, 0, 1, 1]]
    found = summary_measures(Predictions.of(tuple("abc"), y, P))(np.array([1, 1, 0, 0]))
    assert found["macro_recall"] == pytest.approx((1 + 0) / 2)
