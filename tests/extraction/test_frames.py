from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from signals import noise

from audioclass.data import Framing
from audioclass.extraction.frames import spectra_blocks

FRAMING = Framing(8000, 64, 20)
SAMPLES = noise(0.5, 8000)


def power_of(samples, sizes, context=2, n_together=16):
    """Power of all frames of a signal that comes in chunks of the given sizes."""
    edges = np.minimum(np.cumsum([0, *sizes, len(samples)]), len(samples))
    chunks = [samples[a:b] for a, b in pairwise(edges)]
    blocks = spectra_blocks(chunks, FRAMING, context, n_together)
    return np.concatenate([spectra.power[own] for spectra, own in blocks])


@settings(max_examples=200)
@given(st.lists(st.integers(0, 700), max_size=12), st.integers(0, 4), st.integers(1, 4000))
def test_frames_are_the_same_to_the_bit_however_samples_come(sizes, context, length):
    whole = power_of(SAMPLES[:length], [], context)
    assert np.array_equal(power_of(SAMPLES[:length], sizes, context), whole)
    assert len(whole) == 1 + length // 20


def test_frame_i_is_centred_on_sample_i_times_hop():
    click = np.zeros(400, np.float32)
    click[200] = 1
    power = power_of(click, [])
    assert power.sum(axis=1).argmax() == 10


def test_context_gives_a_block_its_neighbours():
    blocks = list(spectra_blocks([SAMPLES], FRAMING, 3, 16))
    sizes = [(spectra.n_frames, own) for spectra, own in blocks]
    assert sizes[0] == (19, slice(0, 16))
    assert sizes[1] == (22, slice(3, 19))


def test_one_sample_is_one_frame():
    assert power_of(np.ones(1, np.float32), []).shape == (1, 33)


def test_nothing_is_no_frame():
    assert list(spectra_blocks([], Framing(8000, 65, 20), 0)) == []
