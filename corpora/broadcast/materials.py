"""Everything that clips are cut from: sounds of packages, ESC-50, and what our own code makes."""

from __future__ import annotations

import csv
import functools
import json
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Literal

import noises
import numpy as np
import soundfile
import tunes
import voices
from attributions import read_origins
from clips import seconds_of
from leaves import LEAF_OF, leaf_of
from packages import SINGING, Package, Sound, fetch, unpack
from plan import NOTES, Material

HERE = Path(__file__).resolve().parent
SHORTEST = 0.12  # seconds
SOUNDFONTS = ("fluid-soundfont-gm", "timgm6mb-soundfont")
N_TUNES, N_VOICES, N_NOISES = 100, 120, 12  # noises: of each kind
N_PHRASES = 240  # of a sound font: notes of one instrument
N_NOTES = 240  # of a sound font: one note of one instrument
DATA_SETS = ("esc10", "esc40", "fsdd")
UNSEEN_SPEAKERS = ("nicolas", "theo")
Purpose = Literal["training", "unseen", "blind"]  # what sounds are for: never for two of them


def gather(
    packages: Sequence[Package],
    work: Path,
    debs: Path,
    data: Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    tell: Callable[[str], None] = print,
) -> list[Material]:
    """All materials below the work folder, as a list that a run after reads instead of looking again.

    `data` holds ESC-10, further clips of ESC-50 and the Free Spoken Digit Dataset.
    """
    known = work / "materials.json"
    if known.exists():
        return [Material(**row) for row in json.loads(known.read_text(encoding="utf-8"))]
    for package in packages:  # one after another: registries are asked once, and politely
        fetch(package, debs)
    tell(f"{len(packages)} packages in {debs}")
    made = work / "made"
    made.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs) as pool:
        unpacked = pool.map(functools.partial(from_package, work=work, debs=debs), packages)
        materials = [one for found in unpacked for one in found]
        tell(f"{len(materials)} sounds of packages")
        fonts = [package.name for package in packages if package.name in SOUNDFONTS]
        played = pool.map(functools.partial(play, made=made, work=work, seed=seed), fonts)
        materials += make_noises(made, work, seed) + make_voices(made, work, seed)
        materials += [one for found in played for one in found]
    if data is not None:
        materials += from_data(data, "training")
    passing = known.with_suffix(".passing")
    passing.write_text(json.dumps([vars(one) for one in materials]), encoding="utf-8")
    passing.rename(known)
    return materials


def check_data(data: Path) -> None:
    """Refuse a folder without the data sets before the work."""
    for name in DATA_SETS:
        if not (table := data / "audio" / name / "segments.csv").is_file():
            raise SystemExit(f"{table}: no such file; --data must name the folder that holds audio/{name}")


def from_data(data: Path, purpose: Purpose) -> list[Material]:
    """What of the data sets at hand is for a purpose."""
    esc = [one for name in ("esc10", "esc40") for one in from_esc(data / "audio" / name, purpose)]
    return esc + from_digits(data / "audio" / "fsdd", purpose)


def from_package(package: Package, work: Path, debs: Path) -> list[Material]:
    """The sounds of one package that can be read and are long enough to be heard."""
    sounds = unpack(package, fetch(package, debs), work / "sounds")
    found = [_material(one, work) for one in sounds]
    return [one for one in found if one.seconds >= SHORTEST]


def _material(one: Sound, work: Path) -> Material:
    seconds = round(seconds_of(one.path), 3)
    file = str(one.path.relative_to(work))
    leaf = SINGING if one.is_sung else leaf_of(one.label, file, seconds)
    return Material(file, seconds, one.label, one.group, one.part, leaf, one.author)


def from_esc(folder: Path, purpose: Purpose) -> list[Material]:
    """The clips of ESC-10 or of more of ESC-50, by author; one author in ten is kept for the blind set."""
    authors = {origin.clip: origin.author for origin in read_origins(HERE / "esc50.csv")}
    with (folder / "segments.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return [
        Material(
            str((folder / row["file"]).resolve()),
            5.0,
            "environment",
            f"esc-{row['fold']}",
            row["label"],
            LEAF_OF[row["label"]],
            f"esc {author}",
        )
        for row in rows
        for author in [authors[clip_of(row["file"])]]
        if purpose == ("blind" if is_kept_blind(author) else "training")
    ]


