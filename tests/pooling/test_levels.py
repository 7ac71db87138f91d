import numpy as np
import pytest

from audioclass.pooling.levels import LevelRatios


def test_ratios_worked_out_by_hand():
    level = np.array([0, 0, -10, -10, -20, -20, -40, -40, -40, -40], np.float32)[None, :, None]
    pooling = LevelRatios()
    low, silent, spread, headroom = pooling.pool(level, 100.0)[0]
    # powers 1, 1, .1, .1, .01, .01, and four of 1e-4: mean .222, half of it .111, so all but the first two are below
    assert low == pytest.approx(0.8)
    assert silent == pytest.approx(0.4)  # more than 30 dB below the loudest
    assert spread == pytest.approx(np.percentile(level, 95) - np.percentile(level, 5), abs=1e-4)
    assert headroom == pytest.approx(np.percentile(level, 95) - np.median(level), abs=1e-4)


def test_level_does_not_matter():
    level = np.random.default_rng(0).normal(-30, 8, (3, 50, 1)).astype(np.float32)
    np.testing.assert_allclose(LevelRatios().pool(level + 12, 100.0), LevelRatios().pool(level, 100.0), atol=1e-4)
