import numpy as np
import pytest
from answers import LABELS, drawn

from audioclass.evaluation.calibration import label_reliability
from audioclass.evaluation.confusion import confusion_matrix, label_rates
from audioclass.evaluation.labels import LABEL_MEASURES, label_measures
from audioclass.evaluation.predictions import Predictions
from audioclass.evaluation.ranking import auc


def test_measures_of_a_label_are_those_of_its_own_functions():
    y, P = drawn(50)
    counts = np.tile([0.0, 1, 2, 1, 3], 10)
    found = label_measures(Predictions.of(LABELS, y, P))(counts)
    rates = label_rates(confusion_matrix(y, P.argmax(axis=1), 3, counts))
    for label in range(3):
        expected = [rates.precision[label], rates.recall[label], rates.f[label]]
        expected += [auc(P[:, label], y == label, counts), label_reliability(P, y, label, counts).error]
        assert [found[name, label] for name in LABEL_MEASURES] == pytest.approx(expected)


def test_a_label_that_is_left_out_is_unknown():
    y, P = drawn(50)
    found = label_measures(Predictions.of(LABELS, y, P))(y != 2)
    assert np.isnan([found["recall", 2], found["auc", 2]]).all()
