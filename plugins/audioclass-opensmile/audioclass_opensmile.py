"""openSMILE's functionals as embeddings: the eGeMAPS and ComParE 2016 sets, one vector for a window of audio.

eGeMAPS: Eyben et al., The Geneva Minimalistic Acoustic Parameter Set (GeMAPS) for voice research and affective
computing, IEEE Transactions on Affective Computing 7, 2016. ComParE: Schuller et al., The Interspeech 2016
computational paralinguistics challenge.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from audioclass import component, hookimpl, parameter
from audioclass.contracts import Embedding
from audioclass.errors import PluginError

SHORTEST = 0.2  # seconds: openSMILE gives no values for less than a few frames of 60 ms


@dataclass(frozen=True)
class Functionals:
    """What both sets are told; `feature_set` is the name that openSMILE's Python package has for each."""

    name: ClassVar[str]
    feature_set: ClassVar[str]
    sample_rate: int = parameter(16000, low=8000, high=192_000, help="samples per second that openSMILE is given")

    def columns(self) -> list[str]:
        """openSMILE's own names."""
        return list(_smile(self.feature_set).feature_names)

    def embed(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """The functionals of a window; one shorter than 0.2 s is followed by silence."""
        if sample_rate != self.sample_rate:
            raise ValueError(f"sample_rate={sample_rate} must be {self.sample_rate}")
        samples = np.asarray(samples, np.float32)
        if samples.ndim != 1 or not len(samples) or not np.isfinite(samples).all():
            raise ValueError("samples must be mono and finite numbers, at least one")
        missing = round(SHORTEST * sample_rate) - len(samples)
        vector: np.ndarray = _smile(self.feature_set)(np.pad(samples, (0, max(missing, 0))), sample_rate).reshape(-1)
        if not np.isfinite(vector).all():
            column = self.columns()[int(np.argmin(np.isfinite(vector)))]
            raise PluginError(f"{self.name}: openSMILE gave no value for {column!r}")
        return vector


@component
class EGemaps(Functionals):
    """88 functionals of pitch, loudness, spectrum and voice quality, chosen by voice researchers."""

    name: ClassVar[str] = "egemaps"
    feature_set: ClassVar[str] = "eGeMAPSv02"


@component
class Compare(Functionals):
    """6373 functionals of the ComParE challenge of 2016: much of everything, for machines to choose from."""

    name: ClassVar[str] = "compare_2016"
    feature_set: ClassVar[str] = "ComParE_2016"


@lru_cache(maxsize=4)
def _smile(feature_set: str) -> Any:
    """The extractor of a set; made once in a process, because it reads long configurations."""
    import opensmile

    return opensmile.Smile(opensmile.FeatureSet[feature_set], opensmile.FeatureLevel.Functionals)


@hookimpl
def register_embeddings() -> list[type[Embedding]]:
    return [EGemaps, Compare]
