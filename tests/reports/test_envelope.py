import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.reports.envelope import FINEST, Envelope


def envelope_of(samples, sizes=(), most=8):
    envelope = Envelope(1000, most)
    cuts = [0, *np.minimum(np.cumsum(sizes), len(samples)).astype(int), len(samples)]
    for i, j in itertools.pairwise(cuts):
        envelope.push(samples[i:j])
    return envelope


@settings(max_examples=40)
@given(st.integers(0, 5000), st.lists(st.integers(0, 900), max_size=8))
def test_bins_hold_the_lowest_and_highest_sample_however_blocks_are_cut(n, sizes):
    samples = np.random.default_rng(0).normal(size=n)
    envelope = envelope_of(samples, sizes)
    each = envelope.samples_per_bin
    expected = [samples[i : i + each] for i in range(0, n, each)]
    low, high = envelope.bins()
    np.testing.assert_array_equal(low, [part.min() for part in expected])
    np.testing.assert_array_equal(high, [part.max() for part in expected])


@pytest.mark.parametrize("n", [0, 1, FINEST * 8, 100_000])
def test_there_are_never_more_bins_than_allowed(n):
    envelope = envelope_of(np.zeros(n), [777] * 5)
    assert len(envelope.bins()[0]) <= 8
    assert envelope.seconds == n / 1000


def test_channels_are_outlined_together():
    low, high = envelope_of(np.array([[0.1, -0.5], [0.3, 0.2]])).bins()
    assert (low, high) == (-0.5, 0.3)


def test_samples_that_are_no_numbers_are_passed_over():
    low, high = envelope_of(np.array([np.nan, 0.5, -0.25])).bins()
    assert (low, high) == (-0.25, 0.5)
    assert envelope_of(np.array([np.nan])).bins() == (0, 0)


@pytest.mark.parametrize("most", [0, 7])
def test_bins_must_pair(most):
    with pytest.raises(ValueError, match=f"most={most} must be an even number of at least 2"):
        Envelope(1000, most)
