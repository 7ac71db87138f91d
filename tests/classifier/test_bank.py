import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.classifier.bank import Bank
from audioclass.kernels.gaussian import Gaussian
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram
from audioclass.problems import Machine

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
