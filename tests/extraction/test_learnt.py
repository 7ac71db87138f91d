"""Recipes of which a part learns: what they are known by, what the cache keeps of them, and when they are refused."""

import numpy as np
import pytest
import soundfile
from learnt import FLUX, LEARNT, MEL, recipe
from runs import run
from signals import noise, tone

from audioclass.data import Block, Features
from audioclass.engine.features import extract
from audioclass.errors import UsageError
from audioclass.extraction.batch import extract_batch
from audioclass.extraction.cache import Cache
from audioclass.extraction.extract import extract_features, extract_windows

SAMPLES = np.concatenate([tone(440, 1.3, 8000), noise(1.3, 8000, seed=3)])
UNFITTED = recipe()


def blocks(size=20800):
    return (Block(SAMPLES[i : i + size, None], 8000, i) for i in range(0, len(SAMPLES), size))


def fitted(seed=0, made=UNFITTED):
    """The recipe with what its patches learn from one recording."""
    windows = [frames for _, frames in extract_windows(blocks(), made)]
    learnt = []
    for part in made.parts:
        frames = [each[1] for each in windows]  # both parts of bands have the same
        learnt.append([each.fit(iter(frames), 62.5, np.random.default_rng(seed)) for each in part.learners])
    return made.with_learnt(learnt)


FITTED = fitted()


def features(made):
    return Features.joined(extract_features(blocks(), made), made.columns, made.groups)


def test_what_must_learn_first_is_refused():
    assert not UNFITTED.is_fitted
    with pytest.raises(UsageError, match="recipe small: pooling patches learns from training recordings; train"):
        extract_features(blocks(), UNFITTED)
    with pytest.raises(UsageError, match="pooling patches learns"):
        list(extract_batch([], UNFITTED, None, run()))


def test_the_parts_are_parted_and_joined_in_their_order():
    assert [part.group for part in FITTED.fixed.parts] == ["shape", "mel"]
    assert [part.group for part in FITTED.learnt.parts] == ["patches"]
    together, fixed, learnt = (features(each) for each in (FITTED, FITTED.fixed, FITTED.learnt))
    assert np.array_equal(FITTED.join(fixed.X, learnt.X), together.X)
    assert together.segments == fixed.segments == learnt.segments
    assert [together.columns[i] for i in np.flatnonzero(FITTED.is_learnt)] == list(learnt.columns)


def test_parts_of_versions_are_joined_in_their_order():
    versions = FITTED.with_versions((1.0, 1.25))
    together, fixed, learnt = (features(each) for each in (versions, versions.fixed, versions.learnt))
    assert np.array_equal(versions.join(fixed.X, learnt.X), together.X)
    assert np.array_equal(together.X[:, : versions.n_features], features(FITTED).X)
    assert [together.columns[i] for i in np.flatnonzero(versions.is_learnt)] == list(learnt.columns)


def test_the_fixed_parts_are_known_as_if_nothing_learnt_beside_them():
    alone = recipe(parts=[FLUX, MEL])
    assert alone.fingerprint == alone.fixed.fingerprint == UNFITTED.fixed.fingerprint == FITTED.fixed.fingerprint


def test_a_recipe_may_learn_in_all_of_its_parts():
    only = recipe(parts=[LEARNT]).fixed
    assert features(only).X.shape == (9, 0)
    assert features(only).segments == features(FITTED).segments


def test_the_fingerprint_is_of_what_was_learnt():
    assert fitted().fingerprint == FITTED.fingerprint
    assert fitted() == FITTED
    assert len({FITTED.fingerprint, fitted(seed=1).fingerprint, UNFITTED.fingerprint}) == 3
    assert FITTED.unfitted == UNFITTED


def test_other_context_than_its_own_is_part_of_a_fingerprint():
    assert UNFITTED.reach == 1  # of the flux
    assert UNFITTED.learnt.fingerprint != recipe(parts=[LEARNT]).fingerprint


