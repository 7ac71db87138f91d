"""From a recording's windows to the table that formats write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.contracts import Smoother
from audioclass.data import Posteriors, Result
from audioclass.segmentation.back_off import UNKNOWN, BackOffPath
from audioclass.segmentation.borders import StoredBorders
from audioclass.segmentation.novelty import NoveltyRule
from audioclass.segmentation.segments import ClassifiedSegment, LabelRun, Segmenter, check_duration, label_runs
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.segmentation.streams import CellStream
from audioclass.segmentation.stretches import ContourRule, SoundStretches, WaitingWindows
from audioclass.taxonomy import Taxonomy


class SegmentStream(CellStream):
    """Smoothing and segmentation of one recording's windows as they come.

    With its contours, borders lie where the sound changes, silences are segments of their own, and every stretch of
    sound between them is segmented by itself; windows that are silent do not tell what is heard beside them. `borders`
    are those that are known already.
    """

    def __init__(
        self,
        labels: Sequence[str],
        smoother: Smoother,
        taxonomy: Taxonomy | None = None,
        *,
        min_duration: float = 0.0,
        threshold: float = 0.0,
        novelty: NoveltyRule | None = None,
        contours: ContourRule | None = None,
        borders: StoredBorders | None = None,
    ) -> None:
        check_duration(min_duration)
        rule, path = contours or ContourRule(), BackOffPath(labels, taxonomy, threshold)
        shortest, finder = max(min_duration, rule.shortest), rule.finder()
        super().__init__(
            _LabelSmoother(WindowSmoother(smoother, labels), novelty),
            WaitingWindows(labels, finder),
            SoundStretches(labels, lambda: Segmenter(path, shortest, novelty), finder),
            borders,
            hears=contours is not None,
        )


@dataclass
class _LabelSmoother:
    """Windows, each of the one label that is likeliest."""

    windows: WindowSmoother
    novelty: NoveltyRule | None

    def push(self, posteriors: Posteriors) -> list[LabelRun]:
        return label_runs(self.windows.push(posteriors), self.novelty)

    def finish(self) -> list[LabelRun]:
        return label_runs(self.windows.finish(), self.novelty)


def classified_windows(
    windows: Posteriors, path: BackOffPath, novelty: NoveltyRule | None = None
) -> list[ClassifiedSegment]:
    """Every window by itself, called by the label of its largest posterior or by what the path says instead.

    One that is stranger than the rule of novelty allows is unknown.
    """
    rows = zip(windows.segments, windows.P, windows.P.argmax(axis=1).tolist(), strict=True)
    given = [ClassifiedSegment(replace(window, label=path.name(label, row)), row) for window, row, label in rows]
    if novelty is None or windows.strangeness is None:
        return given
    p, is_strange = novelty.p_values(windows.strangeness), novelty.is_strange(windows.strangeness)
    return [
        replace(each, segment=replace(each.segment, label=UNKNOWN) if strange else each.segment, novelty=value)
        for each, value, strange in zip(given, p.tolist(), is_strange.tolist(), strict=True)
    ]


def result_of(
    rows: Iterable[tuple[str, ClassifiedSegment]],
    labels: Sequence[str],
    taxonomy: Taxonomy | None = None,
    *,
    independent: bool = False,
) -> Result:
    """The table of (file, segment) rows, in their order; those of `independent` labels may overlap."""
    rows = list(rows)
    P = np.array([classified.posteriors for _, classified in rows]).reshape(len(rows), len(labels))
    paths = tuple(taxonomy.path(label) for label in labels) if taxonomy else ()
    segments = tuple(classified.segment for _, classified in rows)
    known = [classified.novelty for _, classified in rows if classified.novelty is not None]
    novelty = np.array(known) if rows and len(known) == len(rows) else None
    files = tuple(file for file, _ in rows)
    return Result(files, segments, P, tuple(labels), paths, novelty=novelty, independent=independent)