def clip_of(file: str) -> str:
    """The name of a clip of ESC-50 without its label: `1-100032-A` of `audio/1-100032-A-0.flac`."""
    return "-".join(Path(file).stem.split("-")[:3])


def from_digits(folder: Path, purpose: Purpose) -> list[Material]:
    """Spoken digits; nothing is trained on two of the six speakers."""
    with (folder / "segments.csv").open(newline="", encoding="utf-8") as stream:
        rows = [
            row
            for row in csv.DictReader(stream)
            if purpose == ("unseen" if row["group"] in UNSEEN_SPEAKERS else "training")
        ]
    paths = [(folder / row["file"]).resolve() for row in rows]
    return [
        Material(str(path), round(seconds_of(path), 3), "speech", f"fsdd-{row['group']}", "", "speech")
        for path, row in zip(paths, rows, strict=True)
    ]


def is_kept_blind(author: str) -> bool:
    """One author in ten of ESC-50, by the name on Freesound."""
    return zlib.crc32(author.encode()) % 10 == 1


def make_noises(made: Path, work: Path, seed: int) -> list[Material]:
    """Twelve seconds of each kind, several times."""
    found = []
    for kind in noises.KINDS:
        for index in range(N_NOISES):
            rng = np.random.default_rng([seed, index, *kind.encode()])
            path = made / f"noise-{kind}-{index}.flac"
            soundfile.write(path, noises.make_noise(kind, 12.0, rng), 16000)
            found.append(Material(str(path.relative_to(work)), 12.0, "environment", "made-noises", kind, LEAF_OF[kind]))
    return found


def make_voices(made: Path, work: Path, seed: int) -> list[Material]:
    """espeak-ng in many languages."""
    found = []
    for index in range(N_VOICES):
        path = made / f"voice-{index}.wav"
        language = voices.say(path, np.random.default_rng([seed, 1, index]))
        found.append(Material(str(path.relative_to(work)), seconds_of(path), "speech", "espeak-ng", language, "speech"))
    return found


def play(soundfont: str, made: Path, work: Path, seed: int) -> list[Material]:
    """Tunes, phrases and single notes of a sound font."""
    tunes_and_phrases = make_tunes(soundfont, made, work, seed) + make_phrases(soundfont, made, work, seed)
    return tunes_and_phrases + make_notes(soundfont, made, work, seed)


def make_tunes(soundfont: str, made: Path, work: Path, seed: int) -> list[Material]:
    """Tunes played by a sound font."""
    return [
        played(soundfont, f"tune-{index}", tunes.tune(np.random.default_rng([seed, 2, index]), bars=10), made, work)
        for index in range(N_TUNES)
    ]


def make_phrases(soundfont: str, made: Path, work: Path, seed: int) -> list[Material]:
    """Single notes and phrases of one instrument, played by a sound font."""
    return [
        played(
            soundfont, f"phrase-{index}", tunes.phrase(np.random.default_rng([seed, 3, index])), made, work, "phrases"
        )
        for index in range(N_PHRASES)
    ]


def make_notes(soundfont: str, made: Path, work: Path, seed: int) -> list[Material]:
    """Single notes, played by a sound font."""
    return [
        played(soundfont, f"note-{index}", tunes.note(np.random.default_rng([seed, 4, index])), made, work, NOTES)
        for index in range(N_NOTES)
    ]


def played(soundfont: str, name: str, midi: bytes, made: Path, work: Path, part: str = "") -> Material:
    """A recording of a MIDI file, played by a sound font that is unpacked below the work folder."""
    tune, path = made / f"{soundfont}-{name}.mid", made / f"{soundfont}-{name}.wav"
    font = next(path for path in sorted((work / "sounds" / soundfont).rglob("*")) if path.suffix in (".sf2", ".sf3"))
    if not path.exists():  # a large sound font takes seconds to load
        passing = path.with_name(f"passing-{path.name}")
        tune.write_bytes(midi)
        tunes.render(tune, font, passing)
        passing.rename(path)
    return Material(str(path.relative_to(work)), seconds_of(path), "music", soundfont, part, "instrumental")
