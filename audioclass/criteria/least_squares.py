"""Groups held out of least-squares machines in closed form, and how their scores move with the kernel.

The machine solves (K + Λ) a + b 1 = y and 1'a = 0. With A = (K + Λ)⁻¹, u = A1 and M = A − uu'/1'u: a = My, and the
residuals of a group B left out are r_B = M_BB⁻¹ a_B. M is a block of an inverse, so dM = −M dK M, da = −M dK a and

    dr_B = M_BB⁻¹ (M dK M_·B r_B − M dK a)_B.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dsymm, dsymv
from scipy.linalg.lapack import dpotrf, dpotri


@dataclass(frozen=True, eq=False)
class CentredInverse:
    """M, from one factorisation that serves every y; `half` holds A below its diagonal, zero above."""

    half: np.ndarray
    u: np.ndarray

    @classmethod
    def of(cls, K: np.ndarray, ridge: np.ndarray) -> CentredInverse:
        """A ValueError where K + Λ is not positive definite."""
        shifted = np.array(np.transpose(K), dtype=np.float64, order="F")  # symmetric: its rows serve as columns
        shifted[np.diag_indices(len(K))] += ridge
        L, failed = dpotrf(shifted, lower=True, overwrite_a=True)
        if failed:
            raise ValueError("K with its ridge is not positive definite; repair K, or lower C for a larger ridge")
        half, _ = dpotri(L, lower=True, overwrite_c=True)
        return cls(half, dsymv(1.0, half, np.ones(len(K)), lower=True))

    def dot(self, values: np.ndarray) -> np.ndarray:
        """M v, of one vector or of each column of a matrix."""
        product = dsymm if values.ndim == 2 else dsymv
        share = self.u @ values / self.u.sum()
        return np.asarray(product(1.0, self.half, values, lower=True) - np.multiply.outer(self.u, share))

    @cached_property
    def diagonal(self) -> np.ndarray:
        """M_ii."""
        return np.asarray(self.half.diagonal() - self.u**2 / self.u.sum())

    @cached_property
    def whole(self) -> np.ndarray:
        """M itself."""
        M = self.half + self.half.T
        M[np.diag_indices(len(M))] /= 2
        M -= np.multiply.outer(self.u, self.u / self.u.sum())
        return np.asarray(M)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Machines without each group of examples, all from one M; `order` sorts examples by group, `starts` begin them."""

    inverse: CentredInverse
    order: np.ndarray
    starts: np.ndarray
    blocks: list[tuple[np.ndarray, np.ndarray]]  # members and M_BB⁻¹ of the groups of more than one

    @classmethod
    def of(cls, inverse: CentredInverse, groups: np.ndarray) -> HeldOut:
        """At least two groups, each example naming its own."""
        codes = np.unique(groups, return_inverse=True)[1]
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        if len(starts) < 2:
            raise ValueError("one group holds every example, at least 2 groups are needed to hold one out")
        parts = np.split(order, starts[1:]) if len(starts) < len(order) else []
        blocks = [(B, np.linalg.inv(inverse.whole[np.ix_(B, B)])) for B in parts if len(B) > 1]
        return cls(inverse, order, starts, blocks)

    def residuals(self, y: np.ndarray) -> np.ndarray:
        """y less the score of each example by the machine that never saw its group; of each column of several."""
        return self._divided(self.inverse.dot(y))

    def pull(self, y: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Q with dL = ⟨Q, dK⟩ for a loss L whose derivatives by the residuals are `slope`; O(n² n_groups)."""
        a = self.inverse.dot(y)
        h = self._divided(slope)
        return np.asarray(
            self._columns(h) @ self._columns(self._divided(a)).T - np.multiply.outer(self.inverse.dot(h), a)
        )

    def _divided(self, values: np.ndarray) -> np.ndarray:
        """M_BB⁻¹ v_B of every group."""
        result = (values.T / self.inverse.diagonal).T
        for B, block in self.blocks:
            result[B] = block @ values[B]
        return np.asarray(result)

    def _columns(self, values: np.ndarray) -> np.ndarray:
        """(n, n_groups): M_·B v_B."""
        return np.add.reduceat((self.inverse.whole * values)[:, self.order], self.starts, axis=1)
