"""Clips as the plan says: pieces are read, joined, treated, and written with one row each in segments.csv."""

from __future__ import annotations

import csv
import functools
import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import soundfile
import soxr
import treatments
from leaves import ALARM, taxonomy_toml
from plan import Clip
from scipy.ndimage import maximum_filter1d
from singing import sing, speak
from treatments import SAMPLE_RATE

from audioclass.run import Progress, silent

Piece = tuple[str, float, float]
WEIGHTS = {"speech": 2.0, "music": 2.0, "environment": 1.5, "silence": 1.0, ALARM: 3.0}  # what it costs to miss one
BLOCK, QUIET = 1600, 3e-4  # samples; amplitude below which a recording is padded, not playing
NEEDS_CHANCE = ("noise", "room", "silence")
CORPUS = """title = "Speech, music, environment and silence from free recordings"
licence = "those of the packages named in packages.toml, CC0 and CC BY for ESC-50, CC BY-SA 4.0 for spoken digits"
source = "corpora/broadcast"
"""


def write_clips(clips: Sequence[Clip], work: Path, corpus: Path, jobs: int = 1, progress: Progress = silent) -> None:
    """The corpus folder; clips that a run before wrote are kept where the plan still has them, else thrown away."""
    folder = corpus / "audio"
    folder.mkdir(parents=True, exist_ok=True)
    planned = {file_name(clip) for clip in clips}
    for path in folder.iterdir():
        if path.name not in planned:
            path.unlink()
    write_recordings(clips, work, folder, jobs, progress)
    (corpus / "corpus.toml").write_text(CORPUS, encoding="utf-8")
    if any(clip.leaf for clip in clips):  # else labels are those at the top, and there is no tree
        (corpus / "taxonomy.toml").write_text(taxonomy_toml(), encoding="utf-8")
    _write_rows(corpus / "segments.csv", clips)


def write_recordings(clips: Sequence[Clip], work: Path, folder: Path, jobs: int, progress: Progress) -> None:
    """The files of clips in a folder, those that a run before wrote left as they are."""
    with ProcessPoolExecutor(jobs) as pool:
        written = pool.map(functools.partial(write_clip, work=work, folder=folder), clips, chunksize=20)
        for number, _ in enumerate(written, start=1):
            progress("clips", number, len(clips))


def file_name(clip: Clip) -> str:
    """The name of the file of a clip, which tells one plan of it from another."""
    return f"{clip.name}-{hashlib.sha256(repr(clip).encode()).hexdigest()[:8]}.flac"


def write_clip(clip: Clip, work: Path, folder: Path) -> None:
    """One clip as a file, unless a run before wrote it."""
    path = folder / file_name(clip)
    if not path.exists():
        passing = path.with_suffix(".passing")
        soundfile.write(passing, render(clip, work), SAMPLE_RATE, format="FLAC", subtype="PCM_16")
        passing.rename(path)


def render(clip: Clip, work: Path) -> np.ndarray:
    """The samples of a clip, 16 kHz, within full scale."""
    rng = np.random.default_rng(clip.seed)
    x = join(clip.pieces, clip.seconds, work)
    if not clip.label.startswith("speech"):
        x = without_gaps(x)
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


def without_gaps(x: np.ndarray) -> np.ndarray:
    """Without stretches of silence, which have no label of their own; unchanged where it would leave nothing."""
    n_blocks = len(x) // BLOCK
    loud = np.abs(x[: n_blocks * BLOCK]).reshape(n_blocks, BLOCK).max(axis=1, initial=0.0) > QUIET
    near = maximum_filter1d(loud, 5) if n_blocks else loud
    kept = x[: n_blocks * BLOCK].reshape(n_blocks, BLOCK)[near].ravel()
    return kept if len(kept) else x


def _treated(x: np.ndarray, name: str, values: dict, work: Path, rng: np.random.Generator) -> np.ndarray:
    if name in ("background", "singing", "rap"):
        other = join(values["pieces"], len(x) / SAMPLE_RATE, work)
        other = sing(other, len(x), rng) if name == "singing" else np.resize(other, len(x))
        sign = 1 if name == "background" else -1  # a voice is stated above its music, a background below its clip
        return treatments.mix(x, other, sign * values["decibels"]) if np.abs(other).max(initial=0) > 0 else x
    if name == "spoken":
        return speak(x, rng)
    if name == "sung":
        sung = sing(x, len(x), rng)
        return sung if np.abs(sung).max(initial=0) > 0 else x
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
        writer.writerow(["file", "label", "group", "weight"])
        for clip in clips:
            leaf = clip.leaf or clip.label
            writer.writerow([f"audio/{file_name(clip)}", leaf, clip.group, WEIGHTS.get(leaf, WEIGHTS[clip.label])])


@functools.cache
def seconds_of(path: Path) -> float:
    """The length of a recording; 0 where it cannot be read."""
    try:
        found = soundfile.info(path)
    except soundfile.LibsndfileError:
        return 0.0
    return found.frames / found.samplerate
