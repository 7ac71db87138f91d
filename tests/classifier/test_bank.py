import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.classifier.bank import Bank
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram
from audioclass.problems import Machine, Members

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 6)), RNG.normal(size=(25, 6))
KERNELS = [Gaussian(1.0), Gaussian(1.0), Linear(), Gaussian(0.5), Linear()]


def machine(seed, n_support=7):
    rng = np.random.default_rng(seed)
    return Machine(rng.choice(40, n_support, replace=False), rng.normal(size=n_support), float(rng.normal()))


MACHINES = [machine(seed) for seed in range(5)]


def one_by_one(new=NEW):
    return np.stack([m.scores(gram(k, new, X)) for m, k in zip(MACHINES, KERNELS, strict=True)], axis=1)


def test_all_machines_together_give_what_each_gives_alone():
    np.testing.assert_allclose(Bank.of(X, MACHINES, KERNELS).scores(NEW), one_by_one(), rtol=1e-10, atol=1e-10)


def test_single_precision_is_within_a_ten_thousandth():
    scores = Bank.of(X, MACHINES, KERNELS).astype(np.float32).scores(NEW.astype(np.float32))
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, one_by_one(), atol=1e-4)


@pytest.mark.parametrize("sigma", [1.0, 30.0, 1000.0])
def test_wide_kernels_lose_nothing_in_single_precision(sigma):
    """The wider a kernel, the closer all its values are to 1 and the larger the coefficients that tell them apart."""
    kernel, y = Gaussian(sigma), np.sign(X[:, 0] + X[:, 1])
    system = np.block([[gram(kernel, X) + np.eye(40) / (10 * sigma**2), np.ones((40, 1))], [np.ones((1, 40)), 0.0]])
    *coefficients, intercept = np.linalg.solve(system, np.append(y, 0.0))
    bank = Bank.of(X, [Machine(np.arange(40), np.array(coefficients), float(intercept))], [kernel])
    single = bank.astype(np.float32).scores(NEW.astype(np.float32))
    assert bank.scores(NEW).std() > 0.5
    np.testing.assert_allclose(bank.scores(NEW)[:, 0], gram(kernel, NEW, X) @ coefficients + intercept, atol=1e-7)
    np.testing.assert_allclose(single, bank.scores(NEW), atol=1e-4)


def test_only_support_rows_are_kept():
    bank = Bank.of(X, MACHINES, KERNELS)
    assert len(bank.X) == len(np.unique(np.concatenate([m.support for m in MACHINES])))
    assert len(bank.parts) == 3  # machines of equal kernels are evaluated together


@settings(deadline=None)
@given(st.integers(1, 24))
def test_blocks_do_not_change_the_scores(cut):
    bank = Bank.of(X, MACHINES, KERNELS)
    parts = np.concatenate([bank.scores(NEW[:cut]), bank.scores(NEW[cut:])])
    np.testing.assert_allclose(parts, bank.scores(NEW), rtol=1e-10, atol=1e-10)


def test_a_machine_without_support_is_its_intercept():
    nothing = Machine(np.empty(0, int), np.empty(0), 0.5)
    assert Bank.of(X, [nothing], [Linear()]).scores(NEW).tolist() == [[0.5]] * 25


def test_a_row_that_supports_twice_counts_twice():
    twice = Machine(np.array([3, 3]), np.array([1.0, 2.0]), 0.0)
    once = Machine(np.array([3]), np.array([3.0]), 0.0)
    scores = Bank.of(X, [twice, once], [Linear(), Linear()]).scores(NEW)
    np.testing.assert_allclose(scores[:, 0], scores[:, 1])


def test_rows_of_other_features_are_refused():
    with pytest.raises(ValueError, match="must have 6 features"):
        Bank.of(X, MACHINES, KERNELS).scores(NEW[:, :4])


def of_members(seed, link, n_members):
    rng = np.random.default_rng(seed)
    members = Members(link, rng.uniform(0, 2, n_members), rng.normal(size=n_members))
    support = rng.choice(40, 9, replace=False)
    return Machine(support, rng.normal(size=(9, n_members)), rng.normal(size=n_members), members)


MIXED = [
    machine(0),
    of_members(1, "vote", 3),
    of_members(2, "probability", 4),
    of_members(3, "vote", 1),
    of_members(4, "score", 2),
    of_members(5, "vote", 5),
]
MIXED_KERNELS = [Gaussian(1.0), Gaussian(1.0), Gaussian(1.0), Linear(), Linear(), Gaussian(1.0)]


def test_machines_of_members_stand_beside_others():
    bank = Bank.of(X, MIXED, MIXED_KERNELS)
    expected = np.stack([m.scores(gram(k, NEW, X)) for m, k in zip(MIXED, MIXED_KERNELS, strict=True)], axis=1)
    assert len(bank.parts) == 5  # those of equal kernels and links are evaluated together
    np.testing.assert_allclose(bank.scores(NEW), expected, rtol=1e-9, atol=1e-9)
    assert set(np.unique(bank.scores(NEW)[:, 1] * 3).round(9)) <= {-3, -1, 1, 3}


def test_votes_in_single_precision_are_taken_in_double():
    bank = Bank.of(X, MIXED, MIXED_KERNELS).astype(np.float32)
    scores = bank.scores(NEW.astype(np.float32))
    assert scores.dtype == np.float32
    exact = bank.astype(np.float64).scores(NEW.astype(np.float32).astype(np.float64))
    votes = [1, 3, 5]
    np.testing.assert_array_equal(scores[:, votes], exact[:, votes].astype(np.float32))
    np.testing.assert_allclose(scores, exact, atol=1e-4)


def test_a_machine_comes_out_of_the_bank_as_it_went_in():
    bank = Bank.of(X, MIXED, MIXED_KERNELS)
    for place, (one, kernel) in enumerate(zip(MIXED, MIXED_KERNELS, strict=True)):
        back = bank.machine(place)
        assert type(back.members) is type(one.members)
        expected = one.scores(gram(kernel, NEW, X))
        np.testing.assert_allclose(back.scores(gram(kernel, NEW, bank.X)), expected, rtol=1e-9, atol=1e-9)


def test_many_members_are_evaluated_some_rows_at_a_time(monkeypatch):
    expected = Bank.of(X, MIXED, MIXED_KERNELS).scores(NEW)
    monkeypatch.setattr("audioclass.classifier.bank.ENTRIES_TOGETHER", 20)
    monkeypatch.setattr("audioclass.classifier.bank.DOUBLES_TOGETHER", 50)
    np.testing.assert_allclose(Bank.of(X, MIXED, MIXED_KERNELS).scores(NEW), expected, rtol=1e-9, atol=1e-9)


def test_members_without_support_say_what_their_intercepts_say():
    nothing = Machine(np.arange(0), np.zeros((0, 3)), np.array([0.5, 2.0, -1.0]), Members.plain("vote", 3))
    np.testing.assert_allclose(Bank.of(X, [nothing], [Linear()]).scores(NEW), np.full((25, 1), 1 / 3))
