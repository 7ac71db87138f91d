"""The sources of a half: which recordings there are, what they count as, and that none trained the shipped model."""

from __future__ import annotations

import csv
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "broadcast"))

from clips import seconds_of  # noqa: E402
from materials import UNSEEN_SPEAKERS, from_package  # noqa: E402
from packages import LABELS, Package, read_packages  # noqa: E402
from plan import Material  # noqa: E402

HALVES = ("develop", "test")
TRAINED = HERE.parent / "broadcast" / "packages.toml"
TRAINED_FOLDERS = ("audio/esc10", "audio/esc40")
DIGITS = "audio/fsdd"  # the shipped model knows all speakers but two


@dataclass(frozen=True)
class Folder:
    """Rows of a folder's segments.csv as one source: those whose `column` has one of the values."""

    name: str
    path: str
    licence: str
    label: str
    column: str
    values: Sequence[str]
    part: str
    without: Sequence[str] = ()

    @property
    def is_trained_on(self) -> bool:
        """Whether the shipped model knows any of it."""
        return self.path in TRAINED_FOLDERS or (self.path == DIGITS and not set(self.values) <= set(UNSEEN_SPEAKERS))

    def materials(self, data: Path) -> Iterator[Material]:
        """Its recordings, below the folder of the data."""
        folder = data / self.path
        with (folder / "segments.csv").open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                if row[self.column] in self.values and row["label"] not in self.without:
                    path = (folder / row["file"]).resolve()
                    yield Material(str(path), round(seconds_of(path), 3), self.label, self.name, row[self.part])


@dataclass(frozen=True)
class Sources:
    """The table: packages and folders by name, and the names of each half by label."""

    packages: dict[str, Package]
    folders: dict[str, Folder]
    halves: dict[str, dict[str, list[str]]]

    def materials(self, half: str, work: Path, debs: Path, data: Path | None) -> list[Material]:
        """The recordings of a half, each under a label that the half names its source for."""
        named = self.halves[half]
        found: list[Material] = []
        for name in sorted({name for names in named.values() for name in names}):
            if name in self.packages:
                found += from_package(self.packages[name], work, debs)
            elif data is None:
                raise SystemExit(f"{name}: --data or AUDIOCLASS_DATA must name the folder that holds audio/")
            else:
                found += self.folders[name].materials(data)
        return [one for one in found if one.group in named[one.label]]


def read_sources(table: Path = HERE / "sources.toml") -> Sources:
    """The table, checked: a source is in one half, and neither half holds what the shipped model was trained on."""
    content = tomllib.loads(table.read_text(encoding="utf-8"))
    tables = [*(table.parent / other for other in content.get("tables", [])), table]  # what is said here counts
    packages = {package.name: package for one in tables for package in read_packages(one)}
    folders = {row["name"]: Folder(**row) for row in content.get("folder", [])}
    sources = Sources(packages, folders, {half: content[half] for half in HALVES})
    _check(sources, {package.name for package in read_packages(TRAINED)})
    return sources


def _check(sources: Sources, trained: set[str]) -> None:
    names = {half: {name for label in LABELS for name in of[label]} for half, of in sources.halves.items()}
    known = sources.packages.keys() | sources.folders.keys()
    for half, those in names.items():
        if strange := those - known:
            raise SystemExit(f"{half}: no package and no folder is named {', '.join(sorted(strange))}")
        folders = {name for name in those & sources.folders.keys() if sources.folders[name].is_trained_on}
        if seen := (those & trained) | folders:
            raise SystemExit(f"{half}: the shipped model was trained on {', '.join(sorted(seen))}")
    if both := names["develop"] & names["test"]:
        raise SystemExit(f"in both halves: {', '.join(sorted(both))}")
