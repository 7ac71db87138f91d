"""Segments like an example: by vectors, and without loss where their recordings are read once more."""

import numpy as np
import pytest
from evenings import NAMES, make_evening

from audioclass.engine.features import extract
from audioclass.engine.finding import Example
from audioclass.engine.models import loaded
from audioclass.errors import UsageError


def whole_space(evening, model_file, example):
    """For each window of each recording its similarity to the nearest window of an example, by comparing all."""
    model, prepared = loaded(str(model_file)), {}
    for path in sorted(evening.recordings.iterdir()):
        if path.name != "broken.wav":
            features = extract(path, model.recipe)
            prepared[path] = (model.prepared(features.X)[:, 0], [segment.start for segment in features.segments])
    rows = prepared[example][0][:4]
    return {
        (str(path), start): np.exp(-((rows - row) ** 2).sum(axis=1).min())
        for path, (several, starts) in prepared.items()
        for row, start in zip(several, starts, strict=True)
    }


def test_exact_similarities_are_those_of_the_whole_space(evening, model_file):
    example = evening.recordings / "20190403_235955.wav"
    known = whole_space(evening, model_file, example)
    like = f"{example}@0-1.2"  # the middles of its first four windows
    exact = evening.open().find(like=like, exact=True, limit=6)
    rounded = evening.open().find(like=like, limit=6)
    assert exact.similarities == tuple(sorted(exact.similarities, reverse=True))
    assert exact.similarities[0] == pytest.approx(1, abs=1e-6)
    assert exact.result.files[0] == rounded.result.files[0] == str(example)
    for file, segment, similarity in zip(exact.result.files, exact.result.segments, exact.similarities, strict=True):
        inside = [value for (path, start), value in known.items() if path == file and holds(segment, start)]
        assert any(similarity == pytest.approx(value, rel=1e-3) for value in inside)  # of the window nearest by vectors


def holds(segment, start):
    """Whether the middle of a window lies in a segment."""
    return segment.start <= start + 0.25 < segment.end


def test_a_recording_that_is_gone_keeps_the_similarity_of_its_vector(tmp_path, model_file):
    evening = make_evening(tmp_path, model_file)
    like = evening.recordings / "undated.flac"
    for name in NAMES:
        (evening.recordings / name).unlink()
    rounded, exact = (evening.open().find(like=like, path="*.wav", exact=exact) for exact in (False, True))
    assert exact.similarities == rounded.similarities != ()


def test_exactness_is_about_an_example(evening):
    with pytest.raises(UsageError, match="--exact needs --like with an example"):
        evening.open().find(exact=True)


def test_an_example_may_be_a_stretch():
    assert Example.parse("clip.wav@1.5-2") == Example(Example.parse("clip.wav").path, 1.5, 2.0)
    with pytest.raises(UsageError, match="the stretch ends before it starts"):
        Example.parse("clip.wav@2-1")
