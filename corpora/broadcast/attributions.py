"""Whose sounds the shipped model was trained on: `python corpora/broadcast/attributions.py` writes the page beside it.

Licences and authors are those that packages and ESC-10 state themselves; nothing is added and nothing is judged here.
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
# Sources of the model `broadcast`

The recordings that the model was trained on, each with the licence and the holder that it states. Changes: clips were
cut from them, mixed with one another and with noise, filtered and coded again; the model holds features of windows of
these clips and what was fitted to them. MODEL-LICENSE.md says under which terms the model is."""
PACKAGES = """\
## Packages of Debian 12

A package names its licences as a whole; which file is under which, and by whom, its own copyright file says
(`/usr/share/doc/PACKAGE/copyright`)."""
ESC10 = """\
## ESC-10

Environment. K. J. Piczak, "ESC: Dataset for Environmental Sound Classification", 2015, Creative Commons Attribution
3.0, <https://github.com/karolpiczak/ESC-50>. Its clips come from these sounds:"""
MADE = """\
## Sounds without a recording

Environment of `corpora/broadcast/noises.py`, silence, speech by the program espeak-ng, and music by the program
fluidsynth with the samples of fluid-soundfont-gm."""


@dataclass(frozen=True)
class Origin:
    """Where a clip of ESC-10 was cut from, as the data set's licence file says."""

    clip: str
    title: str
    address: str
    author: str
    licence: str


def read_origins(table: Path) -> list[Origin]:
    """The rows of `esc10.csv`, in its order."""
    with table.open(newline="", encoding="utf-8") as stream:
        return [Origin(**row) for row in csv.DictReader(stream)]


def sources_page(packages: Sequence[Package], origins: Sequence[Origin]) -> str:
    """The attributions in Markdown; `origins` is empty for a model that was trained without ESC-10."""
    table = [PACKAGES, "\n".join(_package_rows(packages))]
    clips = [ESC10, "\n".join(_origin_rows(origins))] if origins else []
    return "\n\n".join([HEAD, _licences(packages, origins), *table, *clips, MADE]) + "\n"


def write_sources(model: Path, *, with_esc10: bool = True) -> Path:
    """Write the page beside a model file."""
    origins = read_origins(HERE / "esc10.csv") if with_esc10 else []
    path = model.with_suffix(SUFFIX)
    path.write_text(sources_page(read_packages(HERE / "packages.toml"), origins), encoding="utf-8")
    return path


def _licences(packages: Sequence[Package], origins: Sequence[Origin]) -> str:
    names = {name for package in packages for name in package.licence.split(", ")} | {one.licence for one in origins}
    in_order = sorted(names, key=lambda name: (name.casefold(), name))
    return f"Licences that they name: {', '.join(in_order)}."


def _package_rows(packages: Sequence[Package]) -> Iterator[str]:
    yield "| package | version | licence | holder | gave |"
    yield "| --- | --- | --- | --- | --- |"
    for package in packages:
        labels = [label for label in LABELS if getattr(package, label)]
        cells = (package.name, package.version, package.licence, package.attribution, ", ".join(labels) or "samples")
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
