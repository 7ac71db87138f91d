"""Whose sounds the shipped model was trained on: `python corpora/broadcast/attributions.py` writes the page beside it.

Licences and authors are those that packages and data sets state themselves; nothing is added and nothing is judged.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packages import LABELS, Package, read_packages

HERE = Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "audioclass" / "models" / "broadcast.audioclass"
SUFFIX = ".sources.md"
HEAD = """\
# Sources of the model `{name}`

The recordings that the model was trained on, each with the licence and the holder that it states. Changes: clips were
cut from them, mixed with one another and with noise, filtered and coded again; the model holds features of windows of
these clips and what was fitted to them. MODEL-LICENSE.md says under which terms the model is."""
PACKAGES = """\
## Packages

Of Debian 12, or of the registry that is named. A package names its licences as a whole; which file is under which, and
by whom, its own copyright file says (`/usr/share/doc/PACKAGE/copyright`)."""
ESC50 = """\
## ESC-50

Environment. K. J. Piczak, "ESC: Dataset for Environmental Sound Classification", 2015,
<https://github.com/karolpiczak/ESC-50>: all of ESC-10, which is under Creative Commons Attribution 3.0, and of folds 1
to 3 of the other labels the clips under CC0 and CC BY. One author in ten was kept for the blind set. The clips come
from these sounds:"""
DIGITS = """\
## Free Spoken Digit Dataset

Speech. Z. Jackson and others, <https://github.com/Jakobovski/free-spoken-digit-dataset>, Creative Commons
Attribution-ShareAlike 4.0: the speakers george, jackson, lucas and yweweler."""
MADE = """\
## Sounds without a recording

Environment of `corpora/broadcast/noises.py`, silence, speech by the program espeak-ng, music by the program fluidsynth
with the samples of fluid-soundfont-gm and timgm6mb-soundfont, and singing made from the speech by the vocoder WORLD
and of its own periods."""


@dataclass(frozen=True)
class Origin:
    """Where a clip of ESC-50 was cut from, as the data set's licence file says."""

    clip: str
    title: str
    address: str
    author: str
    licence: str


def read_origins(table: Path) -> list[Origin]:
    """The rows of `esc50.csv`, in its order."""
    with table.open(newline="", encoding="utf-8") as stream:
        return [Origin(**row) for row in csv.DictReader(stream)]


def sources_page(packages: Sequence[Package], origins: Sequence[Origin], name: str = "broadcast") -> str:
    """The attributions in Markdown; `origins` is empty for a model that was trained without the data sets."""
    table = [PACKAGES, "\n".join(_package_rows(packages))]
    clips = [ESC50, "\n".join(_origin_rows(origins)), DIGITS] if origins else []
    return "\n\n".join([HEAD.format(name=name), _licences(packages, origins), *table, *clips, MADE]) + "\n"


def write_sources(model: Path, *, with_data: bool = True) -> Path:
    """Write the page beside a model file."""
    origins = read_origins(HERE / "esc50.csv") if with_data else []
    path = model.with_suffix(SUFFIX)
    path.write_text(sources_page(read_packages(HERE / "packages.toml"), origins, model.stem), encoding="utf-8")
    return path


def _licences(packages: Sequence[Package], origins: Sequence[Origin]) -> str:
    names = {name for package in packages for name in package.licence.split(", ")} | {one.licence for one in origins}
    names |= {"CC-BY-SA-4.0"} if origins else set()
    in_order = sorted(names, key=lambda name: (name.casefold(), name))
    return f"Licences that they name: {', '.join(in_order)}."


def _package_rows(packages: Sequence[Package]) -> Iterator[str]:
    yield "| package | version | licence | holder | gave |"
    yield "| --- | --- | --- | --- | --- |"
    for package in packages:
        labels = [label for label in LABELS if getattr(package, label)]
        labels += ["singing"] if package.singing else []
        name = package.name if package.registry == "debian" else f"{package.name} ({package.registry})"
        cells = (name, package.version, package.licence, package.attribution, ", ".join(labels) or "samples")
        yield f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _origin_rows(origins: Sequence[Origin]) -> Iterator[str]:
    """A sound once, with all clips that were cut from it."""
    clips: dict[str, list[Origin]] = {}
    for one in origins:
        clips.setdefault(one.address, []).append(one)
    yield "| sound | author | licence | clips |"
    yield "| --- | --- | --- | --- |"
    for address, cut in clips.items():
        title, author, licence = (_cell(cell) for cell in (cut[0].title, cut[0].author, cut[0].licence))
        yield f"| {title} <{address}> | {author} | {licence} | {', '.join(one.clip for one in cut)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    print(write_sources(MODEL))
