import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task, blobs
from audioclass.trainers.l2_svm import L2SVM
from audioclass.trainers.nystroem import Nystroem, Similarities
from audioclass.trainers.svm import SVM

seeds = st.integers(0, 50)


def overlapping(seed=0, n_each=20, spread=1.5, wants="features", **changes):
    X, labels = blobs(n_each=n_each, spread=spread, seed=seed)
    return X, binary_task(wants, X, 1 - 2 * labels, **changes)


def rings(n, seed):
    """Two noisy rings in ten features: no straight line tells them apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], n)
    angles, radii = rng.uniform(0, 2 * np.pi, n), 1.5 + 0.5 * y + 0.35 * rng.normal(size=n)
    return np.column_stack([radii * np.cos(angles), radii * np.sin(angles), 0.3 * rng.normal(size=(n, 8))]), y


@pytest.mark.parametrize(
    "trainer", [Nystroem(), Nystroem(sigma=0.7, landmarks=10), Nystroem(landmarks=12, placement="uniform")]
)
def test_it_keeps_its_contract(trainer):
    check_trainer(trainer)


@given(seeds, st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=30)
def test_with_every_example_a_landmark_it_is_the_machine_with_squared_slacks(seed, C):
    weights = np.random.default_rng(seed).uniform(0.2, 3, 40)
    X, task = overlapping(seed, C=C, weights=weights)
    _, exact = overlapping(seed, C=C, weights=weights, wants="gram")
    scores = Nystroem().scores(Nystroem().fit(task), X)
    np.testing.assert_allclose(scores, L2SVM().fit(exact).scores(exact.K), atol=5e-3)


@given(seeds)
@settings(max_examples=30)
def test_an_integer_weight_is_repetition(seed):
    times = np.random.default_rng(seed).integers(0, 4, 40)
    times[:2] = 1
    X, task = overlapping(seed, weights=times.astype(float))
    repeated = binary_task("features", np.repeat(X, times, axis=0), np.repeat(task.y, times))
    machines = (Nystroem().fit(each) for each in (task, repeated))
    np.testing.assert_allclose(*(Nystroem().scores(machine, X) for machine in machines), atol=1e-6)


@pytest.mark.parametrize("placement", ["k_means", "uniform"])
def test_few_landmarks_come_within_a_point_of_the_exact_machines(placement):
    (X, y), (new, truth) = rings(1500, 0), rings(3000, 1)
    trainer = Nystroem(landmarks=100, placement=placement)
    machine = trainer.fit(binary_task("features", X, y))
    exact = binary_task("gram", X, y)
    K = Similarities(X, 1.0).of(new)
    share = np.mean(np.sign(trainer.scores(machine, new)) == truth)
    for other in (SVM(), L2SVM()):
        assert share >= np.mean(np.sign(other.fit(exact).scores(K)) == truth) - 0.01


def test_the_machine_is_its_landmarks_and_their_weights():
    X, task = overlapping()
    machine = Nystroem(sigma=0.8, landmarks=7).fit(task)
    arrays = machine.arrays
    assert {name: array.shape for name, array in arrays.items()} == {
        "landmarks": (7, 2),
        "weights": (7,),
        "intercept": (),
        "sigma": (),
    }
    distances = ((X[:, None] - arrays["landmarks"]) ** 2).sum(axis=2)
    by_hand = np.exp(-distances / (2 * 0.8**2)) @ arrays["weights"] + arrays["intercept"]
    np.testing.assert_allclose(Nystroem().scores(machine, X), by_hand, atol=1e-9)


def test_single_precision_scores_stay_within_a_ten_thousandth():
    X, y = rings(1000, 0)
    machine = Nystroem(landmarks=200).fit(binary_task("features", X, y))
    single = Nystroem().scores(machine, X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Nystroem().scores(machine, X), atol=1e-4)


def test_blocks_do_not_change_the_machine(monkeypatch):
    X, y = rings(300, 0)
    whole = Nystroem(landmarks=20).fit(binary_task("features", X, y))
    monkeypatch.setattr("audioclass.trainers.nystroem.ROWS", 17)
    blocks = Nystroem(landmarks=20).fit(binary_task("features", X, y))
    np.testing.assert_allclose(Nystroem().scores(blocks, X), Nystroem().scores(whole, X), atol=1e-8)


def test_drawn_landmarks_are_examples_and_other_seeds_draw_others():
    X, task = overlapping()
    trainer = Nystroem(landmarks=5, placement="uniform")
    first, second = (
        trainer.fit(binary_task("features", X, task.y, rng=np.random.default_rng(seed))).arrays["landmarks"]
        for seed in (0, 1)
    )
    assert all((landmark == X).all(axis=1).any() for landmark in first)
    assert not np.array_equal(first, second)


def test_examples_that_are_all_alike_get_the_weighted_mean_of_their_sides():
    weights = np.tile([3.0, 1.0], 20)
    task = binary_task("features", np.ones((40, 3)), np.tile([1, -1], 20), weights=weights)
    np.testing.assert_allclose(Nystroem().scores(Nystroem().fit(task), task.X), 0.5, atol=1e-9)


def test_an_error_factor_beyond_working_precision_is_refused():
    _, task = overlapping(C=1e18)
    with pytest.raises(ValueError, match="must be clearly positive; repair K, or lower C"):
        Nystroem().fit(task)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma": 0.0}, r"nystroem: sigma=0\.0 must be positive"),
        ({"landmarks": 1}, "landmarks=1 must be at least 2"),
        ({"placement": "k_mean"}, "unknown placement 'k_mean'; did you mean 'k_means'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Nystroem(**parameters)
