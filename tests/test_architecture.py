"""Who may import whom: a file imports from its own room and from the levels above it, and few third parties."""

import ast
import itertools
import re
import sys
from pathlib import Path

import pytest
from environments import REPOSITORY

import audioclass

ROOT = Path(audioclass.__file__).parent
ROOMS = {
    "descriptors", "embeddings", "pooling", "kernels", "trainers", "calibrators", "strategies", "criteria", "searches",
    "smoothers", "formats", "corpora",
}  # fmt: skip
TABLE = (
    {"errors", "plain", "data", "display", "markup", "threads"},
    {"parameters", "problems", "taxonomy", "numerics", "label_sets", "outputs", "packages", "recordings", "workers"},
    {"contracts", "trees", "text_files", "storage", "temperature", "label_views"},
    {"hookspecs", "run"},
    {*ROOMS, "audio", "cluster", "evaluation"},
    {"extraction", "index", "segmentation", "reports"},
    {"classifier"},
    {"training"},
    {"testing", "curation"},
    {"plugins"},
    {"engine"},
    {"estimator"},
    {"cli"},
)
LEVELS = {name: level for level, names in enumerate(TABLE) for name in names}
THIRD_PARTIES = {
    "plain": {"tomli_w"},
    "data": {"pandas"},
    "trees": {"scipy"},
    "calibrators": {"scipy"},
    "strategies": {"scipy"},
    "hookspecs": {"pluggy"},
    "plugins": {"packaging", "pluggy"},
    "testing": {"typer"},
    "audio": {"soundfile", "soxr", "av"},
    "descriptors": {"scipy", "librosa"},
    "embeddings": {"librosa"},
    "pooling": {"scipy"},
    "trainers": {"sklearn", "scipy"},
    "evaluation": {"scipy"},
    "training": {"sklearn", "scipy", "joblib"},
    "threads": {"threadpoolctl"},
    "run": {"joblib"},
    "workers": {"joblib"},
    "cluster": {"cloudpickle", "dask", "distributed"},
    "criteria": {"scipy"},
    "searches": {"scipy"},
    "smoothers": {"scipy"},
    "formats": {"pyarrow"},
    "extraction": {"joblib", "pyarrow", "scipy"},
    "engine": {"pandas", "platformdirs", "soundfile"},
    "estimator": {"sklearn"},
    "cli": {"typer", "rich"},
}
PUBLIC = {"__init__", "__main__"}  # the package's own names; they import what they re-export
FILES = sorted(path for path in ROOT.rglob("*.py") if "templates" not in path.parts)


def room_of(path: Path) -> str:
    """The folder below the package that a file is in, or its own name."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def may_import(room: str, other: str) -> bool:
    """From its own room and from the levels above."""
    return room == other or LEVELS[other] < LEVELS[room]


def imported(path: Path) -> list[str]:
    """Every module that a file imports anywhere; relative imports are not used."""
    names = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if room_of(path) == "contracts":  # the hints of a contract may name what a room holds
        tree.body = [node for node in tree.body if not isinstance(node, ast.If)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names += whole if node.module == "audioclass" else [node.module]
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_upwards(path):
    room = room_of(path)
    if room in PUBLIC:
        return
    others = {name.split(".")[1] for name in imported(path) if name.startswith("audioclass.")} - {"__version__"}
    for other in others:
        assert may_import(room, other), f"{room} may not import {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_third_parties_are_those_of_the_table(path):
    allowed = {"numpy", "audioclass", *THIRD_PARTIES.get(room_of(path), set()), *sys.stdlib_module_names}
    assert {name.split(".")[0] for name in imported(path)} <= allowed


def test_every_file_is_in_the_table():
    assert {room_of(path) for path in FILES} <= set(LEVELS) | PUBLIC


@pytest.mark.parametrize(("room", "other"), [("kernels", "trainers"), ("contracts", "plugins"), ("training", "cli")])
def test_the_table_forbids_imports_across_and_downwards(room, other):
    assert not may_import(room, other)
    assert may_import("cli", room)


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "base"])
def test_there_are_no_drawers(name):
    assert not list(ROOT.rglob(f"{name}*"))


def test_the_readme_lists_the_levels_in_their_order():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    [table] = re.findall(r"^\| level \|.*\n\| --- .*\n((?:\|.*\n)+)", readme, flags=re.MULTILINE)
    rows = [re.findall(r"`(\w+)(?:/|\.py)`", row) for row in table.splitlines()]
    ends = [(min(LEVELS[name] for name in row), max(LEVELS[name] for name in row)) for row in rows]
    assert all(above[1] < below[0] for above, below in itertools.pairwise(ends)), ends
    assert {name for row in rows for name in row} >= {path.name for path in ROOT.iterdir() if path.name in LEVELS}
