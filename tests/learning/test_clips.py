import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audioclass.learning.clips import combine_windows


@given(st.integers(1, 8), st.integers(2, 5), st.integers(0, 1000))
def test_it_is_a_posterior_that_order_does_not_change(n, n_labels, seed):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_labels, 0.2), n)
    combined = combine_windows(P)
    assert combined.min() > 0
    assert abs(combined.sum() - 1) < 1e-12
    np.testing.assert_allclose(combine_windows(P[rng.permutation(n)]), combined, rtol=1e-9)


def test_windows_that_agree_say_what_each_says():
    np.testing.assert_allclose(combine_windows(np.array([[0.8, 0.2]] * 5)), [0.8, 0.2])


def test_a_value_worked_out_by_hand():
    """√(0.9 · 0.4) = 0.6 and √(0.1 · 0.6) ≈ 0.245, over their sum."""
    expected = np.array([0.6, np.sqrt(0.06)])
    np.testing.assert_allclose(combine_windows(np.array([[0.9, 0.1], [0.4, 0.6]])), expected / expected.sum())


def test_weights_count_and_all_zero_ones_do_not():
    P = np.array([[0.9, 0.1], [0.4, 0.6]])
    np.testing.assert_allclose(combine_windows(P, [1, 0]), P[0])
    np.testing.assert_allclose(combine_windows(P, np.zeros(2)), combine_windows(P))


def test_no_window_alone_rules_a_label_out():
    P = np.array([[0.0, 1.0]] + [[0.95, 0.05]] * 9)
    assert combine_windows(P)[0] > 0.5
