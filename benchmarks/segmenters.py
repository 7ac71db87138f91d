"""Other tools that cut recordings into segments, asked alike: a 16 kHz wave file in, rows of our labels out."""

import contextlib
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
import soxr
from segment_measures import Row

RATE = 16000
LABELS = {"noise": "environment", "other": "environment", "noEnergy": "silence"}  # where theirs are not ours


def as_wave(path: Path, folder: Path) -> Path:
    """A recording as these tools like it; made once."""
    wave = folder / f"{path.stem}.wav"
    if not wave.exists():
        samples, rate = soundfile.read(path, dtype="float32")
        soundfile.write(wave, np.clip(soxr.resample(samples, rate, RATE), -1, 1), RATE)
    return wave


def inaspeechsegmenter(path: Path) -> list[Row]:
    """Speech, music, noise and what it calls no energy."""
    from inaSpeechSegmenter import Segmenter

    if shutil.which("ffmpeg") is None:
        raise FileNotFoundError("ffmpeg is not installed")
    with contextlib.redirect_stdout(io.StringIO()):
        found = Segmenter(vad_engine="smn", detect_gender=False)(str(path))
    return [(start, end, LABELS.get(label, label)) for label, start, end in found]


def pyaudioanalysis(path: Path) -> list[Row]:
    """Its model of speech, music, silence and other sounds."""
    from pyAudioAnalysis import audioSegmentation, audioTrainTest

    model = str(Path(audioSegmentation.__file__).parent / "data" / "models" / "knn_4class")
    with contextlib.redirect_stdout(io.StringIO()):
        labels, names, *_ = audioSegmentation.mid_term_file_classification(str(path), model, "knn")
        step = audioTrainTest.load_model_knn(model)[5]
    times, labels = audioSegmentation.labels_to_segments(labels, step)
    return [
        (start, end, LABELS.get(names[int(k)], names[int(k)])) for (start, end), k in zip(times, labels, strict=True)
    ]


def silero_vad(path: Path) -> list[Row]:
    """Speech, and nothing of the rest."""
    import silero_vad
    import torch

    torch.set_num_threads(1)
    samples = torch.from_numpy(soundfile.read(path, dtype="float32")[0])
    found = silero_vad.get_speech_timestamps(samples, silero_vad.load_silero_vad(), return_seconds=True)
    return [(each["start"], each["end"], "speech") for each in found]


ALL: dict[str, Callable[[Path], list[Row]]] = {
    "inaspeechsegmenter": inaspeechsegmenter,
    "pyaudioanalysis": pyaudioanalysis,
    "silero_vad": silero_vad,
}
