"""The contract of a kernel (specification 2)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audioclass.contracts import HasGradients, HasMinusOne
from audioclass.kernels.mercer import check_mercer
from audioclass.kernels.statistics import diagonal, gram, pairwise, statistic_of
from audioclass.parameters import make, parameter_values
from audioclass.testing.checks import (
    COMMON,
    Check,
    DoesNotApply,
    repeated,
    require,
    require_close,
    require_refusal,
    skip_unless,
    unchanged,
)


def _examples(n: int = 24, d: int = 5, seed: int = 0) -> np.ndarray:
    """Positive features of about one, so that kernels on histograms can be checked as well."""
    return np.random.default_rng(seed).gamma(4.0, 0.25, (n, d))


def gram_has_the_right_shape(kernel: Any) -> None:
    """K(X, Y) has a row for each example of X and a column for each of Y, and is finite."""
    K = gram(kernel, _examples(7), _examples(4, seed=1))
    require(K.shape == (7, 4), f"shape {K.shape} for 7 and 4 examples")
    require(np.isfinite(K).all(), "NaN or infinite values for ordinary features")


def gram_is_symmetric(kernel: Any) -> None:
    """K(X, X) is symmetric, and K(X, Y) is K(Y, X) turned over."""
    X, Y = _examples(), _examples(9, seed=1)
    K = gram(kernel, X)
    require_close(K, K.T, 1e-12, "K(X, X)")
    require_close(gram(kernel, X, Y), gram(kernel, Y, X).T, 1e-12, "K(X, Y)")


def gram_is_made_of_pairs(kernel: Any) -> None:
    """An entry depends on its two examples alone: a part of K(X, X) is K of the parts."""
    X = _examples()
    require_close(gram(kernel, X)[:6, 9:], gram(kernel, X[:6], X[9:]), 1e-9, "a part of K(X, X)")


def diagonal_is_that_of_the_gram_matrix(kernel: Any) -> None:
    """k(x, x) of each example is the diagonal of K(X, X)."""
    X = _examples()
    require_close(diagonal(kernel, X), gram(kernel, X).diagonal(), 1e-9, "diagonal")


def mercer_statement_holds(kernel: Any) -> None:
    """Where it states to be a Mercer kernel, no Gram matrix has a negative eigenvalue."""
    skip_unless(getattr(kernel, "is_mercer", False), "it does not state is_mercer = True")
    for seed in range(5):
        smallest = check_mercer(gram(kernel, _examples(30, 3, seed)), 1e-9)
        require(smallest.holds, f"smallest eigenvalue {smallest.smallest:.3g}")


def gradients_agree_with_differences(kernel: Any) -> None:
    """Each gradient agrees with the central difference of K."""
    statistic = statistic_of(kernel)
    skip_unless(isinstance(kernel, HasGradients), "it has no gradients(S, K)")
    if statistic is None:
        raise DoesNotApply("it is no function of a statistic")
    X = _examples()
    S = pairwise(statistic, X)
    values = parameter_values(kernel)
    gradients = unchanged([S], lambda: kernel.gradients(S, kernel.of(S)))
    for name, gradient in gradients.items():
        require(name in values, f"gradient by {name!r}, which is no parameter")
        step = 1e-5 * max(abs(values[name]), 1e-3)
        above, below = (make(type(kernel), values | {name: values[name] + s}).of(S) for s in (step, -step))
        require_close(gradient, (above - below) / (2 * step), 1e-6, f"gradient by {name}")


def minus_one_is_exact_close_to_one(kernel: Any) -> None:
    """Where it knows K − 1 it is that, and nothing is lost of it where examples are close to each other."""
    statistic = statistic_of(kernel)
    skip_unless(isinstance(kernel, HasMinusOne), "it has no minus_one(S)")
    if statistic is None:
        raise DoesNotApply("it is no function of a statistic")
    S = pairwise(statistic, _examples())
    missing = unchanged([S], lambda: kernel.minus_one(S))
    require_close(missing, kernel.of(S) - 1, 1e-12, "minus_one(S)")
    require_close(1e14 * kernel.minus_one(1e-14 * S), 1e6 * kernel.minus_one(1e-6 * S), 1e-4, "minus_one of tiny S")


def inputs_are_left_alone(kernel: Any) -> None:
    """It does not change the examples or the statistic, and gives the same twice."""
    X = _examples()
    K = repeated(lambda: unchanged([X], lambda: gram(kernel, X)), "K(X, X)")
    statistic = statistic_of(kernel)
    if statistic is not None:
        S = pairwise(statistic, X)
        require(unchanged([S], lambda: kernel.of(S)) is not S, "of(S) returned S itself, which others read")
        require_close(kernel.of(S), K, 1e-12, "of(S)")


def single_precision_is_kept(kernel: Any) -> None:
    """float32 features give a float32 matrix close to that of float64."""
    X = _examples()
    K = gram(kernel, X.astype(np.float32))
    require(K.dtype == np.float32, f"float32 features gave {K.dtype}")
    require_close(K.astype(np.float64), gram(kernel, X), 1e-4, "float32 against float64")


def bad_examples_are_refused(kernel: Any) -> None:
    """NaN, infinite, empty and mismatched examples are a ValueError."""
    X = _examples()
    for what, bad in (("NaN", np.nan), ("infinity", np.inf)):
        spoilt = X.copy()
        spoilt[2, 1] = bad
        require_refusal(partial(gram, kernel, spoilt), what)
    require_refusal(lambda: gram(kernel, X[:0]), "no example")
    require_refusal(lambda: gram(kernel, X, X[:, :-1]), "another number of features")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    gram_has_the_right_shape,
    gram_is_symmetric,
    gram_is_made_of_pairs,
    diagonal_is_that_of_the_gram_matrix,
    mercer_statement_holds,
    gradients_agree_with_differences,
    minus_one_is_exact_close_to_one,
    inputs_are_left_alone,
    single_precision_is_kept,
    bad_examples_are_refused,
)
