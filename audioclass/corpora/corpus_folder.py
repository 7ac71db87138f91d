"""Our own corpus: one folder that says everything, whose path is all that a reader is told.

    segments.csv     file,label[,start,end,group,fold,weight]: the one file that must be there
    taxonomy.toml    the tree of labels
    corpus.toml      title, licence, source; folds = how many; [checksums] file = "SHA-256 in hexadecimal digits";
                     continuous = true where recordings are labelled from end to end: the rest holds no label

Files lie below the folder; a link may lead out of it, a path may not.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from audioclass.contracts import CorpusReader
from audioclass.corpora.manifest import read_manifest
from audioclass.corpora.tones import write_tone
from audioclass.data import Clip, Corpus, Ignored
from audioclass.errors import CorpusError, did_you_mean, unknown_name
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component
from audioclass.recordings import ABSENT, irregularity
from audioclass.taxonomy import Taxonomy
from audioclass.text_files import read_text, shown

SEGMENTS, TAXONOMY, ABOUT = "segments.csv", "taxonomy.toml", "corpus.toml"
TEXTS = ("title", "licence", "source")
KEYS = (*TEXTS, "folds", "checksums", "continuous")
CHECKSUM = re.compile(r"[0-9a-f]{64}")


@component
class CorpusFolder:
    """A folder with segments.csv and, where wanted, taxonomy.toml and corpus.toml."""

    name: ClassVar[str] = "corpus_folder"

    def matches(self, path: Path) -> bool:
        """By segments.csv."""
        return not irregularity(path / SEGMENTS)

    def read(self, path: Path) -> Corpus:
        """Entries in the order of segments.csv, with the tree and what the corpus says of itself."""
        corpus = _with_tree(read_manifest(path / SEGMENTS, stays_inside=True), path / TAXONOMY)
        if irregularity(path / ABOUT) == ABSENT:
            return corpus
        about = _read_about(path / ABOUT)
        _check_folds(path / ABOUT, about.get("folds"), corpus.clips)
        checksums = {path / os.path.normpath(file): digest for file, digest in about.get("checksums", {}).items()}
        texts, sources = {key: about[key] for key in TEXTS if key in about}, (*corpus.sources, path / ABOUT)
        is_continuous = about.get("continuous", False)
        return replace(corpus, about=texts, checksums=checksums, sources=sources, continuous=is_continuous)

    def example(self, folder: Path) -> Path:
        """Two labels below a group and one beside it."""
        lines = ["file,label,start,end,fold"]
        for i, label in enumerate(("dog", "cat", "engine")):
            write_tone(folder / "audio" / f"{label}.wav", 300 * (i + 1))
            lines.append(f"audio/{label}.wav,{label},0,0.5,{i % 2 + 1}")
        (folder / SEGMENTS).write_text("\n".join([*lines, ""]), encoding="utf-8")
        (folder / TAXONOMY).write_text('animal = ["cat", "dog"]\n[engine]\n', encoding="utf-8")
        (folder / ABOUT).write_text('title = "Three tones"\nlicence = "CC0-1.0"\nfolds = 2\n', encoding="utf-8")
        return folder


@hookimpl
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer our own folder."""
    return [CorpusFolder]


def _with_tree(corpus: Corpus, path: Path) -> Corpus:
    """The corpus with its labels placed in the tree; a label of the tree without a clip is left out of it."""
    if irregularity(path) == ABSENT:
        return corpus
    taxonomy = Taxonomy.read(path)
    for label in corpus.labels:
        if label not in taxonomy.labels:
            raise CorpusError(f"{path}: label {label!r} is not in it{did_you_mean(label, taxonomy.labels)}")
    missing = [Ignored(path, f"label {label!r} has no clip") for label in taxonomy.labels if label not in corpus.labels]
    paths = tuple(path for path in taxonomy.leaf_paths if path[-1] in corpus.labels)
    return replace(corpus, ignored=(*corpus.ignored, *missing), paths=paths, sources=(*corpus.sources, path))


def _read_about(path: Path) -> Mapping[str, Any]:
    try:
        about = tomllib.loads(read_text(path).replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise CorpusError(f"{path}: not a TOML file: {error}") from error
    for key in about:
        if key not in KEYS:
            raise CorpusError(f"{path}: {unknown_name('key', key, KEYS)}")
    for key in TEXTS:
        if not isinstance(about.get(key, ""), str):
            raise CorpusError(f"{path}: {key} must be a text")
    if not isinstance(about.get("continuous", False), bool):
        raise CorpusError(f"{path}: continuous must be true or false")
    _check_checksums(path, about.get("checksums", {}))
    return about


def _check_checksums(path: Path, checksums: Any) -> None:
    if not isinstance(checksums, Mapping):
        raise CorpusError(f"{path}: checksums must be a table")
    for file, digest in checksums.items():
        if not isinstance(digest, str) or not CHECKSUM.fullmatch(digest):
            raise CorpusError(f"{path}: checksum of {shown(file)} must be the 64 hexadecimal digits of a SHA-256")


def _check_folds(path: Path, n_folds: Any, clips: Sequence[Clip]) -> None:
    folds = {clip.fold for clip in clips} - {""}
    if n_folds is None:
        return
    if isinstance(n_folds, bool) or not isinstance(n_folds, int) or n_folds < 2:
        raise CorpusError(f"{path}: folds={n_folds!r} must be a number of at least 2")
    if len(folds) != n_folds:
        raise CorpusError(f"{path}: folds={n_folds}, {SEGMENTS} has {len(folds)} of them")
