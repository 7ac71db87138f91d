import json

import numpy as np
import pytest
import sklearn.metrics
from answers import LABELS, drawn

from audioclass.data import Segment
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.evaluation import evaluate
from audioclass.evaluation.labels import LABEL_MEASURES
from audioclass.evaluation.summary import MEASURES
from audioclass.plain import is_plain

QUICK = Resampling(50)
PATHS = (("animal", "dog"), ("water", "rain"), ("water", "sea waves"))
Y, P = drawn(60)
FILES = [f"{label}-{number // 3}.wav" for number, label in enumerate(Y)]


@pytest.fixture(scope="module")
def whole():
    segments = [Segment(row, row + 1.0) for row in range(60)]
    groups = [row % 12 for row in range(60)]
    return evaluate(LABELS, Y, P, groups, files=FILES, segments=segments, paths=PATHS, resampling=QUICK)


def test_scikit_learn_agrees_on_every_measure(whole):
    known = sklearn.metrics.classification_report(Y, P.argmax(axis=1), output_dict=True)
    judged = {
        "accuracy": known["accuracy"],
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score(Y, P.argmax(axis=1)),
        "macro_precision": known["macro avg"]["precision"],
        "macro_recall": known["macro avg"]["recall"],
        "macro_f1": known["macro avg"]["f1-score"],
        "weighted_f1": known["weighted avg"]["f1-score"],
        "auc_one_vs_rest": sklearn.metrics.roc_auc_score(Y, P, multi_class="ovr"),
        "auc_pairs": sklearn.metrics.roc_auc_score(Y, P, multi_class="ovo"),
        "log_loss": sklearn.metrics.log_loss(Y, P),
        "brier": sklearn.metrics.brier_score_loss(Y, P, scale_by_half=False),
    }
    assert {name: whole.windows.value(name) for name in judged} == pytest.approx(judged)


def test_everything_is_measured_in_both_views(whole):
    assert [list(view.measures) for view in whole.views] == [list(MEASURES)] * 2
    assert whole.main is whole.recordings
    assert whole.recordings.n_examples == len(set(FILES)) < whole.windows.n_examples == 60
    assert whole.windows.n_groups == 12


def test_intervals_hold_the_accuracy_and_their_level(whole):
    accuracy = whole.windows.measures["accuracy"]
    assert accuracy.interval.low <= accuracy.value <= accuracy.interval.high
    assert accuracy.interval.level == 0.95


def test_plain_values_are_json_and_the_same_each_time(whole):
    said = whole.to_plain()
    assert is_plain(said)
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said["windows"]["measures"]["accuracy"]["value"] == whole.windows.value("accuracy")
    assert said["windows"]["mistakes"][0]["start"] == whole.windows.mistakes[0].segment.start
    assert said["recordings"]["roc"][0]["thresholds"][0] is None


def test_the_same_seed_gives_the_same_evaluation():
    first, again = (evaluate(LABELS, Y, P, files=FILES, resampling=QUICK).to_plain() for _ in range(2))
    assert first == again


def test_rows_of_the_table_hold_a_value_and_an_interval_for_each_view(whole):
    rows = whole.rows()
    assert [row[0] for row in rows] == list(MEASURES.values())
    assert {len(row) for row in rows} == {5}
    assert rows[0][3] == f"{whole.windows.value('accuracy'):.3f}"
    assert rows[11][2] == "–"  # no interval for the pairs' AUC


def test_rows_of_labels_agree_with_scikit_learn(whole):
    known = sklearn.metrics.classification_report(Y, P.argmax(axis=1), target_names=LABELS, output_dict=True)
    for row in whole.windows.label_rows():
        judged = known[row[0]]
        expected = [f"{judged[name]:.3f}" for name in ("precision", "recall", "f1-score")]
        assert list(row[1:5]) == [f"{judged['support']:g}", *expected]


def test_each_label_has_intervals_around_its_rates(whole):
    for row in whole.windows.to_plain()["labels"]:
        assert set(row["intervals"]) == set(LABEL_MEASURES)
        for name in ("precision", "recall", "f1", "auc"):
            assert row["intervals"][name]["low"] <= row[name] <= row["intervals"][name]["high"]


def test_without_files_there_are_windows_only():
    alone = evaluate(LABELS, Y, P, resampling=QUICK)
    assert alone.recordings is None
    assert alone.main is alone.windows
    assert alone.to_plain()["recordings"] is None
    assert {len(row) for row in alone.rows()} == {3}


def test_a_label_without_examples_is_flagged_and_the_rest_stands():
    seen = Y != 2
    found = evaluate(LABELS, Y[seen], P[seen], resampling=QUICK)
    row = found.windows.label_table()[2]
    assert row["undefined"] == ["recall"]
    assert row["auc"] is None
    assert is_plain(found.to_plain())


def test_one_example_is_enough():
    found = evaluate(("a", "b"), [0], [[0.75, 0.25]], files=["x"])
    assert found.main.value("accuracy") == 1
    assert np.isnan(found.main.value("auc_one_vs_rest"))
    assert found.rows()[0][1:3] == ("1.000", "–")
    assert is_plain(found.to_plain())


def test_decisions_other_than_the_most_probable_are_evaluated():
    decisions = (P.argmax(axis=1) + 1) % 3
    found = evaluate(LABELS, Y, P, decisions=decisions, resampling=QUICK)
    assert found.windows.value("accuracy") == pytest.approx((decisions == Y).mean())


def test_weights_count(whole):
    weights = np.where(P.argmax(axis=1) == Y, 2.0, 1.0)
    found = evaluate(LABELS, Y, P, weights=weights, resampling=QUICK).windows
    judged = sklearn.metrics.accuracy_score(Y, P.argmax(axis=1), sample_weight=weights)
    assert found.value("accuracy") == pytest.approx(judged)
    assert found.value("accuracy") > whole.windows.value("accuracy")


@pytest.mark.parametrize("paths", [PATHS[::-1], PATHS[:2], (("animal", "dog"), ("water",), ())])
def test_paths_must_lead_to_the_labels(paths):
    with pytest.raises(ValueError, match="paths must lead to the labels, in their order"):
        evaluate(LABELS, Y, P, paths=paths, resampling=QUICK)
