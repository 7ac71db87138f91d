"""Versions of a recording, derived from one spectrum: where a tone comes to lie, and how near computed ones are."""

import copy
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from runs import recipe as load_recipe
from signals import noise, tone

from audioclass.audio.blocks import resample
from audioclass.data import Block, Features, Framing
from audioclass.descriptors.chroma import CLASSES, Chroma
from audioclass.descriptors.energy import Level
from audioclass.descriptors.harmonicity import Harmonicity
from audioclass.descriptors.mel import LogMel
from audioclass.descriptors.prediction import LineSpectralFrequencies
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.descriptors.spectral import Flatness, RollOff, SpectralMoments, SpectralTilt
from audioclass.descriptors.temporal import ZeroCrossings
from audioclass.errors import UsageError
from audioclass.extraction.extract import extract_features, play_frames
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe_tables import recipe_of_table

RATE, FRAMING = 22050, Framing(22050, 2048, 512)
SPEEDS = (1.0, 15 / 14, 14 / 15)
UP, DOWN = SPEEDS[1:]
ENVIRONMENT = load_recipe("environment22")


@dataclass(frozen=True)
class Crossings:
    """How often the sign changes in the middle half of a window, and how many samples the window has."""

    name: ClassVar[str] = "crossings"
    sample_rate: int = 16000

    def columns(self):
        return ["crossings", "samples"]

    def embed(self, samples, sample_rate):
        middle = samples[len(samples) // 4 : 3 * len(samples) // 4]
        return np.array([np.sum(np.diff(middle < 0)), len(samples)], np.float32)


def features(samples, recipe, size=None):
    pieces = [samples] if size is None else [samples[i : i + size] for i in range(0, len(samples), size)]
    blocks = iter([Block(piece[:, None], RATE) for piece in pieces])
    return Features.joined(extract_features(blocks, recipe), recipe.columns, recipe.groups)


def derived_and_computed(descriptor, samples, speed):
    derived = descriptor.frames(CachedSpectra(samples, FRAMING).at_speed(speed))
    played = resample(samples.astype(np.float32), RATE * speed, RATE)
    computed = descriptor.frames(CachedSpectra(played, FRAMING))
    return np.median(derived[4:-4], axis=0), np.median(computed[4:-4], axis=0)


@pytest.mark.parametrize("speed", [2.0, UP, DOWN, 0.5])
def test_a_tone_lies_where_its_speed_puts_it(speed):
    spectra = CachedSpectra(tone(440, 1.0, RATE), FRAMING).at_speed(speed)
    centroid = SpectralMoments().frames(spectra)[:, 0] * RATE / 2
    assert np.allclose(centroid, 440 * speed, atol=3)
    assert np.allclose(spectra.frequencies[spectra.power.argmax(axis=1)], 440 * speed, atol=6 * speed)
    assert np.allclose(Harmonicity(highest=1000).frames(spectra)[:, 1], np.log2(440 * speed), atol=0.02)
    there = LogMel(bands=64).frames(CachedSpectra(tone(440 * speed, 1.0, RATE), FRAMING))
    assert np.array_equal(LogMel(bands=64).frames(spectra).argmax(axis=1), there.argmax(axis=1))


def test_a_tone_changes_its_pitch_class():
    spectra = CachedSpectra(tone(440, 1.0, RATE), FRAMING).at_speed(2 ** (3 / 12))
    assert {CLASSES[i] for i in Chroma().frames(spectra).argmax(axis=1)} == {"C"}


@pytest.mark.parametrize("speed", [UP, DOWN])
@pytest.mark.parametrize(
    ("descriptor", "tolerance"),
    [
        (LogMel(bands=24), 1.5),
        (Level(), 0.3),
        (SpectralMoments(), 0.02),
        (SpectralTilt(), 0.02),
        (RollOff(), 0.05),
        (ZeroCrossings(), 0.015),
        (LineSpectralFrequencies(), 0.02),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_derived_descriptors_of_noise_are_near_computed_ones(descriptor, tolerance, speed):
    samples = np.convolve(noise(4.0, RATE), np.ones(4) / 4, "same") + tone(1000, 4.0, RATE, 0.02)
    derived, computed = derived_and_computed(descriptor, samples, speed)
    assert np.abs(derived - computed)[: 20 if descriptor.name == "log_mel" else None].max() < tolerance


def test_what_comes_to_lie_beyond_the_nyquist_frequency_is_left_out():
    derived, computed = derived_and_computed(Level(), noise(2.0, RATE) + tone(10900, 2.0, RATE), UP)
    assert np.abs(derived - computed).max() < 0.5
    flat = [Flatness().frames(CachedSpectra(noise(2.0, RATE), FRAMING).at_speed(speed))[:, 0] for speed in (1.0, UP)]
    assert abs(flat[0].mean() - flat[1].mean()) < 0.02


def test_nothing_is_computed_again_at_speed_one():
    spectra = CachedSpectra(noise(0.5, RATE), FRAMING)
    assert spectra.at_speed(1.0) is spectra
    assert np.shares_memory(spectra.at_speed(UP).power, spectra.power)


def test_frames_are_played_by_the_nearest():
    frames = np.arange(8.0)[None, :, None]
    assert play_frames(frames, 2.0)[0, :, 0].tolist() == [0, 2, 4, 6]
    assert play_frames(frames, 0.5)[0, :, 0].tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
    assert play_frames(frames[:, :1], 1.5).shape == (1, 1, 1)


def test_versions_stand_one_after_the_other():
    recipe, d = ENVIRONMENT.with_versions(SPEEDS), len(ENVIRONMENT.columns)
    made = features(noise(1.5, RATE), recipe)
    assert np.array_equal(made.X[:, :d], features(noise(1.5, RATE), ENVIRONMENT).X)
    assert made.columns[:d] == ENVIRONMENT.columns
    assert made.columns[d] == f"{ENVIRONMENT.columns[0]}@1.0714"
    assert (recipe.n_features, recipe.at_one_speed) == (d, ENVIRONMENT)
    assert recipe.groups == ENVIRONMENT.groups * 3


@pytest.mark.parametrize("size", [1000, 7001])
def test_any_blocks_give_the_same_bits(size):
    recipe = ENVIRONMENT.with_windows(1.0, 0.4).with_versions(SPEEDS)
    samples = np.concatenate([noise(2.0, RATE), tone(300, 5.3, RATE)])
    assert features(samples, recipe).X.tobytes() == features(samples, recipe, size).X.tobytes()


@pytest.mark.parametrize("speed", [UP, DOWN])
def test_a_derived_version_is_nearer_to_the_computed_one_than_the_recording_is(speed):
    rng = np.random.default_rng(0)
    recordings = [
        np.convolve(noise(2.0, RATE, seed=i), rng.standard_normal(8), "same")
        * (1 + np.sin(np.arange(2 * RATE) * 2 * np.pi * (2 + i) / RATE)).astype(np.float32)
        + tone(300 + 400 * i, 2.0, RATE, 0.1)
        for i in range(6)
    ]
    recipe, d = ENVIRONMENT.with_versions((1.0, speed)), len(ENVIRONMENT.columns)
    both = np.concatenate([features(samples, recipe).X for samples in recordings])
    computed = np.concatenate(
        [features(resample(one.astype(np.float32), RATE * speed, RATE), ENVIRONMENT).X for one in recordings]
    )
    recorded, derived = both[:, :d], both[:, d:]
    scale = recorded.std(axis=0) + 1e-3
    for group in dict.fromkeys(ENVIRONMENT.groups):
        columns = np.array(ENVIRONMENT.groups) == group
        error, moved = (np.median(np.abs((X - computed) / scale)[:, columns]) for X in (derived, recorded))
        assert error < moved, group


def test_an_embedding_hears_the_window_played_faster():
    recipe = replace(ENVIRONMENT, parts=(Part("heard", embedding=Crossings()),)).with_versions((1.0, 2.0))
    [[crossings, n_samples, faster, fewer]] = features(tone(220, 1.0, RATE), recipe).X
    assert faster == pytest.approx(crossings, abs=2)
    assert fewer == pytest.approx(n_samples / 2, abs=2)


def test_derivatives_are_those_of_the_version(manager):
    ramp = np.linspace(0.001, 1, 4 * RATE) * tone(1000, 4.0, RATE, 1.0)
    part = {"group": "g", "descriptors": [{"name": "level"}], "poolings": [{"name": "statistics"}], "derivatives": 1}
    table = {**ENVIRONMENT.plain(), "window": 4.0, "parts": [part], "versions": [1, 2]}
    recipe = recipe_of_table("ramp", table, manager.make, manager.origin)
    X = dict(zip(recipe.columns, features(ramp.astype(np.float32), recipe).X[0], strict=True))
    assert X["g.level_d1_mean@2"] == pytest.approx(2 * X["g.level_d1_mean"], rel=0.1)


@pytest.mark.parametrize(
    "versions",
    [[], [2], [1, 3], [1, 0.4], [1, 1], [1, 1.000001], [1, "2"], [1, True], [1, float("nan")], [1] * 10, "1", 1, None],
)
def test_other_versions_are_refused(manager, versions):
    table = copy.deepcopy(ENVIRONMENT.plain()) | {"versions": versions}
    with pytest.raises(UsageError, match="versions="):
        recipe_of_table("mine", table, manager.make, manager.origin)


def test_versions_are_written_where_there_are_several(manager):
    recipe = ENVIRONMENT.with_versions(SPEEDS)
    assert "versions" not in ENVIRONMENT.plain()
    again = recipe_of_table(recipe.name, recipe.plain(), manager.make, manager.origin)
    assert (again.versions, again.fingerprint == recipe.fingerprint) == (SPEEDS, True)
    assert recipe.fingerprint != ENVIRONMENT.fingerprint
    assert ENVIRONMENT.with_versions([1]) is ENVIRONMENT
