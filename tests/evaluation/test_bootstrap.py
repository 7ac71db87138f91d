import numpy as np
import pytest
from scipy import stats

from audioclass.evaluation.bootstrap import Resampling, bootstrap

VALUES = np.random.default_rng(3).normal(5, 2, size=60)


def mean(multiplicities):
    return {"mean": float(np.average(VALUES, weights=multiplicities))}


def test_the_same_seed_gives_the_same_interval_and_another_another():
    groups = np.arange(60)
    first, again = (bootstrap(mean, groups, Resampling(200, seed=1)) for _ in range(2))
    assert first == again
    assert first != bootstrap(mean, groups, Resampling(200, seed=2))


def test_interval_of_a_mean_is_near_the_normal_one():
    interval = bootstrap(mean, np.arange(60), Resampling(2000))["mean"]
    error = VALUES.std(ddof=1) / np.sqrt(60)
    assert interval.low == pytest.approx(VALUES.mean() - 1.96 * error, abs=0.1)
    assert interval.high == pytest.approx(VALUES.mean() + 1.96 * error, abs=0.1)


def test_scipy_draws_much_the_same():
    interval = bootstrap(mean, np.arange(60), Resampling(2000, level=0.9))["mean"]
    judged = stats.bootstrap((VALUES,), np.mean, confidence_level=0.9, method="percentile", rng=0).confidence_interval
    assert (interval.low, interval.high) == pytest.approx((judged.low, judged.high), abs=0.05)


def test_groups_come_and_go_as_one():
    seen = []

    def measure(multiplicities):
        seen.append(multiplicities)
        return {"n": float(multiplicities.sum())}

    groups = np.array(["a", "b", "a", "c", "b", "a"])
    bootstrap(measure, groups, Resampling(50))
    assert all(len(set(drawing[groups == name])) == 1 for drawing in seen for name in "abc")
    assert all(drawing[[0, 1, 3]].sum() == 3 for drawing in seen)


def test_dependent_examples_widen_the_interval():
    values = np.repeat(VALUES[:20], 3)

    def measure(multiplicities):
        return {"mean": float(np.average(values, weights=multiplicities))}

    alone = bootstrap(measure, np.arange(60))["mean"]
    together = bootstrap(measure, np.repeat(np.arange(20), 3))["mean"]
    assert together.high - together.low > 1.4 * (alone.high - alone.low)


def test_drawings_without_a_value_do_not_count():
    def measure(multiplicities):
        return {"never": np.nan, "sometimes": 1.0 if multiplicities[0] else np.nan}

    intervals = bootstrap(measure, np.arange(4), Resampling(50))
    assert not intervals["never"].is_known
    assert (intervals["sometimes"].low, intervals["sometimes"].high) == (1, 1)


def test_a_single_group_tells_nothing():
    assert not bootstrap(mean, np.zeros(60))["mean"].is_known


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n_resamples": 0}, "n_resamples=0 must be at least 1"),
        ({"level": 1.0}, r"level=1\.0 must be between 0 and 1"),
    ],
)
def test_wrong_settings_are_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        Resampling(**wrong)
