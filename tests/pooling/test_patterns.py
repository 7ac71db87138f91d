import numpy as np
import pytest

from audioclass.pooling.patterns import LoudAndQuiet, LoudnessRanks, OnsetStatistics, Ripples, Sharpness


def test_onsets_of_a_steady_rise_are_its_slope():
    rise = np.linspace(-30, 0, 61, dtype=np.float32)[None, :, None]  # half a decibel a frame
    pooling = OnsetStatistics(bands=1)
    values = dict(zip(pooling.columns(["mel_0"]), pooling.pool(rise, 100.0)[0], strict=True))
    assert values["mel_0_fastest_rise"] == pytest.approx(0.5, abs=1e-4)
    assert values["mel_0_change"] == pytest.approx(0.5, abs=0.02)
    assert values["mel_0_fastest_fall"] >= 0


def test_loud_and_quiet_frames_are_kept_apart():
    levels = np.full((1, 20, 2), -20, np.float32)
    levels[0, 3:5] = [0, -5]
    levels[0, 10:12] = [-45, -40]
    loud_0, loud_1, quiet_0, quiet_1 = LoudAndQuiet().pool(levels, 100.0)[0]
    assert (loud_0, loud_1, quiet_0, quiet_1) == (0, -5, -45, -40)


def sweep(way):
    """A ripple of four bands a cycle that moves up or down by a band every two frames."""
    band, frame = np.meshgrid(np.arange(64), np.arange(128))
    return (5 * np.sin(2 * np.pi * (band / 16 - way * frame / 32))).astype(np.float32)[None]


@pytest.mark.parametrize(("way", "name"), [(1, "rising"), (-1, "falling")])
def test_ripples_know_which_way_they_move(way, name):
    pooling = Ripples(depth=0.0)
    names = pooling.columns([f"mel_{i}" for i in range(64)])
    strongest = names[pooling.pool(sweep(way), 100.0)[0].argmax()]
    assert name in strongest
    assert strongest.endswith("_4")  # 64 bands hold four cycles


def test_a_still_ripple_does_not_move():
    pooling = Ripples(depth=0.0)
    names = pooling.columns([f"mel_{i}" for i in range(64)])
    assert names[pooling.pool(sweep(0), 100.0)[0].argmax()] == "ripple_still_4"


MEL = np.random.default_rng(0).normal(-20, 6, (2, 80, 16)).astype(np.float32)


def test_onsets_over_a_longer_reach_have_the_moments_of_their_rises():
    steps = np.zeros((1, 40, 1), np.float32)
    steps[0, 20:] = 10
    pooling = OnsetStatistics(bands=1, depth=60.0, reach=2, values=("rise_mean", "rise_kurtosis", "fastest_rise"))
    assert pooling.columns(["mel_0"]) == ["mel_0_rise_mean", "mel_0_rise_kurtosis", "mel_0_fastest_rise"]
    mean, kurtosis, fastest = pooling.pool(steps, 100.0)[0]
    assert fastest == pytest.approx(3)  # (1 · 10 + 2 · 10) / 10
    assert mean == pytest.approx((2 + 3 + 3 + 2) / 40)
    rise = np.array([2, 3, 3, 2] + [0] * 36) - 0.25
    assert kurtosis == pytest.approx(np.log1p((rise**4).mean() / (rise**2).mean() ** 2), abs=1e-4)


def test_a_ripple_is_found_at_the_height_where_it_is():
    pooling = Ripples(depth=0.0, height=32, log_of_mean=True)
    columns = [f"mel_{i}" for i in range(64)]
    names = pooling.columns(columns)
    assert len(names) == len(set(names)) == 3 * 13 * 12
    low = sweep(1)
    low[:, :, 32:] = 0
    values = dict(zip(names, pooling.pool(low, 100.0)[0], strict=True))
    strongest = max(values, key=values.get)
    assert strongest.startswith("ripple_from0_rising")
    assert strongest.endswith("_2")  # 32 bands hold two cycles
    assert values[strongest.replace("from0", "from32")] == pytest.approx(0, abs=1e-5)


def test_the_logarithm_of_the_mean_is_not_below_the_mean_of_logarithms():
    rows = [Ripples(depth=0.0, log_of_mean=flag).pool(MEL, 100.0) for flag in (False, True)]
    assert (rows[1] >= rows[0] - 1e-5).all()
    one_patch = [Ripples(depth=0.0, log_of_mean=flag).pool(MEL[:, :64], 100.0) for flag in (False, True)]
    np.testing.assert_array_equal(*one_patch)


