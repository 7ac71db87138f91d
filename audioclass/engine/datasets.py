"""A corpus as labelled windows: read by the reader of its layout, extracted, each window given its label."""

from __future__ import annotations

import contextlib
import hashlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from audioclass.contracts import CorpusReader, LabelFormat, UsesFormats
from audioclass.corpora.choosing import read_corpus
from audioclass.data import Clip, Corpus, Cut, Features, Ignored, Segment
from audioclass.engine.durations import Durations
from audioclass.engine.features import extract_many
from audioclass.engine.separate_windows import SeparateWindows, cut_separate_windows
from audioclass.engine.window_choice import FittingWindows
from audioclass.errors import AudioFileError, CorpusError, PluginError, UsageError
from audioclass.extraction.recipe import Recipe
from audioclass.label_sets import LabelSets, are_multi_label, members_of, window_sets
from audioclass.outputs import refuse_inputs
from audioclass.parameters import parse_assignments
from audioclass.recordings import FOLDER, irregularity, is_recording, regular
from audioclass.run import Registry, Run, silent
from audioclass.taxonomy import Taxonomy

CUT_TOLERANCE = 0.005  # seconds: label files round times


@dataclass(frozen=True, eq=False)
class Dataset:
    """Windows of a corpus: (n, d) features, and for each row its clip, segment and what the clip says of it.

    `labels` are sorted and give `y` its meaning; `failures` are recordings that could not be used, with the reason.
    `remarks` say what else of the corpus was not used, `lost` are labels whose recordings could not be read.
    `contents` are digests of the files; `missing` are those of the failures that are not there, with their labels.
    `are_separate` tells which windows were cut for one clip alone, None where none was; `lengths` are those of the
    files in seconds.
    Of a multi-label corpus `sets` names for each row the labels that hold in it, `music+speech`, and `labels` are the
    names of the sets that occur; the clip of a row is then the one that it shares most time with.
    """

    X: np.ndarray
    labels: tuple[str, ...]
    clips: tuple[Clip, ...]
    which: np.ndarray
    segments: tuple[Segment, ...]
    failures: tuple[tuple[Path, str], ...]
    fingerprint: str
    remarks: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    contents: Mapping[Path, bytes] = field(default_factory=dict)
    missing: tuple[Ignored, ...] = ()
    are_separate: np.ndarray | None = None
    lengths: Mapping[Path, float] = field(default_factory=dict)
    sets: tuple[str, ...] | None = None

    @classmethod
    def empty(cls, n_features: int) -> Dataset:
        """No window at all."""
        return cls(np.empty((0, n_features)), (), (), np.empty(0, dtype=int), (), (), "")

    @cached_property
    def y(self) -> np.ndarray:
        """The label index of each row."""
        return self.y_among(self.labels)

    def y_among(self, labels: Sequence[str]) -> np.ndarray:
        """The index of each row's label among these."""
        place = {label: i for i, label in enumerate(labels)}
        if self.sets is not None:
            return np.array([place.get(name, -1) for name in self.sets], dtype=int)
        return np.asarray(np.array([place.get(clip.label, -1) for clip in self.clips], dtype=int)[self.which])

    @property
    def is_multi_label(self) -> bool:
        """Whether several labels may hold in a window."""
        return self.sets is not None

    @cached_property
    def label_sets(self) -> LabelSets:
        """The single labels, and the set of them that each of `labels` is."""
        return LabelSets.of_names(self.labels)

    @property
    def single_labels(self) -> tuple[str, ...]:
        """What a model of it gives probabilities of."""
        return self.label_sets.labels if self.is_multi_label else self.labels

    def holds_among(self, labels: Sequence[str]) -> np.ndarray:
        """(n, n_labels): whether each of these single labels holds in a row."""
        names = [self.clips[i].label for i in self.which] if self.sets is None else self.sets
        members = {name: np.isin(labels, members_of(name)) for name in set(names)}
        return np.array([members[name] for name in names]).reshape(len(names), len(labels))

    def as_sets(self) -> Dataset:
        """The same as of a multi-label corpus, whatever it is."""
        return self if self.is_multi_label else replace(self, sets=tuple(self.clips[i].label for i in self.which))

    @cached_property
    def groups(self) -> np.ndarray:
        """The group of each row as text; a recording where the corpus names none."""
        return np.asarray(np.array([clip.held_out_with for clip in self.clips])[self.which])

    @cached_property
    def folds(self) -> np.ndarray:
        """The fold that the corpus states for each row, empty where it states none."""
        return np.asarray(np.array([clip.fold for clip in self.clips])[self.which])

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of each row."""
        return np.asarray(np.array([clip.weight for clip in self.clips])[self.which])

    @cached_property
    def clip_names(self) -> list[str]:
        """What each row is a window of: the file, with the times of its clip where that is a part of it.

        Of a multi-label corpus, with those of the stretch in which the same labels hold.
        """
        if self.sets is not None:
            return self._stretch_names(self.sets)
        names = [_clip_name(clip) for clip in self.clips]
        return [names[i] for i in self.which]

    def _stretch_names(self, sets: Sequence[str]) -> list[str]:
        names: list[str] = []
        before: tuple[Path, str] | None = None
        for i, (which, name) in enumerate(zip(self.which.tolist(), sets, strict=True)):
            file = self.clips[which].file
            is_new = before != (file, name)
            names.append(f"{file}#t={self.segments[i].start:g}" if is_new else names[-1])
            before = file, name
        return names

    def label_sequences(self, hop: float) -> list[np.ndarray]:
        """The label indices of successive windows, for each stretch of a recording that several clips share.

        A stretch ends where more than `hop` seconds lie between windows: only those that follow one another at once, as
        they do where a recording is classified, tell how labels follow one another.
        """
        if self.are_separate is not None:  # they lie among the others, at times of their own
            return replace(self.take(np.flatnonzero(~self.are_separate)), are_separate=None).label_sequences(hop)
        files = np.unique([str(clip.file) for clip in self.clips], return_inverse=True)[1][self.which]
        starts = np.array([segment.start for segment in self.segments])
        order = np.lexsort((starts, files))
        is_break = (np.diff(files[order]) != 0) | (np.diff(starts[order]) > 1.5 * hop)
        stretches = np.split(order, np.flatnonzero(is_break) + 1)
        return [self.y[rows] for rows in stretches if len(np.unique(self.which[rows])) > 1]

    def take(self, rows: np.ndarray) -> Dataset:
        """Some of the rows; labels and clips stay."""
        segments = tuple(self.segments[i] for i in rows)
        are_separate = None if self.are_separate is None else self.are_separate[rows]
        sets = None if self.sets is None else tuple(self.sets[i] for i in rows)
        return replace(
            self, X=self.X[rows], which=self.which[rows], segments=segments, are_separate=are_separate, sets=sets
        )

    def regrouped(self, names: Mapping[str, str]) -> Dataset:
        """The same with other names of some groups; those of one name are one group."""
        if not names:
            return self
        clips = (replace(clip, group=names.get(clip.held_out_with, clip.group)) for clip in self.clips)
        return replace(self, clips=tuple(clips))

    def remarked(self, remarks: Sequence[str]) -> Dataset:
        """The same with further remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))

    def among(self, labels: Sequence[str]) -> Dataset:
        """The same windows, their labels counted among these."""
        return replace(self, labels=tuple(labels))


