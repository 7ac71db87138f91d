"""The values that flow from a recording to its segments, and the table and corpus at the two ends.

A *recording* is one audio file or stream, from its first sample to its last. A *clip* is a labelled stretch of a
recording, or all of it: what a corpus lists, what training learns from and evaluation counts. A *window* is a stretch
of fixed length, set by the recipe, that features describe: a row of `X`, classified by itself. A *segment* is any
stretch of time with a start, an end and maybe a label; as a result it joins neighbouring windows of one label.

All values are frozen: their arrays are read-only views of what was given. Times are seconds, time runs down the rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pandas import DataFrame

SUM_TOLERANCE = 1e-6
QUIETEST = 1.5 / 32768  # one and a half steps of 16 bits: digital silence is zeros, and the dither around them
SHORTEST_PADDING = 0.1  # seconds of it: what is shorter belongs to the sounds beside it


def frozen_array(array: np.ndarray, ndim: int, name: str) -> np.ndarray:
    """A read-only view with the stated number of axes."""
    view = np.asarray(array).view()
    if view.ndim != ndim:
        raise ValueError(f"{name} has shape {view.shape}, must have {ndim} axes")
    view.flags.writeable = False
    return view


def _freeze(value: object, name: str, ndim: int) -> None:
    object.__setattr__(value, name, frozen_array(getattr(value, name), ndim, name))


@dataclass(frozen=True, eq=False)
class Block:
    """A stretch of audio: (n_samples, n_channels), the first of them at sample `start` of the recording."""

    samples: np.ndarray
    sample_rate: int
    start: int = 0

    def __post_init__(self) -> None:
        _freeze(self, "samples", 2)
        if self.sample_rate <= 0:
            raise ValueError(f"sample_rate={self.sample_rate} must be positive")


@dataclass(frozen=True)
class Framing:
    """How a recording is cut: its sample rate, and the length and distance of its frames in samples.

    At a `speed` other than 1 the frames are those of the recording and the frequencies those of the recording played so
    much faster.
    """

    sample_rate: int
    frame_length: int
    hop_length: int
    speed: float = 1.0

    def __post_init__(self) -> None:
        for name in ("sample_rate", "frame_length", "hop_length", "speed"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name}={getattr(self, name)} must be positive")

    @property
    def frame_rate(self) -> float:
        """Frames per second."""
        return self.sample_rate / self.hop_length

    @property
    def bin_rate(self) -> float:
        """The sample rate as frequencies of bins count it: bin k lies at k · `bin_rate` / `frame_length` hertz."""
        return self.sample_rate * self.speed

    @property
    def n_bins(self) -> int:
        """Bins from 0 Hz to half the sample rate: fewer than a frame has where it is played faster, else more."""
        return int(self.frame_length / 2 / self.speed + 1e-9) + 1


@dataclass(frozen=True)
class Segment:
    """A stretch of time and what it holds; `label` is empty where nothing is known of it yet.

    A window that features describe has so many seconds of `padding`: digital silence, which they leave out.
    """

    start: float
    end: float
    label: str = ""
    padding: float = field(default=0.0, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end < float("inf"):
            raise ValueError(f"end {self.end} is before start {self.start}, or one of them is no time")

    @property
    def duration(self) -> float:
        """Seconds from start to end."""
        return self.end - self.start

    @property
    def described(self) -> float:
        """Seconds of a window that its features describe."""
        return self.duration - self.padding


@dataclass(frozen=True)
class Cut:
    """Where a damaged recording could be read no further, in seconds, and why, without the name of the recording."""

    seconds: float
    reason: str


@dataclass(frozen=True, eq=False)
class Features:
    """The feature matrix: row i of `X` describes `segments[i]`; columns keep the group they came from."""

    X: np.ndarray
    columns: tuple[str, ...]
    groups: tuple[str, ...]
    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        _freeze(self, "X", 2)
        _check_columns(self.X, self.columns, self.groups)
        if len(self.segments) != len(self.X):
            raise ValueError(f"{len(self.segments)} segments for {len(self.X)} rows of X")

    @classmethod
    def joined(cls, chunks: Iterable[Features], columns: tuple[str, ...], groups: tuple[str, ...]) -> Features:
        """The rows of all chunks, one after the other; every chunk has these columns. None give no rows."""
        held = list(chunks)
        X = np.concatenate([chunk.X for chunk in held]) if held else np.empty((0, len(columns)), np.float32)
        return cls(X, columns, groups, tuple(segment for chunk in held for segment in chunk.segments))

    def rows(self, which: slice) -> Features:
        """Some of the rows with their segments."""
        return replace(self, X=self.X[which], segments=self.segments[which])


@dataclass(frozen=True, eq=False)
class Contours:
    """Level and colour of a recording over time, in cells of `cell` seconds of which the first begins at `start`.

    `levels` are dB of full scale, rounded down; `bands` are (n_cells, n_bands) levels of frequency bands in dB. What
    lies before the first cell of a recording was left out as digital silence.
    """

    levels: np.ndarray
    bands: np.ndarray
    cell: float
    start: float = 0.0

    def __post_init__(self) -> None:
        _freeze(self, "levels", 1)
        _freeze(self, "bands", 2)
        if len(self.levels) != len(self.bands):
            raise ValueError(f"{len(self.levels)} levels, {len(self.bands)} rows of bands")
        if not self.cell > 0 or not self.start >= 0:
            raise ValueError(f"cells of {self.cell} s from {self.start} s on")

    @classmethod
    def joined(cls, parts: Sequence[Contours]) -> Contours:
        """The cells of all parts, one after the other; there is one part at least."""
        levels, bands = (np.concatenate([getattr(part, name) for part in parts]) for name in ("levels", "bands"))
        return cls(levels, bands, parts[0].cell, parts[0].start)

    def split(self, count: int) -> tuple[Contours, Contours]:
        """The first cells, and the rest."""
        first = replace(self, levels=self.levels[:count], bands=self.bands[:count])
        start = self.start + len(first.levels) * self.cell
        return first, replace(self, levels=self.levels[count:], bands=self.bands[count:], start=start)


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Posterior probabilities of the leaf labels: row i of `P` is `segments[i]`, column j is `labels[j]`.

    `strangeness` is how little each row is like what was trained on, where the model knows that. Rows sum to 1, but for
    labels that are `independent`: several of them may hold at once, and each probability is of that label alone.
    """

    P: np.ndarray
    labels: tuple[str, ...]
    segments: tuple[Segment, ...]
    strangeness: np.ndarray | None = None
    independent: bool = False

    def __post_init__(self) -> None:
        _freeze(self, "P", 2)
        if self.strangeness is not None:
            _freeze(self, "strangeness", 1)
            if len(self.strangeness) != len(self.segments):
                raise ValueError(f"{len(self.strangeness)} values of strangeness for {len(self.segments)} segments")
        if self.P.shape != (len(self.segments), len(self.labels)):
            expected = (len(self.segments), len(self.labels))
            raise ValueError(f"P has shape {self.P.shape}, must have {expected}: segments by labels")
        if self.independent:
            if not np.all((self.P >= 0) & (self.P <= 1)):
                raise ValueError("independent probabilities must lie from 0 to 1")
        elif not np.all(self.P >= 0) or not np.allclose(self.P.sum(axis=1), 1, rtol=0, atol=SUM_TOLERANCE):
            raise ValueError("rows of P must be at least 0 and sum to 1")

    @classmethod
    def joined(cls, parts: Sequence[Posteriors]) -> Posteriors:
        """The rows of all parts, one after the other; strangeness where all of them that have rows know it."""
        filled = [part for part in parts if part.segments] or list(parts[:1])
        known = [part.strangeness for part in filled if part.strangeness is not None]
        return cls(
            np.concatenate([part.P for part in filled]),
            filled[0].labels,
            tuple(segment for part in filled for segment in part.segments),
            np.concatenate(known) if len(known) == len(filled) else None,
            filled[0].independent,
        )

    def rows(self, which: slice) -> Posteriors:
        """Some of the rows with their segments."""
        strangeness = None if self.strangeness is None else self.strangeness[which]
        return replace(self, P=self.P[which], segments=self.segments[which], strangeness=strangeness)

    def of_group(self, labels: Sequence[str]) -> np.ndarray:
        """Posterior of a group of labels: the sum over its leaves, (n_segments,)."""
        return np.asarray(self.P[:, [self.labels.index(label) for label in labels]].sum(axis=1))


