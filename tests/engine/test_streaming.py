"""Live streams: what is given when, and that it is what the whole recording gives."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import segmentation
from trained import LABELS, RATE, mixture, sound

import audioclass
from audioclass import Taxonomy
from audioclass.audio.blocks import LONGEST_TRIM, cut_blocks, read_blocks, resample
from audioclass.audio.decode import open_audio
from audioclass.classifier.model import ROWS_TOGETHER
from audioclass.data import Features, Segment
from audioclass.engine.classifying import classify, classify_recording
from audioclass.engine.models import loaded
from audioclass.engine.previewing import preview_lag
from audioclass.engine.streaming import SHORT_BLOCK, classify_stream, in_batches
from audioclass.errors import UsageError
from audioclass.parameters import component
from audioclass.segmentation.silence import SilenceRule


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


class Pipe(io.RawIOBase):
    """Sixteen-bit samples of one channel that come a few at a time, as from a microphone."""

    def __init__(self, content):
        self._content, self._at = content, 0

    def read(self, n_bytes=-1):
        """What came since."""
        part = self._content[self._at : self._at + min(n_bytes, 400)]
        self._at += len(part)
        return part

    def seconds(self, sample_rate):
        """Of the stream so far."""
        return (self._at - 44) / 2 / sample_rate


@pytest.fixture(scope="module")
def restless():
    """Forty sounds of half a second to four."""
    lengths = np.random.default_rng(0).choice([0.5, 1, 1.5, 2.5, 4], 40)
    return np.concatenate([sound(LABELS[i % 3], i % 6, seconds) for i, seconds in enumerate(lengths)])


@pytest.mark.parametrize("sample_rate", [8000, 11025, 44100])
@pytest.mark.parametrize(
    "options",
    [{"smooth": "none"}, {}, {"min_duration": 2.1}, {"smooth": "none", "threshold": 0.9}, {"windows": True}],
    ids=str,
)
def test_what_is_said_of_a_live_stream_is_what_happens(restless, with_groups, sample_rate, options):
    reading, content = segmentation(**options), io.BytesIO()
    soundfile.write(content, resample(restless, RATE, sample_rate), sample_rate, format="WAV", subtype="PCM_16")
    pipe, given, ends = Pipe(content.getvalue()), [], []
    with open_audio(pipe) as audio:
        for one in classify_stream(cut_blocks(audio, RATE, block_length=SHORT_BLOCK), with_groups, reading):
            given.append(pipe.seconds(sample_rate))
            ends.append(one.segment.end)
    waits = reading.threshold > 0  # for the segment that follows
    behind = np.subtract(given[:-1], ends[1:]) if waits else np.subtract(given, ends)
    lag = reading.lag(with_groups, sample_rate)
    assert lag - 8 < behind.max() <= lag
    whose = "the end of the segment that follows them" if waits else "their end"
    stated = re.fullmatch(
        rf"(windows|segments) are final at most (.*) s after {whose}", reading.finality(with_groups, sample_rate)
    )
    assert 0 <= float(stated[2]) - lag <= 0.1
    assert stated[1] == ("windows" if reading.windows else "segments")


def test_silence_at_the_end_that_is_left_out_is_waited_for(model):
    trimming = replace(model, recipe=replace(model.recipe, trim=True))
    assert segmentation().lag(trimming) == segmentation().lag(model) + LONGEST_TRIM


def test_the_delays_that_the_readme_states_are_those_of_the_shipped_model():
    readme = " ".join((Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").split())
    [[soon, *stated]] = re.findall(
        r"at 16 kHz, at most ([\d.]+) seconds after the sound.*?final at most ([\d.]+) seconds after its end, ([\d.]+) "
        r"without smoothing and ([\d.]+) with `--smooth hmm:look_ahead=2`",
        readme,
    )
    shipped = loaded("broadcast")
    words = [segmentation(smooth).finality(shipped) for smooth in ("hmm", "none", "hmm:look_ahead=2")]
    assert words == [f"segments are final at most {seconds} s after their end" for seconds in stated]
    assert 0 <= float(soon) - preview_lag(shipped) < 0.1


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
    assert reading.finality(model) == "segments are final when the stream ends"


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


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("block_length", [777, 65536])
def test_a_short_sound_in_digital_silence_is_told_by_its_own_frames(model, label, block_length, tmp_path):
    silence, short = np.zeros(5 * RATE), sound(label, 3, 0.25)
    soundfile.write(tmp_path / "a.wav", np.concatenate([silence, short, silence]), RATE)
    soundfile.write(tmp_path / "bare.wav", short, RATE)
    blocks = read_blocks(tmp_path / "a.wav", RATE, block_length=block_length)
    between = [one for one in classify_stream(blocks, model, segmentation("none")) if one.segment.label != "silence"]
    bare = classify_recording(tmp_path / "bare.wav", model, segmentation("none")).result
    assert [one.segment.label for one in between] == [segment.label for segment in bare.segments] == [label]
    assert between[0].posteriors.max() > 0.6  # nothing was known of it where windows were mostly silent


@pytest.mark.parametrize("block_length", [1000, 4096, 30000])
def test_silences_at_the_noise_floor_are_the_same_live(recording, model, block_length, tmp_path):
    samples, _ = soundfile.read(recording)
    samples = np.where(np.arange(len(samples)) // RATE % 6 == 5, 0, samples)  # the last second of every sound
    hiss = 10 ** (-50 / 20) * np.random.default_rng(0).standard_normal(len(samples))
    soundfile.write(tmp_path / "hiss.wav", samples + hiss, RATE)
    options = replace(segmentation("hmm"), silence=SilenceRule(None))
    live = list(classify_stream(read_blocks(tmp_path / "hiss.wav", RATE, block_length=block_length), model, options))
    file = classify_recording(tmp_path / "hiss.wav", model, options).result
    assert [one.segment for one in live] == list(file.segments)
    assert np.array_equal([one.posteriors for one in live], file.P)
    found = [one.segment for one in live if one.segment.label == "silence"]
    assert [round(one.start) for one in found] == [5, 11, 17, 23, 29, 35, 41, 47]
