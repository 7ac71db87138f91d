"""Clips as the plan says: pieces are read, joined, treated, and written with one row each in segments.csv."""

from __future__ import annotations

import csv
import functools
import hashlib
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import soundfile
import soxr
import treatments
from plan import Clip
from singing import sing
from treatments import SAMPLE_RATE

Piece = tuple[str, float, float]
NEEDS_CHANCE = ("noise", "room", "silence")
CORPUS = """title = "Speech, music, environment and silence from free recordings"
licence = "those of the packages named in packages.toml, and CC BY 3.0 for ESC-10"
source = "corpora/broadcast"
"""
TAXONOMY = "[speech]\n[music]\n[environment]\n[silence]\n"


def write_clips(clips: Sequence[Clip], work: Path, corpus: Path, jobs: int = 1) -> None:
    """The corpus folder; clips that a run with the same plan wrote are kept, others are thrown away."""
    known, fingerprint = corpus / "plan.txt", _fingerprint(clips)
    if not known.exists() or known.read_text(encoding="utf-8") != fingerprint:
        shutil.rmtree(corpus, ignore_errors=True)
    (corpus / "audio").mkdir(parents=True, exist_ok=True)
    known.write_text(fingerprint, encoding="utf-8")
    write = functools.partial(_write_clip, work=work, folder=corpus / "audio")
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(write, clips, chunksize=20))
    (corpus / "corpus.toml").write_text(CORPUS, encoding="utf-8")
    (corpus / "taxonomy.toml").write_text(TAXONOMY, encoding="utf-8")
    _write_rows(corpus / "segments.csv", clips)


def _write_clip(clip: Clip, work: Path, folder: Path) -> None:
    path = folder / f"{clip.name}.flac"
    if not path.exists():
        passing = path.with_suffix(".passing")
        soundfile.write(passing, render(clip, work), SAMPLE_RATE, format="FLAC", subtype="PCM_16")
        passing.rename(path)


def _fingerprint(clips: Sequence[Clip]) -> str:
    return hashlib.sha256(repr(clips).encode()).hexdigest()


def render(clip: Clip, work: Path) -> np.ndarray:
    """The samples of a clip, 16 kHz, within full scale."""
    rng = np.random.default_rng(clip.seed)
    x = join(clip.pieces, clip.seconds, work)
    for name, values in clip.treatments:
        x = _treated(x, name, dict(values), work, rng)
    return np.clip(x, -1.0, 1.0)


def join(pieces: Iterable[Piece], seconds: float, work: Path) -> np.ndarray:
    """Pieces with short pauses between, cut to the length; what is missing stays silent at the end only."""
    pause = np.zeros(int(0.15 * SAMPLE_RATE))
    parts: list[np.ndarray] = []
    for piece in pieces:
        parts += [_faded(_read(work, piece)), pause]
    n_samples = int(seconds * SAMPLE_RATE)
    if not parts:
        return np.zeros(n_samples)
    return np.concatenate(parts[:-1])[:n_samples]


def _treated(x: np.ndarray, name: str, values: dict, work: Path, rng: np.random.Generator) -> np.ndarray:
    if name in ("background", "singing"):
        other = join(values["pieces"], len(x) / SAMPLE_RATE, work)
        other = sing(other, len(x), rng) if name == "singing" else np.resize(other, len(x))
        sign = -1 if name == "singing" else 1  # a voice is stated above its music, a background below its clip
        return treatments.mix(x, other, sign * values["decibels"]) if np.abs(other).max(initial=0) > 0 else x
    treat = getattr(treatments, name)
    return treat(x, rng, **values) if name in NEEDS_CHANCE else treat(x, **values)


def _read(work: Path, piece: Piece) -> np.ndarray:
    file, start, seconds = piece
    with soundfile.SoundFile(work / file) as sound:
        rate = sound.samplerate
        sound.seek(min(int(start * rate), max(sound.frames - 1, 0)))
        x = sound.read(int(np.ceil(seconds * rate)), always_2d=True).mean(axis=1)
    return soxr.resample(x, rate, SAMPLE_RATE) if rate != SAMPLE_RATE else x


def _faded(x: np.ndarray) -> np.ndarray:
    edge = np.minimum(1.0, np.arange(1, len(x) + 1) / 80)
    return x * edge * edge[::-1]


def _write_rows(path: Path, clips: Sequence[Clip]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file", "label", "group"])
        writer.writerows([f"audio/{clip.name}.flac", clip.label, clip.group] for clip in clips)


@functools.cache
def seconds_of(path: Path) -> float:
    """The length of a recording; 0 where it cannot be read."""
    try:
        found = soundfile.info(path)
    except soundfile.LibsndfileError:
        return 0.0
    return found.frames / found.samplerate
