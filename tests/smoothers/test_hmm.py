"""The hidden Markov model against the sum and the maximum over every path, written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smoothers.streams import random_posteriors, streamed, whole

from audioclass.numerics import led_by
from audioclass.smoothers.chains import FLOOR, Chain, likelihoods
from audioclass.smoothers.hmm import HiddenMarkov
from audioclass.smoothers.transitions import count_transitions, learn_transitions, transitions_of_duration
from audioclass.smoothers.viterbi import Viterbi

GIVEN = (0.7, 0.2, 0.1, 0.3, 0.6, 0.1, 0.25, 0.25, 0.5)
MODELS = [
    HiddenMarkov(duration=4.0),
    HiddenMarkov(duration=3.0, minimum=2),
    HiddenMarkov(transitions=GIVEN),
    HiddenMarkov(transitions=GIVEN, minimum=2),
]
EVERY = pytest.mark.parametrize("model", MODELS, ids=str)
WHOLE = 100  # rows of look-ahead: more than there are


def with_look_ahead(model, rows):
    return HiddenMarkov(model.duration, model.minimum, rows, model.transitions)


def transition(model, state, following, n_labels):
    """The probability of one step between (label, place in its row of states)."""
    (label, place), (after, there) = state, following
    last = model.minimum - 1
    if place < last:
        return float(after == label and there == place + 1)
    stay = 1 - 1 / (model.duration - model.minimum + 1)
    A = np.full((n_labels, n_labels), (1 - stay) / (n_labels - 1)) + (stay - (1 - stay) / (n_labels - 1)) * np.eye(
        n_labels
    )
    if model.transitions:
        A = np.reshape(model.transitions, (n_labels, n_labels))
    return A[label, after] if there == (last if after == label else 0) else 0.0


def all_paths(model, P):
    """Every path of labels with its probability together with the rows, summed over places."""
    n_labels = P.shape[1]
    states = list(itertools.product(range(n_labels), range(model.minimum)))
    for path in itertools.product(states, repeat=len(P)):
        steps = [transition(model, *pair, n_labels) for pair in itertools.pairwise(path)]
        yield path, np.prod(steps) * np.prod([max(row[label], FLOOR) for row, (label, _) in zip(P, path, strict=True)])


@EVERY
@pytest.mark.parametrize("look_ahead", [0, 1, 2, WHOLE])
def test_posteriors_are_the_sum_over_every_path_led_by_the_likeliest(model, look_ahead):
    P = random_posteriors(4, seed=3)
    rows = whole(with_look_ahead(model, look_ahead), P)
    for t, row in enumerate(rows):
        expected = np.zeros(3)
        for path, probability in all_paths(model, P[: t + look_ahead + 1]):
            expected[path[t][0]] += probability
        [expected] = led_by(expected[None] / expected.sum(), row.argmax()[None])
        np.testing.assert_allclose(row, expected, rtol=1e-10)


@EVERY
@pytest.mark.parametrize("seed", range(5))
def test_the_path_is_the_likeliest_of_all(model, seed):
    P = random_posteriors(4, seed=seed)
    best, _ = max(all_paths(model, P), key=lambda pair: pair[1])
    _, path = streamed(with_look_ahead(model, WHOLE), P, [])
    assert path.tolist() == [label for label, _ in best]


@EVERY
@pytest.mark.parametrize("look_ahead", [0, 3, WHOLE])
def test_the_largest_posterior_is_on_the_path(model, look_ahead):
    P = random_posteriors(90, seed=7)
    A = (
        np.reshape(model.transitions, (3, 3))
        if model.transitions
        else transitions_of_duration(3, model.duration, model.minimum)
    )
    viterbi = Viterbi(Chain(A, model.minimum), look_ahead)
    path = [label for row in likelihoods(P) for label in viterbi.push(row)] + viterbi.finish()
    assert streamed(with_look_ahead(model, look_ahead), P, [])[1].tolist() == path


def test_a_first_decision_looks_no_further_than_it_may():
    P = random_posteriors(5, seed=1)
    best, _ = max(all_paths(MODELS[1], P[:3]), key=lambda pair: pair[1])
    assert streamed(with_look_ahead(MODELS[1], 2), P, [])[1][0] == best[0][0]


@settings(max_examples=30)
@given(seed=st.integers(0, 1000), minimum=st.integers(1, 5), look_ahead=st.integers(0, 10))
def test_segments_on_the_path_last_their_minimum(seed, minimum, look_ahead):
    model = HiddenMarkov(duration=minimum + 0.5, minimum=minimum, look_ahead=look_ahead)
    _, path = streamed(model, random_posteriors(50, seed=seed), [])
    lengths = [len(list(run)) for _, run in itertools.groupby(path.tolist())]
    assert all(length >= minimum for length in lengths[1:-1])


def test_a_longer_look_ahead_than_needed_changes_little():
    P = random_posteriors(200, seed=5)
    model = HiddenMarkov(duration=4.0)
    np.testing.assert_allclose(whole(with_look_ahead(model, 60), P), whole(with_look_ahead(model, 300), P), atol=1e-9)


def test_one_doubtful_window_is_overruled():
    P = np.tile([0.9, 0.1], (21, 1))
    P[10] = [0.2, 0.8]
    rows, path = streamed(HiddenMarkov(), P, [])
    assert (path == 0).all()
    assert rows[10, 0] > 0.9


def test_certainty_of_the_impossible_is_survived():
    P = np.eye(2)[[0, 1, 0, 1, 1, 1]]
    rows, path = streamed(HiddenMarkov(duration=3.5, minimum=3, transitions=(1.0, 0.0, 0.0, 1.0)), P, [])
    assert np.isfinite(rows).all()
    assert len(set(path.tolist())) == 1


def test_one_label_is_always_that_label():
    rows, path = streamed(HiddenMarkov(), np.ones((5, 1)), [2])
    assert (rows == 1).all()
    assert (path == 0).all()


def test_many_rows_do_not_fade():
    rows, _ = streamed(HiddenMarkov(), random_posteriors(5000), [1000])
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-12)


def test_transitions_are_counted_in_reference_labels():
    counts = count_transitions([[0, 0, 0, 1], [1, 1]], 2)
    np.testing.assert_array_equal(counts, [[2, 1], [0, 1]])
    learnt = np.reshape(learn_transitions(counts, duration=2.0, prior=1.0), (2, 2))
    np.testing.assert_allclose(learnt, [[3 / 5, 2 / 5], [1 / 3, 2 / 3]])
    assert HiddenMarkov().with_transitions(count_transitions([[0, 1, 2, 2]], 3)).stream(3)


def test_without_any_transition_segments_last_as_they_do_by_default():
    learnt = np.reshape(learn_transitions(np.zeros((3, 3)), duration=10.0), (3, 3))
    np.testing.assert_allclose(learnt, transitions_of_duration(3, 10.0, 1))


def test_labels_last_as_long_as_the_segments_of_a_training():
    A = np.reshape(HiddenMarkov().with_durations(np.array([5.0, 20.0, 0.3])).transitions, (3, 3))
    np.testing.assert_allclose(1 / (1 - A.diagonal()), [5, 20, 2])  # of less than two windows nothing could be smoothed
    np.testing.assert_allclose(A.sum(axis=1), 1)
    np.testing.assert_allclose(A[0, 1:], 0.1)


def test_learnt_transitions_keep_what_is_always_short():
    rng = np.random.default_rng(0)
    reference = np.tile(np.repeat([0, 1, 2], [20, 3, 10]), 40)  # a short jingle between speech and music, always
    P = rng.dirichlet(np.ones(3), len(reference)) + 0.6 * np.eye(3)[reference]
    P /= P.sum(axis=1, keepdims=True)
    half = len(reference) // 2
    learnt = HiddenMarkov().with_transitions(count_transitions([reference[:half]], 3))
    right, right_before = (
        streamed(smoother, P[half:], [])[1] == reference[half:] for smoother in (learnt, HiddenMarkov())
    )
    is_short = reference[half:] == 1
    assert right.mean() > right_before.mean()
    assert right[is_short].mean() > right_before[is_short].mean() + 0.2


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: HiddenMarkov(duration=3.0, minimum=3), "hmm: duration=3 must be above minimum=3"),
        (lambda: HiddenMarkov(transitions=(0.5, 0.5)).stream(2), "hmm: 2 transitions, 2 labels have 4"),
        (lambda: HiddenMarkov(transitions=(0.5, 0.4, 0.5, 0.5)).stream(2), r"must sum to 1, not \[0.9, 1.0\]"),
        (lambda: HiddenMarkov(transitions=(-0.5, 1.0, 0.5, 0.5)), "must be at least 0 and at most 1"),
        (lambda: learn_transitions(np.zeros((2, 2)), prior=0), "prior=0 must be positive"),
    ],
)
def test_wrong_parameters_are_refused(work, message):
    with pytest.raises(ValueError, match=message):
        work()
