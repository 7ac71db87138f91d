"""What a row of dual coefficients may be: β_i sums to 0 and lies in a box (specification 8).

β_ik = −α_ik lies in [−C_i, 0] for every label k but its own, and β_iy = Σ_k α_ik in [0, most]. In that alone the
machines differ: `most` is (Q−1) C_i for Weston-Watkins and C_i for Crammer-Singer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Boxes:
    """`lower` and `upper` (n, Q): where the rows of β may lie; infinite where C is."""

    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, y: np.ndarray, n_labels: int, C: np.ndarray, total: float) -> Boxes:
        """Boxes of examples with label `y` and error factor `C` (n,), of which Σ_k α_ik may use `total`."""
        of_label = np.eye(n_labels, dtype=bool)[y]
        return cls(np.where(of_label, 0.0, -C[:, None]), np.where(of_label, (total * C)[:, None], 0.0))

    def of_rows(self, rows: np.ndarray) -> Boxes:
        """The boxes of these examples."""
        return Boxes(self.lower[rows], self.upper[rows])

    def violations(self, beta: np.ndarray, pulls: np.ndarray) -> np.ndarray:
        """(n,): by how much the pulls (n, Q), gradients, of labels that may rise exceed those of labels that may fall.

        A row is optimal where this is at most 0; it counts units of the margin.
        """
        rising = np.where(beta < self.upper, pulls, -np.inf).max(axis=1)
        return np.asarray(rising - np.where(beta > self.lower, pulls, np.inf).min(axis=1))


def nearest_row(target: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The row between the bounds, summing to 0, that is nearest to `target`; the bounds must hold 0 between them.

    It is target − t, cut off at the bounds, for some t. Its sum falls as t rises, along straight lines that meet where
    an entry reaches a bound: t lies between two such places.
    """
    reach = np.sqrt(target @ target)  # as 0 is such a row, no entry goes farther
    lower, upper = np.maximum(lower, -reach), np.minimum(upper, reach)
    places = np.concatenate([target - lower, target - upper])
    sums = np.minimum(np.maximum(target - places[:, None], lower), upper).sum(axis=1)
    before = np.where(sums >= 0, places, -np.inf).argmax()
    after = np.where(sums <= 0, places, np.inf).argmin()
    t = places[before]
    if sums[before] > sums[after]:
        t += (places[after] - t) * sums[before] / (sums[before] - sums[after])
    return np.asarray(np.minimum(np.maximum(target - t, lower), upper))