def read_corpus_at(path: str | Path, run: Run, reader: str | None = None, settings: Sequence[str] = ()) -> Corpus:
    """The corpus at a path, by the reader whose layout it has, or by the one that is named.

    Refused before any work where an output of the run is one of its files.
    """
    corpus = read_corpus(Path(path), corpus_readers(run.registry, reader, settings))
    refuse_inputs(run.outputs, (Path(path), *files_of(corpus)))
    return corpus


def files_of(corpus: Corpus) -> Iterator[Path]:
    """The files of a corpus: what says its labels, and its recordings, those that are left out among them."""
    yield from corpus.sources
    yield from (clip.file for clip in corpus.clips)
    yield from (one.file for one in corpus.ignored if is_recording(one.file))


def corpus_readers(registry: Registry, reader: str | None = None, settings: Sequence[str] = ()) -> list[CorpusReader]:
    """Every reader there is, or only the one that is named, with settings such as `esc10=true`.

    A reader of label files is handed every format that loads.
    """
    if reader:
        values = parse_assignments(registry.load("corpus_reader", reader), settings)
        readers = [registry.make("corpus_reader", reader, values)]
    elif settings:
        raise UsageError(f"{settings[0]!r} is for one reader; name it with --reader")
    else:
        return [one for name in registry.names("corpus_reader") if (one := _reader_if_it_works(registry, name))]
    return [_with_formats(one, registry) for one in readers]


