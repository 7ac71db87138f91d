"""Chords are told by their notes, and nothing here knows the key."""

import numpy as np
import pytest

from audioclass.pooling.harmony import CHORDS, Chords, ChromaCorrelation, ChromaModulation, chroma_of

RATE = 50.0
POOLINGS = (Chords(), ChromaCorrelation(), ChromaModulation())


def song(*chords: tuple[int, ...], n_frames: int = 100) -> np.ndarray:
    """A window of semitones from MIDI 36 on: chords one after another, each as long as the other, over quiet."""
    levels = np.full((n_frames, 60), -80.0, np.float32)
    for chord, rows in zip(chords, np.array_split(np.arange(n_frames), len(chords)), strict=True):
        for note in chord:
            levels[np.ix_(rows, [24 + note])] = -10.0
    return levels[None]


def values(window: np.ndarray) -> dict[str, float]:
    columns = Chords().columns([f"semitone_{i}" for i in range(36, 96)])
    return dict(zip(columns, Chords().pool(window, RATE)[0].tolist(), strict=True))


@pytest.mark.parametrize("kind", CHORDS)
def test_a_chord_matches_its_kind_best(kind: str):
    pooled = values(song(CHORDS[kind]))
    assert pooled[f"{kind}_match"] == pytest.approx(1, abs=1e-3)
    assert pooled[f"{kind}_share"] == 1
    assert pooled["changes"] == pooled["root_entropy"] == 0


def test_inversions_and_octaves_are_the_same_chord():
    assert values(song((4, 7, 12)))["major_match"] == pytest.approx(1, abs=1e-3)


def test_a_fall_by_a_fifth_is_a_move_of_five_semitones():
    pooled = values(song((7, 11, 14), (0, 4, 7)))
    assert pooled["move1s_5"] == pytest.approx(0.5, abs=0.05)
    assert pooled["move1s_0"] == pytest.approx(0.5, abs=0.05)
    assert pooled["root_entropy"] == pytest.approx(np.log(2), abs=0.2)


@pytest.mark.parametrize("pooling", POOLINGS, ids=lambda pooling: pooling.name)
@pytest.mark.parametrize("semitones", [1, 5, -4])
def test_no_key_is_known(pooling, semitones: int):
    window = song((0, 4, 7), (5, 9, 12), (7, 11, 14, 17)) + np.random.default_rng(3).normal(0, 3, (1, 100, 60))
    window = window.astype(np.float32)
    moved = np.roll(window, semitones, axis=2)
    np.testing.assert_allclose(pooling.pool(moved, RATE), pooling.pool(window, RATE), atol=2e-4)


@pytest.mark.parametrize("pooling", POOLINGS, ids=lambda pooling: pooling.name)
def test_no_level_is_known(pooling):
    window = song((0, 3, 7), (2, 5, 9))
    np.testing.assert_allclose(pooling.pool(window - 17, RATE), pooling.pool(window, RATE), atol=1e-4)


def test_major_and_minor_differ_where_their_classes_are_only_counted():
    pooled = ChromaCorrelation().pool(np.concatenate([song((0, 4, 7)), song((0, 3, 7))]), RATE)
    columns = ChromaCorrelation().columns([])
    sorted_classes = [i for i, name in enumerate(columns) if name.startswith("sorted")]
    np.testing.assert_allclose(*pooled[:, sorted_classes], atol=1e-4)
    assert np.abs(pooled[0] - pooled[1]).max() > 0.2


def test_the_correlation_at_lag_0_is_that_of_numpy():
    window = song((0, 4, 7), (9, 12, 16)) + np.random.default_rng(4).normal(0, 2, (1, 100, 60)).astype(np.float32)
    chroma = chroma_of(window, 50.0)[0]
    expected = [(chroma * np.roll(chroma, -k, axis=1)).sum(axis=1).mean() for k in range(12)]
    np.testing.assert_allclose(ChromaCorrelation(lags=(0.0,)).pool(window, RATE)[0, :12], expected, atol=1e-4)


def test_chords_that_come_and_go_twice_a_second_show_at_that_rate():
    slow, fast = (song(*([(0, 4, 7), (6, 10, 13)] * times), n_frames=96) for times in (2, 4))
    pooled = ChromaModulation(frames=48).pool(np.concatenate([slow, fast]), RATE).reshape(2, 25, 12)
    assert pooled[:, 1:, 1].argmax(axis=1).tolist() == [1, 3]
