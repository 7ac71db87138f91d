"""Recordings of sessions that nobody named: how many are found, and what their figures are worth."""

import numpy as np
import pytest

from audioclass.training.label_machines import LabelMachines
from audioclass.training.near_duplicates import find_links, find_near_duplicates

N, N_LABELS, N_FEATURES = 240, 6, 40
FEATURE_GROUPS = [f"part {i // 5}" for i in range(N_FEATURES)]


def sessions(strength, seed=0):
    """Recordings of six labels, four of a label from each session, whose features move by `strength` with it."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % N_LABELS
    session = np.arange(N) // (4 * N_LABELS) * N_LABELS + y
    X = rng.standard_normal((N, N_FEATURES)) + 0.6 * rng.standard_normal((N_LABELS, N_FEATURES))[y]
    return X + strength * rng.standard_normal((session.max() + 1, N_FEATURES))[session], y, session


def held_out_accuracy(X, y, groups):
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    machines = LabelMachines(np.exp(-0.7 * D / D.mean()), y, N_LABELS, 0.02, np.ones(N))
    return (machines.held_out(groups).argmax(axis=1) == y).mean()


def test_sessions_are_found_and_their_figure_is_near_the_truth():
    X, y, session = sessions(1.5)
    duplicates = find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N))
    claimed, truth = held_out_accuracy(X, y, np.arange(N)), held_out_accuracy(X, y, session)
    assert claimed > truth + 0.3
    assert claimed + duplicates.accuracy == pytest.approx(truth, abs=0.05)
    assert duplicates.log_loss > 0.5
    assert duplicates.share > 0.9
    assert duplicates.n_groups == N
    assert duplicates.n_clusters < 90  # there are 60 sessions
    assert all(session[i] == session[j] for i, j in duplicates.pairs)


def test_weaker_sessions_are_underestimated_but_told():
    X, y, session = sessions(1.0)
    duplicates = find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N))
    claimed, truth = held_out_accuracy(X, y, np.arange(N)), held_out_accuracy(X, y, session)
    assert truth < claimed + duplicates.accuracy < claimed - 0.05


@pytest.mark.parametrize("seed", range(3))
def test_recordings_that_have_nothing_in_common_raise_no_alarm(seed):
    X, y, _ = sessions(0.0, seed)
    assert find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N)) is None


def test_named_sessions_raise_no_alarm():
    X, y, session = sessions(1.5)
    assert find_near_duplicates(X, FEATURE_GROUPS, y, session) is None


def test_near_duplicates_in_the_same_fold_do_not_count():
    X, y, session = sessions(1.5)
    assert find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N), apart=session % 5) is None
    assert find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N), apart=np.arange(N) // N_LABELS % 5) is not None


def test_the_order_of_recordings_does_not_matter():
    X, y, _ = sessions(1.5)
    order = np.random.default_rng(1).permutation(N)
    one = find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N))
    other = find_near_duplicates(X[order], FEATURE_GROUPS, y[order], np.arange(N))
    assert (one.share, one.n_clusters) == (other.share, other.n_clusters)
    assert one.accuracy == pytest.approx(other.accuracy)


def test_few_recordings_or_one_group_tell_nothing():
    X, y, _ = sessions(1.5)
    assert find_near_duplicates(X[:24], FEATURE_GROUPS, y[:24], np.arange(24)) is None
    assert find_near_duplicates(X, FEATURE_GROUPS, y, np.zeros(N)) is None
    assert find_near_duplicates(0 * X, FEATURE_GROUPS, y, np.arange(N)) is None


def test_features_of_weight_0_change_nothing():
    X, y, _ = sessions(1.5)
    one = find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N))
    more = find_near_duplicates(np.hstack([X, np.zeros((N, 2))]), [*FEATURE_GROUPS, "off", "off"], y, np.arange(N))
    assert vars(one) == vars(more)


def test_a_label_of_few_recordings_is_not_looked_at():
    X, y, _ = sessions(1.5)
    more_X, more_y = np.vstack([X, X[:3]]), np.concatenate([y, [N_LABELS] * 3])
    one = find_near_duplicates(X, FEATURE_GROUPS, y, np.arange(N))
    other = find_near_duplicates(more_X, FEATURE_GROUPS, more_y, np.arange(N + 3))
    assert vars(one) == vars(other)
    links = find_links(more_X, FEATURE_GROUPS, more_y, np.arange(N + 3))
    assert links.linked.max() < N
    assert len(links.linked) == round(one.share * N)
