"""Runs of windows of one label, as segments that touch and never overlap.

The posteriors of a segment are the mean over its windows, so that its label is that of the largest, and the next
largest is the runner-up. Windows that are stranger than the rule of novelty allows are of no label: runs of them are
segments that are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from audioclass.data import Posteriors, Segment
from audioclass.errors import UsageError
from audioclass.numerics import led_by
from audioclass.segmentation.back_off import UNKNOWN, BackOffPath
from audioclass.segmentation.novelty import NoveltyRule

STRANGE = -1  # in the place of a label's index, where a window is of none
ROUNDING = 1e-9  # seconds by which sums of times may miss


@dataclass(frozen=True, eq=False)
class LabelRun:
    """Successive windows of one label: where they lie, and the sums of their posteriors and of their strangeness.

    `label` is an index, or for windows of several labels a number that tells one set of them from another. `n_strange`
    of the windows are of no label.
    """

    label: int
    start: float
    end: float
    total: np.ndarray
    n_windows: int = 1
    strangeness: float = 0.0
    n_strange: int = 0

    @property
    def posteriors(self) -> np.ndarray:
        """Mean over the windows."""
        return self.total / self.n_windows

    def support(self, label: int) -> float:
        """How much its windows are for a label, or for none."""
        return float(self.n_strange if label == STRANGE else self.total[label])

    def led(self) -> LabelRun:
        """The same with the nearest posteriors that its label leads."""
        mean = self.posteriors
        if self.label in (STRANGE, mean.argmax()):
            return self
        return replace(self, total=led_by(mean[None], np.array([self.label]))[0] * self.n_windows)

    def joined(self, other: LabelRun, label: int) -> LabelRun:
        """This run and the one after it as one."""
        return LabelRun(
            label,
            self.start,
            other.end,
            self.total + other.total,
            self.n_windows + other.n_windows,
            self.strangeness + other.strangeness,
            self.n_strange + other.n_strange,
        )


def label_runs(windows: Posteriors, novelty: NoveltyRule | None = None) -> list[LabelRun]:
    """Each window by itself, with the label of its largest posterior; with none where it is too strange by the rule."""
    labels = windows.P.argmax(axis=1)
    strangeness = np.zeros(len(labels)) if windows.strangeness is None else windows.strangeness
    if novelty is not None and windows.strangeness is not None:
        labels = np.where(novelty.is_strange(strangeness), STRANGE, labels)
    return [
        LabelRun(label, segment.start, segment.end, row, 1, value, int(label == STRANGE))
        for segment, row, label, value in zip(
            windows.segments, windows.P, labels.tolist(), strangeness.tolist(), strict=True
        )
    ]


@dataclass(frozen=True, eq=False)
class ClassifiedSegment:
    """A segment that is final, and the mean posteriors of its windows, (n_labels,).

    `novelty` is the p-value that it belongs to what was trained on, where that is known: that of the mean strangeness
    of its windows.
    """

    segment: Segment
    posteriors: np.ndarray
    novelty: float | None = None


class Segmenter:
    """Makes segments of one recording's windows as they come; each is given as soon as nothing can change it.

    A run shorter than `min_duration` is given to the neighbour whose label is likelier in it, so that only a recording
    that is shorter itself has a shorter segment; the label of the two is that of the largest mean. Where that is the
    label of the segment before, which is gone, it is that of the next largest, with the nearest posteriors it leads.
    Then a segment whose posterior is below the path's threshold is called by a group, or unknown; neighbours that are
    called the same are one.
    """

    def __init__(self, path: BackOffPath, min_duration: float = 0.0, novelty: NoveltyRule | None = None) -> None:
        check_duration(min_duration)
        self._path, self._min_duration, self._novelty = path, min_duration - ROUNDING, novelty
        self._before: LabelRun | None = None  # long enough, but the run after it may still be given to it
        self._run: LabelRun | None = None  # may still grow
        self._given: int | None = None  # the label of the last run that is final
        self._named: tuple[str, LabelRun] | None = None  # may still be one with what follows

    def push(self, cells: Iterable[LabelRun]) -> list[ClassifiedSegment]:
        """Take in the next windows, each from border to border; give the segments that are final."""
        return [given for cell in cells for given in self._add(cell)]

    def finish(self) -> list[ClassifiedSegment]:
        """The rest, now that no more windows will come."""
        if self._before and self._run and not self._is_long(self._run):
            self._run, self._before = self._before.joined(self._run, self._before.label), None
        given = [*self._settle(), *(self._name(self._run) if self._run else ())]
        return [*given, *([self._classified(*self._named)] if self._named else [])]

    def _add(self, cell: LabelRun) -> Iterator[ClassifiedSegment]:
        """One more window goes on with the run, or ends it."""
        run = self._run
        if run is None or run.label == cell.label:
            self._run = run.joined(cell, cell.label) if run else cell
        elif self._is_long(run):
            self._before, self._run = run, cell
        else:
            self._give_away(run, cell)
        if self._run and self._is_long(self._run):
            yield from self._settle()

    def _give_away(self, short: LabelRun, after: LabelRun) -> None:
        """A run that is too short goes to the one before it or to the one that begins, whichever is likelier in it."""
        before, run = self._before, after
        if before is None or short.support(after.label) > short.support(before.label):
            run = short.joined(after, after.label)
        else:
            before = before.joined(short, before.label)
        if before and before.label == run.label:
            run = before.joined(run, run.label)
            before = None
        self._before, self._run = before, run

    def _settle(self) -> Iterator[ClassifiedSegment]:
        """The run before is final now that the one after it is long, unless the two turn out to have one label."""
        before, run, self._before = self._before, self._run, None
        if before and run and self._label(before) == run.label:
            self._run = before.joined(run, run.label)
        elif before:
            yield from self._name(before)

    def _label(self, run: LabelRun) -> int:
        """The label of the largest mean but that of the run before; its present one among equals.

        None of them where most windows are strange, unless the run before is of none too.
        """
        mean = run.posteriors
        if 2 * run.n_strange > run.n_windows and self._given != STRANGE:
            return STRANGE
        if self._given is not None and self._given != STRANGE:
            mean[self._given] = -np.inf
        if run.label == STRANGE:
            return int(mean.argmax())
        return run.label if mean[run.label] == mean.max() else int(mean.argmax())

    def _is_long(self, run: LabelRun) -> bool:
        return run.end - run.start >= self._min_duration

    def _name(self, run: LabelRun) -> Iterator[ClassifiedSegment]:
        """What is final now: the run itself where labels stand, else the segment before if this is called otherwise."""
        run = replace(run, label=self._label(run)).led()
        self._given = run.label
        name = UNKNOWN if run.label == STRANGE else self._path.name(run.label, run.posteriors)
        if self._path.keeps_labels:
            yield self._classified(name, run)
            return
        if self._named and self._named[0] == name:
            self._named = (name, self._named[1].joined(run, run.label))
            return
        if self._named:
            yield self._classified(*self._named)
        self._named = (name, run)

    def _classified(self, name: str, run: LabelRun) -> ClassifiedSegment:
        novelty = None if self._novelty is None else self._novelty.of_mean(run.strangeness / run.n_windows)
        return ClassifiedSegment(Segment(run.start, run.end, name), run.posteriors, novelty)


def check_duration(min_duration: float) -> None:
    """Refuse what is no length of a shortest segment."""
    if not 0 <= min_duration < float("inf"):
        raise UsageError(f"min_duration={min_duration} must be a time of at least 0")
