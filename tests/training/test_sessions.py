"""Sessions that go across labels, from a few pairs of recordings within labels."""

import numpy as np
import pytest

from audioclass.training.near_duplicates import find_near_duplicates
from audioclass.training.sessions import session_clusters

N_SESSIONS, N_LABELS, EACH, N_FEATURES = 6, 5, 10, 40
SESSION, Y = (
    each.ravel() for each in np.meshgrid(np.arange(N_SESSIONS), np.repeat(np.arange(N_LABELS), EACH), indexing="ij")
)
N = len(Y)


def recordings(strength, seed=0):
    """Six speakers say five words, ten times each; `strength` is what they differ by."""
    rng = np.random.default_rng(seed)
    words, speakers = rng.standard_normal((N_LABELS, N_FEATURES)), rng.standard_normal((N_SESSIONS, N_FEATURES))
    return words[Y] + strength * speakers[SESSION] + 0.5 * rng.standard_normal((N, N_FEATURES))


def distances_of(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def pairs_within_labels(count=60, seed=0):
    """Of the same session and label."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, N, count)
    places = SESSION * N_LABELS + Y
    mates = [
        rng.choice(np.setdiff1d(np.flatnonzero(places == place), i))
        for i, place in zip(first, places[first], strict=True)
    ]
    return np.stack([first, mates], axis=1)


def test_sessions_are_found_across_labels():
    clusters = session_clusters(distances_of(recordings(1.0)), Y, np.arange(N), pairs_within_labels())
    shared = clusters[:, None] == clusters[None]
    same = SESSION[:, None] == SESSION[None]
    assert same[shared].mean() > 0.99
    assert shared[same].mean() > 0.4
    assert shared[same & (Y[:, None] != Y[None])].mean() > 0.4


def test_groups_stay_whole():
    groups = np.arange(N) // 2
    clusters = session_clusters(distances_of(recordings(1.0)), Y, groups, pairs_within_labels())
    assert all(len(np.unique(clusters[groups == group])) == 1 for group in range(groups.max() + 1))
    assert np.array_equal(np.unique(clusters), np.arange(clusters.max() + 1))


def test_units_of_features_do_not_matter():
    D, links = distances_of(recordings(1.0)), pairs_within_labels()
    one, other = (session_clusters(factor * D, Y, np.arange(N), links) for factor in (1.0, 1e4))
    np.testing.assert_array_equal(one, other)


def test_the_figures_of_speakers_nobody_named_are_near_those_of_speakers_held_out():
    X, parts = recordings(1.0), [f"part {i // 5}" for i in range(N_FEATURES)]
    duplicates = find_near_duplicates(X, parts, Y, np.arange(N))
    assert duplicates.n_clusters < 40
    assert duplicates.log_loss > 0
    named = find_near_duplicates(X, parts, Y, SESSION)
    assert named is None


@pytest.mark.parametrize("strength", [1.0, 2.0])
def test_two_links_are_enough_to_go_on(strength):
    clusters = session_clusters(distances_of(recordings(strength)), Y, np.arange(N), pairs_within_labels(2))
    assert clusters.shape == (N,)
