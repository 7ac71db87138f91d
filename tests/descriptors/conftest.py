import numpy as np
import pytest

from audioclass.data import Framing
from audioclass.descriptors.spectra import CachedSpectra


@pytest.fixture
def spectra_with():
    """Spectra whose power is written down, a row for each frame, instead of computed from samples."""

    def make(power: np.ndarray, sample_rate: int = 16000) -> CachedSpectra:
        power = np.asarray(power, np.float32)
        length = 2 * (power.shape[1] - 1)
        spectra = CachedSpectra(np.zeros(length * len(power)), Framing(sample_rate, length, length))
        spectra.wide_power = power
        return spectra

    return make
