"""Gram matrices worked out the long way, to judge what computes them otherwise."""

import numpy as np


def centred(K: np.ndarray) -> np.ndarray:
    """HKH with H = I − 11'/n: as if examples were centred in kernel space, rows and columns sum to 0."""
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
