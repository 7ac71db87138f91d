"""Voices that sing: spoken words on the notes of a melody, by the vocoder WORLD (`pyworld`) or by their own periods.

Both ways leave traces of their own; speech that is only spoken goes through them too, so that no trace tells singing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import soxr
from scipy.signal import lfilter

SAMPLE_RATE = 16000
PERIOD = 0.005  # seconds from one frame of the vocoder to the next
SCALES = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 4, 7, 9), (0, 4, 7), tuple(range(12)))
LOWEST, HIGHEST = 75.0, 950.0  # hertz, from a bass to a soprano
CLEAR = 0.6  # of the breath in a spoken voice that is left in a sung one
LOUD = 0.3  # of the mean level, from which a voiced frame can be held
SEMITONES = 12 / np.log(2)  # of a natural logarithm of frequency
STEP = 80  # samples between marks where no voice is heard
SHORTEST_NOTE, LONGEST_NOTE = 12, 160  # frames of a note on one syllable
LONGEST_SPOKEN = 4 * SAMPLE_RATE  # samples of speech that a song is made of


@dataclass(frozen=True)
class Voice:
    """Frames of a spoken voice: envelope and aperiodicity, (frames, bins), and which frames can be held as a vowel.

    `pitch` is in hertz, 0 where no voice is heard; `samples` are those that were analysed.
    """

    envelope: np.ndarray
    aperiodicity: np.ndarray
    is_vowel: np.ndarray
    pitch: np.ndarray
    samples: np.ndarray


def sing(speech: np.ndarray, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """A voice that sings words or vowels, sometimes doubled a third above or as a small choir; zeros without vowels."""
    voice = analyse(speech[:LONGEST_SPOKEN], rng.uniform(0.85, 1.2))
    if not voice.is_vowel.any():
        return np.zeros(n_samples)
    if rng.random() < 0.65:
        frames = hold_words(voice, int(n_samples / SAMPLE_RATE / PERIOD) + 1, rng)
        pitch, notes = melody(n_samples, rng, lengths_of_syllables(voice.is_vowel[frames], rng))
    else:
        pitch, notes = melody(n_samples, rng)
        frames = hold_vowels(voice, notes, rng)
    make = by_vocoder if rng.random() < 0.5 else by_periods
    sung = make(voice, frames, pitch, notes, rng)
    chance = rng.random()
    if chance < 0.06:
        sung = sung + 0.7 * make(voice, frames, pitch * 2 ** (4 / 12), notes, rng)
    elif chance < 0.12:
        for cents in rng.uniform(-25, 25, 3):
            late = int(rng.integers(0, 500))
            sung = sung + np.roll(make(voice, frames, pitch * 2 ** (cents / 1200), notes, rng), late)
    return sung[:n_samples]


def speak(speech: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same words as they were spoken, by the ways in which voices are made to sing; unchanged without vowels."""
    voice = analyse(speech, rng.uniform(0.9, 1.1))
    if not voice.is_vowel.any():
        return speech
    pitch = np.maximum(voice.pitch, LOWEST) * rng.uniform(0.8, 1.3)
    make = by_vocoder if rng.random() < 0.5 else by_periods
    return np.resize(make(voice, np.arange(len(pitch)), pitch, np.zeros(len(pitch), dtype=int), rng), len(speech))


