"""Provisional segments of a live stream: how soon they come, and that they are what the stream so far would give."""

import io
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import soundfile
from runs import segmentation
from trained import RATE, mixture

import audioclass
from audioclass.audio.blocks import read_blocks, resample
from audioclass.audio.contours import ContourMeter
from audioclass.audio.decode import open_audio
from audioclass.audio.raw import RawFormat
from audioclass.data import Contours, Posteriors
from audioclass.engine.classifying import classify_recording
from audioclass.engine.following import follow_stream, live_blocks
from audioclass.engine.models import loaded
from audioclass.engine.previewing import Preview, PreviewGrid, preview_lag
from audioclass.engine.streaming import SHORT_BLOCK
from audioclass.parameters import component

ORDER = ("tone", "noise", "clicks", "noise", "tone")


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("preview") / "live.wav"
    soundfile.write(path, mixture(ORDER, 3.0), RATE)
    return path


@pytest.fixture(scope="module")
def model(model_file):
    return audioclass.load_model(model_file)


def with_windows(model, window, hop):
    return replace(model, recipe=model.recipe.with_windows(window, hop))


def blocks_of(path, model, length=SHORT_BLOCK):
    return read_blocks(path, model.recipe.framing.sample_rate, block_length=length)


def told(path, model, options, length=SHORT_BLOCK):
    """Seconds that were taken in, and what was told of them, where nothing is ever final."""
    preview, given = Preview(model, options), []
    for block in blocks_of(path, model, length):
        seconds = (block.start + len(block.samples)) / block.sample_rate
        given += [(seconds, changed) for changed in preview.push(block)]
    return given


def contours_with(path, model, window):
    """The contours that are known with a window at the latest."""
    framing, meter = model.recipe.framing, ContourMeter(model.recipe.framing.sample_rate)
    whole = [meter.take() for _ in meter.watch(blocks_of(path, model))]
    n_samples = round(window.end * framing.sample_rate) + PreviewGrid.of(model.recipe).after * framing.hop_length
    return Contours.joined([*whole, meter.take()]).split(meter.n_known(n_samples))[0]


@pytest.mark.parametrize("windows", [(1.0, 0.5), (0.5, 0.1), (3.0, 3.0)], ids=str)
def test_windows_come_within_the_lag_and_no_more_than_a_step_apart(recording, model, windows):
    model = with_windows(model, *windows)
    given = told(recording, model, segmentation("none", windows=True))
    ends = [changed[-1].segment.end for _, changed in given]
    behind = [taken - end for (taken, _), end in zip(given[1:], ends, strict=False)]  # of the first sample not yet told
    assert max(behind) <= preview_lag(model)
    assert np.diff(ends).max() <= 1.0 + 1e-9
    assert ends[-1] > 15 - preview_lag(model)


@pytest.mark.parametrize("windows", [(1.0, 0.5), (3.0, 3.0)], ids=str)
def test_posteriors_are_those_of_the_final_windows_but_for_rounding(recording, model, windows):
    model = with_windows(model, *windows)
    options = segmentation("none", windows=True, hop="recipe")
    final = classify_recording(recording, model, options).result
    rows = {segment.start: row for segment, row in zip(final.segments, final.P, strict=True)}
    newest = [changed[-1] for _, changed in told(recording, model, options)]
    shared = [one for one in newest if one.segment.start in rows]
    assert len(shared) >= len(rows) - 2
    for one in shared:
        np.testing.assert_allclose(one.posteriors, rows[one.segment.start], atol=1e-3)


@pytest.mark.parametrize(
    ("smooth", "changes"),
    [
        ("none", {"min_duration": 1.0, "threshold": 0.9}),
        ("median", {}),
        ("hmm", {}),
        ("hmm:look_ahead=2,minimum=2", {"min_duration": 1.0, "threshold": 0.9}),
    ],
)
def test_provisional_segments_are_those_of_the_windows_so_far(recording, model, smooth, changes):
    """By brute force: all windows so far through a fresh stream that then ends."""
    plain = [changed[-1] for _, changed in told(recording, model, segmentation("none", windows=True))]
    options, standing = segmentation(smooth, **changes), []
    for n, (_, changed) in enumerate(told(recording, model, options), start=1):
        stream, windows = options.stream(model), tuple(replace(one.segment, label="") for one in plain[:n])
        P = np.array([one.posteriors for one in plain[:n]])
        known = contours_with(recording, model, windows[-1])
        expected = [*stream.push(Posteriors(P, model.labels, windows), known), *stream.finish()]
        standing = [one for one in standing if one.segment.start < changed[0].segment.start] + changed
        assert [one.segment for one in standing] == [one.segment for one in expected]
        np.testing.assert_allclose(changed[-1].posteriors, expected[-1].posteriors)


