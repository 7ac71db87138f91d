"""Parts whose frames are shorter than those of the recipe: the same centres, and the same bits however audio is cut."""

from dataclasses import replace

import numpy as np
import pytest
from runs import recipe as load_recipe
from signals import noise

from audioclass.data import Block, Features, Framing
from audioclass.descriptors.mel import LogMel
from audioclass.descriptors.spectra import CachedSpectra
from audioclass.extraction.extract import extract_features
from audioclass.extraction.parts import Part
from audioclass.pooling.statistics import Statistics

RATE = 16000
FRAMING = Framing(RATE, 1024, 160)
MEL, MEAN = (LogMel(bands=32),), (Statistics(),)


def two_lengths(**changes):
    parts = (Part("long", MEL, MEAN), Part("short", MEL, MEAN, frame_length=512))
    return replace(load_recipe("broadcast"), framing=FRAMING, parts=parts, **changes)


def features(samples, recipe, size=None):
    size = size or len(samples)
    blocks = [Block(samples[i : i + size, None], RATE) for i in range(0, len(samples), size)]
    return Features.joined(extract_features(iter(blocks), recipe), recipe.columns, recipe.groups)


@pytest.mark.parametrize("length", [160, 511, 512, 1024])
def test_the_middle_of_frames_has_their_centres_and_their_number(length):
    samples = noise(1.0)
    spectra = CachedSpectra(samples, FRAMING)
    middle = spectra.middle(length)
    first = (1024 - length) // 2
    assert middle.n_frames == spectra.n_frames
    assert middle.framing == replace(FRAMING, frame_length=length)
    np.testing.assert_array_equal(middle.frames, spectra.frames[:, first : first + length])


def test_no_frame_has_no_middle():
    assert CachedSpectra(np.zeros(100, np.float32), FRAMING).middle(512).n_frames == 0


def test_a_part_with_shorter_frames_gives_what_a_recipe_of_such_frames_gives():
    samples, recipe = noise(3.0), two_lengths()
    both = features(samples, recipe)
    alone = replace(recipe, framing=replace(FRAMING, frame_length=512), parts=(Part("short", MEL, MEAN),))
    short = np.array(both.groups) == "short"
    np.testing.assert_allclose(both.X[:, short], features(samples, alone).X, atol=2e-4)
    assert np.abs(both.X[:, short] - both.X[:, ~short]).max() > 0.1


@pytest.mark.parametrize("size", [777, 16384])
@pytest.mark.parametrize("versions", [(1.0,), (1.0, 15 / 14)])
def test_blocks_of_any_size_give_the_same_bits(size, versions):
    samples, recipe = noise(12.0), two_lengths(versions=versions)
    assert features(samples, recipe, size).X.tobytes() == features(samples, recipe).X.tobytes()


def test_another_rate_keeps_the_seconds_of_both_lengths():
    recipe = two_lengths().at_rate(8000)
    assert (recipe.framing.frame_length, recipe.parts[1].frame_length, recipe.parts[0].frame_length) == (512, 256, None)
