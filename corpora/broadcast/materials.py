"""Everything that clips are cut from: sounds of packages, ESC-10, and what our own code makes."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import noises
import numpy as np
import soundfile
import tunes
import voices
from clips import seconds_of
from packages import Package, fetch, unpack
from plan import Material

SHORTEST = 0.12  # seconds
SOUNDFONT = "fluid-soundfont-gm"
N_TUNES, N_VOICES, N_NOISES = 100, 120, 12  # noises: of each kind


def gather(packages: Sequence[Package], work: Path, debs: Path, esc10: Path | None, seed: int = 0) -> list[Material]:
    """All materials below the work folder, as a list that a run after reads instead of looking again."""
    known = work / "materials.json"
    if known.exists():
        return [Material(**row) for row in json.loads(known.read_text(encoding="utf-8"))]
    materials = [one for package in packages for one in from_package(package, work, debs)]
    made = work / "made"
    made.mkdir(exist_ok=True)
    materials += make_noises(made, work, seed) + make_voices(made, work, seed)
    if any(package.name == SOUNDFONT for package in packages):
        materials += make_tunes(made, work, seed)
    if esc10 is not None:
        materials += from_esc10(esc10)
    known.write_text(json.dumps([vars(one) for one in materials]), encoding="utf-8")
    return materials


def from_package(package: Package, work: Path, debs: Path) -> list[Material]:
    """The sounds of one package that can be read and are long enough to be heard."""
    sounds = unpack(package, fetch(package, debs), work / "sounds")
    found = [
        Material(str(one.path.relative_to(work)), round(seconds_of(one.path), 3), one.label, one.group, one.part)
        for one in sounds
    ]
    return [one for one in found if one.seconds >= SHORTEST]


def from_esc10(folder: Path) -> list[Material]:
    """The clips of ESC-10; its five folds are five sources."""
    with (folder / "segments.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [
        Material(str((folder / row["file"]).resolve()), 5.0, "environment", f"esc10-{row['fold']}", row["label"])
        for row in rows
    ]


def make_noises(made: Path, work: Path, seed: int) -> list[Material]:
    """Twelve seconds of each kind, several times."""
    found = []
    for kind in noises.KINDS:
        for index in range(N_NOISES):
            rng = np.random.default_rng([seed, index, *kind.encode()])
            path = made / f"noise-{kind}-{index}.flac"
            soundfile.write(path, noises.make_noise(kind, 12.0, rng), 16000)
            found.append(Material(str(path.relative_to(work)), 12.0, "environment", "made-noises", kind))
    return found


def make_voices(made: Path, work: Path, seed: int) -> list[Material]:
    """espeak-ng in many languages."""
    found = []
    for index in range(N_VOICES):
        path = made / f"voice-{index}.wav"
        language = voices.say(path, np.random.default_rng([seed, 1, index]))
        found.append(Material(str(path.relative_to(work)), seconds_of(path), "speech", "espeak-ng", language))
    return found


def make_tunes(made: Path, work: Path, seed: int) -> list[Material]:
    """Tunes played by the sound font."""
    soundfont = next((work / "sounds" / SOUNDFONT).rglob("*.sf2"))
    found = []
    for index in range(N_TUNES):
        tune, path = made / f"tune-{index}.mid", made / f"tune-{index}.wav"
        tunes.write_tune(tune, np.random.default_rng([seed, 2, index]), bars=10)
        tunes.render(tune, soundfont, path)
        found.append(Material(str(path.relative_to(work)), seconds_of(path), "music", SOUNDFONT))
    return found