@pytest.mark.parametrize("length", [100, 10**6])
def test_blocks_of_any_size_are_told_the_same(recording, model, length):
    options = segmentation()
    expected = [[one.segment for one in changed] for _, changed in told(recording, model, options)]
    assert [[one.segment for one in changed] for _, changed in told(recording, model, options, length)] == expected


def test_final_segments_are_untouched_and_nothing_before_them_is_provisional(tmp_path, model):
    recording, options, ends, starts = tmp_path / "longer.wav", segmentation("none"), [0.0], []
    soundfile.write(recording, mixture(ORDER, 6.0), RATE)

    def tell(segments):
        starts.append((segments[0].segment.start, ends[-1]))

    final = []
    for one in follow_stream(blocks_of(recording, model), model, options, tell):
        final.append(one)
        ends.append(one.segment.end)
    file = classify_recording(recording, model, options).result
    assert [one.segment for one in final] == list(file.segments)
    assert np.array([one.posteriors for one in final]).tobytes() == file.P.tobytes()
    assert all(start >= end for start, end in starts)
    assert len({end for _, end in starts}) > 1


@pytest.mark.parametrize("sample_rate", [8000, 11025, 16000, 44100, 48000])
def test_the_shipped_model_tells_within_three_seconds(sample_rate):
    assert preview_lag(loaded("broadcast"), sample_rate) <= 3


class Pipe(io.RawIOBase):
    """Sixteen-bit samples that come a few at a time."""

    def __init__(self, content):
        self._content, self._at = content, 0

    def read(self, n_bytes=-1):
        """What came since."""
        part = self._content[self._at : self._at + min(n_bytes, 400)]
        self._at += len(part)
        return part

    def seconds(self, sample_rate):
        """Of the stream so far."""
        return self._at / 2 / sample_rate


@pytest.mark.parametrize("sample_rate", [11025, 44100])
def test_a_stream_that_is_resampled_is_told_within_the_lag_too(model, sample_rate):
    samples = resample(mixture(ORDER[:2], 5.0), RATE, sample_rate)
    content = (samples * 32767).clip(-32768, 32767).astype("<i2").tobytes()
    pipe, ends, behind = Pipe(content), [], []

    def tell(segments):
        if ends:
            behind.append(pipe.seconds(sample_rate) - ends[-1])
        ends.append(segments[-1].segment.end)

    with open_audio(pipe, raw=RawFormat(sample_rate, "s16le")) as audio:
        list(follow_stream(live_blocks(audio, model), model, segmentation(), tell))
    assert 0.5 * preview_lag(model, sample_rate) < max(behind) <= preview_lag(model, sample_rate)


@component
class AtTheEnd:
    """A smoother that wants the whole recording."""

    name: ClassVar[str] = "at_the_end"

    def smooth(self, posteriors):
        return replace(posteriors, P=np.tile(posteriors.P.mean(axis=0), (len(posteriors.P), 1)))


def test_a_smoother_that_cannot_stream_is_left_out(recording, model):
    [plain, other] = [told(recording, model, segmentation(smooth)) for smooth in ("none", AtTheEnd())]
    assert [[one.segment for one in changed] for _, changed in plain] == [
        [one.segment for one in changed] for _, changed in other
    ]


def test_follow_in_python_gives_the_segments_of_classify(recording, model):
    heard = []
    final = list(audioclass.follow(recording, model, on_provisional=heard.extend))
    assert tuple(one.segment for one in final) == audioclass.classify(recording, model).segments
    assert {one.segment.label for one in heard} == set(model.labels)
    assert [one.segment for one in audioclass.follow(recording, model)] == [one.segment for one in final]


def test_how_far_a_smoother_looks_ahead_does_not_keep_it_from_adapting():
    assert segmentation("hmm:look_ahead=2").adapts
    assert not segmentation("hmm:look_ahead=2,duration=20").adapts


def test_steps_of_a_grid_are_short_but_not_too_short(model):
    for window, hop, seconds in ((1.0, 0.05, 0.25), (1.0, 0.5, 0.5), (10.0, 5.0, 1.0), (10.0, 2.5, 0.85)):
        recipe = model.recipe.with_windows(window, hop)
        grid = PreviewGrid.of(recipe)
        steps = np.diff([grid.start(number) for number in range(20)])
        assert max(steps) <= grid.longest_step
        assert grid.longest_step / recipe.framing.frame_rate == pytest.approx(seconds, abs=0.04)
