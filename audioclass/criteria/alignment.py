"""Alignment: the cosine between a Gram matrix and an ideal one (specification 12.1 to 12.3, 12.7).

The ideal is T = Z P Z': Z tells the label of each example, P is 1 within a label and −1/(Q−1) between two of Q. For
±1 that is yy'. Weighted, a label counts the same however many examples it has; centred, K and T are seen from their
means, so that a constant added to the kernel plays no part (Cortes, Mohri and Rostamizadeh 2012).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np

from audioclass.contracts import Criterion, Dependence
from audioclass.criteria.adjusted import added_diagonal, one_hot
from audioclass.criteria.problem import SelectionProblem
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component


class _Alignment:
    """A = ⟨K,T⟩/(‖K‖‖T‖) and its derivatives ⟨∂K,T⟩/(‖K‖‖T‖) − A⟨K,∂K⟩/‖K‖²."""

    better: ClassVar[Literal["lower", "higher"]] = "higher"
    takes_labels: ClassVar[bool] = True
    is_adjusted: ClassVar[bool] = False
    is_weighted: ClassVar[bool] = False
    is_centred: ClassVar[bool] = False

    @property
    def depends_on(self) -> frozenset[Dependence]:
        """On C where it is adjusted."""
        return frozenset({"C"}) if self.is_adjusted else frozenset()

    def value(self, problem: SelectionProblem) -> float:
        """In [0, 1] for a positive semi-definite K; 0 where K is 0."""
        Z, extra, K = self._target(problem), added_diagonal(problem, self.is_adjusted), self._seen(problem)
        return _cosine(_product(problem.K, extra, Z), self._norm(K, extra), _target_norm(Z))

    def gradient(self, problem: SelectionProblem) -> dict[str, float]:
        """By each kernel parameter; by C where it is adjusted."""
        Z, extra, K = self._target(problem), added_diagonal(problem, self.is_adjusted), self._seen(problem)
        norm, target_norm = self._norm(K, extra), _target_norm(Z)
        A = _cosine(_product(problem.K, extra, Z), norm, target_norm)
        return {
            name: (_product(G, diagonal, Z) / target_norm - A * self._along(K, extra, G, diagonal) / norm) / norm
            for name, G, diagonal in self._directions(problem)
        }

    def _directions(self, problem: SelectionProblem) -> Iterator[tuple[str, np.ndarray | None, np.ndarray]]:
        """Each parameter with ∂K and the derivative of what is added to the diagonal."""
        nothing = np.zeros(len(problem.y))
        for name, G in problem.gradients.items():
            yield name, G, nothing
        if self.is_adjusted:
            yield "C", None, -problem.ridge / problem.C

    def _target(self, problem: SelectionProblem) -> np.ndarray:
        Z = one_hot(problem.y)
        Z = Z / Z.sum(axis=0) if self.is_weighted else Z
        return Z - Z.mean(axis=0) if self.is_centred else Z

    def _seen(self, problem: SelectionProblem) -> np.ndarray:
        return _centred(problem.K) if self.is_centred else problem.K

    def _norm(self, K: np.ndarray, extra: np.ndarray) -> float:
        """‖K + Λ‖, seen from the mean where it is centred."""
        squared = np.vdot(K, K) + 2 * extra @ K.diagonal() + self._diagonals(extra, extra)
        return float(np.sqrt(max(squared, 0.0)))

    def _along(self, K: np.ndarray, extra: np.ndarray, G: np.ndarray | None, diagonal: np.ndarray) -> float:
        """⟨K + Λ, ∂(K + Λ)⟩."""
        if G is None:
            return float(diagonal @ K.diagonal()) + self._diagonals(extra, diagonal)
        seen = _centred(G) if self.is_centred else G
        return float(np.vdot(K, seen) + extra @ seen.diagonal())

    def _diagonals(self, left: np.ndarray, right: np.ndarray) -> float:
        """⟨Λ, Λ'⟩, or ⟨HΛH, HΛ'H⟩ = (1 − 2/n) ΣΛΛ' + ΣΛ ΣΛ'/n²."""
        if not self.is_centred:
            return float(left @ right)
        n = len(left)
        return float((1 - 2 / n) * (left @ right) + left.sum() * right.sum() / n**2)


def _pattern(n_labels: int) -> np.ndarray:
    """P: 1 within a label, −1/(Q−1) between two."""
    Q = n_labels
    return (Q * np.eye(Q) - 1) / (Q - 1)


def _product(K: np.ndarray | None, diagonal: np.ndarray, Z: np.ndarray) -> float:
    """⟨K + Λ, Z P Z'⟩; K may be None for 0."""
    seen = Z.T @ (diagonal[:, None] * Z)
    if K is not None:
        seen = seen + Z.T @ K @ Z
    return float(np.vdot(seen, _pattern(Z.shape[1])))


def _target_norm(Z: np.ndarray) -> float:
    """‖Z P Z'‖ = √tr(P Z'Z P Z'Z)."""
    PS = _pattern(Z.shape[1]) @ (Z.T @ Z)
    return float(np.sqrt(np.vdot(PS, PS.T)))


def _cosine(product: float, norm: float, target_norm: float) -> float:
    return product / (norm * target_norm) if norm > 0 else 0.0


def _centred(K: np.ndarray) -> np.ndarray:
    """HKH, H = I − 11'/n."""
    means = K.mean(axis=0)
    return np.asarray(K - means - K.mean(axis=1, keepdims=True) + means.mean())


@component
class Alignment(_Alignment):
    """Cosine between the Gram matrix and the ideal one; cheap, but favours small sigma on unequal sides."""

    name: ClassVar[str] = "alignment"


@component
class AlignmentC(_Alignment):
    """Alignment of K + I/C: takes into account how much error the machine will forgive."""

    name: ClassVar[str] = "alignment_c"
    is_adjusted: ClassVar[bool] = True


@component
class WeightedAlignment(_Alignment):
    """Alignment in which each side counts the same, however many examples it has."""

    name: ClassVar[str] = "weighted_alignment"
    is_weighted: ClassVar[bool] = True


@component
class WeightedAlignmentC(_Alignment):
    """Weighted alignment of K + I/C."""

    name: ClassVar[str] = "weighted_alignment_c"
    is_weighted: ClassVar[bool] = True
    is_adjusted: ClassVar[bool] = True


@component
class CentredAlignment(_Alignment):
    """Alignment seen from the means, unmoved by a constant in the kernel."""

    name: ClassVar[str] = "centred_alignment"
    is_centred: ClassVar[bool] = True


@component
class CentredAlignmentC(_Alignment):
    """Centred alignment of K + I/C."""

    name: ClassVar[str] = "centred_alignment_c"
    is_centred: ClassVar[bool] = True
    is_adjusted: ClassVar[bool] = True


@hookimpl
def register_criteria() -> list[type[Criterion]]:
    """Plain, weighted and centred alignment, each with its C-adjusted form."""
    return [Alignment, AlignmentC, WeightedAlignment, WeightedAlignmentC, CentredAlignment, CentredAlignmentC]
