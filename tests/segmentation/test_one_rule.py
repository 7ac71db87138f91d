"""Label, probability and runner-up of a segment come from one rule, whatever smooths, merges or backs off."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import BUILTINS
from segmentation.windows import segments_of, windows_of

from audioclass.formats.rows import rows_of
from audioclass.plugins.templates.smoother import ExampleName as WantsWholeRecordings
from audioclass.segmentation.back_off import UNKNOWN, BackOffPath
from audioclass.segmentation.results import SegmentStream, classified_windows, result_of
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.smoothers.hmm import HiddenMarkov
from audioclass.smoothers.transitions import count_transitions
from audioclass.taxonomy import Taxonomy

LABELS = ("cat", "dog", "engine", "hen", "wind")
TREE = Taxonomy.of({"animal": {"pet": ["cat", "dog"], "hen": {}}, "noise": ["engine", "wind"]})
COUNTS = count_transitions([np.repeat([0, 1, 0, 2, 4, 3, 4], [9, 3, 14, 30, 8, 2, 5])], 5)
SMOOTHERS = [
    *(BUILTINS.make("smoother", entry.name) for entry in BUILTINS.entries("smoother")),
    HiddenMarkov(duration=4.0, look_ahead=2),
    HiddenMarkov(duration=6.0, minimum=3),
    HiddenMarkov().with_transitions(COUNTS),
    WantsWholeRecordings(),
]
EVERY = pytest.mark.parametrize("smoother", SMOOTHERS, ids=lambda smoother: smoother.name)
SEEDS, THRESHOLDS = st.integers(0, 10**6), st.sampled_from([0.0, 0.4, 0.7, 0.95])


def recording(seed):
    """Windows that say one label for a while, some surely and some not; every half second one of a second."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.integers(5, size=12), rng.integers(1, 8, 12))
    P = rng.dirichlet(np.full(5, rng.choice([0.3, 1.0, 5.0])), len(labels)) + rng.uniform(0, 0.8) * np.eye(5)[labels]
    return windows_of(P / P.sum(axis=1, keepdims=True), length=1.0, hop=0.5, labels=LABELS)


def smoothed(posteriors, smoother):
    """Every window as the smoother gives it."""
    stream = WindowSmoother(smoother, LABELS)
    return [stream.push(posteriors), stream.finish()]


def rows_from(classified):
    return list(rows_of(result_of([("x.wav", one) for one in classified], LABELS, TREE)))


def check_rule(rows, threshold):
    for row in rows:
        members = [i for i, label in enumerate(LABELS) if row.label in (label, *TREE.path(label))]
        others = [i for i in range(5) if i not in members]
        assert sum(row.posteriors) == pytest.approx(1, abs=1e-9)
        assert row.runner_up_probability == max(row.posteriors[i] for i in others)
        assert row.posteriors[LABELS.index(row.runner_up)] == row.runner_up_probability
        if row.label == UNKNOWN:
            assert row.probability is None
            assert max(row.posteriors) < threshold
        else:
            assert row.probability == pytest.approx(sum(row.posteriors[i] for i in members))
            assert row.probability >= max(row.runner_up_probability, threshold - 1e-12)
        if row.label not in LABELS:
            assert max(row.posteriors) < threshold


@EVERY
@settings(max_examples=25)
@given(SEEDS, st.sampled_from([0.0, 0.8, 3.0, 60.0]), THRESHOLDS)
def test_no_runner_up_is_ahead_of_the_label_of_a_segment(smoother, seed, minimum, threshold):
    stream = SegmentStream(LABELS, smoother, TREE, min_duration=minimum, threshold=threshold)
    posteriors = recording(seed)
    rows = rows_from([*stream.push(posteriors), *stream.finish()])
    check_rule(rows, threshold)
    assert all(one.label != other.label for one, other in itertools.pairwise(rows))


@EVERY
@settings(max_examples=15)
@given(SEEDS, THRESHOLDS)
def test_no_runner_up_is_ahead_of_the_label_of_a_window(smoother, seed, threshold):
    path = BackOffPath(LABELS, TREE, threshold)
    for windows in smoothed(recording(seed), smoother):
        check_rule(rows_from(classified_windows(windows, path)), threshold)


@EVERY
@settings(max_examples=15)
@given(SEEDS)
def test_a_segment_has_the_label_of_its_windows_and_their_mean_probability(smoother, seed):
    posteriors = recording(seed)
    windows = smoothed(posteriors, smoother)
    P = np.concatenate([some.P for some in windows])
    centres = np.array([s.start + 0.5 for some in windows for s in some.segments])
    for start, end, label, mean in segments_of(posteriors, TREE, smoother):
        inside = P[(start <= centres) & (centres < end)]
        assert {LABELS[k] for k in inside.argmax(axis=1)} == {label}
        np.testing.assert_allclose(mean, inside.mean(axis=0), atol=1e-12)


def test_what_is_joined_has_the_label_of_its_mean():
    rows = [[0.4, 0.3, 0.1, 0.1, 0.1]] * 2 + [[0.02, 0.9, 0.03, 0.03, 0.02]] + [[0.4, 0.3, 0.1, 0.1, 0.1]] * 2
    stream = SegmentStream(LABELS, BUILTINS.make("smoother", "none"), TREE, min_duration=2.0)
    [row] = rows_from([*stream.push(windows_of(rows, labels=LABELS)), *stream.finish()])
    assert (row.label, row.runner_up) == ("dog", "cat")
    assert row.probability == pytest.approx((4 * 0.3 + 0.9) / 5)
    assert row.runner_up_probability == pytest.approx((4 * 0.4 + 0.02) / 5)
