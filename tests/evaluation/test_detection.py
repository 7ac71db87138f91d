"""Detected segments against a reference: values worked out by hand, and sed_eval and psds_eval where they are there."""

import warnings

import numpy as np
import pytest

from audioclass.data import Segment
from audioclass.evaluation.detection import event_based, merged, segment_based
from audioclass.evaluation.psds import SCENARIOS, OperatingPoint, PsdsSetting, operating_point, psds

LABELS = ("a", "b", "c")
SECONDS = 80.0


def test_seconds_are_counted_where_a_segment_touches_them():
    reference = {"f": [Segment(0.5, 2.5, "a"), Segment(4.0, 5.0, "b")]}
    detected = {"f": [Segment(1.0, 4.2, "a")], "g": [Segment(0.0, 1.0, "b")]}
    counts = segment_based(reference, detected, ("a", "b"))
    assert [counts.hits.tolist(), counts.n_reference.tolist(), counts.n_detected.tolist()] == [[2, 0], [3, 1], [4, 1]]
    np.testing.assert_allclose([*counts.f1, counts.macro_f1, counts.micro_f1], [4 / 7, 0, 2 / 7, 4 / 9])


@pytest.mark.parametrize(
    ("start", "end", "hits"),
    [(1.0, 6.0, 1), (1.2, 6.0, 1), (1.21, 6.0, 0), (1.0, 7.0, 1), (1.0, 7.1, 0), (1.0, 5.0, 1)],
)
def test_an_event_is_hit_within_its_collars(start, end, hits):
    counts = event_based({"f": [Segment(1.0, 6.0, "a")]}, {"f": [Segment(start, end, "a")]}, ("a",))
    assert counts.hits.tolist() == [hits]


def test_as_many_events_as_can_be_are_matched():
    reference = {"f": [Segment(1.0, 2.0, "a"), Segment(1.15, 2.15, "a")]}
    detected = {"f": [Segment(1.05, 2.05, "a"), Segment(0.9, 1.9, "a")]}  # the second fits the first alone
    assert event_based(reference, detected, ("a",)).hits.tolist() == [2]


def test_nothing_to_detect_is_undefined_and_what_is_missed_is_zero():
    counts = segment_based({"f": [Segment(0, 1, "a")]}, {}, ("a", "b"))
    assert counts.to_plain()["labels"] == {
        "a": {"precision": None, "recall": 0.0, "f1": 0.0},
        "b": {"precision": None, "recall": None, "f1": None},
    }


def test_segments_of_one_label_are_merged():
    segments = [Segment(2, 3, "a"), Segment(0, 1, "a"), Segment(0.5, 2, "a"), Segment(1, 2, "b")]
    assert merged(segments) == [Segment(0, 3, "a"), Segment(1, 2, "b")]


def test_an_operating_point_by_hand():
    reference = {"f": [Segment(0, 10, "a"), Segment(20, 30, "b"), Segment(40, 50, "a")]}
    # Half of the first is found in two parts; the second is mostly beside it; the third lies in b.
    detected = {"f": [Segment(0, 3, "a"), Segment(5, 8, "a"), Segment(49, 55, "a"), Segment(21, 25, "a")]}
    point = operating_point(reference, detected, ("a", "b"), {"f": 3600.0}, PsdsSetting(cross_trigger_cost=0.5))
    np.testing.assert_allclose(point.found_share, [0.5, 0.0])
    np.testing.assert_allclose(point.false_alarms, [2 + 0.5 * 1 * 3600 / 10, 0])


def test_the_score_is_the_area_below_the_staircase():
    points = [OperatingPoint(np.array([0.5]), np.array([20.0])), OperatingPoint(np.array([1.0]), np.array([60.0]))]
    assert psds(points, PsdsSetting()) == pytest.approx((40 * 0.5 + 40 * 1.0) / 100)
    assert psds([OperatingPoint(np.ones(2), np.zeros(2))], SCENARIOS["psds_1"]) == 1.0


def drawn(rng):
    """Segments of each label that do not overlap one another."""
    segments = []
    for label in LABELS:
        at = 0.0
        for _ in range(rng.integers(1, 6)):
            start = at + round(rng.uniform(0.1, 4), 2)
            at = start + round(rng.uniform(0.2, 5), 2)
            segments.append(Segment(round(start, 2), round(at, 2), label))
            at += 0.01
    return segments


