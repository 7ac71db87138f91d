import numpy as np
import pytest

from audioclass.pooling.onset_patches import OnsetPatches

MEL = np.random.default_rng(0).normal(-20, 6, (2, 80, 8)).astype(np.float32)


def clicks(*frames):
    """One band louder than the other, both rising by 20 decibels at the frames and falling by one a frame."""
    levels = np.full(200, -40, np.float32)
    for frame in frames:
        fall = -20 - np.arange(200 - frame, dtype=np.float32)
        levels[frame:] = np.maximum(fall, -40)
    return (levels[:, None] + np.array([0, -10], np.float32))[None]


def pooled(windows, **changes):
    pooling = OnsetPatches(bands=2, **changes)
    values = pooling.pool(windows, 100.0)[0]
    n_columns = (len(values) - 3) // 2
    return values[:-3].reshape(n_columns, 2), *values[-3:]


def test_the_patch_shows_what_is_before_and_after_the_rise():
    patch, count, strongest, mean = pooled(clicks(60), most=1)
    assert patch.shape == (14, 2)
    assert count == 1
    assert strongest == mean == pytest.approx(5.8)  # (1 · 20 + 2 · 19) / 10, at the frame before the click
    assert patch.max() == 0
    assert (patch[:2, 0] < -15).all()
    np.testing.assert_allclose(np.diff(patch[4:10, 0]), -2, atol=1e-4)
    np.testing.assert_allclose(patch[:, 0] - patch[:, 1], 10, atol=1e-4)


def test_patches_of_equal_clicks_are_that_of_one():
    one, *_ = pooled(clicks(60), most=1)
    three, count, *_ = pooled(clicks(30, 90, 150), most=3)
    assert count == 3
    np.testing.assert_allclose(three, one, atol=1e-4)


def test_rises_keep_their_distance():
    assert pooled(clicks(60, 80, 100), apart=0.25)[1] == 2
    assert pooled(clicks(60, 80, 100), apart=0.15)[1] == 3


def test_a_steady_sound_has_one_patch_without_a_rise():
    patch, count, strongest, mean = pooled(np.zeros((1, 50, 2), np.float32))
    assert (count, strongest, mean) == (1, 0, 0)
    assert (patch == 0).all()


def test_level_does_not_matter_and_windows_do_not_meet():
    pooling = OnsetPatches()
    values = pooling.pool(MEL, 100.0)
    assert values.shape == (2, len(pooling.columns([f"mel_{i}" for i in range(8)])))
    np.testing.assert_allclose(pooling.pool(MEL + 10, 100.0), values, atol=2e-3)
    np.testing.assert_array_equal(np.concatenate([pooling.pool(one[None], 100.0) for one in MEL]), values)


def test_steps_far_shorter_than_the_patch_are_refused():
    with pytest.raises(ValueError, match="step=0.0001 must be at least a 1024th of a patch"):
        OnsetPatches(step=1e-4)
