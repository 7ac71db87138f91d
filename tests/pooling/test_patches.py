import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.decomposition import PCA

from audioclass.pooling.patches import LEARNT, Patches, learn_atoms, learn_whitening
from audioclass.testing import check_fitted_pooling

SMALL = Patches(bands=8, height=4, width=3, step_bands=2, step_frames=2, components=5, atoms=6, regions=2, depth=50.0)
RATE = 100.0


def windows(n_windows=3, n_frames=30, bands=16, seed=0):
    steps = np.random.default_rng(seed).normal(0, 4, (n_windows, n_frames, bands))
    return (steps.cumsum(axis=1) - 40).astype(np.float32)


def fitted(pooling=SMALL, seed=0):
    return pooling.fit(iter(windows(8, 40, seed=1)), RATE, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "pooling",
    [SMALL, Patches(height=8, width=32, step_frames=4, atoms=20), Patches(atoms=12, regions=3, slices=5, width=10)],
    ids=["small", "long", "slices"],
)
def test_it_keeps_its_contract(pooling):
    check_fitted_pooling(pooling)


def image_by_hand(window):
    levels = np.maximum(window - window.max(), -50.0).astype(np.float64)
    return levels.reshape(len(window) // 2, 2, 8, 2).mean(axis=(1, 3))


def codes_by_hand(window, arrays):
    """(n_times, n_bands, n_atoms), patch by patch as they are defined."""
    image = image_by_hand(window)
    places = range(0, len(image) - 3 + 1, 2), range(0, 8 - 4 + 1, 2)
    codes = np.empty((len(places[0]), len(places[1]), 6))
    for (i, t), (j, b) in itertools.product(enumerate(places[0]), enumerate(places[1])):
        patch = image[t : t + 3, b : b + 4].reshape(-1)
        y = (patch - patch.mean()) / np.sqrt(patch.var() + 10.0) @ arrays["whitening"] - arrays["centre"]
        codes[i, j] = np.maximum(y @ arrays["atoms"] - 1.0, 0)
    return codes


def test_pooled_values_are_those_of_the_definition():
    arrays, [window] = fitted(), windows(1)
    codes = codes_by_hand(window, arrays)
    regions = [codes[:, :2].mean(axis=1), codes[:, 2:].mean(axis=1)]  # of three positions in frequency
    peak = np.percentile(codes.max(axis=1), 95, axis=0)
    expected = [*(each.mean(axis=0) for each in regions), *(each.std(axis=0) for each in regions), peak]
    assert np.count_nonzero(codes) > 20
    assert SMALL.pool(window[None], RATE, arrays)[0] == pytest.approx(np.concatenate(expected), abs=1e-5)


def test_slices_have_means_of_their_own():
    arrays, [window] = fitted(), windows(1)
    sliced = Patches(**{**vars(SMALL), "slices": 2}).pool(window[None], RATE, arrays)[0].reshape(2 * 2 + 2 + 1, 6)
    codes = codes_by_hand(window, arrays)
    assert len(codes) == 7
    assert sliced[0] == pytest.approx(codes[:4, :2].mean(axis=(0, 1)), abs=1e-5)
    assert sliced[3] == pytest.approx(codes[4:, 2:].mean(axis=(0, 1)), abs=1e-5)


def test_as_many_numbers_as_the_atoms_have_places():
    assert len(Patches().columns([f"mel_{i}" for i in range(128)])) == 9 * 256


def test_a_short_window_is_continued_at_the_lowest_level():
    arrays, [window] = fitted(), windows(1, 4)
    silence = np.full((2, 16), -200.0, np.float32)
    continued = np.concatenate([window, silence])
    assert np.array_equal(SMALL.pool(window[None], RATE, arrays), SMALL.pool(continued[None], RATE, arrays))


def test_level_does_not_count():
    arrays, some = fitted(), windows()
    assert SMALL.pool(some + np.float32(8), RATE, arrays) == pytest.approx(SMALL.pool(some, RATE, arrays), abs=1e-4)


def test_whitening_is_that_of_scikit_learn():
    patches = np.random.default_rng(0).normal(size=(400, 12)) @ np.random.default_rng(1).normal(size=(12, 12))
    whitening, centre = learn_whitening(patches, 5, floor=0.0)
    expected = PCA(5, whiten=True, svd_solver="full").fit_transform(patches)
    whitened = patches @ whitening - centre
    signs = np.sign((whitened * expected).sum(axis=0))
    assert whitened * signs == pytest.approx(expected * np.sqrt(400 / 399), abs=1e-8)


def test_what_hardly_varies_is_not_blown_up():
    patches = np.random.default_rng(0).normal(size=(2000, 3)) * [1.0, 1.0, 1e-6]
    whitening, centre = learn_whitening(patches, 3)
    assert np.sort((patches @ whitening - centre).std(axis=0)) == pytest.approx([0, 0.98, 0.98], abs=0.03)


def test_atoms_find_the_directions_that_rows_have():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(6, 6)))[0][:4]
    rows = directions[rng.integers(4, size=800)] * rng.uniform(2, 5, (800, 1)) + rng.normal(0, 0.05, (800, 6))
    atoms = learn_atoms(rows, 12, rng)
    assert np.linalg.norm(atoms, axis=0) == pytest.approx(np.ones(12))
    assert (directions @ atoms).max(axis=1) == pytest.approx(np.ones(4), abs=1e-3)