@dataclass(frozen=True, eq=False)
class Result:
    """Classified segments of one or more recordings: the one table that every format projects.

    Row i is `segments[i]` of `files[i]` with posteriors `P[i]` over `labels`; `paths` gives for each label
    the names of the groups that hold it, larger ones first, and its own. `sample_rates` are those of the recordings, by
    file, where they are known. `cuts` tells of recordings that are damaged: their segments end where they could be read
    no further.

    `novelty` is for each segment the p-value that it belongs to what the model was trained on, where the model knows
    that: small is strange. `sets` are the labels that hold the true one at the risk that was asked for, likelier ones
    first, or the name of a group of them. Segments touch and never overlap, but for labels that are `independent`: each
    has segments of its own, ordered by start.
    """

    files: tuple[str, ...]
    segments: tuple[Segment, ...]
    P: np.ndarray
    labels: tuple[str, ...]
    paths: tuple[tuple[str, ...], ...] = ()
    sample_rates: Mapping[str, int] = field(default_factory=dict)
    cuts: Mapping[str, Cut] = field(default_factory=dict)
    novelty: np.ndarray | None = None
    sets: tuple[tuple[str, ...], ...] | None = None
    independent: bool = False

    def __post_init__(self) -> None:
        _freeze(self, "P", 2)
        if self.novelty is not None:
            _freeze(self, "novelty", 1)
        for name in ("novelty", "sets"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self.segments):
                raise ValueError(f"{len(values)} {name} for {len(self.segments)} segments")
        if len(self.files) != len(self.segments):
            raise ValueError(f"{len(self.files)} files for {len(self.segments)} segments")
        if self.P.shape != (len(self.segments), len(self.labels)):
            raise ValueError(f"P has shape {self.P.shape}, must have {(len(self.segments), len(self.labels))}")
        object.__setattr__(self, "paths", self.paths or tuple((label,) for label in self.labels))

    def to_pandas(self) -> DataFrame:
        """A row for each segment: file, start, end, label, and `posterior_…` for each label; needs pandas.

        `novelty` and `set` come before the posteriors where the result has them.
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("a data frame needs pandas: pip install pandas") from error
        times = {key: [getattr(segment, key) for segment in self.segments] for key in ("start", "end", "label")}
        posteriors = {f"posterior_{label}": column for label, column in zip(self.labels, self.P.T, strict=True)}
        known = {"novelty": self.novelty, "set": None if self.sets is None else list(self.sets)}
        extra = {name: values for name, values in known.items() if values is not None}
        return DataFrame({"file": list(self.files), **times, **extra, **posteriors})


@dataclass(frozen=True)
class Annotations:
    """What a label file says: the segments of each recording, in order of time, by the name that the file gives it.

    The name is empty where the file gives none. `left_out` tells of what else the file holds and why it is no segment.
    """

    recordings: Mapping[str, Sequence[Segment]]
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        in_time = {name: tuple(sorted(these, key=_by_time)) for name, these in self.recordings.items() if these}
        object.__setattr__(self, "recordings", in_time)


def _by_time(segment: Segment) -> tuple[float, float]:
    return segment.start, segment.end


@dataclass(frozen=True)
class Clip:
    """One labelled stretch of a corpus; a whole recording where `end` is None.

    Clips of one `group` (a recording, a speaker) never stand on both sides of a fold.
    """

    file: Path
    label: str
    start: float = 0.0
    end: float | None = None
    group: str = ""
    fold: str = ""
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.start < float("inf"):
            raise ValueError(f"start {self.start} must be a time of at least 0")
        if self.end is not None and not self.start <= self.end < float("inf"):
            raise ValueError(f"end {self.end} is before start {self.start}")
        if not 0 < self.weight < float("inf"):
            raise ValueError(f"weight={self.weight} must be positive")

    @property
    def held_out_with(self) -> str:
        """Its group, or the recording itself where the corpus names none."""
        return self.group or str(self.file)


@dataclass(frozen=True)
class Ignored:
    """A file that a corpus reader left out, and why.

    `labels` are those that the corpus gives it: such a file is missed where it cannot be read, others are not.
    """

    file: Path
    reason: str
    labels: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True)
class Corpus:
    """What a corpus reader found: clips, what it left out, and the names from root to leaf where there is a tree.

    A label that stands in several groups has several of these `paths`.
    `about` is what the corpus says of itself (title, licence, source), `checksums` the SHA-256 that it states of files.
    `sources` are the files that say all this: tables, label files, taxonomies.
    Where it is `continuous`, recordings are labelled from end to end: what has no label is known to hold none.
    """

    clips: tuple[Clip, ...]
    ignored: tuple[Ignored, ...] = ()
    paths: tuple[tuple[str, ...], ...] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    checksums: Mapping[Path, str] = field(default_factory=dict)
    sources: tuple[Path, ...] = field(default=(), compare=False)
    continuous: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label once, sorted: their fixed order from here on."""
        return tuple(sorted({clip.label for clip in self.clips}))


def _check_columns(values: np.ndarray, columns: Sequence[str], groups: Sequence[str]) -> None:
    if values.shape[1] != len(columns):
        raise ValueError(f"{values.shape[1]} columns of values, {len(columns)} names")
    if len(groups) != len(columns):
        raise ValueError(f"{len(columns)} columns, {len(groups)} groups")
    if any(columns is known for known in tuple(_UNIQUE)):
        return
    if len(set(columns)) < len(columns):
        repeated = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"column {repeated!r} is named twice")
    if isinstance(columns, tuple):
        _UNIQUE.append(columns)


# Names of which none stands twice: every few windows of a recording come with the same tuple of thousands.
_UNIQUE: deque[tuple[str, ...]] = deque(maxlen=8)
