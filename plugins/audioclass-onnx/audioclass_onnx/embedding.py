"""The embedding: one vector for a window of audio, from a network that the user names.

What is not given is read from the file: its metadata under the names of the parameters, and the sizes of its input.
Every value that was settled is a parameter from then on, the checksum of the file too: a recipe states them all, its
fingerprint changes with the file, and a recipe that was saved refuses another file.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Embedding
from audioclass.data import Framing
from audioclass.errors import ModelError, UsageError
from audioclass.parameters import parameters_of
from audioclass_onnx.inputs import Frames, Layout, cut, find_bands
from audioclass_onnx.network import Network, checksum_of, open_network

T = TypeVar("T")
WINDOWS_TOGETHER = 32
READ = ("form", "sample_rate", "window", "output", "bands", "frame_length", "hop_length", "lowest", "scale")
FRAME_SECONDS, HOP_SECONDS = 0.025, 0.010


@component
class Onnx:
    """The output of a network in an ONNX file, averaged over its own windows and, where it has several, over time."""

    name: ClassVar[str] = "onnx"

    path: str = parameter(help="the ONNX file")
    form: str | None = parameter(None, choices=("waveform", "log_mel"), help="what the network takes")
    sample_rate: int | None = parameter(None, low=1000, high=768_000, help="samples per second that it wants")
    window: float | None = parameter(None, above=0.0, help="seconds that it takes at a time (default: any number)")
    output: str | None = parameter(None, help="which of its outputs (default: the first)")
    bands: int | None = parameter(None, low=1, high=4096, help="mel bands of a log-mel input")
    frame_length: int | None = parameter(None, low=2, help="samples in a frame (default: 25 ms)")
    hop_length: int | None = parameter(None, low=1, help="samples from frame to frame (default: 10 ms)")
    lowest: float | None = parameter(None, low=0.0, help="lowest frequency of the bands in hertz (default: 0)")
    scale: str | None = parameter(None, choices=("decibel", "natural"), help="logarithm of the bands")
    sha256: str | None = parameter(None, help="checksum that the file must have (default: the one it has)")

    def __post_init__(self) -> None:
        checksum = checksum_of(self.path)
        if self.sha256 is not None and self.sha256 != checksum:
            raise ModelError(f"{self.path}: checksum {checksum[:12]}…, must be {self.sha256[:12]}…: another file")
        self._settle("sha256", checksum)
        for name, text in self._stated().items():
            self._settle(name, text)
        self._settle_the_rest()
        self.columns()  # a network that does not run is refused now, not at the first recording

    def columns(self) -> list[str]:
        """A number for each value."""
        return [f"onnx_{i}" for i in range(self._n_columns)]

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vector of one window."""
        return np.asarray(self.embed_many(np.asarray(samples)[None], sample_rate)[0])

    def embed_many(self, windows: np.ndarray, sample_rate: int) -> np.ndarray:
        """(n_windows, n_columns) of windows of the same length, several at a time where the network takes them."""
        if sample_rate != self.sample_rate:
            raise ValueError(f"sample_rate={sample_rate} must be {self.sample_rate}")
        windows = np.asarray(windows, np.float32)
        if windows.ndim != 2 or not windows.shape[1] or not np.isfinite(windows).all():
            raise ValueError("samples must be mono and finite numbers, at least one")
        components = cut(windows, self._n_samples)
        n_windows, n_pieces, _ = components.shape
        vectors = self._run(components.reshape(n_windows * n_pieces, -1))
        return np.asarray(vectors.reshape(n_windows, n_pieces, -1).mean(axis=1))

    # --- what the file says

    @property
    def _network(self) -> Network:
        return open_network(self.path, settled(self.sha256))

    def _settle(self, name: str, value: Any) -> None:
        """Take a value for a parameter that was not given."""
        if getattr(self, name) is None and value is not None:
            object.__setattr__(self, name, value)

    def _stated(self) -> dict[str, Any]:
        """Parameters that the metadata of the file give."""
        known = {stated.name: stated for stated in parameters_of(type(self))}
        metadata = self._network.metadata
        try:
            return {name: known[name].parse(metadata[name]) for name in READ if name in metadata}
        except ValueError as error:
            raise ModelError(f"{self.path}: metadata: {error}") from error

    def _settle_the_rest(self) -> None:
        """Defaults, where neither the user nor the file says anything."""
        self._settle("form", "waveform")
        if self.sample_rate is None:
            raise UsageError(f"{self.path}: its metadata name no sample_rate; give one, such as sample_rate=16000")
        self._settle("output", self._network.output(self.output))
        if self.form == "log_mel":
            self._settle("bands", find_bands(self._network.shape, None)[0])
            if self.bands is None:
                raise UsageError(f"{self.path}: neither metadata nor input name the number of bands; give bands=…")
            self._settle("frame_length", round(FRAME_SECONDS * self.sample_rate))
            self._settle("hop_length", round(HOP_SECONDS * self.sample_rate))
            self._settle("lowest", 0.0)
            self._settle("scale", "decibel")
        self._check_sizes()
        if self._layout.length is not None:
            self._settle("window", settled(self._n_samples) / self.sample_rate)

    def _check_sizes(self) -> None:
        """The input must be of a kind that we know, and of the sizes that were given."""
        self._network.output(self.output)
        layout = self._layout
        if self.form == "log_mel" and layout.shape[-2 if layout.bands_first else -1] not in (self.bands, None):
            raise ModelError(f"{self.path}: input of shape {layout.shape} has no axis of {self.bands} bands")
        if layout.length is None or self.window is None:
            return
        if self.form == "waveform" and round(self.window * settled(self.sample_rate)) != layout.length:
            raise ModelError(f"{self.path}: takes {layout.length} samples, window={self.window:g} s has others")

    @cached_property
    def _layout(self) -> Layout:
        shape = self._network.shape
        bands_first = self.form == "log_mel" and find_bands(shape, self.bands)[1]
        try:
            return Layout(settled(self.form), shape, bands_first)
        except ValueError as error:
            raise ModelError(f"{self.path}: {error}") from error

    @cached_property
    def _frames(self) -> Frames:
        framing = Framing(settled(self.sample_rate), settled(self.frame_length), settled(self.hop_length))
        return Frames(framing, settled(self.bands), settled(self.lowest), settled(self.scale))

    @cached_property
    def _n_samples(self) -> int | None:
        """Of the network's own window; None where it takes any number."""
        length = self._layout.length
        if length is not None:
            return self._frames.n_samples(length) if self.form == "log_mel" else length
        return None if self.window is None else max(1, round(self.window * settled(self.sample_rate)))

    # --- running it

    @cached_property
    def _n_columns(self) -> int:
        """As many values as silence has."""
        silence = np.zeros((1, self._n_samples or settled(self.sample_rate)), np.float32)
        return int(self._run(silence).shape[1])

    def _run(self, windows: np.ndarray) -> np.ndarray:
        """(n_windows, n_columns) of the network's own windows."""
        together = WINDOWS_TOGETHER if self._layout.takes_many else 1
        batches = [windows[first : first + together] for first in range(0, len(windows), together)]
        return np.concatenate([self._vectors(batch) for batch in batches])

    def _vectors(self, windows: np.ndarray) -> np.ndarray:
        values = np.stack([self._frames.of(window) for window in windows]) if self.form == "log_mel" else windows
        result = self._network.run(self._layout.arranged(values), settled(self.output))
        if not self._layout.has_batch:
            result = result[None]
        if result.ndim == 0 or len(result) != len(windows):
            raise ModelError(f"{self.path}: output of shape {result.shape} for {len(windows)} windows")
        return np.asarray(result.reshape(len(windows), -1, result.shape[-1] if result.ndim > 1 else 1).mean(axis=1))


def settled(value: T | None) -> T:
    """A parameter that is given, by the user, the file or a default, once the embedding is made."""
    if value is None:
        raise TypeError("a parameter was read before it was settled")
    return value


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    return [Onnx]  # type: ignore[list-item]  # its sample_rate is a number once it is made