def test_quiet_patches_are_not_learnt_from():
    rows = np.concatenate([np.tile([1e-3, 0.0], (15, 1)), np.tile([0.0, 3.0], (85, 1))])
    assert learn_atoms(rows, 3, np.random.default_rng(0)) == pytest.approx(np.array([[0.0] * 3, [1.0] * 3]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"atoms": np.ones((5, 7), np.float32)}, r"atoms has shape \(5, 7\), must have \(5, 6\)"),
        ({"centre": np.ones(5, np.int64)}, "centre has shape"),
        ({"whitening": np.full((12, 5), np.inf, np.float32)}, "whitening holds NaN or infinite"),
        ({"more": np.ones(3)}, "what was learnt is atoms, centre, more, whitening"),
    ],
    ids=["shape", "integers", "infinite", "unknown"],
)
def test_arrays_that_were_not_learnt_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        SMALL.pool(windows(), RATE, {**fitted(), **change})


def test_every_seed_learns_something_else():
    first, second = fitted(), fitted(seed=1)
    assert set(first) == set(LEARNT)
    assert not np.array_equal(first["atoms"], second["atoms"])


def test_quiet_before_and_after_the_sounding_part_does_not_count():
    word = np.clip(windows(1, 30), -45, -30)
    word[0, [0, -1], 3] = -25.0
    quiet = np.full((1, 12, 16), -60.0, np.float32)
    sounding = replace(SMALL, active=22.0)
    arrays = fitted()
    around = sounding.pool(np.concatenate([quiet, word, quiet], axis=1), RATE, arrays)
    np.testing.assert_array_equal(around, SMALL.pool(word, RATE, arrays))


def test_arrays_that_were_changed_are_read_again():
    arrays, some = fitted(), windows(1)
    before = SMALL.pool(some, RATE, arrays)
    assert np.array_equal(SMALL.pool(some, RATE, arrays), before)
    arrays["atoms"] *= 2
    assert not np.array_equal(SMALL.pool(some, RATE, arrays), before)


def test_arrays_that_nobody_can_change_give_the_same_as_copies():
    arrays, some = fitted(), windows(1)
    expected = SMALL.pool(some, RATE, arrays)
    for array in arrays.values():
        array.flags.writeable = False
    for _ in range(2):
        assert np.array_equal(SMALL.pool(some, RATE, arrays), expected)
    assert not np.array_equal(replace(SMALL, threshold=0.5).pool(some, RATE, arrays), expected)
