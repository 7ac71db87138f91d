"""C-adjusted criteria: K + Λ in the place of K, without forming it (specification 12.7).

Λ is diagonal, Λ_ii = 1/(C s_i), so whatever is linear in K needs only its value on Λ, and ∂Λ/∂C = −Λ/C.
"""

from __future__ import annotations

import numpy as np

from audioclass.criteria.problem import SelectionProblem


def added_diagonal(problem: SelectionProblem, is_adjusted: bool) -> np.ndarray:
    """Λ of an adjusted criterion, 0 of a plain one; (n,)."""
    return problem.ridge if is_adjusted else np.zeros(len(problem.y))


def one_hot(y: np.ndarray) -> np.ndarray:
    """(n, n_labels): 1 in the column of each example's label."""
    _, codes = np.unique(y, return_inverse=True)
    return np.eye(codes.max() + 1)[codes]
