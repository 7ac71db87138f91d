"""Level and bands of every 20 ms: hand-worked levels, and the same to the bit however the samples come."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signals import noise, tone

from audioclass.audio.blocks import regroup
from audioclass.audio.contours import ContourMeter, cell_seconds
from audioclass.data import Block


def measured(samples, rate=16000, sizes=(4096,), start=0):
    """The contours of samples that come in blocks of these sizes, over and over; taken after every block."""
    blocks, at = [], 0
    while at < len(samples):
        size = sizes[len(blocks) % len(sizes)]
        blocks.append(Block(samples[at : at + size, None], rate, start + at))
        at += size
    meter = ContourMeter(rate)
    parts = [meter.take() for _ in meter.watch(blocks)]
    return [*parts, meter.take()]


def joined(parts):
    return np.concatenate([each.levels for each in parts]), np.concatenate([each.bands for each in parts])


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 44100])
def test_a_sine_has_its_level_at_every_rate(rate):
    levels, bands = joined(measured(tone(1000, 2.0, rate, level=0.11), rate))
    assert cell_seconds(rate) == pytest.approx(0.02, rel=0.01)
    assert len(levels) == len(bands) == int(np.ceil(2.0 / cell_seconds(rate) - 1e-6))
    assert set(levels[1:-1]) == {-23}  # 20 log10 0.11 - 10 log10 2, rounded down
    assert bands[10].argmax() == bands[50].argmax()


def test_digital_silence_is_the_floor_and_an_offset_is_no_sound():
    levels, bands = joined(measured(np.full(16000, 0.25, np.float32)))
    assert set(levels) == {-100}
    levels, bands = joined(measured(np.zeros(16000, np.float32)))
    assert set(levels) == {-100}
    assert np.ptp(bands) == 0


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 30000), min_size=1, max_size=5), st.integers(1, 70000))
def test_blocks_of_any_size_give_the_same_bits(sizes, n_samples):
    samples = noise(5.0)[:n_samples]
    one, other = joined(measured(samples, sizes=(65536,))), joined(measured(samples, sizes=sizes))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_cells_begin_where_the_sound_does():
    parts = measured(noise(3.0), start=1600, sizes=(8000,))
    assert parts[0].start == 0.1
    filled = [part for part in parts if len(part.levels)]
    for part, after in itertools.pairwise(filled):
        assert after.start == pytest.approx(part.start + len(part.levels) * part.cell)


def test_regrouped_samples_are_all_measured():
    blocks = [Block(part[:, None], 16000, 100 * i) for i, part in enumerate(regroup([noise(0.05)], 100))]
    meter = ContourMeter(16000)
    assert [block.start for block in meter.watch(blocks)] == [block.start for block in blocks]
    assert len(meter.take().levels) == 3
