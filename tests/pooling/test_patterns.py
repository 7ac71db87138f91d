import numpy as np
import pytest

from audioclass.pooling.patterns import LoudAndQuiet, OnsetStatistics, Ripples


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
