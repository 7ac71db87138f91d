"""Music of our own: random tunes over chord progressions, solo or in ensembles, rendered by fluidsynth."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

TICKS = 480  # a quarter note
SCALES = ((0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10), (0, 2, 3, 5, 7, 9, 10))
PROGRESSIONS = ((0, 4, 5, 3), (0, 3, 4, 0), (5, 3, 0, 4), (0, 5, 1, 4), (0, 0, 3, 4))
MELODIC = tuple(range(80)) + tuple(range(104, 112))  # General MIDI without pads, effects and noises
VOICES = (52, 53, 54)
DISTORTED = (29, 30)
Event = tuple[int, bytes]


def tune(rng: np.random.Generator, bars: int = 16) -> bytes:
    """A MIDI file: a solo, drums alone, or a melody with chords or riffs, bass and drums."""
    kind = rng.choice(["solo", "drums", "ensemble", "choir", "rock"], p=[0.25, 0.1, 0.3, 0.1, 0.25])
    tonic, scale = int(rng.integers(48, 66)), SCALES[rng.integers(len(SCALES))]
    chords = PROGRESSIONS[rng.integers(len(PROGRESSIONS))]
    events = _tempo(rng)
    if kind != "drums":
        program = int(rng.choice(VOICES)) if kind == "choir" else int(rng.choice(MELODIC))
        events += _melody(0, program, tonic + 12, scale, chords, bars, rng)
    if kind in ("ensemble", "choir"):
        events += _chords(1, int(rng.choice(MELODIC)), tonic, scale, chords, bars)
        events += _melody(2, int(rng.integers(32, 40)), tonic - 12, scale, chords, bars, rng)
    if kind == "rock":
        events += _riff(1, int(rng.choice(DISTORTED)), tonic - 12, scale, chords, bars, rng)
        events += _riff(2, int(rng.integers(33, 38)), tonic - 24, scale, chords, bars, rng)
    if kind in ("drums", "rock") or (kind == "ensemble" and rng.random() < 0.7):
        events += _drums(bars, rng)
    return _midi(events)


def phrase(rng: np.random.Generator) -> bytes:
    """A MIDI file: notes of one instrument, one after another with rests between; a tenth are strokes of one drum."""
    return _notes(9 if rng.random() < 0.1 else 0, 8, (0.5, 1.0, 2.0, 4.0, 6.0), rng)


def note(rng: np.random.Generator) -> bytes:
    """A MIDI file: one note of half a second or more."""
    return _notes(0, 1, (1.0, 2.0, 4.0), rng)


def _notes(channel: int, n_notes: int, beats: Sequence[float], rng: np.random.Generator) -> bytes:
    program, now = int(rng.choice(MELODIC + VOICES)), 0
    drum, tonic = int(rng.integers(35, 82)), int(rng.integers(36, 85))
    events: list[Event] = [(0, b"\xff\x51\x03" + (500_000).to_bytes(3, "big")), (0, bytes([0xC0, program]))]
    for _ in range(n_notes):
        pitch = drum if channel == 9 else int(np.clip(tonic + rng.integers(-12, 13), 24, 104))
        length = int(rng.choice(beats) * TICKS)
        events += _note(channel, pitch, now, length, int(rng.integers(50, 120)))
        now += length + int(rng.choice([0.0, 0.0, 0.5, 1.0]) * TICKS)
    return _midi(events)


def render(tune: Path, soundfont: Path, path: Path) -> None:
    """The tune as a recording."""
    program = shutil.which("fluidsynth") or "fluidsynth"
    order = [program, "-ni", "-q", "-r", "16000", "-g", "0.6", "-F", path, soundfont, tune]
    subprocess.run(order, check=True, capture_output=True)


def _pitch(tonic: int, scale: tuple[int, ...], degree: int) -> int:
    return int(np.clip(tonic + scale[degree % 7] + 12 * (degree // 7), 12, 115))


def _note(channel: int, pitch: int, start: int, length: int, strength: int) -> list[Event]:
    return [(start, bytes([0x90 | channel, pitch, strength])), (start + length, bytes([0x80 | channel, pitch, 0]))]


def _tempo(rng: np.random.Generator) -> list[Event]:
    quarter = int(60e6 / rng.uniform(60, 170))
    return [(0, b"\xff\x51\x03" + quarter.to_bytes(3, "big"))]


def _melody(
    channel: int, program: int, tonic: int, scale: tuple[int, ...], chords: tuple[int, ...], bars: int,
    rng: np.random.Generator,
) -> list[Event]:  # fmt: skip
    events: list[Event] = [(0, bytes([0xC0 | channel, program]))]
    now, degree = 0, int(chords[0])
    while now < bars * 4 * TICKS:
        length = int(rng.choice([0.25, 0.5, 0.5, 1, 1, 1.5, 2]) * TICKS)
        chord = chords[(now // (4 * TICKS)) % len(chords)]
        degree = chord + int(rng.choice([0, 2, 4])) if rng.random() < 0.5 else degree + int(rng.integers(-2, 3))
        if rng.random() < 0.9:
            events += _note(channel, _pitch(tonic, scale, degree), now, int(length * 0.95), int(rng.integers(60, 115)))
        now += length
    return events


def _chords(
    channel: int, program: int, tonic: int, scale: tuple[int, ...], chords: tuple[int, ...], bars: int
) -> list[Event]:
    events: list[Event] = [(0, bytes([0xC0 | channel, program]))]
    for bar in range(bars):
        for third in (0, 2, 4):
            pitch = _pitch(tonic, scale, chords[bar % len(chords)] + third)
            events += _note(channel, pitch, bar * 4 * TICKS, 4 * TICKS - 20, 64)
    return events


def _riff(
    channel: int, program: int, tonic: int, scale: tuple[int, ...], chords: tuple[int, ...], bars: int,
    rng: np.random.Generator,
) -> list[Event]:  # fmt: skip
    """Fifths in a rhythm that every bar repeats."""
    events: list[Event] = [(0, bytes([0xC0 | channel, program]))]
    beats = np.flatnonzero(np.append(True, rng.random(7) < 0.75))
    for bar in range(bars):
        root = _pitch(tonic, scale, chords[bar % len(chords)])
        for beat in beats:
            start = bar * 4 * TICKS + int(beat) * TICKS // 2
            for pitch in (root, root + 7, root + 12):
                events += _note(channel, pitch, start, TICKS // 2 - 10, 110)
    return events


def _drums(bars: int, rng: np.random.Generator) -> list[Event]:
    kit = {36: rng.random(16) < 0.3, 38: np.isin(np.arange(16), (4, 12)), 42: rng.random(16) < 0.6}
    kit[int(rng.choice([39, 45, 48, 56, 62, 64, 70]))] = rng.random(16) < 0.2
    sixteenth = TICKS // 4
    return [
        event
        for bar in range(bars)
        for pitch, hits in kit.items()
        for step in np.flatnonzero(hits)
        for event in _note(9, pitch, int(bar * 16 + step) * sixteenth, sixteenth, int(rng.integers(70, 120)))
    ]


def _midi(events: list[Event]) -> bytes:
    track, now = b"", 0
    for time, message in sorted(events, key=lambda event: event[0]):
        track += _quantity(time - now) + message
        now = time
    track += _quantity(0) + b"\xff\x2f\x00"
    return b"MThd" + struct.pack(">IHHH", 6, 0, 1, TICKS) + b"MTrk" + struct.pack(">I", len(track)) + track


def _quantity(value: int) -> bytes:
    """A number as MIDI writes it: seven bits a byte, the highest bit where more follow."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(0x80 | (value & 0x7F))
    return bytes(reversed(groups))
