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


def test_groups_whose_recordings_are_near_duplicates_are_one():
    X, y, session = sessions(1.5)
    links = find_links(X, FEATURE_GROUPS, y, np.arange(N))
    assert len(np.unique(links.joined)) < 0.6 * N
    assert len(links.left_apart) == 0
    n_sessions = [len(np.unique(session[links.rows[links.joined == group]])) for group in np.unique(links.joined)]
    assert np.mean(np.array(n_sessions) == 1) > 0.9


def test_joined_groups_say_nearly_what_sessions_would():
    X, y, session = sessions(1.5)
    links = find_links(X, FEATURE_GROUPS, y, np.arange(N))
    claimed, truth, joined = (held_out_accuracy(X, y, each) for each in (np.arange(N), session, links.joined))
    assert claimed > truth + 0.3
    assert joined < truth + 0.15
    worth = links.worth(are_joined=True)
    assert worth.are_joined
    assert worth.n_groups == N
    assert joined + worth.accuracy == pytest.approx(truth, abs=0.06)


def test_large_groups_are_not_one_for_a_few_that_are_alike():
    """Four speakers, each with recordings of all labels; two of them share one recording of each label."""
    rng = np.random.default_rng(0)
    y, speaker = np.arange(N) % N_LABELS, np.arange(N) // N_LABELS % 4
    X = rng.standard_normal((N, N_FEATURES))
    X[6:12] = X[:6] + 0.05 * rng.standard_normal((6, N_FEATURES))
    links = find_links(X, FEATURE_GROUPS, y, speaker)
    assert {0, 6} <= set(links.linked)
    assert len(np.unique(links.joined)) == 4
    assert {0, 6} <= set(links.left_apart)


def test_a_label_keeps_enough_groups_to_hold_out():
    """Of one label all recordings are of three sessions: as nothing could be held out of it, they stay apart."""
    X, y, _ = sessions(0.0)
    rng = np.random.default_rng(3)
    few = np.flatnonzero(y == 0)
    X[few] = 0.05 * X[few] + 3 * rng.standard_normal((3, N_FEATURES))[np.arange(len(few)) % 3]
    links = find_links(X, FEATURE_GROUPS, y, np.arange(N))
    assert len(set(links.linked) & set(few)) > 0.5 * len(few)
    of_label = links.joined[np.isin(links.rows, few)]
    assert len(np.unique(of_label)) == len(few)
