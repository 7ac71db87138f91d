"""The contract of a label format: one table in, a file that other tools read out, and back again where it reads."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from audioclass.contracts import NamesRecordings, ReadsLabels, RecognisesFiles, WritesBytes
from audioclass.data import Annotations, Result, Segment
from audioclass.errors import CorpusError, UsageError
from audioclass.testing.checks import COMMON, Check, CheckFailed, require, skip_unless

LABELS = ("bruit de fond", "musique, à deux voix", "parole")
NO_READER = "it has no read(stream)"
FILE = "enregistrement é.wav"
# Texts that a format may separate, quote or escape its fields by.
PRINTABLE = ("a\\b", "\\t", "\\", 'say "ah"', '"', "it's; 50 %, %20", "a/b & <c>", "音楽 é", "0 1 2", "<NA>", "#", "{}")
CONTROLS = ("a\tb", "a\nb", "a\r\nb", " a ", "\ta", "a\u2028b", "a\x00b")


def _result(labels: Sequence[str] = LABELS, duration: float = 1.25, file: str = FILE) -> Result:
    """Segments that touch, of every label one; of one duration, or points a second apart where it is 0."""
    step = duration or 1.0
    starts = [round(i * step, 3) for i in range(len(labels))]
    segments = tuple(Segment(at, round(at + duration, 3), label) for at, label in zip(starts, labels, strict=True))
    P = np.full((len(labels), len(labels)), 1 / max(len(labels), 1))
    return Result((file,) * len(labels), segments, P, tuple(labels), tuple(("son", label) for label in labels))


def _is_binary(format_: Any) -> bool:
    return isinstance(format_, WritesBytes) and format_.binary


def _written(format_: Any, result: Result) -> Any:
    stream: Any = io.BytesIO() if _is_binary(format_) else io.StringIO(newline="")
    format_.write(result, stream)
    return stream.getvalue()


def _read(format_: Any, content: Any) -> Annotations:
    stream: Any = io.BytesIO(content) if _is_binary(format_) else io.StringIO(content, newline="")
    annotations: Annotations = format_.read(stream)
    require(isinstance(annotations, Annotations), f"read returned {type(annotations).__name__}, not Annotations")
    return annotations


def _require_same(format_: Any, result: Result) -> None:
    """What was written comes back: every segment once, times and labels as they were."""
    recordings = _read(format_, _written(format_, result)).recordings
    require(len(recordings) <= 1, f"one recording came back as {len(recordings)}: {', '.join(recordings)}")
    back = [segment for segments in recordings.values() for segment in segments]
    require(len(back) == len(result.segments), f"{len(back)} of {len(result.segments)} segments came back")
    for was, now in zip(result.segments, back, strict=True):
        require(was == now, f"{was} came back as {now}")


def says_what_it_writes(format_: Any) -> None:
    """It names a file suffix and says whether the format can carry probabilities."""
    require(format_.suffix.startswith(".") and len(format_.suffix) > 1, f"suffix {format_.suffix!r}")
    require(isinstance(format_.carries_probabilities, bool), "carries_probabilities must be True or False")


def every_label_is_written(format_: Any) -> None:
    """Labels stand in the file as they are, those with accents and commas too."""
    content = _written(format_, _result())
    require(content, "nothing was written")
    if isinstance(content, str) and not isinstance(format_, ReadsLabels):
        missing = [label for label in LABELS if label not in content]
        require(not missing, f"{missing} cannot be found in what was written")


def backed_off_labels_are_written(format_: Any) -> None:
    """Segments named by a group of labels, or `unknown` for want of a sure label, are written like any other."""
    segments = (Segment(0.0, 1.0, "unknown"), Segment(1.0, 2.0, "son"), Segment(2.0, 3.0, LABELS[0]))
    P = np.full((3, len(LABELS)), 1 / len(LABELS))
    result = Result((FILE,) * 3, segments, P, LABELS, tuple(("son", label) for label in LABELS))
    content = _written(format_, result)
    if isinstance(format_, ReadsLabels):
        _require_same(format_, result)
    elif isinstance(content, str):
        missing = [segment.label for segment in segments if segment.label not in content]
        require(not missing, f"{missing} cannot be found in what was written")


def what_is_written_reads_back(format_: Any) -> None:
    """Where it reads, what it wrote comes back exactly: printable labels of every sort, times, points in time."""
    skip_unless(isinstance(format_, ReadsLabels), NO_READER)
    _require_same(format_, _result())
    _require_same(format_, _result(PRINTABLE, 0.007))
    _require_same(format_, _result(LABELS, 0.0))


def overlapping_segments_read_back(format_: Any) -> None:
    """Where it reads, segments of labels that hold at once come back, all of them and as they were."""
    skip_unless(isinstance(format_, ReadsLabels), NO_READER)
    segments = (Segment(0.0, 4.0, "music"), Segment(1.0, 2.5, "speech"), Segment(1.0, 3.0, "wind"))
    P = np.array([[0.9, 0.4, 0.3], [0.8, 0.9, 0.7], [0.8, 0.7, 0.9]])
    _require_same(format_, Result((FILE,) * 3, segments, P, ("music", "speech", "wind"), independent=True))


def control_characters_read_back_or_are_refused(format_: Any) -> None:
    """Where it reads, a label with tabs, line ends or space around it comes back exactly or is a UsageError."""
    skip_unless(isinstance(format_, ReadsLabels), NO_READER)
    for label in CONTROLS:
        try:
            _written(format_, _result([label]))
        except UsageError:
            continue
        _require_same(format_, _result([label]))


def recordings_are_told_apart(format_: Any) -> None:
    """Where it says that it names recordings, those of two come back as two."""
    skip_unless(isinstance(format_, ReadsLabels), NO_READER)
    skip_unless(isinstance(format_, NamesRecordings) and format_.names_recordings, "it names no recordings")
    one, other = _result(LABELS[:2]), _result(LABELS[:2], file="b.wav")
    both = Result((*one.files, *other.files), one.segments + other.segments, np.vstack([one.P, other.P]), one.labels)
    recordings = _read(format_, _written(format_, both)).recordings
    require(len(recordings) == 2, f"two recordings came back as {len(recordings)}")
    require(all(tuple(s) == one.segments for s in recordings.values()), "the segments are not those of each")


def its_files_are_recognised(format_: Any) -> None:
    """Where it recognises files, its own is among them and a letter is not, and its suffix is one of them."""
    skip_unless(isinstance(format_, RecognisesFiles), "it has no recognises(line)")
    skip_unless(not _is_binary(format_), "its files are binary")
    ending = format_.suffix
    require(any(ending.endswith(suffix) for suffix in format_.suffixes), f"{ending} is none of its suffixes")
    first = next(line for line in _written(format_, _result()).splitlines() if line.strip())
    require(format_.recognises(first), f"{first[:60]!r} begins its own file and is not recognised")
    for line in ("", "Dear all,", "\0", "a" * 200_000):
        require(not format_.recognises(line), f"{line[:60]!r} is recognised")


def wrong_files_are_refused(format_: Any) -> None:
    """Where it reads, a text that is no file of the format is a CorpusError of one line, or holds no segment."""
    skip_unless(isinstance(format_, ReadsLabels), NO_READER)
    skip_unless(not _is_binary(format_), "its files are binary")
    for text in ("", "Dear all,\nsee you\n", "\0\0\0"):
        try:
            recordings = _read(format_, text).recordings
        except (CorpusError, ValueError, LookupError) as error:
            require(len(str(error).splitlines()) <= 1, f"{error} is not one line")
        else:
            require(not recordings, f"{text!r} was read as {recordings}")


def nothing_can_be_written(format_: Any) -> None:
    """A result without segments is written without an error, and read as none."""
    content = _written(format_, Result((), (), np.empty((0, 3)), LABELS))
    if isinstance(format_, ReadsLabels) and _read(format_, content).recordings:
        raise CheckFailed("segments came back where none were written")


def same_table_same_bytes(format_: Any) -> None:
    """The same table is written the same way twice."""
    require(_written(format_, _result()) == _written(format_, _result()), "differs the second time")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    says_what_it_writes,
    every_label_is_written,
    backed_off_labels_are_written,
    what_is_written_reads_back,
    overlapping_segments_read_back,
    control_characters_read_back_or_are_refused,
    recordings_are_told_apart,
    its_files_are_recognised,
    wrong_files_are_refused,
    nothing_can_be_written,
    same_table_same_bytes,
)
