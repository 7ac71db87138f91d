"""BirdNET's embedding: 1024 numbers for 3 s of audio at 48 kHz, pooled over a window.

Kahl et al., BirdNET: A deep learning solution for avian diversity monitoring, Ecological Informatics 61, 2021. The
weights are under CC BY-NC-SA 4.0 and no part of this distribution.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Embedding
from audioclass.embeddings.windows import mono_window
from audioclass.pooling.statistics import MOMENTS, OTHERS, Statistics
from audioclass_birdnet.network import V2_4, Network, Weights, open_network

RATE = 48000
VERSIONS = {"2.4": V2_4}


@component
class BirdNET:
    """1024 numbers for each 3 s from BirdNET, which knows 6000 species by their sounds, pooled over the window."""

    name: ClassVar[str] = "birdnet"
    sample_rate: ClassVar[int] = RATE

    version: str = parameter("2.4", choices=tuple(VERSIONS), help="of BirdNET's network")
    hop: float = parameter(3.0, low=0.1, high=3.0, help="seconds from one window of the network to the next")
    values: tuple[str, ...] = parameter(
        ("mean", "deviation", "maximum"), choices=(*MOMENTS, *OTHERS), help="statistics over the window"
    )

    def __post_init__(self) -> None:
        self._network  # noqa: B018 (weights that are missing are named now, not at the first recording)

    def columns(self) -> list[str]:
        """`birdnet_0_mean`, …: each number with each statistic."""
        return self._pooling.columns([f"birdnet_{i}" for i in range(self._weights.n_values)])

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vector of one window; one shorter than 3 s is followed by silence."""
        samples = mono_window(np.asarray(samples), sample_rate, RATE)
        windows = cut(samples, self._weights.n_samples, round(self.hop * RATE))
        network = self._network
        vectors = np.stack([network.run(window) for window in windows])
        (pooled,) = self._pooling.pool(vectors[None].astype(np.float64), 1 / self.hop)
        return np.asarray(pooled, np.float32)

    @property
    def _weights(self) -> Weights:
        return VERSIONS[self.version]

    @property
    def _network(self) -> Network:
        return open_network(self._weights)

    @property
    def _pooling(self) -> Statistics:
        return Statistics(values=self.values)


def cut(samples: np.ndarray, length: int, hop: int) -> list[np.ndarray]:
    """Windows of a length every `hop` samples, the last ending with the samples; silence follows where they are few.

    >>> [window.tolist() for window in cut(np.arange(7), 4, 2)]
    [[0, 1, 2, 3], [2, 3, 4, 5], [3, 4, 5, 6]]
    """
    padded = np.pad(samples, (0, max(length - len(samples), 0)))
    last = len(padded) - length
    return [padded[start : start + length] for start in [*range(0, last, hop), last]]


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    return [BirdNET]
