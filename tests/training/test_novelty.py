"""What is strange, learnt from rows: promises hold for new groups, and what was imagined is found."""

import numpy as np
import pytest

from audioclass.training.novelty import FEWEST_GROUPS, fit_novelty, group_shares

N_FEATURES = 40


def rows_of(n_groups, rng, n_each=2):
    """Rows of two labels in groups that are alike, and their posteriors."""
    groups = np.repeat(np.arange(n_groups), n_each)
    y = groups % 2
    centres = rng.normal(size=(n_groups, N_FEATURES))
    X = 0.1 * (centres[groups] + 0.5 * rng.normal(size=(len(groups), N_FEATURES)))
    X[:, 0] += y - 0.5
    return X, y, groups, np.eye(2)[y]


def imagined_of(rng):
    """One kind far along the second feature, one along the third."""
    kinds = []
    for column in (1, 2):
        rows = 0.1 * rng.normal(size=(20, N_FEATURES))
        rows[:, column] += 1.5
        kinds.append(rows)
    return kinds


@pytest.fixture(scope="module")
def novelty():
    rng = np.random.default_rng(0)
    return fit_novelty(*rows_of(200, rng), imagined_of(rng))


def p_values_of(novelty, X, decided):
    return novelty.p_values(novelty.strangeness_of(X, decided))


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_few_new_groups_are_called_strange(novelty, level):
    X, y, *_ = rows_of(2000, np.random.default_rng(1), 1)
    assert np.mean(p_values_of(novelty, X, y) <= level) == pytest.approx(level, abs=0.035)


def test_what_is_like_the_imagined_is_strange(novelty):
    for rows in imagined_of(np.random.default_rng(2)):
        assert p_values_of(novelty, rows, np.zeros(len(rows), int)).max() < 0.01


def test_what_is_far_from_everything_is_strange_though_nobody_imagined_it(novelty):
    far = np.zeros((5, N_FEATURES))
    far[:, 10:15] = 3 * np.eye(5)
    assert p_values_of(novelty, far, np.zeros(5, int)).max() < 0.01


def test_a_row_has_the_same_strangeness_in_single_precision(novelty):
    X, y, *_ = rows_of(20, np.random.default_rng(3))
    single, double = (novelty.strangeness_of(X.astype(kind), y) for kind in (np.float32, np.float64))
    assert single == pytest.approx(double, abs=1e-5)


def test_it_takes_less_than_a_megabyte(novelty):
    assert sum(array.nbytes for array in novelty.arrays().values()) < 2**20


def test_few_groups_tell_nothing():
    rng = np.random.default_rng(0)
    assert fit_novelty(*rows_of(FEWEST_GROUPS - 1, rng), imagined_of(rng)) is None


def test_rows_that_do_not_vary_are_no_error():
    X, y, groups, P = rows_of(30, np.random.default_rng(0))
    novelty = fit_novelty(np.zeros_like(X), y, groups, P, [np.zeros((3, N_FEATURES))])
    assert np.isfinite(novelty.strangeness_of(X, y)).all()


def test_rows_of_a_group_share_one():
    assert group_shares(np.array(["b", "a", "b", "c"])).tolist() == [0.5, 1, 0.5, 1]
