"""Posteriors to smooth, and the ways to push them."""

import itertools

import numpy as np

from audioclass.data import Posteriors, Segment


def random_posteriors(n, n_labels=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_labels, 0.5), n)


def whole(smoother, P):
    """The posteriors that `smooth` gives."""
    segments = tuple(Segment(float(i), float(i + 1)) for i in range(len(P)))
    return smoother.smooth(Posteriors(P, tuple(map(str, range(P.shape[1]))), segments)).P


def streamed(smoother, P, sizes):
    """P and the label of each of its rows, pushed in portions; what is left over goes in the last."""
    stream = smoother.stream(P.shape[1])
    cuts = [0, *np.minimum(np.cumsum(sizes), len(P)).astype(int), len(P)]
    given = [stream.push(P[i:j]) for i, j in itertools.pairwise(cuts)] + [stream.finish()]
    rows = np.concatenate(given)
    return rows, rows.argmax(axis=1)
