import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs, scores_of
from audioclass.trainers import similarities
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.nystroem import Nystroem
from audioclass.trainers.svm import SVM

seeds = st.integers(0, 50)


def overlapping(seed=0, n_each=20, spread=1.5, wants="entries", **changes):
    X, labels = blobs(n_each=n_each, spread=spread, seed=seed)
    return X, binary_task(wants, X, 1 - 2 * labels, **changes)


def rings(n, seed):
    """Two noisy rings in ten features: no straight line tells them apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    angles, radii = rng.uniform(0, 2 * np.pi, n), 1.5 + 0.5 * y + 0.35 * rng.normal(size=n)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles), 0.3 * rng.normal(size=(n, 8))]), y


@pytest.mark.parametrize("trainer", [Nystroem(), Nystroem(landmarks=12)])
def test_it_keeps_its_contract(trainer):
    check_trainer(trainer)


@given(seeds, st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_with_every_example_a_landmark_it_is_the_machine_with_squared_slacks(seed, C):
    weights = np.random.default_rng(seed).uniform(0.2, 3, 40)
    X, task = overlapping(seed, C=C, weights=weights)
    _, exact = overlapping(seed, C=C, weights=weights, wants="gram")
    scores = scores_of(Nystroem(), Nystroem().fit(task), X, X)
    np.testing.assert_allclose(scores, L2SVM().fit(exact).scores(exact.K), atol=5e-3)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_an_integer_weight_is_repetition(seed):
    times = np.random.default_rng(seed).integers(0, 4, 40)
    times[:2] = 1
    X, task = overlapping(seed, weights=times.astype(float))
    again = np.repeat(X, times, axis=0)
    repeated = binary_task("entries", again, np.repeat(task.y, times))
    scores = [scores_of(Nystroem(), Nystroem().fit(t), rows, X) for t, rows in ((task, X), (repeated, again))]
    np.testing.assert_allclose(*scores, atol=1e-3)  # copies among the landmarks, and the ridge, share out the weight


def test_few_landmarks_come_within_a_point_of_the_exact_machines():
    (X, y), (new, truth) = rings(1500, 0), rings(3000, 1)
    trainer = Nystroem(landmarks=200)
    share = np.mean(np.sign(scores_of(trainer, trainer.fit(binary_task("entries", X, y)), X, new)) == truth)
    exact = binary_task("gram", X, y)
    for other in (SVM(), L2SVM()):
        assert share >= np.mean(np.sign(scores_of(other, other.fit(exact), X, new)) == truth) - 0.01


def test_landmarks_are_examples_and_other_seeds_draw_others():
    X, task = overlapping()
    first, second = (
        Nystroem(landmarks=5).fit(binary_task("entries", X, task.y, rng=np.random.default_rng(seed))).support
        for seed in (0, 1)
    )
    assert len(first) == len(np.unique(first)) == 5
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(("rows", "kept"), [(17, 2**28), (2048, 0), (17, 0)], ids=["blocks", "not-kept", "both"])
def test_blocks_and_what_is_kept_do_not_change_the_machine(monkeypatch, rows, kept):
    X, y = rings(300, 0)
    trainer = Nystroem(landmarks=20)
    whole = scores_of(trainer, trainer.fit(binary_task("entries", X, y)), X, X)
    monkeypatch.setattr(similarities, "ROWS", rows)
    monkeypatch.setattr(similarities, "KEPT", kept)
    np.testing.assert_allclose(scores_of(trainer, trainer.fit(binary_task("entries", X, y)), X, X), whole, atol=1e-5)


def test_examples_that_are_all_alike_get_the_weighted_mean_of_their_sides():
    X, weights = np.ones((40, 3)), np.tile([3.0, 1.0], 20)
    task = binary_task("entries", X, np.tile([1, -1], 20), weights=weights)
    np.testing.assert_allclose(scores_of(Nystroem(), Nystroem().fit(task), X, X), 0.5, atol=1e-6)


def test_an_error_factor_beyond_working_precision_is_refused():
    _, task = overlapping(C=1e18)
    with pytest.raises(ValueError, match="must be clearly positive; repair K, or lower C"):
        Nystroem().fit(task)


def test_a_whole_matrix_is_refused():
    with pytest.raises(ValueError, match="wants entries of the Gram matrix"):
        Nystroem().fit(overlapping(wants="gram")[1])


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match="landmarks=1 must be at least 2"):
        Nystroem(landmarks=1)
