"""The contract of a smoother: posteriors of successive windows in, posteriors of the same windows out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from audioclass.contracts import LooksAhead, SmoothsStreams
from audioclass.data import Posteriors, Segment
from audioclass.testing.checks import COMMON, Check, repeated, require, require_close, skip_unless, unchanged

LABELS = ("music", "noise", "speech")


def _posteriors(P: np.ndarray) -> Posteriors:
    segments = tuple(Segment(float(i), float(i + 1)) for i in range(len(P)))
    return Posteriors(P, LABELS, segments)


def _random(n: int = 60) -> np.ndarray:
    return np.random.default_rng(0).dirichlet((0.5, 0.5, 0.5), n)


def posteriors_stay_posteriors(smoother: Any) -> None:
    """Windows and labels stay, rows are at least 0 and sum to 1, also for one window and for none."""
    for n in (60, 1, 0):
        before = _posteriors(_random(n))
        after = smoother.smooth(before)
        require(isinstance(after, Posteriors), f"returned {type(after).__name__}, not Posteriors")
        require(after.labels == before.labels, f"labels became {after.labels}")
        require(after.segments == before.segments, "segments changed")


def what_is_smooth_stays(smoother: Any) -> None:
    """Where every window says the same label, so does the result."""
    same = np.tile([0.1, 0.2, 0.7], (30, 1))
    P = smoother.smooth(_posteriors(same)).P
    require((P.argmax(axis=1) == 2).all(), f"{np.mean(P.argmax(axis=1) == 2):.0%} of the windows kept their label")


def order_of_labels_does_not_matter(smoother: Any) -> None:
    """Permuting the labels permutes the columns."""
    order = [2, 0, 1]
    before = _random()
    moved = smoother.smooth(_posteriors(before[:, order])).P
    require_close(moved, smoother.smooth(_posteriors(before)).P[:, order], 1e-9, "permuted posteriors")


def looks_no_further_than_it_says(smoother: Any) -> None:
    """Where it states how far it looks ahead, later windows change nothing."""
    skip_unless(isinstance(smoother, LooksAhead), "it states no look_ahead")
    before = _random()
    cut = 40
    part = smoother.smooth(_posteriors(before[:cut])).P
    final = max(cut - smoother.look_ahead, 0)
    require_close(part[:final], smoother.smooth(_posteriors(before)).P[:final], 1e-12, "windows that were final")


def portions_do_not_matter(smoother: Any) -> None:
    """Where it smooths streams, rows in portions give what the whole gives, to the bit."""
    skip_unless(isinstance(smoother, SmoothsStreams), "it has no stream(n_labels)")
    before = _random()
    whole = smoother.smooth(_posteriors(before)).P
    for sizes in ([60], [1] * 60, [0, 7, 0, 41, 12]):
        stream = smoother.stream(len(LABELS))
        cuts = np.cumsum([0, *sizes])
        given = [stream.push(before[i:j]) for i, j in itertools.pairwise(cuts)] + [stream.finish()]
        require(np.array_equal(np.concatenate(given), whole), f"portions of {sizes[:3]}… differ from the whole")


def posteriors_are_left_alone(smoother: Any) -> None:
    """It does not change what it is given, and gives the same twice."""
    before = _random()
    repeated(lambda: unchanged([before], lambda: smoother.smooth(_posteriors(before)).P), "posteriors")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    posteriors_stay_posteriors,
    what_is_smooth_stays,
    order_of_labels_does_not_matter,
    looks_no_further_than_it_says,
    portions_do_not_matter,
    posteriors_are_left_alone,
)
