import importlib.util
import math
import sys

import numpy as np
import pytest
from environments import REPOSITORY

TRUTH = [(0, 4, "speech"), (2, 6, "music"), (6, 7, "silence"), (7, 8.5, "environment"), (8.5, 8.8, "silence")]
TRUTH.append((8.8, 10, "environment"))
STEPS = 1000


@pytest.fixture(autouse=True)
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")


@pytest.fixture
def measures():
    return importlib.import_module("segment_measures")


@pytest.fixture
def segmentation(monkeypatch):
    path = REPOSITORY / "benchmarks" / "segmentation.py"  # by its path: a folder of tests has the same name
    spec = importlib.util.spec_from_file_location("segmentation_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def programme(segmentation, truth=TRUTH):
    items = [(0, 2, "speech"), (2, 4, "speech_over_music"), (4, 6, "music"), (7, 10, "environment")]
    return segmentation.Programme("made.flac", 10.0, truth, items, [segmentation.Pause(6.0, 7.0, -75.0)])


def test_speech_over_music_counts_as_speech(measures):
    labels = measures.one_label([*TRUTH[:2], (1, 2, "environment")], 700)
    assert measures.segments_of(labels) == [(0, 4, "speech"), (4, 6, "music")]


def test_labels_may_be_joined(measures):
    labels = measures.one_label([(0, 1, "music+speech"), (1, 2, "music")], 200)
    assert measures.segments_of(labels) == [(0, 1, "speech"), (1, 2, "music")]


def test_accuracy_is_a_share_of_the_labelled_time(measures):
    reference = measures.one_label([(0, 4, "speech"), (5, 9, "music")], STEPS)
    estimated = measures.one_label([(0, 6, "speech"), (6, 10, "music")], STEPS)
    assert measures.frame_accuracy(reference, estimated) == pytest.approx(7 / 8)
    assert measures.frame_recalls(reference, estimated) == {"music": 0.75, "speech": 1.0}


def test_boundaries_lie_between_two_labels(measures):
    labels = measures.one_label(TRUTH, STEPS + 100)
    assert measures.boundaries(labels) == pytest.approx([4, 6, 7, 8.5, 8.8])
    assert measures.boundaries(labels, silence=False) == pytest.approx([4])


def test_distances_are_those_of_brute_force(measures):
    rng = np.random.default_rng(0)
    times, others = rng.uniform(0, 9, 50), np.sort(rng.uniform(0, 9, 20))
    assert measures.distances(times, others) == pytest.approx(np.abs(times[:, None] - others).min(axis=1))
    assert measures.distances(times, others[:0]).min() == math.inf


def test_pauses_of_a_source_take_its_label(measures):
    pauses = [measures.Pause(6.0, 7.0, -65.0)]
    sounds = measures.one_label([(0, 4, "speech"), (4, 6, "music"), (7, 10, "environment")], STEPS)
    planned = measures.put_in_only(measures.one_label(TRUTH, STEPS), sounds, pauses)
    assert measures.boundaries(planned) == pytest.approx([4, 6, 7])
    assert [(s.level, round(s.duration, 2)) for s in measures.silences(measures.one_label(TRUTH, STEPS), pauses)] == [
        (-65.0, 1.0),
        (None, 0.3),
    ]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([(6.0, 7.0)], True),
        ([(5.9, 7.1)], True),
        ([(5.8, 7.0)], False),
        ([(6.0, 6.8)], False),
        ([(6.0, 6.4), (6.5, 7.0)], True),
        ([(6.0, 6.3), (6.6, 7.0)], False),
        ([], False),
        ([(0, 10)], False),
    ],
    ids=["exact", "edges 0.1 off", "starts early", "ends early", "a small hole", "a hole", "none", "all silent"],
)
def test_a_silence_is_found_with_both_edges_and_most_of_it(measures, found, expected):
    estimated = measures.one_label([(0, 10, "speech")], STEPS)
    for start, end in found:
        estimated[round(start * 100) : round(end * 100)] = "silence"
    assert measures.are_found([measures.Silence(6.0, 7.0, None)], estimated).tolist() == [expected]


def test_a_silence_at_either_end_of_a_recording_is_found(measures):
    labels = measures.one_label([(0, 1, "silence"), (1, 9, "speech"), (9, 10, "silence")], STEPS)
    assert measures.are_found(measures.silences(labels, []), labels).all()


def test_overlaps_are_counted_by_time(measures):
    estimated = [(1, 4, "speech"), (3, 6, "music"), (6, 7, "music+speech")]
    assert measures.overlap_f1(TRUTH, estimated, STEPS) == pytest.approx(2 * 1 / (2 + 2))
    assert measures.overlap_f1(TRUTH, TRUTH, STEPS) == 1.0
    assert measures.overlap_f1(TRUTH, [(0, 10, "speech")], STEPS) == 0.0


def test_boundaries_are_told_where_both_labels_are_found(measures):
    reference = measures.one_label([(0, 4, "speech"), (4, 8, "music"), (8, 12, "speech")], 1200)
    late = measures.one_label([(0, 4.4, "speech"), (4.4, 12, "music")], 1200)
    assert measures.told(np.array([4.0, 8.0]), reference, late).tolist() == [4.0]
    assert measures.told(np.array([4.0, 8.0]), reference, reference).tolist() == [4.0, 8.0]
    assert measures.told(np.array([0.2]), reference, reference).tolist() == []


def test_the_truth_itself_is_a_perfect_answer(segmentation):
    one = programme(segmentation)
    results = segmentation.measure(segmentation.Timeline([one, one]), [one.truth, one.truth])
    for key in ("frame_accuracy", "boundary_within_fifth", "boundary_precision_fifth", "segments_over_truth"):
        assert results[key] == 1.0
    assert results["boundary_median"] == results["boundary_median_all"] == results["boundary_median_sounds"] == 0.0
    assert results["boundaries_told"] == results["boundary_within_half_told"] == 1.0
    assert results["silence_recall_500ms"] == results["silence_precision"] == 1.0
    assert results["silence_recall_by_length"] == {"0.2-0.5": 1.0, "0.5-1": None, "1-3": 1.0, "3-10": None}
    assert results["silence_recall_by_level"] == {"-75": 1.0}
    assert results["silences_500ms"] == 2


def test_measures_of_a_poor_answer(segmentation):
    answer = [(0, 4.3, "speech"), (4.3, 7.6, "music"), (7.6, 10, "environment")]
    results = segmentation.measure(segmentation.Timeline([programme(segmentation)]), [answer])
    assert results["boundary_median"] == pytest.approx(0.6)  # 4 by 0.3, 7 by 0.6, 6 by 1.6
    assert results["boundary_within_half"] == pytest.approx(1 / 3)
    assert results["boundary_within_second_sounds"] == 1.0
    assert results["boundary_precision_half"] == 0.5
    assert results["segments_over_truth"] == pytest.approx(3 / 6)
    assert results["segments_over_truth_sounds"] == 1.0
    assert results["silence_recall_500ms"] == 0.0
    assert results["silence_precision"] is None
    assert results["accuracy_by_kind"] == pytest.approx(
        {"speech": 1.0, "speech_over_music": 1.0, "music": 1.7 / 2, "environment": 2.1 / 3}
    )
    assert results["frame_accuracy"] == pytest.approx(1 - (0.3 + 1.0 + 0.6 + 0.3) / 10)