def _reader_if_it_works(registry: Registry, name: str) -> CorpusReader | None:
    """The reader of a name that nobody asked for; None where its plugin fails, which is told."""
    try:
        return _with_formats(registry.make("corpus_reader", name), registry)
    except PluginError as error:
        warnings.warn(f"{error}; corpora are read without it", stacklevel=2)
        return None


def _with_formats(reader: CorpusReader, registry: Registry) -> CorpusReader:
    return reader.with_formats(label_formats(registry)) if isinstance(reader, UsesFormats) else reader


def label_formats(registry: Registry) -> list[LabelFormat]:
    """Every format; one that does not load is in the manager's quarantine, with the reason."""
    formats: list[LabelFormat] = []
    for name in registry.names("format"):
        with contextlib.suppress(PluginError):
            formats.append(registry.make("format", name))
    return formats


def tree_for(
    corpus: Corpus, labels: Sequence[str], asked: Taxonomy | Literal["learn"] | None = None
) -> Taxonomy | None:
    """The taxonomy that was asked for: one that is given, none where it is to be learnt, else the corpus's own."""
    if asked is not None:
        return None if isinstance(asked, str) else asked
    paths = [path for path in corpus.paths if path[-1] in labels]
    return Taxonomy.of_paths(paths) if any(len(path) > 1 for path in paths) else None


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
    without = {
        file: _without_window(corpus.clips, by_file[file], *parts[file], as_sets=as_sets)
        for file in by_file
        if file in parts
    }
    separate = cut_separate_windows(corpus.clips, without, recipe, run)
    for file in (file for file in by_file if file in parts):  # in the order of the corpus, not of completion
        gathered.add(file, by_file[file], *parts[file], separate.get(file))
    return gathered.dataset().remarked(gathered.windows_that_fit(recipe))


def _without_window(
    clips: Sequence[Clip], members: Sequence[int], features: Features, _: str, cut: Cut | None, *, as_sets: bool
) -> list[int]:
    """The clips of a recording that no regular window is given to, though what they tell of could be read."""
    among = [clips[i] for i in members]
    owners, are_lost = _owners(features, among, cut)
    is_used = window_sets(features.segments, among)[1] if as_sets else np.isin(np.arange(len(members)), owners)
    return [i for place, i in enumerate(members) if not is_used[place] and not are_lost[place]]