def test_ranks_of_loudness_are_means_of_sorted_frames():
    loudness = np.array([-30, 0, -20, -10], np.float32)[None, :, None] + np.array([0, -5], np.float32)
    pooling = LoudnessRanks(bands=2, edges=(0, 50, 100))
    assert pooling.columns(["mel_0", "mel_1"])[::2] == ["mel_0_rank0_50", "mel_0_rank50_100"]
    np.testing.assert_allclose(pooling.pool(loudness, 100.0)[0], [-25, -30, -5, -10])


def test_ranks_of_one_frame_are_that_frame():
    np.testing.assert_allclose(LoudnessRanks(bands=16).pool(MEL[:, :1], 100.0).reshape(2, 5, 16),
                               np.repeat(MEL[:, :1] - MEL[:, :1].max(axis=2, keepdims=True), 5, axis=1))  # fmt: skip


@pytest.mark.parametrize("edges", [(0,), (0, 50, 50), (100, 0)])
def test_ranks_must_rise(edges):
    with pytest.raises(ValueError, match="at least two rising percentages"):
        LoudnessRanks(edges=edges)


def test_a_tone_is_tonal_and_a_click_is_percussive():
    quiet = np.full((1, 45, 16), -45, np.float32)
    tone, click = quiet.copy(), quiet.copy()
    tone[:, :, 8] = 0
    click[:, 22] = 0
    pooling = Sharpness(bands=16)
    names = pooling.columns([f"mel_{i}" for i in range(16)])
    of_tone, of_click = (dict(zip(names, pooling.pool(one, 100.0)[0], strict=True)) for one in (tone, click))
    assert of_tone["mel_8_tonal_mean"] == pytest.approx(45 - 45 / 9)
    assert of_tone["mel_8_percussive_maximum"] == 0
    assert of_click["mel_8_percussive_maximum"] == pytest.approx(45 - 45 / 15)
    assert of_click["mel_8_tonal_maximum"] == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("pooling", [LoudnessRanks(), Sharpness()], ids=lambda pooling: pooling.name)
def test_neither_level_nor_the_order_of_time_matters(pooling):
    np.testing.assert_allclose(pooling.pool(MEL + 10, 100.0), pooling.pool(MEL, 100.0), atol=2e-3)
    np.testing.assert_allclose(pooling.pool(MEL[:, ::-1], 100.0), pooling.pool(MEL, 100.0), atol=2e-3)


@pytest.mark.parametrize(
    "pooling",
    [OnsetStatistics(reach=2), Ripples(height=8, log_of_mean=True), LoudnessRanks(), Sharpness()],
    ids=lambda pooling: pooling.name,
)
def test_window_by_window_the_values_are_the_same_to_the_bit(pooling):
    one_by_one = np.concatenate([pooling.pool(window[None], 100.0) for window in MEL])
    np.testing.assert_array_equal(one_by_one, pooling.pool(MEL, 100.0))


def test_ripples_are_those_of_two_dimensional_transforms():
    levels = np.random.default_rng(0).normal(-30, 5, (1, 24, 12)).astype(np.float32)
    pooling = Ripples(bands=12, frames=8, densities=3, rates=3, height=8, log_of_mean=True)
    values = dict(zip(pooling.columns([f"mel_{i}" for i in range(12)]), pooling.pool(levels, 100.0)[0], strict=True))
    taper = np.hanning(10)[1:-1, None]
    below = np.maximum(levels[0] - levels.max(), -50).astype(np.float64)
    patches = [below[start : start + 8, 4:12] for start in range(0, 17, 4)]
    power = np.mean([np.abs(np.fft.fft2((patch - patch.mean()) * taper)) ** 2 for patch in patches], axis=0)
    assert values["ripple_from4_still_1"] == pytest.approx(np.log(power[0, 1] + 1), rel=1e-5)
    assert values["ripple_from4_falling1_2"] == pytest.approx(np.log(power[1:3, 2].mean() + 1), rel=1e-5)
    assert values["ripple_from4_rising1_2"] == pytest.approx(np.log(power[6:8, 2].mean() + 1), rel=1e-5)
