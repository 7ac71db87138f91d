"""Windows with posteriors, and the ways to push them."""

import itertools

import numpy as np

from audioclass.data import Posteriors, Segment
from audioclass.segmentation.results import SegmentStream
from audioclass.smoothers.none import NoSmoothing


def windows_of(P, length=1.0, hop=1.0, labels=None):
    """Posteriors of windows that start every `hop` seconds."""
    P = np.asarray(P, dtype=float)
    segments = tuple(Segment(i * hop, i * hop + length) for i in range(len(P)))
    return Posteriors(P, labels or tuple("abcdefgh"[: P.shape[1]]), segments)


def certain(text, sure=0.9):
    """Rows that say the letters of a text, among those in it."""
    letters = sorted(set(text))
    sure = sure if len(letters) > 1 else 1.0
    other = (1 - sure) / max(len(letters) - 1, 1)
    return windows_of([[sure if letter == one else other for letter in letters] for one in text], labels=tuple(letters))


def part(posteriors, i, j):
    return Posteriors(posteriors.P[i:j], posteriors.labels, posteriors.segments[i:j])


def segments_of(posteriors, taxonomy=None, smoother=None, sizes=(), **options):
    """(start, end, label, posteriors) of each segment, from windows pushed in portions."""
    stream = SegmentStream(posteriors.labels, smoother or NoSmoothing(), taxonomy, **options)
    cuts = [0, *np.minimum(np.cumsum(sizes), len(posteriors.P)).astype(int), len(posteriors.P)]
    given = [stream.push(part(posteriors, i, j)) for i, j in itertools.pairwise(cuts)] + [stream.finish()]
    return [(c.segment.start, c.segment.end, c.segment.label, c.posteriors.tolist()) for some in given for c in some]


def drawn(segments):
    """Labels and lengths: `a2 b1`."""
    return " ".join(f"{label}{end - start:g}" for start, end, label, _ in segments)
