"""From audio to features: descriptors of frames, embeddings of windows, and poolings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from audioclass.contracts.named import Named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from audioclass.data import Framing

Arrays = Mapping[str, "np.ndarray"]  # what a pooling learnt


class Spectra(Protocol):
    """The shared short-time spectrum of a stretch of audio; each view is computed when first read, then kept.

    Rows are frames in every view; nobody may change one in place. Those of a version of a recording, played at another
    speed, have as many bins as `framing.n_bins`, at `frequencies`; samples and frames stay those of the recording.
    """

    @property
    def framing(self) -> Framing:
        """How the audio is cut into frames."""

    @property
    def samples(self) -> np.ndarray:
        """(n_samples,), mono."""

    @property
    def n_frames(self) -> int:
        """How many frames there are."""

    @property
    def recorded(self) -> Spectra:
        """Those of the recording at its own speed: the same, unless these are of a version."""

    def values_of(self, descriptor: Descriptor) -> np.ndarray:
        """The values of a descriptor, computed when first asked for: what a version shares with its recording."""

    @property
    def frames(self) -> np.ndarray:
        """(n_frames, frame_length), as cut, without window."""

    @property
    def frequencies(self) -> np.ndarray:
        """(n_bins,), in hertz."""

    @property
    def spectrum(self) -> np.ndarray:
        """(n_frames, n_bins), complex, windowed."""

    @property
    def magnitude(self) -> np.ndarray:
        """(n_frames, n_bins)."""

    @property
    def power(self) -> np.ndarray:
        """(n_frames, n_bins)."""

    @property
    def log_power(self) -> np.ndarray:
        """(n_frames, n_bins), natural logarithm."""

    @property
    def total_power(self) -> np.ndarray:
        """(n_frames, 1)."""

    @property
    def cumulated(self) -> np.ndarray:
        """(n_frames, n_bins), power up to each bin."""

    @property
    def chroma(self) -> np.ndarray:
        """(n_frames, 12), power of the pitch classes."""

    @property
    def autocorrelation(self) -> np.ndarray:
        """(n_frames, n_lags), 1 at lag 0."""

    @property
    def lag_rate(self) -> float:
        """Lags per second of the autocorrelation."""

    def mel(self, bands: int, lowest: float) -> np.ndarray:
        """(n_frames, bands), power in mel bands from `lowest` hertz up."""

    def log_mel(self, bands: int, lowest: float) -> np.ndarray:
        """(n_frames, bands), the same in decibels."""


class Descriptor(Named, Protocol):
    """Values per frame, read from the shared spectrum."""

    def columns(self, framing: Framing) -> Sequence[str]:
        """The name of each value."""

    def frames(self, spectra: Spectra) -> np.ndarray:
        """The values, (n_frames, n_columns); a row depends on its own frame and on `context` frames around it."""


@runtime_checkable
class HasContext(Protocol):
    """A descriptor whose rows depend on so many frames before and after their own."""

    @property
    def context(self) -> int:
        """How many frames on each side."""


class Embedding(Named, Protocol):
    """One vector for a whole window of audio: a network, or any other front end of its own."""

    @property
    def sample_rate(self) -> int:
        """Samples per second of the windows it takes."""

    def columns(self) -> Sequence[str]:
        """The name of each value."""

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vector of one window of mono samples at the embedding's own sample rate."""


@runtime_checkable
class EmbedsMany(Protocol):
    """An embedding for which several windows of one length cost less together than one by one."""

    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """(n_windows, n_samples) to (n_windows, n_columns): what `embed` gives for each window by itself."""


class FixedPooling(Named, Protocol):
    """A summary of the frames of a window."""

    def columns(self, columns: Sequence[str]) -> Sequence[str]:
        """The name of each pooled value, from the names of the descriptors."""

    def pool(self, windows: np.ndarray, frame_rate: float) -> np.ndarray:
        """(n_windows, n_frames, d) to (n_windows, n_columns); each window by itself, one frame is enough."""


@runtime_checkable
class FittedPooling(Named, Protocol):
    """A summary of the frames of a window by arrays that were learnt from training recordings, without their labels.

    The arrays are small, named in lower case, and kept in single precision in the model that was trained with them.
    """

    def columns(self, columns: Sequence[str]) -> Sequence[str]:
        """The name of each pooled value, from the names of the descriptors; known before anything is learnt."""

    def fit(self, windows: Iterable[np.ndarray], frame_rate: float, rng: np.random.Generator) -> Arrays:
        """What is learnt from windows of training recordings, each (n_frames, d); the same for the same seed."""

    def pool(self, windows: np.ndarray, frame_rate: float, fitted: Arrays) -> np.ndarray:
        """(n_windows, n_frames, d) to (n_windows, n_columns); one frame is enough.

        Each window by itself, to the same bits whatever windows come with it. Arrays that `fit` could not have given
        for d columns are a ValueError: they may come from a file that somebody changed.
        """


Pooling = FixedPooling | FittedPooling
