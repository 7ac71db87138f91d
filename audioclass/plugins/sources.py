"""The distributions that offer components: our own, those that are installed, and one on disk that is to be checked."""

from __future__ import annotations

import contextlib
import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from audioclass import __version__
from audioclass.errors import UsageError
from audioclass.hookspecs import PROJECT
from audioclass.plugins.manifests import MANIFEST

BUILTINS = (
    "audioclass.calibrators.beta",
    "audioclass.calibrators.gaussian",
    "audioclass.calibrators.isotonic",
    "audioclass.calibrators.platt",
    "audioclass.corpora.corpus_folder",
    "audioclass.corpora.esc50",
    "audioclass.corpora.folders",
    "audioclass.corpora.fsdd",
    "audioclass.corpora.label_files",
    "audioclass.corpora.manifest",
    "audioclass.criteria.alignment",
    "audioclass.criteria.bounds",
    "audioclass.criteria.errors",
    "audioclass.criteria.held_out",
    "audioclass.criteria.parzen",
    "audioclass.criteria.radius_margin",
    "audioclass.criteria.separability",
    "audioclass.criteria.span",
    "audioclass.descriptors.cepstral",
    "audioclass.descriptors.chroma",
    "audioclass.descriptors.contrast",
    "audioclass.descriptors.energy",
    "audioclass.descriptors.harmonicity",
    "audioclass.descriptors.mel",
    "audioclass.descriptors.octaves",
    "audioclass.descriptors.onsets",
    "audioclass.descriptors.prediction",
    "audioclass.descriptors.separation",
    "audioclass.descriptors.spectral",
    "audioclass.descriptors.temporal",
    "audioclass.embeddings.constant_q",
    "audioclass.embeddings.pcen",
    "audioclass.embeddings.pitch",
    "audioclass.embeddings.tempo",
    "audioclass.formats.audacity",
    "audioclass.formats.csv",
    "audioclass.formats.dcase",
    "audioclass.formats.elan",
    "audioclass.formats.jams",
    "audioclass.formats.json",
    "audioclass.formats.parquet",
    "audioclass.formats.raven",
    "audioclass.formats.rttm",
    "audioclass.formats.srt",
    "audioclass.formats.textgrid",
    "audioclass.formats.webvtt",
    "audioclass.kernels.gaussian",
    "audioclass.kernels.gaussian_scaled",
    "audioclass.kernels.linear",
    "audioclass.kernels.polynomial",
    "audioclass.kernels.tanh",
    "audioclass.pooling.cepstra",
    "audioclass.pooling.levels",
    "audioclass.pooling.modulation",
    "audioclass.pooling.patterns",
    "audioclass.pooling.statistics",
    "audioclass.searches.gradient",
    "audioclass.searches.grid",
    "audioclass.searches.lbfgs",
    "audioclass.searches.pattern",
    "audioclass.smoothers.hmm",
    "audioclass.smoothers.moving",
    "audioclass.smoothers.none",
    "audioclass.strategies.dag",
    "audioclass.strategies.dendrogram",
    "audioclass.strategies.nested_dichotomies",
    "audioclass.strategies.one_vs_one",
    "audioclass.strategies.one_vs_rest",
    "audioclass.strategies.output_codes",
    "audioclass.strategies.pairs_and_rest",
    "audioclass.trainers.hard_margin",
    "audioclass.trainers.l2_svm",
    "audioclass.trainers.landmarks",
    "audioclass.trainers.least_squares",
    "audioclass.trainers.nystroem",
    "audioclass.trainers.svm",
    "audioclass.trainers.svr",
)


@dataclass(frozen=True)
class Source:
    """A distribution that offers components: the modules of its entry points and the text of its manifest, if any."""

    distribution: str
    version: str
    modules: tuple[str, ...]
    manifest: str | None = None

    @property
    def is_builtin(self) -> bool:
        """Whether the components are our own."""
        return self.distribution == PROJECT

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def builtin_source() -> Source:
    """Our own components, with the manifest that ships beside this file."""
    return Source(PROJECT, __version__, BUILTINS, files(PROJECT).joinpath(MANIFEST).read_text(encoding="utf-8"))


def installed_sources() -> Iterator[Source]:
    """Every installed distribution with entry points of ours, by name; nothing is imported."""
    found: dict[str, Source] = {}
    for distribution in importlib.metadata.distributions():
        modules = tuple(entry.value for entry in distribution.entry_points if entry.group == PROJECT)
        if modules:
            name = distribution.metadata["Name"] or "unnamed"
            source = Source(name, distribution.version or "unknown", modules, _manifest_text(distribution))
            found.setdefault(canonical(name), source)  # the first on the path hides the others, as for imports
    yield from (found[name] for name in sorted(found))


def read_source(path: Path) -> Source:
    """The source of a distribution's folder or of a single module, importable from now on in this process."""
    if path.suffix == ".py" and path.is_file():
        _make_importable(path.parent)
        return Source(path.stem, "not installed", (path.stem,))
    if not (path / "pyproject.toml").is_file():
        raise UsageError(f"{path}: neither a module nor a folder with a pyproject.toml")
    project = _project(path / "pyproject.toml")
    modules = project.get("entry-points", {}).get(PROJECT, {})
    if not isinstance(modules, dict) or not modules:
        raise UsageError(f"{path / 'pyproject.toml'}: no [project.entry-points.{PROJECT}]")
    for folder in (path, path / "src"):
        _make_importable(folder)
    return Source(project.get("name", path.name), str(project.get("version", "not stated")), tuple(modules.values()))


def manifest_of(path: Path) -> str | None:
    """The text of the manifest in a distribution's folder, wherever in it; None where there is none."""
    found = sorted(path.rglob(MANIFEST)) if path.is_dir() else []
    return found[0].read_text(encoding="utf-8") if found else None


def canonical(name: str) -> str:
    """A distribution's name as packaging tools compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _manifest_text(distribution: importlib.metadata.Distribution) -> str | None:
    """The manifest, wherever in the distribution it lies; None where there is none."""
    for path in distribution.files or ():
        if path.name == MANIFEST:
            with contextlib.suppress(OSError, UnicodeDecodeError):
                return path.locate().read_text(encoding="utf-8")
    return None


def _project(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error


def _make_importable(folder: Path) -> None:
    if folder.is_dir() and str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))
