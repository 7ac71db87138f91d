"""A corpus as labelled windows: its recordings extracted, each window given its label, and what was lost told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from audioclass.data import Clip, Corpus, Cut, Features, Ignored, Segment
from audioclass.engine.datasets import Dataset, clip_name
from audioclass.engine.durations import Durations
from audioclass.engine.features import extract_many
from audioclass.engine.labelled_windows import ClippedRecording
from audioclass.engine.separate_windows import SeparateWindows, cut_separate_windows
from audioclass.engine.window_choice import FittingWindows
from audioclass.errors import AudioFileError, CorpusError
from audioclass.extraction.recipe import Recipe
from audioclass.label_sets import are_multi_label, members_of, window_sets
from audioclass.recordings import FOLDER, irregularity, is_recording, regular
from audioclass.run import Run, silent


def gather(corpus: Corpus, recipe: Recipe, run: Run, *, as_sets: bool | None = None) -> Dataset:
    """Extract every recording of the corpus, or find what is cached of it, and label its windows.

    A window takes the label that covers most of it, where that covers half of the window or half of what is labelled.
    A labelled segment that gets no window so has windows of its own, cut from it alone.
    Of a multi-label corpus, or of any `as_sets`, it takes every label of which that is true; one without a label is an
    example of that where the corpus is continuous, else it is left out.
    Of a damaged recording only the labelled segments before its damage are used: what a label of all of it tells of may
    have been in the part that is lost. A recording that the corpus names and that is not there is a failure too.
    """
    by_file: dict[Path, list[int]] = {}
    for i, clip in enumerate(corpus.clips):
        by_file.setdefault(clip.file, []).append(i)
    if not by_file:
        raise CorpusError("no recording of the corpus could be used: it is empty")
    as_sets = are_multi_label(corpus.clips) if as_sets is None else as_sets
    gathered = _Gathered(corpus, tuple(filter(_is_missed, corpus.ignored)), as_sets=as_sets)
    parts = dict(_extracted(list(by_file), recipe, gathered.failures, run))
    recordings = [  # in the order of the corpus, not of completion
        ClippedRecording(
            file, places, [corpus.clips[i] for i in places], *parts[file], as_sets, is_continuous=corpus.continuous
        )
        for file, places in by_file.items()
        if file in parts
    ]
    without = {recording.file: recording.without_window for recording in recordings}
    separate = cut_separate_windows(corpus.clips, without, recipe, run)
    for recording in recordings:
        gathered.add(recording, separate.get(recording.file))
    return gathered.dataset().remarked(gathered.windows_that_fit(recipe))


def _is_missed(ignored: Ignored) -> bool:
    """Whether a file that was left out is a recording that should be there; a reader may not have said its labels."""
    reason = irregularity(ignored.file)
    return bool(reason) if ignored.labels else is_recording(ignored.file) and reason not in ("", FOLDER)


def _extracted(
    files: Sequence[Path], recipe: Recipe, failures: list[tuple[Path, str]], run: Run
) -> Iterator[tuple[Path, tuple[Features, str, Cut | None]]]:
    """The features of each recording with a name of their content; what fails is put with the failures."""
    with extract_many(files, recipe, replace(run, progress=silent)) as extraction:
        for number, extracted in enumerate(extraction, start=1):
            if extracted.cached is None:
                failures.append((extracted.path, extracted.reason))
            else:
                cached = extracted.cached
                yield extracted.path, (cached.load(recipe), cached.key, cached.cut)
            run.progress("extraction", number, len(files))


class _Gathered:
    """Labelled windows as they are put together, recording by recording."""

    def __init__(self, corpus: Corpus, missing: tuple[Ignored, ...], *, as_sets: bool) -> None:
        self.clips, self._missing = corpus.clips, missing
        self._sets = list[str]() if as_sets else None
        self.failures = [(one.file, f"{one.file}: {one.reason}") for one in missing]
        self._rows: list[np.ndarray] = []
        self._which: list[int] = []
        self._segments: list[Segment] = []
        self._identities: list[str] = []
        self._read: set[Path] = set()
        self._contents: dict[Path, bytes] = {}
        self._lengths: dict[Path, float] = {}
        self._are_separate: list[bool] = []
        self._separate: set[int] = set()
        self._unused: list[int] = []

    def add(self, recording: ClippedRecording, separate: SeparateWindows | None) -> None:
        """The windows of a recording, each given to one of its clips or left out, and those that are separate."""
        file, windows, features = recording.file, recording.windows, recording.features
        self._contents[file] = content_digest(file)
        self._lengths[file] = features.segments[-1].end if features.segments else 0.0
        if recording.cut is None:
            self._read.add(file)
        else:
            self.failures.append((file, recording.damage))
        self._take([recording.places[i] for i in windows.owners], features, windows.rows, windows.names)
        alone: list[int] = []
        if separate is not None:
            alone = separate.owners.tolist()
            names = window_sets(separate.features.segments, recording.clips)[0] if self._sets is not None else []
            self._take(alone, separate.features, np.arange(len(alone)), names, are_separate=True)
        if not any(windows.names) and not alone and not recording.are_lost.any():
            self.failures.append((file, f"{file}: no window of it lies in what is labelled"))
        else:
            self._unused += [i for i in recording.without_window if i not in alone]
        self._identities += [f"{recording.content} {_identity(clip)}" for clip in recording.clips]

    def _take(
        self,
        owners: Sequence[int],
        features: Features,
        rows: np.ndarray,
        names: Sequence[str],
        *,
        are_separate: bool = False,
    ) -> None:
        self._rows.append(features.X[rows])
        self._which += owners
        self._segments += [features.segments[i] for i in rows]
        self._are_separate += [are_separate] * len(rows)
        self._separate |= set(owners) if are_separate else set()
        if self._sets is not None:
            self._sets += names

    def dataset(self) -> Dataset:
        """All of it; a CorpusError where there is nothing."""
        if not self._which or (self._sets is not None and not any(self._sets)):
            reason = self.failures[0][1] if self.failures else "no window lies in what is labelled"
            raise CorpusError(f"no recording of the corpus could be used: {reason}")
        digest = hashlib.sha256("\n".join(sorted(self._identities)).encode()).hexdigest()
        failures = tuple(sorted(self.failures, key=lambda failure: str(failure[0])))
        sets = None if self._sets is None else tuple(self._sets)
        labels = tuple(sorted(set(sets) if sets is not None else {self.clips[i].label for i in self._which}))
        which, segments = np.array(self._which), tuple(self._segments)
        remarks, lost = tuple(self._remarks(labels)), tuple(self._lost(labels))
        X = np.concatenate(self._rows)
        contents, missing = self._contents, self._missing
        are_separate = np.array(self._are_separate) if self._separate else None
        return Dataset(
            X,
            labels,
            self.clips,
            which,
            segments,
            failures,
            digest,
            remarks,
            lost,
            contents,
            missing,
            are_separate,
            self._lengths,
            sets,
        )

    def windows_that_fit(self, recipe: Recipe) -> list[str]:
        """A remark where segments needed windows of their own and other windows would fit them."""
        fitting = FittingWindows.of(Durations.of(self.clips, self._lengths)).applied(recipe)
        if not self._separate or fitting.windows == recipe.windows:
            return []
        return [
            f"{len(self._separate)} of {len(self.clips)} labelled segments have no window of {recipe.window:g} s every"
            f" {recipe.window_hop:g} s and got one of their own: --window {fitting.window:g} --hop"
            f" {fitting.window_hop:g} fits them"
        ]

    def _lost(self, labels: Sequence[str]) -> list[str]:
        unread = {file for file, _ in self.failures} - self._read
        unread_labels = self._single({clip.label for clip in self.clips if clip.file in unread})
        return sorted(unread_labels.union(*(self._single(one.labels) for one in self._missing)) - self._single(labels))

    def _single(self, names: Iterable[str]) -> set[str]:
        """The labels themselves where names are of sets."""
        return set(names) if self._sets is None else {label for name in names for label in members_of(name)}

    def _remarks(self, labels: Sequence[str]) -> Iterator[str]:
        for label in sorted(self._single({clip.label for clip in self.clips}) - self._single(labels)):
            yield f"label {label!r} has no recording that could be used"
        yield from self._empty_segments()
        yield from self._repeated()

    def _empty_segments(self) -> Iterator[str]:
        """A remark of what is labelled and holds nothing."""
        if not self._unused:
            return
        n_points = sum(self.clips[i].start == self.clips[i].end for i in self._unused)
        reasons = [(n_points, "without length"), (len(self._unused) - n_points, "beyond the end of the recording")]
        why = ", ".join(f"{n} {reason}" for n, reason in reasons if n)
        first = clip_name(self.clips[self._unused[0]])
        yield (
            f"{len(self._unused)} of {len(self.clips)} labelled segments hold no sound and are not used: {why}, such as"
            f" {first}; correct their times"
        )

    def _repeated(self) -> Iterator[str]:
        """A remark where a recording stands twice in the corpus, under two names and in two groups."""
        groups: dict[bytes, dict[str, Path]] = {}
        for clip in (self.clips[i] for i in self._which):
            groups.setdefault(self._contents[clip.file], {}).setdefault(clip.held_out_with, clip.file)
        repeated = [list(files.values()) for content, files in groups.items() if content and len(files) > 1]
        if repeated:
            first, second, *_ = repeated[0]
            yield (
                f"{len(repeated)} recordings stand twice in the corpus, in two groups ({first} is {second}):"
                " what is held out of training is in it"
            )


def content_digest(file: Path) -> bytes:
    """What a recording is known by, whatever its name; empty where its content cannot be read again, as a pipe's."""
    try:
        with regular(file).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()[:16]
    except (OSError, AudioFileError):
        return b""


def _identity(clip: Clip) -> str:
    return repr((clip.label, clip.start, clip.end, clip.group, clip.weight))
