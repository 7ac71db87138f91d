"""The contract of an export: one table in, a format that other tools read out."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from audioclass.contracts import ReadsBack
from audioclass.data import Result, Segment
from audioclass.testing.checks import COMMON, Law, require

LABELS = ("bruit de fond", "musique, à deux voix", "parole")


def _result(n: int = 3) -> Result:
    """Segments that touch, with labels that a format must quote or encode."""
    edges = np.round(np.cumsum([0, 1.25, 0.007, 3600.5, 2.0])[: n + 1], 3)
    segments = tuple(Segment(float(edges[i]), float(edges[i + 1]), LABELS[i % 3]) for i in range(n))
    P = np.tile([0.2, 0.3, 0.5], (n, 1))
    return Result(("enregistrement é.wav",) * n, segments, P, LABELS, tuple(("son", label) for label in LABELS))


def _written(export: Any, result: Result) -> str | bytes:
    stream = io.BytesIO() if getattr(export, "binary", False) else io.StringIO(newline="")
    export.write(result, stream)
    return stream.getvalue()


def says_what_it_writes(export: Any) -> None:
    """It names a file suffix and says whether the format can carry probabilities."""
    require(export.suffix.startswith(".") and len(export.suffix) > 1, f"suffix {export.suffix!r}")
    require(isinstance(export.carries_probabilities, bool), "carries_probabilities must be True or False")


def every_label_is_written(export: Any) -> None:
    """Labels stand in the file as they are, those with accents and commas too."""
    text = _written(export, _result())
    require(text, "nothing was written")
    if isinstance(text, str) and not isinstance(export, ReadsBack):
        missing = [label for label in LABELS if label not in text]
        require(not missing, f"{missing} cannot be found in what was written")


def what_is_written_reads_back(export: Any) -> None:
    """Where it can read, times come back to the millisecond and labels intact."""
    if not isinstance(export, ReadsBack):
        return
    result = _result()
    text = _written(export, result)
    back = export.read(io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text, newline=""))
    require(len(back) == len(result.segments), f"{len(back)} of {len(result.segments)} segments came back")
    for was, now in zip(result.segments, back, strict=True):
        close = abs(was.start - now.start) <= 5e-4 and abs(was.end - now.end) <= 5e-4
        require(close and was.label == now.label, f"{was} came back as {now}")


def nothing_can_be_written(export: Any) -> None:
    """A result without segments is written without an error."""
    _written(export, Result((), (), np.empty((0, 3)), LABELS))


def same_table_same_bytes(export: Any) -> None:
    """The same table is written the same way twice."""
    require(_written(export, _result()) == _written(export, _result()), "differs the second time")


CHECKS: tuple[Law, ...] = (
    *COMMON,
    says_what_it_writes,
    every_label_is_written,
    what_is_written_reads_back,
    nothing_can_be_written,
    same_table_same_bytes,
)
