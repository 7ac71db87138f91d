"""Linear prediction: the resonances of a frame as line spectral frequencies."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import numpy as np
import scipy.fft

from audioclass.contracts import Descriptor, Spectra
from audioclass.data import Framing
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component, parameter

WHITENING = 1e-4  # of r(0), −40 dB: keeps the recursion stable for tones and silence


@component
class LineSpectralFrequencies:
    """Angles of the roots of P and Q, A(z) ± z^−(p+1)A(1/z), in parts of the Nyquist frequency, rising."""

    name: ClassVar[str] = "line_spectral_frequencies"
    order: int = parameter(12, low=2, high=32, help="order p of the predictor, an even number")

    def __post_init__(self) -> None:
        if self.order % 2:
            raise ValueError(f"line_spectral_frequencies: order={self.order} must be even")

    def columns(self, framing: Framing) -> list[str]:
        """One for each root, from low to high."""
        return [f"lsf_{i}" for i in range(self.order)]

    def frames(self, spectra: Spectra) -> np.ndarray:
        """Levinson's recursion on the autocorrelation of the windowed frame, then the roots of both polynomials."""
        n_samples = spectra.framing.frame_length
        if self.order >= n_samples:
            raise ValueError(
                f"line_spectral_frequencies: order={self.order} must be below the frame's {n_samples} samples"
            )
        if not spectra.n_frames:
            return np.empty((0, self.order), np.float32)
        if spectra.framing.speed == 1:
            lags = scipy.fft.irfft(spectra.power.astype(np.float64), n_samples, axis=1)[:, : self.order + 1]
        else:  # lags of a sample lie between those that an inverse transform of these bins gives
            lags = spectra.power.astype(np.float64) @ _cosines(spectra.framing, self.order)
        lags[:, 0] = lags[:, 0] * (1 + WHITENING) + 1e-9
        return (line_spectrum(levinson(lags)) / np.pi).astype(np.float32)


@cache
def _cosines(framing: Framing, order: int) -> np.ndarray:
    """(n_bins, order + 1): from the power of bins at their frequencies to autocorrelations at lags of a sample."""
    angles = 2 * np.pi * np.arange(framing.n_bins)[:, None] * framing.speed / framing.frame_length
    twice = np.where(np.arange(framing.n_bins) % (framing.frame_length / 2) == 0, 1, 2)[:, None]
    return np.cos(angles * np.arange(order + 1)) * twice / framing.frame_length


def levinson(lags: np.ndarray) -> np.ndarray:
    """(n, p + 1) autocorrelations to (n, p + 1) prediction polynomials A, the first coefficient 1."""
    n, size = lags.shape
    A = np.zeros((n, size))
    A[:, 0] = 1
    error = lags[:, 0].copy()
    for order in range(1, size):
        reflection = -np.einsum("ij,ij->i", A[:, :order], lags[:, order:0:-1]) / error
        A[:, 1 : order + 1] += reflection[:, None] * A[:, order - 1 :: -1][:, :order]
        error *= 1 - reflection**2
    return A


def line_spectrum(A: np.ndarray) -> np.ndarray:
    """(n, p + 1) prediction polynomials, p even, to the (n, p) angles of their line spectrum, rising from 0 to π."""
    padded = np.concatenate([A, np.zeros((len(A), 1))], axis=1)
    # P has a root at −1 and Q one at +1: dividing them out leaves two palindromes of degree p.
    P = _divided(padded + padded[:, ::-1], -1.0)
    Q = _divided(padded - padded[:, ::-1], 1.0)
    return np.sort(np.concatenate([_angles(P), _angles(Q)], axis=1), axis=1)


def _divided(polynomial: np.ndarray, root: float) -> np.ndarray:
    """Synthetic division by (1 − root z⁻¹), the remainder left out."""
    quotient = polynomial[:, :-1].copy()
    for k in range(1, quotient.shape[1]):
        quotient[:, k] += root * quotient[:, k - 1]
    return quotient


def _angles(palindrome: np.ndarray) -> np.ndarray:
    """Angles of the roots on the upper half circle: a palindrome of degree 2m is a series of m + 1 cosines."""
    m = palindrome.shape[1] // 2
    cosine_series = np.concatenate([palindrome[:, m : m + 1], 2 * palindrome[:, m + 1 :]], axis=1)
    return np.asarray(np.arccos(np.clip(_chebyshev_roots(cosine_series), -1, 1)))


def _chebyshev_roots(series: np.ndarray) -> np.ndarray:
    """Roots of Σ c_k T_k(x), as eigenvalues of the companion matrices of all rows at once."""
    m = series.shape[1] - 1
    companion = np.zeros((len(series), m, m))
    if m == 1:
        return np.asarray(-series[:, :1] / series[:, 1:])
    companion[:, 0, 1] = 1
    for row in range(1, m):
        companion[:, row, row - 1] = 0.5
        if row + 1 < m:
            companion[:, row, row + 1] = 0.5
    companion[:, -1, :] -= series[:, :-1] / (2 * series[:, -1:])
    return np.linalg.eigvals(companion).real


@hookimpl
def register_descriptors() -> list[type[Descriptor]]:
    """Line spectral frequencies."""
    return [LineSpectralFrequencies]
