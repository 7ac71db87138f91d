from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recipe as load_recipe
from signals import noise, tone

from audioclass.data import QUIETEST, Block, Features
from audioclass.engine.models import loaded
from audioclass.extraction.cache import Cache
from audioclass.extraction.extract import extract_features, extract_windows
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.plugins.manager import PluginManager, plugin_manager
from audioclass.plugins.sources import PluginSource

RATE, HOP = 16000, 256
BROADCAST, ENVIRONMENT = load_recipe("broadcast"), load_recipe("environment22")
SOUND = noise(0.6)
GAPPED = np.concatenate([noise(1.3), np.zeros(20000, np.float32), tone(440, 2.1), np.zeros(9000, np.float32)])


def level_recipe(window=4.0):
    """Statistics that one frame of silence would change, of a descriptor that looks at its own frame alone."""
    statistics = {"name": "statistics", "values": ["mean", "deviation", "minimum", "maximum"]}
    table = {
        "sample_rate": RATE, "frame_length": 1024, "hop_length": HOP, "window": window, "window_hop": window,
        "parts": [{"group": "mel", "descriptors": [{"name": "log_mel", "bands": 20}], "poolings": [statistics]}],
    }  # fmt: skip
    return recipe_of_table("levels", table, plugin_manager().make, lambda kind, name: "audioclass 1.0")


def features(samples, recipe, **options):
    rate = recipe.framing.sample_rate
    chunks = extract_features([Block(np.asarray(samples, np.float32)[:, None], rate)], recipe, **options)
    return Features.joined(chunks, recipe.columns, recipe.groups)


def zeros(n_hops):
    return np.zeros(n_hops * HOP, np.float32)


@pytest.mark.parametrize(("before", "after"), [(40, 0), (0, 40), (13, 90), (100, 100)])
def test_padding_around_a_sound_changes_nothing_of_its_features(before, after):
    sound = SOUND[: len(SOUND) // HOP * HOP]
    padded = features(np.concatenate([zeros(before), sound, zeros(after)]), level_recipe())
    np.testing.assert_array_equal(padded.X, features(sound, level_recipe()).X)


def test_padding_inside_a_sound_is_left_out():
    gapped = features(np.concatenate([SOUND, zeros(50), SOUND]), level_recipe())
    quietest = features(np.concatenate([SOUND, SOUND]), level_recipe())
    np.testing.assert_allclose(gapped.X, quietest.X, atol=0.6)  # decibels, of the frames at the edges of the gap
    whole = features(np.concatenate([SOUND, zeros(50), SOUND]), level_recipe(), whole=True)
    assert np.abs(whole.X - quietest.X).max() > 10


@pytest.mark.parametrize("dither", [0.0, 1 / 32768], ids=["zeros", "dither"])
def test_windows_tell_how_long_their_padding_lasts(dither):
    steps = np.random.default_rng(0).integers(-1, 2, 100 * HOP).astype(np.float32)
    [window] = features(np.concatenate([SOUND, dither * steps]), level_recipe()).segments
    assert window.padding == pytest.approx(1.6, abs=0.05)
    assert window.described == pytest.approx(0.6, abs=0.05)
    [unpadded] = features(SOUND, level_recipe()).segments
    assert unpadded.padding == 0


def test_a_pause_that_is_short_or_not_digital_belongs_to_the_sound():
    hiss = noise(0.5, level=3 * QUIETEST)
    for pause in (zeros(6), hiss):
        samples = np.concatenate([SOUND, pause, SOUND])
        made, whole = (features(samples, level_recipe(), whole=whole) for whole in (False, True))
        assert made.segments[0].padding == 0
        np.testing.assert_array_equal(made.X, whole.X)


def test_a_window_of_padding_alone_is_described_by_it():
    made, whole = (features(zeros(100), BROADCAST, whole=whole) for whole in (False, True))
    np.testing.assert_array_equal(made.X, whole.X)
    assert made.segments[0].padding == 0


@pytest.mark.parametrize("recipe", [BROADCAST, ENVIRONMENT], ids=lambda recipe: recipe.name)
def test_windows_without_padding_keep_their_bits_beside_others(recipe):
    samples = np.concatenate([noise(11.0, 44100), np.zeros(44100, np.float32), noise(12.0, 44100, seed=1)])
    made, whole = (features(samples, recipe, whole=whole) for whole in (False, True))
    is_padded = np.array([window.padding > 0 for window in made.segments])
    assert is_padded.any()
    np.testing.assert_array_equal(made.X[~is_padded], whole.X[~is_padded])
    assert (made.X[is_padded] != whole.X[is_padded]).any(axis=1).all()


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 30000), max_size=6))
def test_padding_is_the_same_however_blocks_come(sizes):
    edges = [0, *np.minimum(np.cumsum(sizes), len(GAPPED)).tolist(), len(GAPPED)]
    cut = [Block(GAPPED[a:b, None], RATE, a) for a, b in pairwise(edges)]
    made = Features.joined(extract_features(cut, BROADCAST), BROADCAST.columns, BROADCAST.groups)
    expected = features(GAPPED, BROADCAST)
    np.testing.assert_array_equal(made.X, expected.X)
    assert [window.padding for window in made.segments] == [window.padding for window in expected.segments]


def test_poolings_learn_from_what_they_will_describe():
    recipe = level_recipe()
    blocks = [Block(np.concatenate([SOUND, zeros(100)])[:, None], RATE)]
    [(window, [frames])] = extract_windows(blocks, recipe)
    assert len(frames) == round(window.described * recipe.framing.frame_rate)


def test_padding_is_kept_with_the_features(tmp_path):
    made = features(GAPPED, BROADCAST)
    kept = Cache(tmp_path).prepare().write("0" * 64, [made], BROADCAST).load(BROADCAST)
    assert [window.padding for window in kept.segments] == [window.padding for window in made.segments]


def test_embeddings_describe_whole_windows():
    manager = PluginManager([PluginSource("third-party", "1.0", ("audioclass.plugins.templates.embedding",))])
    table = {
        "sample_rate": RATE, "frame_length": 512, "hop_length": 160, "window": 2.0, "window_hop": 2.0,
        "parts": [{"group": "octaves", "embedding": {"name": "example_name", "sample_rate": 8000}}],
    }  # fmt: skip
    recipe = recipe_of_table("embedded", table, manager.make, lambda kind, name: "third-party 1.0")
    made, whole = (features(np.concatenate([SOUND, zeros(50)]), recipe, whole=whole) for whole in (False, True))
    assert made.segments[0].padding == 0
    np.testing.assert_array_equal(made.X, whole.X)


def test_the_shipped_model_says_of_a_padded_sound_what_it_says_of_the_sound():
    model, padded = loaded("broadcast").at_depth(), np.concatenate([zeros(30), SOUND, zeros(40)])
    bare, around = (model.posteriors(features(samples, model.recipe)).P for samples in (SOUND, padded))
    np.testing.assert_allclose(around, bare, atol=0.05)
    whole = model.posteriors(features(padded, model.recipe, whole=True)).P
    assert np.abs(whole - bare).max() > np.abs(around - bare).max()


def test_posteriors_are_less_sure_of_what_is_mostly_padding():
    model = loaded("broadcast")
    short = np.concatenate([SOUND[: RATE // 5], zeros(100)])
    made = features(short, model.recipe)
    assert model.posteriors(made).P.max() < model.posteriors_of(made.X).max()
