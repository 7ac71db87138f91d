"""At the two ends: smoothers of posteriors, label formats and corpus readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from audioclass.contracts.named import Named

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import IO, Any

    import numpy as np

    from audioclass.data import Annotations, Corpus, Posteriors, Result


class Smoother(Named, Protocol):
    """Makes posteriors of successive windows agree with their neighbours."""

    def smooth(self, posteriors: Posteriors) -> Posteriors:
        """Posteriors of the same windows and labels; the label of a window is that of its largest."""


@runtime_checkable
class LooksAhead(Protocol):
    """A smoother whose rows depend on so many later rows, so that a stream can be smoothed as it comes."""

    @property
    def look_ahead(self) -> int:
        """How many later rows."""


@runtime_checkable
class TakesTransitions(Protocol):
    """A smoother that can go by how labels followed one another in the recordings that a model was trained on."""

    def with_transitions(self, counts: np.ndarray) -> Smoother:
        """The same smoother for labels of which each followed each so often, (n_labels, n_labels)."""


@runtime_checkable
class TakesDurations(Protocol):
    """A smoother that can go by how long segments lasted where a model was trained on clips, which follow nothing."""

    def with_durations(self, windows: np.ndarray) -> Smoother:
        """The same smoother for labels whose segments last so many windows on average, (n_labels,)."""


class SmoothingStream(Protocol):
    """The windows of one recording, smoothed as they come."""

    def push(self, P: np.ndarray) -> np.ndarray:
        """Take in the next rows, (n, n_labels); give those that no later row can change, smoothed, perhaps none."""

    def finish(self) -> np.ndarray:
        """The rows that are still to be given, now that no more will come."""


@runtime_checkable
class SmoothsStreams(Protocol):
    """A smoother that needs no whole recording: rows in whatever portions give what `smooth` gives, to the bit."""

    def stream(self, n_labels: int) -> SmoothingStream:
        """A stream for one recording."""


class LabelFormat(Named, Protocol):
    """Writes results in a format that other tools read; one that also reads serves as the labels of a corpus."""

    @property
    def suffix(self) -> str:
        """The suffix of its files, with the dot."""

    @property
    def carries_probabilities(self) -> bool:
        """Whether posteriors are written."""

    def write(self, result: Result, stream: IO[Any]) -> None:
        """Write the table to a text stream, or to one of bytes where the format `WritesBytes`.

        Times are true to the millisecond at least. A label that the format cannot hold is escaped so that reading gives
        it back, or is a UsageError.
        """


@runtime_checkable
class WritesBytes(Protocol):
    """A format whose streams are binary; `binary` is true."""

    @property
    def binary(self) -> bool:
        """True."""


@runtime_checkable
class ReadsLabels(Protocol):
    """A format whose files can be the labels of a corpus: what `write` wrote, `read` gives back exactly."""

    def read(self, stream: IO[Any]) -> Annotations:
        """Every labelled segment, points in time and empty labels too; a CorpusError `line 7: …` where it is wrong."""


@runtime_checkable
class NamesRecordings(Protocol):
    """A format whose files say which recordings they speak of, so that one may serve a whole folder; if it is true."""

    @property
    def names_recordings(self) -> bool:
        """True where a file may hold the labels of several recordings."""


@runtime_checkable
class RecognisesFiles(Protocol):
    """A format whose files go by several suffixes, or by one that others use too, so that their beginning must tell."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files, with the dot."""

    def recognises(self, first_line: str) -> bool:
        """Whether a file whose first line that is not empty is this one may be of the format; never raises."""


class CorpusReader(Named, Protocol):
    """Reads labelled recordings of one layout."""

    def matches(self, path: Path) -> bool:
        """Whether the path looks like this layout; never raises, opens as little as it can."""

    def read(self, path: Path) -> Corpus:
        """The corpus, in an order that does not depend on the file system; a CorpusError where it is wrong."""

    def example(self, folder: Path) -> Path:
        """Write a tiny corpus of this layout into an empty folder and return the path to read."""


@runtime_checkable
class StatesGenerality(Protocol):
    """A corpus reader of so common a layout that a folder of another may look like it too.

    Of several that match, the one of the lowest `generality` reads; a reader that states none has 0: its layout is
    known by names of its own.
    """

    @property
    def generality(self) -> int:
        """How common the layout is; 0 is known by names of its own."""


@runtime_checkable
class UsesFormats(Protocol):
    """A corpus reader of label files: whoever makes it hands it the formats that read."""

    def with_formats(self, formats: Sequence[LabelFormat]) -> CorpusReader:
        """The same reader, reading these."""