def _owners(features: Features, clips: Sequence[Clip], cut: Cut | None) -> tuple[np.ndarray, np.ndarray]:
    """Which of a recording's clips each window belongs to, -1 for none, and which clips are lost with its damage."""
    owners = owners_of(features.segments, clips)
    are_lost = np.array([cut is not None and reaches_beyond(clip, cut) for clip in clips])
    return np.where((owners >= 0) & ~are_lost[owners], owners, -1), are_lost


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
        self._is_continuous, self._sets = corpus.continuous, list[str]() if as_sets else None
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

    def add(
        self,
        file: Path,
        members: Sequence[int],
        features: Features,
        content: str,
        cut: Cut | None,
        separate: SeparateWindows | None,
    ) -> None:
        """The windows of a recording, each given to one of its clips or left out, and those that are separate."""
        self._contents[file] = content_digest(file)
        self._lengths[file] = features.segments[-1].end if features.segments else 0.0
        if self._sets is not None:
            self._add_sets(self._sets, file, members, features, content, cut, separate)
            return
        owners, are_lost = _owners(features, [self.clips[i] for i in members], cut)
        if cut is None:
            self._read.add(file)
        else:
            self.failures.append((file, f"{file}: {cut.reason}; {_part_used(int(are_lost.sum()), len(members))}"))
        used = np.flatnonzero(owners >= 0)
        owning = [members[owner] for owner in owners[used]]
        self._take(owning, features, used, are_separate=False)
        if separate is not None:
            owning += separate.owners.tolist()
            self._take(separate.owners.tolist(), separate.features, np.arange(len(separate.owners)), are_separate=True)
        if not owning and not are_lost.any():
            self.failures.append((file, f"{file}: no window of it lies in what is labelled"))
        else:
            lost = {i for i, is_lost in zip(members, are_lost.tolist(), strict=True) if is_lost}
            self._unused += [i for i in members if i not in lost.union(owning)]
        self._identities += [f"{content} {_identity(self.clips[i])}" for i in members]

    def _add_sets(
        self,
        sets: list[str],
        file: Path,
        members: Sequence[int],
        features: Features,
        content: str,
        cut: Cut | None,
        separate: SeparateWindows | None,
    ) -> None:
        """The same where several labels may hold in a window; one that a lost clip reaches into is left out."""
        clips = [self.clips[i] for i in members]
        names, is_used = window_sets(features.segments, clips)
        is_lost = np.array([cut is not None and reaches_beyond(clip, cut) for clip in clips])
        shared = shared_times(features.segments, clips)
        is_known = np.array([bool(name) or self._is_continuous for name in names], dtype=bool)
        rows = np.flatnonzero(is_known & ~(shared[:, is_lost] > 0).any(axis=1))
        if cut is None:
            self._read.add(file)
        else:
            self.failures.append((file, f"{file}: {cut.reason}; {_part_used(int(is_lost.sum()), len(clips))}"))
        self._take([members[owner] for owner in shared[rows].argmax(axis=1)], features, rows, are_separate=False)
        sets += [names[i] for i in rows]
        alone: list[int] = []
        if separate is not None:
            alone = separate.owners.tolist()
            self._take(alone, separate.features, np.arange(len(alone)), are_separate=True)
            sets += window_sets(separate.features.segments, clips)[0]
        if not any(names[i] for i in rows) and not alone and not is_lost.any():
            self.failures.append((file, f"{file}: no window of it lies in what is labelled"))
        else:
            unused = np.flatnonzero(~is_used & ~is_lost).tolist()
            self._unused += [members[i] for i in unused if members[i] not in alone]
        self._identities += [f"{content} {_identity(clip)}" for clip in clips]

    def _take(self, owners: Sequence[int], features: Features, rows: np.ndarray, *, are_separate: bool) -> None:
        self._rows.append(features.X[rows])
        self._which += owners
        self._segments += [features.segments[i] for i in rows]
        self._are_separate += [are_separate] * len(rows)
        self._separate |= set(owners) if are_separate else set()

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
        first = _clip_name(self.clips[self._unused[0]])
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


def owners_of(segments: Sequence[Segment], clips: Sequence[Clip]) -> np.ndarray:
    """(n_windows,): which of a recording's clips each window belongs to, -1 for none."""
    starts, ends = (np.array([getattr(s, name) for s in segments]) for name in ("start", "end"))
    first, last = _bounds(clips)
    overlaps = shared_times(segments, clips)
    best = overlaps.argmax(axis=1) if len(segments) else np.empty(0, int)
    rows = np.arange(len(segments))
    enough = 0.5 * np.minimum(ends - starts, (last - first)[best])
    return np.where((overlaps[rows, best] >= enough) & (overlaps[rows, best] > 0), best, -1)


def shared_times(segments: Sequence[Segment], clips: Sequence[Clip]) -> np.ndarray:
    """(n_windows, n_clips): the seconds that each window shares with each clip; below 0 the seconds between them."""
    starts, ends = (np.array([getattr(s, name) for s in segments]) for name in ("start", "end"))
    first, last = _bounds(clips)
    return np.asarray(np.minimum(ends[:, None], last) - np.maximum(starts[:, None], first))


def _bounds(clips: Sequence[Clip]) -> tuple[np.ndarray, np.ndarray]:
    first = np.array([clip.start for clip in clips])
    return first, np.array([np.inf if clip.end is None else clip.end for clip in clips])


def reaches_beyond(clip: Clip, cut: Cut) -> bool:
    """Whether a part of the clip is lost with what could not be read."""
    return clip.end is None or clip.end > cut.seconds + CUT_TOLERANCE


def _part_used(n_lost: int, n_clips: int) -> str:
    if n_lost < n_clips:
        return f"{n_clips - n_lost} of its {n_clips} labelled segments are used, those before"
    return "not used, for what is labelled reaches beyond"


def _clip_name(clip: Clip) -> str:
    if clip.end is None and clip.start == 0:
        return str(clip.file)
    return f"{clip.file}#t={clip.start:g},{'' if clip.end is None else f'{clip.end:g}'}"


def _identity(clip: Clip) -> str:
    return repr((clip.label, clip.start, clip.end, clip.group, clip.weight))
