import numpy as np
import pytest
from answers import LABELS, drawn
from scipy import stats

from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.compare import compare
from audioclass.evaluation.paired import holm
from audioclass.evaluation.predictions import Predictions
from audioclass.plain import is_plain

QUICK = Resampling(50)
FOLDS = np.arange(60) % 5


def system(skill, seed=1, **places):
    y, _ = drawn(60, seed=0)
    _, P = drawn(60, seed=0, skill=skill)
    noise = np.random.default_rng(seed).dirichlet(np.ones(3), size=60)
    return Predictions.of(LABELS, y, (P + noise) / 2, **places)


@pytest.fixture(scope="module")
def three():
    systems = {"strong": system(4.0), "fair": system(1.0), "weak": system(0.0)}
    costs = {"strong": {"train_seconds": 12.5}, "fair": {"train_seconds": 3.0}}
    return compare(systems, FOLDS, costs=costs, resampling=QUICK)


def test_each_system_keeps_its_measures_and_costs(three):
    assert three.names == ("strong", "fair", "weak")
    assert three.systems[0].measures["accuracy"] == pytest.approx(system(4.0).is_right.mean())
    assert three.systems[0].costs == {"train_seconds": 12.5}
    assert three.systems[2].costs == {}


def test_differences_are_first_minus_second_and_paired(three):
    pair = three.pairs[1]
    expected = system(4.0).is_right.mean() - system(0.0).is_right.mean()
    assert (pair.first, pair.second) == ("strong", "weak")
    assert pair.difference == pytest.approx(expected)
    assert pair.interval.low < expected < pair.interval.high


def test_tests_over_folds_are_those_of_scipy(three):
    rights = [answers.is_right for answers in (system(4.0), system(0.0))]
    d = np.array([rights[0][fold == FOLDS].mean() - rights[1][fold == FOLDS].mean() for fold in range(5)])
    tests = three.pairs[1].tests
    t = stats.ttest_1samp(d, 0).statistic * np.sqrt((1 / 5) / (1 / 5 + 1 / 4))
    assert tests["corrected_t"].statistic == pytest.approx(t)
    assert tests["wilcoxon"].p == pytest.approx(stats.wilcoxon(d, method="exact").pvalue)


def test_p_values_are_corrected_over_the_pairs(three):
    for name in ("mcnemar", "corrected_t", "wilcoxon"):
        expected = holm([pair.tests[name].p for pair in three.pairs])
        assert [pair.adjusted[name] for pair in three.pairs] == pytest.approx(list(expected))


def test_three_systems_are_ranked_over_folds(three):
    assert three.ranked.block == "fold"
    assert three.ranked.scores.shape == (5, 3)
    assert np.argmin(three.ranked.mean_ranks) == 0


def test_the_lowest_loss_ranks_first():
    systems = {"strong": system(4.0), "fair": system(1.0), "weak": system(0.0)}
    found = compare(systems, FOLDS, measure="log_loss", resampling=QUICK)
    assert np.argmin(found.ranked.mean_ranks) == 0
    assert found.pairs[1].difference < 0


def test_two_systems_have_no_ranks_and_one_fold_no_tests_over_folds():
    pair = {"strong": system(4.0), "weak": system(0.0)}
    assert compare(pair, FOLDS, resampling=QUICK).ranked is None
    assert set(compare(pair, resampling=QUICK).pairs[0].tests) == {"mcnemar"}


def test_a_system_does_not_differ_from_itself():
    found = compare({"one": system(1.0), "same": system(1.0)}, FOLDS, resampling=QUICK).pairs[0]
    assert (found.difference, found.interval.low, found.interval.high) == (0, 0, 0)
    assert set(found.adjusted.values()) == {1.0}


def test_windows_of_a_recording_are_one_trial():
    y, _ = drawn(60, seed=0)
    files = [f"{label}-{row // 15}" for row, label in enumerate(y)]
    one, other = system(4.0, files=files), system(0.0, files=files)
    found = compare({"one": one, "other": other}, [name[-1] for name in files], resampling=QUICK)
    right = one.per_recording().is_right.mean() - other.per_recording().is_right.mean()
    assert found.pairs[0].difference == pytest.approx(right)
    assert "wilcoxon" in found.pairs[0].tests


def test_a_fold_that_a_measure_says_nothing_of_is_not_tested():
    y = np.array([0, 0, 1, 1])
    P = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    pair = {"one": Predictions.of(("a", "b"), y, P), "other": Predictions.of(("a", "b"), y, P[::-1])}
    found = compare(pair, [0, 0, 1, 1], measure="auc_one_vs_rest", resampling=QUICK)
    assert set(found.pairs[0].tests) == {"mcnemar"}


def test_comparison_is_told_in_plain_values_and_rows(three):
    assert is_plain(three.to_plain())
    assert three.to_plain()["pairs"][0]["tests"]["mcnemar"]["adjusted_p"] <= 1
    accuracy = three.systems[0].measures["accuracy"]
    assert (three.rows()[0][:2], three.rows()[0][-1]) == (("strong", f"{accuracy:.3f}"), "12.5")
    assert [row[:2] for row in three.pair_rows()] == [("strong", "fair"), ("strong", "weak"), ("fair", "weak")]
    assert {len(row) for row in three.pair_rows()} == {7}


@pytest.mark.parametrize(
    ("systems", "options", "said"),
    [
        ({"one": system(1.0)}, {}, "1 given, at least 2 systems are needed"),
        ({"a": system(1.0), "b": system(1.0).take(np.arange(9))}, {}, "'a' and 'b' did not predict the same examples"),
        ({"a": system(1.0), "b": system(2.0)}, {"folds": [1]}, "1 folds for 60 examples"),
        ({"a": system(1.0), "b": system(2.0)}, {"measure": "acuracy"}, "unknown measure 'acuracy'; known: accuracy, "),
    ],
    ids=["alone", "others", "folds", "measure"],
)
def test_what_cannot_be_compared_is_refused(systems, options, said):
    with pytest.raises(ValueError, match=said):
        compare(systems, **options)
