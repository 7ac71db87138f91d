"""Made-up answers of a classifier, for the tests of measures and of reports."""

import numpy as np
from hypothesis import strategies as st

LABELS = ("dog", "rain", "sea waves")


def drawn(n=40, n_labels=3, seed=0, skill=1.0):
    """Reference indices and posteriors that know something of them; every label occurs."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_labels), rng.integers(n_labels, size=n - n_labels)])
    scores = rng.normal(size=(n, n_labels)) + skill * np.eye(n_labels)[y]
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return y, P


@st.composite
def examples(draw, least=2):
    """(y, P, weights) of 2 to 4 labels, not all of which need occur; posteriors often tie."""
    n, n_labels = draw(st.integers(least, 25)), draw(st.integers(2, 4))
    y = draw(st.lists(st.integers(0, n_labels - 1), min_size=n, max_size=n))
    counts = draw(st.lists(st.lists(st.integers(1, 5), min_size=n_labels, max_size=n_labels), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    P = np.array(counts, float)
    return np.array(y), P / P.sum(axis=1, keepdims=True), np.array(weights, float)
