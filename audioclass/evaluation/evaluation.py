"""Everything measured of one system: per window and per recording, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audioclass.data import Segment
from audioclass.evaluation.bootstrap import Resampling
from audioclass.evaluation.mistakes import N_MISTAKES
from audioclass.evaluation.predictions import Pool, Predictions
from audioclass.evaluation.views import View, view_of


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What is known of a system: `windows` always, `recordings` where files were given."""

    labels: tuple[str, ...]
    windows: View
    recordings: View | None
    resampling: Resampling

    @property
    def main(self) -> View:
        """The view that a user means by the accuracy: recordings where they are known, else windows."""
        return self.recordings or self.windows

    @property
    def views(self) -> tuple[View, ...]:
        """Those that there are, the main one first."""
        return (self.recordings, self.windows) if self.recordings else (self.windows,)

    def rows(self) -> list[tuple[str, ...]]:
        """Measure, then value and interval of each view: the lines of a terminal's table."""
        both = zip(*(view.rows() for view in self.views), strict=True)
        return [(lines[0][0], *(cell for line in lines for cell in line[1:])) for lines in both]

    def to_plain(self) -> dict[str, Any]:
        """Plain values only, as JSON holds them."""
        drawn = {"over": "groups", "n_resamples": self.resampling.n_resamples, "level": self.resampling.level}
        return {
            "labels": list(self.labels),
            "intervals": drawn | {"seed": self.resampling.seed},
            "windows": self.windows.to_plain(),
            "recordings": self.recordings.to_plain() if self.recordings else None,
        }


def evaluate(
    labels: Sequence[str],
    y: Any,
    P: Any,
    groups: Any = None,
    *,
    files: Sequence[str] = (),
    segments: Sequence[Segment] = (),
    weights: Any = None,
    paths: Sequence[Sequence[str]] = (),
    decisions: Any = None,
    pool: Pool | None = None,
    resampling: Resampling | None = None,
    most_mistakes: int = N_MISTAKES,
) -> Evaluation:
    """Measure the posteriors `P` of windows against the reference indices `y`.

    Windows of one file are also evaluated together, see `Predictions.per_recording`; `pool` combines their posteriors.
    `paths` are the names that lead to each label; intervals are drawn over `groups` (by default files).
    """
    resampling = resampling or Resampling()
    predictions = Predictions.of(
        labels, y, P, groups, files=files, segments=segments, weights=weights, decisions=decisions
    )
    _check_paths(paths, predictions.labels)
    windows = view_of(predictions, "window", paths, resampling, most_mistakes)
    together = predictions.per_recording(pool) if predictions.files else None
    recordings = view_of(together, "recording", paths, resampling, most_mistakes) if together else None
    return Evaluation(predictions.labels, windows, recordings, resampling)


def _check_paths(paths: Sequence[Sequence[str]], labels: tuple[str, ...]) -> None:
    if paths and tuple(path[-1] if path else "" for path in paths) != labels:
        raise ValueError("paths must lead to the labels, in their order")
