"""A corpus as labelled windows: read by the reader of its layout, extracted, each window given its label."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audioclass.data import Corpus, Entry, Features, Segment
from audioclass.engine.features import extract_many
from audioclass.errors import CorpusError, UsageError
from audioclass.parameters import parse_assignments
from audioclass.taxonomy import Taxonomy

if TYPE_CHECKING:
    from audioclass.contracts import CorpusReader
    from audioclass.extraction.recipe import Recipe
    from audioclass.plugins.manager import PluginManager

Progress = Callable[[str, int, int], None]  # what is being done, items done, items in all


@dataclass(frozen=True, eq=False)
class Labelled:
    """Windows of a corpus: (n, d) features, and for each row its entry, segment and what the entry says of it.

    `labels` are sorted and give `y` its meaning; `failures` are recordings that could not be used, with the reason.
    """

    X: np.ndarray
    labels: tuple[str, ...]
    entries: tuple[Entry, ...]
    which: np.ndarray
    segments: tuple[Segment, ...]
    failures: tuple[tuple[Path, str], ...]
    fingerprint: str

    @cached_property
    def y(self) -> np.ndarray:
        """The label index of each row."""
        return self.y_among(self.labels)

    def y_among(self, labels: Sequence[str]) -> np.ndarray:
        """The index of each row's label among these."""
        place = {label: i for i, label in enumerate(labels)}
        return np.array([place.get(entry.label, -1) for entry in self.entries])[self.which]

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of each row as text; a recording where the corpus names none."""
        return np.array([entry.group or str(entry.file) for entry in self.entries])[self.which]

    @cached_property
    def folds(self) -> np.ndarray:
        """The fold that the corpus states for each row, empty where it states none."""
        return np.array([entry.fold for entry in self.entries])[self.which]

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of each row."""
        return np.array([entry.weight for entry in self.entries])[self.which]

    @cached_property
    def clips(self) -> list[str]:
        """What each row is a window of: the file, with the times of its entry where that is a part of it."""
        names = [_clip(entry) for entry in self.entries]
        return [names[i] for i in self.which]

    def take(self, rows: np.ndarray) -> Labelled:
        """Some of the rows; labels and entries stay."""
        segments = tuple(self.segments[i] for i in rows)
        return replace(self, X=self.X[rows], which=self.which[rows], segments=segments)

    def among(self, labels: Sequence[str]) -> Labelled:
        """The same windows, their labels counted among these."""
        return replace(self, labels=tuple(labels))


def load_corpus(
    path: str | Path, manager: PluginManager, reader: str | None = None, settings: Sequence[str] = ()
) -> Corpus:
    """The corpus at a path, by the reader whose layout it has, or by the one that is named."""
    from audioclass.corpora.choosing import read_corpus

    return read_corpus(Path(path), corpus_readers(manager, reader, settings))


def corpus_readers(
    manager: PluginManager, reader: str | None = None, settings: Sequence[str] = ()
) -> list[CorpusReader]:
    """Every reader on offer, or only the one that is named, with settings such as `esc10=true`."""
    if not reader:
        if settings:
            raise UsageError(f"{settings[0]!r} is for one reader; name it with --reader")
        return [manager.make("corpus_reader", offer.name) for offer in manager.offers("corpus_reader")]
    values = parse_assignments(manager.load("corpus_reader", reader), settings)
    return [manager.make("corpus_reader", reader, values)]


def taxonomy_of(corpus: Corpus) -> Taxonomy | None:
    """The tree that the corpus brings along; None where its labels stand side by side."""
    return Taxonomy.of_paths(corpus.paths) if any(len(path) > 1 for path in corpus.paths) else None


def gather(
    corpus: Corpus,
    recipe: Recipe,
    *,
    jobs: int = 1,
    cache: Path | bool | None = None,
    progress: Progress | None = None,
) -> Labelled:
    """Extract every recording of the corpus, or find what was kept of it, and label its windows.

    A window takes the label that covers most of it, where that covers half of the window or half of what is labelled.
    """
    by_file: dict[Path, list[int]] = {}
    for i, entry in enumerate(corpus.entries):
        by_file.setdefault(entry.file, []).append(i)
    parts: dict[Path, tuple[Features, str]] = {}
    failures: list[tuple[Path, str]] = []
    with extract_many(list(by_file), recipe, jobs=jobs, cache=cache) as (_, outcomes):
        for done, outcome in enumerate(outcomes(None), start=1):
            if outcome.entry is None:
                failures.append((outcome.path, outcome.reason))
            else:
                parts[outcome.path] = (outcome.entry.load(recipe), outcome.entry.path.stem)
            if progress is not None:
                progress("extraction", done, len(by_file))
    return _labelled(corpus, by_file, parts, failures, recipe)


def _labelled(
    corpus: Corpus,
    by_file: dict[Path, list[int]],
    parts: dict[Path, tuple[Features, str]],
    failures: list[tuple[Path, str]],
    recipe: Recipe,
) -> Labelled:
    rows, which, segments, said = [], [], [], []
    for file, members in by_file.items():
        if file not in parts:
            continue
        features, content = parts[file]
        owners = owners_of(features.segments, [corpus.entries[i] for i in members])
        kept = np.flatnonzero(owners >= 0)
        if not len(kept):
            failures.append((file, f"{file}: no window of it lies in what is labelled"))
        rows.append(features.X[kept])
        which += [members[owner] for owner in owners[kept]]
        segments += [features.segments[i] for i in kept]
        said += [f"{content} {_said(corpus.entries[i])}" for i in members]
    if not which:
        reason = failures[0][1] if failures else "it is empty"
        raise CorpusError(f"no recording of the corpus could be used: {reason}")
    digest = hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()
    order = tuple(sorted(failures, key=lambda failure: str(failure[0])))
    labels = tuple(sorted({corpus.entries[i].label for i in which}))
    return Labelled(np.concatenate(rows), labels, corpus.entries, np.array(which), tuple(segments), order, digest)


def owners_of(segments: Sequence[Segment], entries: Sequence[Entry]) -> np.ndarray:
    """(n_windows,): which of a recording's entries each window belongs to, -1 for none."""
    starts, ends = (np.array([getattr(s, name) for s in segments]) for name in ("start", "end"))
    first = np.array([entry.start for entry in entries])
    last = np.array([np.inf if entry.end is None else entry.end for entry in entries])
    overlaps = np.minimum(ends[:, None], last) - np.maximum(starts[:, None], first)
    best = overlaps.argmax(axis=1) if len(segments) else np.empty(0, int)
    rows = np.arange(len(segments))
    enough = 0.5 * np.minimum(ends - starts, (last - first)[best])
    return np.where((overlaps[rows, best] >= enough) & (overlaps[rows, best] > 0), best, -1)


def _clip(entry: Entry) -> str:
    if entry.end is None and entry.start == 0:
        return str(entry.file)
    return f"{entry.file}#t={entry.start:g},{'' if entry.end is None else f'{entry.end:g}'}"


def _said(entry: Entry) -> Any:
    return repr((entry.label, entry.start, entry.end, entry.group, entry.weight))
