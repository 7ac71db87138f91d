"""Labelled segments that no regular window is given to: each has windows of its own, as a recording of its own has."""

import itertools

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recipe, run
from trained import RATE, mixture, write_recipe

from audioclass.data import Clip, Corpus
from audioclass.engine.features import extract
from audioclass.engine.gathering import gather
from audioclass.engine.training import transitions_of
from audioclass.extraction.stretches import layers_of

SECONDS = 12.0  # of the recording


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("separate")
    soundfile.write(folder / "a.wav", mixture(), RATE, subtype="FLOAT")
    write_recipe(folder)
    return folder


def gathered(place, clips, window=2.0, hop=2.0, **options):
    fixed = recipe(str(place / "small.toml")).with_windows(window, hop)
    return gather(Corpus(tuple(clips)), fixed, run(**options), as_sets=False)


def clip(place, start, end, label="a"):
    return Clip(place / "a.wav", label, start, end)


@settings(max_examples=25, deadline=None)
@given(
    spans=st.lists(
        st.tuples(st.floats(0, SECONDS - 0.1), st.floats(0.001, 20), st.sampled_from("ab")), min_size=1, max_size=8
    ),
    window=st.sampled_from([0.1, 2.0, 30.0]),
    hop=st.sampled_from([0.5, 7.0]),
)
def test_every_labelled_event_has_a_window(place, spans, window, hop):
    clips = [clip(place, start, start + length, label) for start, length, label in spans]
    dataset = gathered(place, clips, window, hop, cache=place / "cache")
    assert set(dataset.which) == set(range(len(clips)))
    assert np.isfinite(dataset.X).all()
    for segment, i in zip(dataset.segments, dataset.which, strict=True):
        assert segment.start < clips[i].end
        assert segment.end > clips[i].start


def test_a_separate_window_is_that_of_a_recording_of_its_own(place, tmp_path):
    dataset = gathered(place, [clip(place, 0.0, 2.0), clip(place, 0.5, 0.75, "b")])
    [row] = np.flatnonzero(dataset.are_separate)
    assert dataset.which[row] == 1
    assert (dataset.segments[row].start, dataset.segments[row].end) == (0.5, 0.75)
    soundfile.write(tmp_path / "b.wav", mixture()[RATE // 2 : RATE * 3 // 4], RATE, subtype="FLOAT")
    alone = extract(tmp_path / "b.wav", recipe(str(place / "small.toml")), run=run())
    np.testing.assert_array_equal(dataset.X[row], alone.X[0])


def test_events_that_overlap_all_have_theirs_also_from_a_cache(place, tmp_path):
    spans = [(0.0, 12.0), (1.0, 1.4), (1.2, 1.6), (1.0, 1.4), (1.3, 9.0), (11.9, 50.0)]
    clips = [clip(place, *span, label) for span, label in zip(spans, "abcdef", strict=True)]
    fresh, kept, again = (gathered(place, clips, cache=cache) for cache in (None, tmp_path, tmp_path))
    assert set(fresh.which) == set(range(6))
    same = [row for row in np.flatnonzero(fresh.are_separate) if fresh.which[row] in (1, 3)]
    np.testing.assert_array_equal(*fresh.X[same])
    for other in (kept, again):
        np.testing.assert_array_equal(fresh.X, other.X)
        assert fresh.segments == other.segments
        assert fresh.fingerprint == other.fingerprint


def test_they_tell_nothing_of_how_labels_follow_one_another(place):
    clips = [clip(place, 0.0, 6.0), clip(place, 6.0, 12.0, "b")]
    short = [*clips, clip(place, 2.9, 3.1, "b")]
    layout = recipe(str(place / "small.toml")).with_windows(2.0, 2.0)
    counts = [transitions_of(gathered(place, some), layout) for some in (clips, short)]
    np.testing.assert_array_equal(*counts)


def test_what_holds_no_sound_is_counted_and_named(place):
    clips = [clip(place, 0.0, 3.0), clip(place, 5.0, 5.0, "b"), clip(place, 6.0, 9.0, "b"), clip(place, 40.0, 41.0)]
    dataset = gathered(place, clips)
    assert set(dataset.which) == {0, 2}
    [remark] = dataset.remarks
    assert remark == (
        "2 of 4 labelled segments hold no sound and are not used: 1 without length, 1 beyond the end of the recording,"
        f" such as {place / 'a.wav'}#t=5,5; correct their times"
    )


def test_other_windows_are_named_only_where_they_would_fit(place):
    clips = [clip(place, start, start + 0.4, label) for start in range(0, 10, 2) for label in "ab"]
    assert "--window 0.5 --hop 0.25 fits them" in gathered(place, clips, 4.0, 4.0).remarks[0]
    assert not gathered(place, clips, 0.5, 0.25).remarks  # two labels of one stretch: nothing fits both


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)), max_size=12))
def test_layers_hold_every_stretch_once_and_none_of_them_overlaps(spans):
    stretches = [(float(start), float(start + length)) for start, length in spans]
    layers = layers_of(stretches)
    assert sorted(span for layer in layers for span in layer) == sorted(set(stretches))
    for layer in layers:
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(layer))
    deepest = max((sum(a <= t < b for a, b in set(stretches)) for t in range(40)), default=0)
    assert len(layers) == deepest
