import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, log_loss, precision_score, recall_score

from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.multi_label import average_precision, evaluate_labels

LABELS = ("a", "b", "c")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    holds = rng.random((120, 3)) < [0.5, 0.3, 0.1]
    P = np.clip(0.4 * holds + 0.6 * rng.random((120, 3)), 0, 1).round(2)  # several are equal
    thresholds = np.array([0.5, 0.4, 0.7])
    return holds, P, thresholds, evaluate_labels(LABELS, holds, P, thresholds, np.arange(120) // 6, Resampling(20))


def test_each_label_is_measured_as_scikit_learn_does(case):
    holds, P, thresholds, evaluation = case
    given, of_labels = thresholds <= P, evaluation.main.of_labels
    for k in range(3):
        for name, judge in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
            assert of_labels[name][k] == pytest.approx(judge(holds[:, k], given[:, k]))
        area = average_precision_score(holds[:, k], P[:, k])
        assert of_labels["average_precision"][k] == pytest.approx(area)


def test_all_labels_are_measured_as_scikit_learn_does(case):
    holds, P, thresholds, evaluation = case
    given, view = thresholds <= P, evaluation.main
    for mean in ("macro", "micro"):
        assert view.value(f"{mean}_f1") == pytest.approx(f1_score(holds, given, average=mean))
    assert view.value("mean_average_precision") == pytest.approx(average_precision_score(holds, P, average="macro"))
    assert view.value("exact_match") == pytest.approx((given == holds).all(axis=1).mean())
    expected = np.mean([log_loss(holds[:, k], np.clip(P[:, k], 1e-15, 1 - 1e-15)) for k in range(3)])
    assert view.value("log_loss") == pytest.approx(expected, rel=0.5)  # whose floor is another


def test_weights_are_repetitions():
    scores, holds = np.array([0.9, 0.8, 0.7, 0.2]), np.array([True, False, True, False])
    weights = np.array([1, 2, 3, 0])
    repeated = np.repeat(np.arange(4), weights)
    expected = average_precision_score(holds[repeated], scores[repeated])
    assert average_precision(scores, holds, weights.astype(float)) == pytest.approx(expected)


def test_intervals_are_around_values_and_all_is_plain(case):
    measures = case[3].main.measures
    assert all(each.interval.low <= each.value <= each.interval.high for each in measures.values())
    plain = case[3].to_plain()
    assert [row["label"] for row in plain["windows"]["labels"]] == list(LABELS)