def test_what_was_learnt_for_other_descriptors_is_refused():
    wider = recipe(parts=[LEARNT | {"poolings": [LEARNT["poolings"][0] | {"width": 5}]}])
    with pytest.raises(ValueError, match=r"group patches: patches: whitening has shape \(16, 6\), must have \(20, 6\)"):
        wider.with_learnt([[FITTED.parts[1].fitted[0].arrays]])
    with pytest.raises(ValueError, match="group patches: 0 of 1 poolings have learnt"):
        wider.with_learnt([[]])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, "must be named arrays, at least one"),
        ({"../x": np.ones(3)}, "must be named by lower-case"),
        ({"x": np.array(["text"])}, "must hold numbers"),
        ({"x": np.array([np.nan])}, "holds NaN"),
        ({"x": np.array([1e300])}, "holds NaN or infinite"),
        ({"x": np.ones(2**22 + 1, np.int8)}, "more than 4194304 values"),
    ],
    ids=["none", "name", "text", "NaN", "too large", "too many"],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_arrays_that_no_model_can_hold_are_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        UNFITTED.with_learnt([[], [arrays], []])


def test_blocks_of_any_size_give_the_same_bits():
    expected = features(FITTED).X
    for size in (511, 4096):
        chunks = extract_features(blocks(size), FITTED)
        assert np.array_equal(Features.joined(chunks, FITTED.columns, FITTED.groups).X, expected)


def extracted(path, made, cache):
    [done] = extract_batch([path], made, cache, run())
    return done


@pytest.fixture
def recording(tmp_path):
    soundfile.write(tmp_path / "a.wav", SAMPLES, 8000, subtype="FLOAT")
    return tmp_path / "a.wav"


def test_only_what_learnt_anew_is_computed_again(recording, tmp_path):
    cache, expected = Cache(tmp_path / "cache"), extract(recording, FITTED, run=run()).X
    first = extracted(recording, FITTED, cache)
    assert not first.was_cached
    entries = set(cache.folder.rglob("*.zip"))
    assert len(entries) == 2
    again = extracted(recording, FITTED, cache)
    assert again.was_cached
    assert again.cached.key == first.cached.key
    for done in (first, again):
        assert np.array_equal(done.cached.load(FITTED).X, expected)
        assert np.array_equal(np.concatenate([X for X, _ in done.cached.rows()]), expected)
        assert (done.cached.n_rows, done.cached.n_columns, done.cached.cut) == (*expected.shape, None)

    other = fitted(seed=1)
    anew = extracted(recording, other, cache)
    assert not anew.was_cached
    assert len(set(cache.folder.rglob("*.zip")) - entries) == 1
    assert np.array_equal(anew.cached.load(other).X, extract(recording, other, run=run()).X)
    assert extracted(recording, FITTED.fixed, cache).was_cached


def test_what_was_lost_of_the_fixed_parts_is_computed_again(recording, tmp_path):
    cache = Cache(tmp_path / "cache")
    expected = extracted(recording, FITTED, cache).cached
    expected.fixed.path.unlink()
    again = extracted(recording, FITTED, cache).cached
    assert np.array_equal(again.load(FITTED).X, extract(recording, FITTED, run=run()).X)
    assert again.fixed == expected.fixed


def test_without_a_cache_features_are_in_memory(recording):
    done = extracted(recording, FITTED, None)
    assert np.array_equal(done.cached.load(FITTED).X, extract(recording, FITTED, run=run()).X)


def test_weights_of_groups_are_read_and_written():
    assert UNFITTED.group_weights == {"shape": 1.0, "patches": 2.0, "mel": 1.0}
    assert recipe(parts=UNFITTED.plain()["parts"]) == UNFITTED
    assert "weight" not in UNFITTED.plain()["parts"][0]
    lighter = recipe(parts=[FLUX, LEARNT | {"weight": 0.5}, MEL])
    assert lighter.fingerprint == UNFITTED.fingerprint  # features are the same


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([FLUX | {"weight": 0}], "weight=0 must be a positive number"),
        ([FLUX | {"weight": "heavy"}], "weight='heavy' must be a positive number"),
        ([FLUX | {"weight": 1e9}], "weight=1000000000.0 must be at most 1e"),
        ([FLUX, MEL | {"group": "shape", "weight": 2}], "parts of group shape must have the same weight"),
    ],
)
def test_wrong_weights_are_refused(parts, message):
    with pytest.raises(UsageError, match=message):
        recipe(parts=parts)
