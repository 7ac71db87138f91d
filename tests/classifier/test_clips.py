import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from audioclass.classifier.clips import combine_windows, fit_inverse_temperature


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


def test_at_their_number_windows_are_independent_witnesses():
    P = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    product = P.prod(axis=0)
    np.testing.assert_allclose(combine_windows(P, inverse_temperature=3.0), product / product.sum())


def witnesses(n_independent, n_copies, seed=0):
    """Windows of 400 clips, some independent given the label and some copies of others; calibrated each by itself."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=400)
    logits = np.repeat(rng.normal(np.where(y, 1.0, -1.0)[:, None], 1.0, (400, n_independent)), n_copies, axis=1)
    p = 1 / (1 + np.exp(-2 * logits.ravel()))
    n = n_independent * n_copies
    return np.stack([1 - p, p], axis=1), np.repeat(y, n), [str(i) for i in np.repeat(np.arange(400), n)]


def test_the_number_of_independent_windows_is_found():
    assert 2.3 < fit_inverse_temperature(*witnesses(3, 1)) < 3.7
    assert 0.8 < fit_inverse_temperature(*witnesses(1, 3)) < 1.2
    assert 1.6 < fit_inverse_temperature(*witnesses(2, 4)) < 2.4


def test_clips_of_one_window_are_left_as_they_are():
    assert fit_inverse_temperature(*witnesses(1, 1)) == 1.0


def test_no_other_sharpness_is_better():
    P, y, clips = witnesses(2, 2)
    best = fit_inverse_temperature(P, y, clips)

    def loss(inverse_temperature):
        rows = [slice(4 * i, 4 * i + 4) for i in range(400)]
        return -np.mean([np.log(combine_windows(P[r], inverse_temperature=inverse_temperature)[y[r][0]]) for r in rows])

    assert all(loss(best) <= loss(other) + 1e-9 for other in (0.5 * best, 0.9 * best, 1.1 * best, 2 * best))


def test_clips_that_are_all_right_make_nobody_certain():
    P, y = np.tile([[0.8, 0.2], [0.2, 0.8]], (12, 1)), np.tile([0, 1], 12)
    clips = [f"{i // 4}-{i % 2}" for i in range(24)]
    inverse_temperature = fit_inverse_temperature(P, y, clips)
    expected = np.log(13) / np.log(4)  # 1/(1 + 4^−t) = 13/14, for 12 clips of 2 labels
    assert abs(inverse_temperature - expected) < 1e-6
    assert fit_inverse_temperature(P**9 / (P**9).sum(axis=1, keepdims=True), y, clips) == 1.0
