"""Newton steps among the coefficients that sit at no bound: the last part of the way, where single rows crawl.

The bounds that hold span a face of the feasible set; on it the dual is a quadratic whose optimum one linear system
gives. The step towards it ends at the optimum or at the first bound in the way, which then holds too.
"""

from __future__ import annotations

import numpy as np

from audioclass_msvm.rows import Boxes

RIDGE = 1e-11  # of the largest curvature: along what is flat, a step goes as far as bounds allow


def free_entries(beta: np.ndarray, boxes: Boxes) -> tuple[np.ndarray, np.ndarray]:
    """Row and label of the entries strictly inside their bounds, in order, of rows that have at least two."""
    inside = (beta > boxes.lower) & (beta < boxes.upper)
    inside &= inside.sum(axis=1, keepdims=True) > 1
    rows, labels = np.nonzero(inside)
    return rows, labels


def face_step(
    K: np.ndarray, beta: np.ndarray, pulls: np.ndarray, boxes: Boxes, rows: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, bool]:
    """β after a step over these free entries, and whether the walk over faces ends there.

    `K` is the Gram matrix of all rows of β, with whatever draws the sums to 0 added.
    """
    change = np.zeros_like(beta)
    change[rows, labels] = _newton(K[np.ix_(rows, rows)] * (labels[:, None] == labels), pulls[rows, labels], rows)
    if not (change * pulls).sum() > 0:
        return beta, True
    room = np.where(change > 0, boxes.upper - beta, boxes.lower - beta)
    share = np.divide(room, change, out=np.full_like(beta, np.inf), where=change != 0)
    part = min(share.min(), 1.0)
    new = np.clip(beta + part * change, boxes.lower, boxes.upper)
    bound = np.where(change > 0, boxes.upper, boxes.lower)
    return np.where(share <= part, bound, new) if part < 1 else new, part == 1


def _newton(H: np.ndarray, pulls: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The step in the free entries, summing to 0 in each row: entries after the first of a row trade with that."""
    first = np.searchsorted(rows, rows)
    others = np.flatnonzero(first != np.arange(len(rows)))
    base = first[others]
    H = H[others] - H[base]
    H = H[:, others] - H[:, base]
    H[np.diag_indices_from(H)] += RIDGE * H.diagonal().max() + 1e-300
    step = np.zeros(len(rows))
    try:
        traded = np.linalg.solve(H, pulls[others] - pulls[base])
    except np.linalg.LinAlgError:
        return step
    step[others] = traded
    np.subtract.at(step, base, traded)
    return step
