"""Live streams: what is given when, and that it is what the whole recording gives."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recipe, segmentation
from trained import RATE, mixture

import audioclass
from audioclass import Taxonomy
from audioclass.audio.blocks import read_blocks
from audioclass.classifier.model import ROWS_TOGETHER
from audioclass.data import Features, Segment
from audioclass.engine.classifying import classify, classify_recording
from audioclass.engine.streaming import SHORT_BLOCK, classify_stream, in_batches
from audioclass.errors import UsageError
from audioclass.parameters import component


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Eight sounds of six seconds: several blocks of frames."""
    path = tmp_path_factory.mktemp("live") / "live.wav"
    soundfile.write(path, mixture(("tone", "noise", "clicks", "noise", "tone", "clicks", "noise", "tone"), 6.0), RATE)
    return path


@pytest.fixture(scope="module")
def model(model_file):
    return audioclass.load_model(model_file)


@pytest.fixture(scope="module")
def with_groups(model):
    """The same model whose labels `clicks` and `noise` are one group."""
    return replace(model, taxonomy=Taxonomy.of({"rough": {"clicks": {}, "noise": {}}, "smooth": {"tone": {}}}))


class Stream:
    """Blocks of a live stream that knows how many seconds were taken from it."""

    def __init__(self, path):
        self._path, self.taken = path, 0.0

    def __iter__(self):
        for block in read_blocks(self._path, RATE, block_length=SHORT_BLOCK):
            self.taken = (block.start + len(block.samples)) / RATE
            yield block


@pytest.mark.parametrize("smooth", ["none", "moving_average", "median", "hmm", "hmm:look_ahead=2,minimum=2"])
def test_segments_come_within_the_lag_and_are_those_of_the_file(recording, model, smooth):
    reading, stream, live, behind = segmentation(smooth), Stream(recording), [], []
    for one in classify_stream(stream, model, reading):
        live.append(one)
        behind.append(stream.taken - one.segment.end)
    file = classify_recording(recording, model, reading).result
    assert [one.segment for one in live] == list(file.segments)
    assert np.array_equal([one.posteriors for one in live], file.P)
    assert max(behind) <= reading.lag(model)
    assert behind[0] < 48 - 6  # and not at the end


@pytest.mark.parametrize(
    "changes", [{"min_duration": 1.0}, {"threshold": 0.9}, {"min_duration": 7.0, "threshold": 0.7}]
)
def test_lengths_and_thresholds_are_the_same_live(recording, with_groups, changes):
    reading = segmentation(**changes)
    live = list(classify_stream(Stream(recording), with_groups, reading))
    file = classify_recording(recording, with_groups, reading).result
    assert [one.segment for one in live] == list(file.segments)
    assert np.array_equal([one.posteriors for one in live], file.P)


def test_the_lag_of_the_broadcast_recipe_is_what_the_help_says(model):
    shipped = replace(model, recipe=recipe("broadcast"))
    assert segmentation().lag(shipped) <= 21
    assert segmentation("none").lag(shipped) <= 13


@component
class Whole:
    """A smoother that wants the whole recording."""

    name: ClassVar[str] = "whole"

    def smooth(self, posteriors):
        return replace(posteriors, P=np.tile(posteriors.P.mean(axis=0), (len(posteriors.P), 1)))


def test_a_smoother_that_cannot_stream_waits_for_the_end(recording, model):
    reading, stream = segmentation(Whole()), Stream(recording)
    (one,) = classify_stream(stream, model, reading)
    assert one.segment.end == stream.taken == pytest.approx(48)
    assert reading.lag(model) == float("inf")


def rows(n, first):
    segments = tuple(Segment(float(i), i + 1.0) for i in range(first, first + n))
    return Features(np.arange(first, first + n, dtype=np.float32)[:, None], ("a",), ("g",), segments)


@given(st.lists(st.integers(1, 200), max_size=8))
@settings(max_examples=50)
def test_batches_are_full_and_keep_every_row(sizes):
    starts = np.cumsum([0, *sizes])
    batches = list(in_batches(rows(n, int(first)) for n, first in zip(sizes, starts, strict=False)))
    assert [x for batch in batches for x in batch.X[:, 0]] == list(range(sum(sizes)))
    assert [s.start for batch in batches for s in batch.segments] == list(range(sum(sizes)))
    assert all(len(batch.X) % ROWS_TOGETHER == 0 for batch in batches[:-1])


def test_doubt_is_named_by_the_group_then_unknown(recording, with_groups):
    """Thresholds between what a label, its group and nothing at all reach: worked out from the windows themselves."""
    sure = classify(recording, with_groups, smooth="none", windows=True)
    threshold = 0.999
    named = classify(recording, with_groups, smooth="none", windows=True, threshold=threshold)
    groups = {"clicks": ("rough", [0, 1]), "noise": ("rough", [0, 1]), "tone": ("smooth", [2])}
    for before, after, row in zip(sure.segments, named.segments, named.P, strict=True):
        group, columns = groups[before.label]
        reached = [row[named.labels.index(before.label)] >= threshold, row[columns].sum() >= threshold, True]
        assert after.label == (before.label, group, "unknown")[reached.index(True)]
    assert {"rough", "unknown"} <= {segment.label for segment in named.segments}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"windows": True, "min_duration": 1.0}, "min_duration=1.0 is for segments"),
        ({"threshold": float("nan")}, "threshold=nan must be a probability"),
        ({"min_duration": float("inf")}, "min_duration=inf must be a time"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    with pytest.raises(UsageError, match=message):
        segmentation(**changes)
