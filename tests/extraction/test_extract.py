from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recipe as load_recipe
from signals import noise, tone

from audioclass.audio.decode import LARGEST_SAMPLE
from audioclass.data import Block, Features
from audioclass.errors import ComponentError
from audioclass.extraction import extract
from audioclass.extraction.extract import extract_features
from audioclass.extraction.frames import spectra_blocks
from audioclass.extraction.parts import Part
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.plugins.manager import PluginManager, plugin_manager
from audioclass.plugins.sources import PluginSource

BROADCAST, ENVIRONMENT = load_recipe("broadcast"), load_recipe("environment22")
SIGNAL = np.concatenate([noise(2.0), tone(440, 1.7), noise(1.5, level=0.01, seed=1)])


def blocks_of(samples, rate, length=65536):
    return [Block(samples[i : i + length, None], rate, i) for i in range(0, len(samples), length)]


def features(samples, recipe):
    blocks = blocks_of(samples, recipe.framing.sample_rate)
    return Features.joined(extract_features(blocks, recipe), recipe.columns, recipe.groups)


@pytest.mark.parametrize("recipe", [BROADCAST, ENVIRONMENT], ids=lambda recipe: recipe.name)
def test_windows_cover_the_recording(recipe):
    made = features(SIGNAL, recipe)
    assert made.X.shape == (len(made.segments), len(recipe.columns))
    assert made.X.dtype == np.float32
    assert np.isfinite(made.X).all()
    assert made.segments[0].start == 0
    assert made.segments[-1].end == pytest.approx(len(SIGNAL) / recipe.framing.sample_rate)


def test_windows_lie_where_the_recipe_says():
    starts = [segment.start for segment in features(SIGNAL, BROADCAST).segments]
    assert starts[:4] == pytest.approx([0, 1, 2, 3], abs=0.01)
    assert all(segment.duration == pytest.approx(2.0) for segment in features(SIGNAL, BROADCAST).segments[:-1])


@pytest.mark.parametrize("n_samples", [1, 2, 100, 5000])
@pytest.mark.parametrize("recipe", [BROADCAST, ENVIRONMENT], ids=lambda recipe: recipe.name)
def test_short_recordings_are_one_window(recipe, n_samples):
    made = features(SIGNAL[:n_samples], recipe)
    assert len(made.X) == 1
    assert np.isfinite(made.X).all()


@pytest.mark.parametrize("recipe", [BROADCAST, ENVIRONMENT], ids=lambda recipe: recipe.name)
def test_silence_has_finite_features(recipe):
    assert np.isfinite(features(np.zeros(60000, np.float32), recipe).X).all()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 40000), max_size=6))
def test_features_are_the_same_to_the_bit_however_blocks_come(sizes):
    edges = [0, *np.minimum(np.cumsum(sizes), len(SIGNAL)).tolist(), len(SIGNAL)]
    cut = [Block(SIGNAL[a:b, None], 16000, a) for a, b in pairwise(edges)]
    expected = features(SIGNAL, BROADCAST)
    made = Features.joined(extract_features(cut, BROADCAST), BROADCAST.columns, BROADCAST.groups)
    assert np.array_equal(made.X, expected.X)
    assert made.segments == expected.segments


@pytest.mark.parametrize("seconds", [9.0, 17.3])
def test_one_block_of_frames_gives_what_many_give(monkeypatch, seconds):
    samples = noise(seconds)
    many = features(samples, BROADCAST)
    one = partial(spectra_blocks, n_together=10**6)
    monkeypatch.setattr(extract, "spectra_blocks", one)
    np.testing.assert_allclose(features(samples, BROADCAST).X, many.X, rtol=2e-3, atol=2e-3)


def embedded_recipe():
    manager = PluginManager([PluginSource("third-party", "1.0", ("audioclass.plugins.templates.embedding",))])
    table = {
        "sample_rate": 16000, "frame_length": 512, "hop_length": 160, "window": 1.0, "window_hop": 1.0,
        "parts": [{"group": "octaves", "embedding": {"name": "example_name", "sample_rate": 8000}}],
    }  # fmt: skip
    return recipe_of_table("embedded", table, manager.make, lambda kind, name: "third-party 1.0")


def test_windows_are_embedded_together_where_the_embedding_can():
    recipe = embedded_recipe()
    together = []

    def embed_many(self, windows, sample_rate):
        together.append(windows.shape)
        return np.stack([self.embed(window, sample_rate) for window in windows])

    one_by_one = recipe.parts[0].embedding
    batched = type("Batched", (type(one_by_one),), {"embed_many": embed_many})(sample_rate=8000)
    made = features(tone(3000, 4.0), replace(recipe, parts=(replace(recipe.parts[0], embedding=batched),)))
    np.testing.assert_array_equal(made.X, features(tone(3000, 4.0), recipe).X)
    assert sum(n_windows for n_windows, _ in together) == len(made.X) == 4


def test_an_embedding_sees_the_samples_of_each_window():
    recipe = embedded_recipe()
    made = features(tone(3000, 2.0), recipe)
    assert made.columns[-1] == "octaves.example_name_5"
    assert made.groups == ("octaves",) * 6
    assert (made.X.argmax(axis=1) == 5).all()  # 2 to 4 kHz is the highest octave at 8 kHz
    assert [round(segment.start, 2) for segment in made.segments[:2]] == [0.0, 1.0]


def test_derivatives_of_frames_are_those_of_the_whole_stream():
    manager = plugin_manager(installed=False)
    level = manager.make("descriptor", "level")
    extremes = manager.make("pooling", "statistics", {"values": ["maximum", "minimum"]})
    recipe = replace(BROADCAST, window=60.0, window_hop=60.0, parts=(Part("level", (level,), (extremes,), 2),))
    made = features(np.full(30 * 16000, 0.25, np.float32), recipe)  # a step at either end and nothing between
    values = dict(zip(made.columns, made.X[0], strict=True))
    assert values["level.level_maximum"] == pytest.approx(20 * np.log10(0.25), abs=1e-3)
    assert values["level.level_d1_maximum"] > 0.1
    assert values["level.level_d2_minimum"] < -0.1


@pytest.mark.parametrize("recipe", [BROADCAST, ENVIRONMENT], ids=lambda recipe: recipe.name)
@pytest.mark.parametrize(
    "shape", [SIGNAL, np.sign(SIGNAL), np.arange(len(SIGNAL)) == 20_000], ids=["", "square", "click"]
)
def test_the_loudest_samples_give_finite_features(recipe, shape):
    loudest = (shape / np.abs(shape).max() * LARGEST_SAMPLE).astype(np.float32)
    assert np.isfinite(features(loudest, recipe).X).all()


def test_a_descriptor_that_gives_what_is_no_number_is_named():
    class Broken:
        name = "broken"

        def columns(self, framing):
            return ["broken"]

        def frames(self, spectra):
            return np.full((len(spectra.frames), 1), np.nan, np.float32)

    part = replace(BROADCAST.parts[0], descriptors=(Broken(),), derivatives=0)
    with pytest.raises(ComponentError, match="descriptor 'broken' gave NaN or infinite values"):
        features(SIGNAL, replace(BROADCAST, parts=(part,)))
