"""Groups held out of least-squares machines in closed form, and how their scores move with the kernel.

The machine solves (K + Λ) a + b 1 = y and 1'a = 0. With A = (K + Λ)⁻¹, u = A1 and M = A − uu'/1'u: a = My, and the
residuals of a group B left out are r_B = M_BB⁻¹ a_B. M is a block of an inverse, so dM = −M dK M, da = −M dK a and

    dr_B = M_BB⁻¹ (M dK M_·B r_B − M dK a)_B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri


def centred_inverse(K: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """M, from one factorisation that serves every y; a ValueError where K + Λ is not positive."""
    shifted = np.array(K, dtype=np.float64, order="F")
    shifted[np.diag_indices(len(K))] += ridge
    L, failed = dpotrf(shifted, lower=True, overwrite_a=True)
    if failed:
        raise ValueError("K with its ridge is not positive definite; repair K, or lower C for a larger ridge")
    A, _ = dpotri(L, lower=True, overwrite_c=True)
    A = np.tril(A) + np.tril(A, -1).T
    u = A.sum(axis=0)
    A -= np.multiply.outer(u, u / u.sum())
    return A


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Machines without each group of examples, all from one M; `order` sorts examples by group, `starts` begin them."""

    M: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    blocks: list[tuple[np.ndarray, np.ndarray]]  # members and M_BB⁻¹ of the groups of more than one

    @classmethod
    def of(cls, M: np.ndarray, groups: np.ndarray) -> HeldOut:
        """At least two groups, each example naming its own."""
        codes = np.unique(groups, return_inverse=True)[1]
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        if len(starts) < 2:
            raise ValueError("one group holds every example, at least 2 groups are needed to hold one out")
        parts = np.split(order, starts[1:])
        return cls(M, order, starts, [(B, np.linalg.inv(M[np.ix_(B, B)])) for B in parts if len(B) > 1])

    def residuals(self, y: np.ndarray) -> np.ndarray:
        """y less the score of each example by the machine that never saw its group."""
        return self._divided(self.M @ y)

    def pull(self, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Q with dL = ⟨Q, dK⟩ for a loss L whose derivatives by the residuals are `slope`; O(n² n_groups)."""
        a = self.M @ y
        h = self._divided(slope)
        return self._columns(h) @ self._columns(self._divided(a)).T - np.multiply.outer(self.M @ h, a)

    def _divided(self, values: np.ndarray) -> np.ndarray:
        """M_BB⁻¹ v_B of every group."""
        result = values / self.M.diagonal()
        for B, inverse in self.blocks:
            result[B] = inverse @ values[B]
        return result

    def _columns(self, values: np.ndarray) -> np.ndarray:
        """(n, n_groups): M_·B v_B."""
        return np.add.reduceat((self.M * values)[:, self.order], self.starts, axis=1)
