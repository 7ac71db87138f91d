"""LIBSVM on a precomputed Gram matrix, and the bias of the machines that it solves (specification 3.1, 3.3).

LIBSVM keeps K in single precision: scores are exact to about 6e-8 Σ|coefficients| times the largest |K|, however small
the tolerance. A non-positive curvature K_ii + K_jj − 2K_ij is replaced by 1e-12: K need not be a Mercer kernel's.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

STEPS = (10**6, 10**7)  # at least and at most
WORK = 10**10  # steps times examples: some ten seconds
AT_BOUND = 1e-12  # of the box: coefficients this near to 0 or to their bound are there but for rounding
CACHE = 500  # megabytes of kernel rows


def dual_solution(
    machine: str, K: np.ndarray, targets: np.ndarray, weights: np.ndarray, **parameters: Any
) -> np.ndarray:
    """Signed dual coefficients (n,) of scikit-learn's `SVC` or `SVR`, 0 where an example is no support vector.

    The work is bounded: a RuntimeWarning says that the tolerance was not reached within it.
    """
    import sklearn
    from sklearn import exceptions, svm

    steps = int(np.clip(WORK // len(K), *STEPS))
    solver = getattr(svm, machine)(kernel="precomputed", max_iter=steps, cache_size=CACHE, **parameters)
    with (
        sklearn.config_context(assume_finite=True, skip_parameter_validation=True),
        warnings.catch_warnings(action="ignore", category=exceptions.ConvergenceWarning),
    ):
        solver.fit(K, targets, sample_weight=weights)
    if solver.fit_status_:
        warnings.warn(
            f"{machine} stopped after {steps} steps without reaching tolerance {parameters['tol']:g}; "
            "lower C, or repair K if it is not positive semi-definite",
            RuntimeWarning,
            stacklevel=3,
        )
    coefficients = np.zeros(len(K))
    coefficients[solver.support_] = solver.dual_coef_[0]
    return coefficients


def bias(equal: np.ndarray, at_least: np.ndarray, at_most: np.ndarray) -> float:
    """Mean of the values that the bias equals at free vectors; where none is free, the midpoint of its interval."""
    if equal.size:
        return float(equal.mean())
    return float((at_least.max() + at_most.min()) / 2)