def disturbed(segments, spread, rng):
    """Some are missed, some moved, some called otherwise."""
    found = []
    for one in segments:
        if rng.random() > 0.15:
            start = max(0.0, one.start + rng.normal() * spread)
            label = one.label if rng.random() < 0.8 else str(rng.choice(LABELS))
            found.append(Segment(start, start + one.duration * rng.uniform(0.7, 1.3), label))
    return merged(found)


def cases(seed, spread=0.1):
    rng = np.random.default_rng(seed)
    reference = {f"f{i}": drawn(rng) for i in range(4)}
    return reference, {file: disturbed(segments, spread, rng) for file, segments in reference.items()}, rng


# What sed_eval 0.2.1 and psds_eval 0.5.3 gave for these cases.
BY_SED_EVAL = {0: (0.7681159, 0.3888889), 1: (0.7222222, 0.4262295)}
BY_PSDS_EVAL = {0: (0.6016836, 0.7500232), 1: (0.6049757, 0.6006543)}
SPREADS = (0.05, 0.2, 0.5, 1.0, 2.0)


@pytest.mark.parametrize("seed", BY_SED_EVAL)
def test_counts_are_those_that_sed_eval_gave(seed):
    reference, detected, _ = cases(seed)
    ours = [count(reference, detected, LABELS).micro_f1 for count in (segment_based, event_based)]
    assert ours == pytest.approx(BY_SED_EVAL[seed], abs=1e-6)


def points_of(reference, rng, setting):
    seconds = dict.fromkeys(reference, SECONDS)
    tables = [{file: disturbed(one, spread, rng) for file, one in reference.items()} for spread in SPREADS]
    return tables, [operating_point(reference, table, LABELS, seconds, setting) for table in tables]


@pytest.mark.parametrize("seed", BY_PSDS_EVAL)
def test_scores_are_those_that_psds_eval_gave(seed):
    reference, _, _ = cases(seed)
    ours = [psds(points_of(reference, np.random.default_rng(seed), one)[1], one) for one in SCENARIOS.values()]
    assert ours == pytest.approx(BY_PSDS_EVAL[seed], abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_sed_eval_counts_the_same(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sound_event = pytest.importorskip("sed_eval").sound_event
    reference, detected, _ = cases(seed)
    judges = (
        sound_event.SegmentBasedMetrics(list(LABELS), time_resolution=1.0),
        sound_event.EventBasedMetrics(list(LABELS), t_collar=0.2, percentage_of_length=0.2),
    )
    for judge, count in zip(judges, (segment_based, event_based), strict=True):
        for file in reference:
            judge.evaluate(*(_listed(events[file], file) for events in (reference, detected)))
        counts, theirs = count(reference, detected, LABELS), judge.results()
        assert counts.micro_f1 == pytest.approx(theirs["overall"]["f_measure"]["f_measure"])
        for label, f1 in zip(LABELS, counts.f1, strict=True):
            assert f1 == pytest.approx(theirs["class_wise"][label]["f_measure"]["f_measure"])


def _listed(segments, file):
    return [
        {"filename": file, "event_onset": one.start, "event_offset": one.end, "event_label": one.label}
        for one in segments
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("setting", [*SCENARIOS.values(), PsdsSetting()], ids=[*SCENARIOS, "plain"])
def test_psds_eval_scores_the_same(setting):
    judges, pandas = pytest.importorskip("psds_eval"), pytest.importorskip("pandas")
    if int(pandas.__version__.split(".")[0]) > 2:
        pytest.skip("psds_eval needs pandas 2")
    columns = ["filename", "onset", "offset", "event_label"]

    def table(events):
        return pandas.DataFrame([(f, s.start, s.end, s.label) for f, ss in events.items() for s in ss], columns=columns)

    for seed in range(3):
        reference, _, _ = cases(seed)
        tables, points = points_of(reference, np.random.default_rng(seed), setting)
        length = pandas.DataFrame([(file, SECONDS) for file in reference], columns=["filename", "duration"])
        tolerances = (setting.detection, setting.ground_truth, setting.cross_trigger)
        judge = judges.PSDSEval(*tolerances, ground_truth=table(reference), metadata=length)
        for detected in tables:
            judge.add_operating_point(table(detected))
        costs = (setting.cross_trigger_cost, setting.instability_cost)
        largest = max(point.false_alarms.max() for point in points)  # its own limit where none is stated
        ours = psds(points, PsdsSetting(*tolerances, *costs, most_false_alarms=largest))
        assert ours == pytest.approx(judge.psds(*costs).value)