def melody(n_samples: int, rng: np.random.Generator, lengths: Sequence[int] = ()) -> tuple[np.ndarray, np.ndarray]:
    """Hertz of every frame, and the number of the note that each belongs to; -1 is a breath between two notes.

    Notes of a scale with glides between them; vibrato, a trill or a straight tone on them, and a pitch that drifts.
    The first notes have the `lengths` in frames, if any are stated, and no breath after them.
    """
    n_frames = int(n_samples / SAMPLE_RATE / PERIOD) + 1
    tonic = np.exp(rng.uniform(np.log(90.0), np.log(500.0)))
    scale = SCALES[rng.integers(len(SCALES))]
    pace = rng.choice([0.5, 1.0, 1.0, 2.0, 4.0])  # from runs to long tones
    steps, notes, degree = [], [], int(rng.integers(0, len(scale)))
    walk = 1 if rng.random() < 0.3 else 0  # some go up and down a scale, others leap about
    while len(steps) < n_frames:
        degree = int(np.clip(degree + (rng.choice([-1, 1]) if walk else rng.integers(-3, 4)), -3, 10))
        semitones = scale[degree % len(scale)] + 12 * (degree // len(scale))
        length = max(10, int(pace * rng.choice([0.15, 0.25, 0.4, 0.6, 0.9]) / PERIOD))
        number = notes[-1] + 1 if notes and notes[-1] >= 0 else len(set(notes))
        is_stated = number < len(lengths)
        length = lengths[number] if is_stated else length
        steps += [np.log(tonic) + semitones / 12 * np.log(2)] * length
        notes += [number] * length
        if not is_stated and rng.random() < 0.12:
            rest = int(rng.uniform(0.05, 0.4) / PERIOD)
            steps += steps[-1:] * rest
            notes += [-1] * rest
    numbers, curve = np.array(notes[:n_frames]), np.array(steps[:n_frames])
    octaves_too_high = np.ceil(max(curve.max() - np.log(HIGHEST), 0.0) / np.log(2))
    curve = as_sung((curve - octaves_too_high * np.log(2)) * SEMITONES, numbers, rng) / SEMITONES
    return np.clip(np.exp(curve), LOWEST, HIGHEST), numbers


def as_sung(steps: np.ndarray, notes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Semitones of every frame as a singer reaches them: anything from a trained voice to one who hardly keeps a tune.

    Notes are missed by a little, come up to from below, glide into one another, sway, and have a vibrato where they are
    long enough for one.
    """
    n_frames = len(steps)
    starts = np.flatnonzero(np.diff(notes, prepend=-2))
    of_note = np.searchsorted(starts, np.arange(n_frames), side="right") - 1
    since = (np.arange(n_frames) - starts[of_note]) * PERIOD
    unsure = rng.uniform(0.0, 1.0) ** 1.5
    missed = unsure * 0.5 * rng.standard_normal(len(starts))
    scooped = np.where(rng.random(len(starts)) < 0.4, unsure * rng.uniform(0.5, 4.0, len(starts)), 0.0)
    curve = steps + missed[of_note] - scooped[of_note] * np.exp(-since / rng.uniform(0.03, 0.12))
    slow = np.exp(-PERIOD / rng.uniform(0.012, 0.1))
    curve = lfilter([1 - slow], [1, -slow], curve - curve[0]) + curve[0]
    depth = rng.choice([0.0, rng.uniform(0.1, 0.5), rng.uniform(0.4, 1.2)]) * (1 + 0.5 * _sway(n_frames, 1.0, rng))
    rate = rng.uniform(4.2, 7.0) * (1 + 0.08 * _sway(n_frames, 1.5, rng))
    settled = np.clip((since - rng.uniform(0.0, 0.3)) / 0.2, 0, 1)
    vibrato = depth * settled * np.sin(2 * np.pi * np.cumsum(rate) * PERIOD)
    return curve + vibrato + (0.05 + 0.5 * unsure) * _sway(n_frames, rng.uniform(1.0, 4.0), rng)


def _sway(n_frames: int, hertz: float, rng: np.random.Generator) -> np.ndarray:
    """Noise of deviation 1 below a frequency, as slow as muscles are."""
    slow = np.exp(-2 * np.pi * hertz * PERIOD)
    noise = lfilter([1 - slow], [1, -slow], rng.standard_normal(n_frames + 400))
    noise = lfilter([1 - slow], [1, -slow], noise)[400:]
    return np.asarray(noise / (noise.std() + 1e-9))


def analyse(speech: np.ndarray, stretch: float) -> Voice:
    """The frames of a voice, its resonances moved by a factor: a longer or a shorter throat, and slower or faster."""
    import pyworld

    x = np.ascontiguousarray(soxr.resample(speech, stretch * SAMPLE_RATE, SAMPLE_RATE), dtype=np.float64)
    pitch, times = pyworld.dio(x, SAMPLE_RATE, frame_period=1000 * PERIOD)
    envelope = pyworld.cheaptrick(x, pitch, times, SAMPLE_RATE)
    aperiodicity = pyworld.d4c(x, pitch, times, SAMPLE_RATE)
    level = np.sqrt(envelope.mean(axis=1))
    return Voice(envelope, aperiodicity, (pitch > 0) & (level > LOUD * level.mean()), pitch, x)


def hold_words(voice: Voice, n_frames: int, rng: np.random.Generator) -> np.ndarray:
    """Which frame is sung when: words in their order, their vowels slowed down."""
    slow, fast = rng.uniform(0.1, 0.6), rng.uniform(0.7, 1.0)
    speed = np.where(voice.is_vowel, slow, fast)
    reached = np.cumsum(1 / speed)  # frames of singing that pass until each frame of speech is over
    return np.searchsorted(reached, np.arange(n_frames) % reached[-1]).clip(0, len(speed) - 1)


def lengths_of_syllables(is_vowel: np.ndarray, rng: np.random.Generator) -> list[int]:
    """Frames from one note to the next where each begins with a vowel; long vowels have several."""
    starts = np.flatnonzero(np.diff(is_vowel.astype(int), prepend=0) == 1)
    lengths: list[int] = []
    for length in np.diff(starts, append=len(is_vowel)).tolist():
        while length > LONGEST_NOTE:
            part = int(rng.integers(SHORTEST_NOTE, LONGEST_NOTE))
            lengths.append(part)
            length -= part
        if lengths and length < SHORTEST_NOTE:
            lengths[-1] += length
        else:
            lengths.append(max(length, 1))
    return lengths


def hold_vowels(voice: Voice, notes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which frame is sung when: one vowel a note, or one for all of them, that hardly moves."""
    vowels = np.flatnonzero(voice.is_vowel)
    same = rng.random() < 0.5
    first = int(rng.choice(vowels))
    frames = np.zeros(len(notes), dtype=int)
    for number in np.unique(notes):
        here = notes == number
        start = first if same else int(rng.choice(vowels))
        sway = np.abs(np.cumsum(rng.choice([-1, 0, 0, 0, 1], here.sum()))) % 6
        near = vowels[np.argsort(np.abs(vowels - start), kind="stable")[:6]]
        frames[here] = near[np.minimum(sway, len(near) - 1)]
    return frames


def pitch_marks(voice: Voice) -> np.ndarray:
    """(n, 2): the sample at which each period begins, where a voice is heard at its peak, and how long it is."""
    marks, now = [], 0.0
    while now < len(voice.samples):
        hertz = voice.pitch[min(int(now / SAMPLE_RATE / PERIOD), len(voice.pitch) - 1)]
        period = SAMPLE_RATE / hertz if hertz > 0 else STEP
        if hertz > 0:
            first = max(int(now - period / 4), 0)
            now = first + float(np.abs(voice.samples[first : int(now + period / 4) + 1]).argmax())
        marks.append((now, period))
        now += period
    return np.array(marks)


def by_periods(
    voice: Voice, frames: np.ndarray, pitch: np.ndarray, notes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Periods of the voice itself, laid as far apart as the pitch says (TD-PSOLA)."""
    marks, gain = pitch_marks(voice), _gain(voice, frames, notes, rng)
    padded = np.pad(voice.samples, SAMPLE_RATE // 10)
    sung = np.zeros(int(len(frames) * PERIOD * SAMPLE_RATE) + SAMPLE_RATE // 2)
    now = 0.0
    while (frame := int(now / SAMPLE_RATE / PERIOD)) < len(frames):
        source = frames[frame]
        near = int(np.searchsorted(marks[:, 0], source * PERIOD * SAMPLE_RATE)) + int(rng.integers(-1, 2))
        start, period = marks[np.clip(near, 0, len(marks) - 1)]
        is_vowel = voice.is_vowel[source]
        step, half = (SAMPLE_RATE / pitch[frame] if is_vowel else STEP), int(min(period, SAMPLE_RATE // 20))
        middle = int(start) + SAMPLE_RATE // 10
        grain = padded[middle - half : middle + half] * np.hanning(2 * half) * (step / period) ** 0.5
        at = int(now) + SAMPLE_RATE // 20 - half
        sung[at : at + 2 * half] += gain[frame] * grain
        now += step
    return sung[SAMPLE_RATE // 20 :]


def by_vocoder(
    voice: Voice, frames: np.ndarray, pitch: np.ndarray, notes: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The envelopes of the voice on another pitch (WORLD)."""
    import pyworld

    is_vowel, gain = voice.is_vowel[frames], _gain(voice, frames, notes, rng)
    aperiodicity = voice.aperiodicity[frames]
    aperiodicity = np.where(is_vowel[:, None], aperiodicity * rng.uniform(CLEAR, 1.0), aperiodicity)
    return pyworld.synthesize(
        np.where(is_vowel, pitch, 0.0), np.ascontiguousarray(voice.envelope[frames] * gain[:, None] ** 2),
        np.ascontiguousarray(aperiodicity), SAMPLE_RATE, 1000 * PERIOD,
    )  # fmt: skip


def _gain(voice: Voice, frames: np.ndarray, notes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The factor of each frame: a sung vowel is nearly as loud as the next, and a breath is silent."""
    level = voice.envelope[frames].mean(axis=1)
    evenness = rng.uniform(0.0, 0.8)
    even = np.where(voice.is_vowel[frames], (np.median(level) / (level + 1e-16)) ** (evenness / 2), 1.0)
    return even * lfilter([0.1], [1, -0.9], (notes >= 0).astype(float))
