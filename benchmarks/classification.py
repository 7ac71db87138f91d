"""What classification costs: ten hours of real audio with the shipped model, beside extraction alone and other tools.

The recording is ESC-10 and, where it is, the spoken digits of FSDD, over and over, as a 16 kHz FLAC; everything runs on
one core. `audioclass classify` is run as a user starts it: its processor time and its peak memory. Extraction and
classification of 20 minutes are then timed in turn in one process. silero-vad (speech or not) and pyAudioAnalysis' own
segmentation (its model of speech, music, silence and other sounds) run on 2 minutes where they are installed with all
that they need.
Keys: realtime_factor, memory_10h_mb, classify_over_extract; extract_realtime_factor; silero_vad_realtime_factor and
pyaudioanalysis_realtime_factor where these are installed. --model names another model; --quick takes an hour.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

import contextlib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

import bench
import numpy as np
import soundfile
import soxr

from audioclass.audio.blocks import read_blocks
from audioclass.classifier.model import Model
from audioclass.engine.classifying import classify_recording
from audioclass.engine.models import DEFAULT_MODEL, load_model
from audioclass.engine.streaming import DEFAULT_SMOOTHER, SegmentationOptions
from audioclass.extraction.extract import extract_features
from audioclass.plugins.manager import plugin_manager

RATE = 16000
OTHERS_SECONDS = 120.0
MEASURE = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def clips(data: Path) -> Iterator[np.ndarray]:
    """Real audio without end, 16-bit at 16 kHz: each recording is read once, then they begin again."""
    audio = data / "audio"
    paths = sorted((audio / "esc10" / "audio").glob("*.flac")) + sorted((audio / "fsdd").rglob("*.flac"))[:400]
    if not paths:
        raise SystemExit(f"{data}: holds no recordings of ESC-10 or FSDD")
    held = []
    for path in paths:
        samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
        held.append(np.clip(soxr.resample(samples[:, 0], rate, RATE), -1, 1))
    return cycle(held)


def write_recording(data: Path, path: Path, seconds: float) -> None:
    """Clips one after the other until the recording is so long."""
    missing = round(seconds * RATE)
    with soundfile.SoundFile(path, "w", RATE, 1, "PCM_16") as file:
        for clip in clips(data):
            file.write(clip[:missing])
            missing -= len(clip[:missing])
            if not missing:
                return


def as_a_user(path: Path, model: str) -> tuple[float, float]:
    """Seconds that `audioclass classify` keeps a core busy, its start included, and its megabytes at most."""
    command = [sys.executable, "-m", "audioclass", "classify", str(path), "--model", model]
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], check=True, stdout=subprocess.PIPE, text=True)
    return tuple(json.loads(done.stdout))


def extract_all(path: Path, model: Model) -> None:
    """Extraction alone, nothing kept."""
    for _ in extract_features(read_blocks(path, model.recipe.framing.sample_rate), model.recipe):
        pass


def costs(path: Path, model: Model, rounds: int) -> dict[str, list[float]]:
    """Seconds of extraction alone and of classification, taken in turn."""
    options = SegmentationOptions(plugin_manager().make("smoother", DEFAULT_SMOOTHER))
    return bench.interleaved(
        rounds, extract=lambda: extract_all(path, model), classify=lambda: classify_recording(path, model, options)
    )


def silero_vad(path: Path) -> None:
    import silero_vad
    import torch

    torch.set_num_threads(1)
    samples = torch.from_numpy(soundfile.read(path, dtype="float32")[0])
    silero_vad.get_speech_timestamps(samples, silero_vad.load_silero_vad())


def pyaudioanalysis(path: Path) -> None:
    from pyAudioAnalysis import audioSegmentation

    model = Path(audioSegmentation.__file__).parent / "data" / "models" / "knn_4class"
    with contextlib.redirect_stdout(io.StringIO()):
        audioSegmentation.mid_term_file_classification(str(path), str(model), "knn")


OTHERS: dict[str, Callable[[Path], None]] = {"silero_vad": silero_vad, "pyaudioanalysis": pyaudioanalysis}


def other_costs(path: Path) -> dict[str, float]:
    """Seconds of the other tools that are installed."""
    seconds = {}
    for other, work in OTHERS.items():
        try:
            seconds[other] = bench.once(lambda work=work: work(path))
        except ImportError as error:
            bench.note(f"{other}: {error}")
    return seconds


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], model=DEFAULT_MODEL)
    hours, minutes, rounds = (1.0, 5, 1) if asked.quick else (10.0, 20, 3)
    with tempfile.TemporaryDirectory() as name:
        long, short, shortest = (Path(name, file) for file in ("long.flac", "short.flac", "shortest.wav"))
        for path, seconds in ((long, hours * 3600), (short, minutes * 60), (shortest, OTHERS_SECONDS)):
            write_recording(asked.data, path, seconds)
        bench.note(f"audioclass classify, {hours:.0f} h")
        seconds, memory = as_a_user(long, asked.model)
        bench.note(f"extraction and classification of {minutes} minutes, {rounds} rounds")
        taken = costs(short, load_model(asked.model), rounds)
        others = other_costs(shortest)
    factors = {who: minutes * 60 / min(spent) for who, spent in taken.items()}
    others = {other: OTHERS_SECONDS / spent for other, spent in others.items()}
    results = {
        "realtime_factor": hours * 3600 / seconds,
        "memory_10h_mb": memory,
        "classify_over_extract": bench.median_ratio(taken["classify"], taken["extract"]),
        "extract_realtime_factor": factors["extract"],
        **{f"{other}_realtime_factor": factor for other, factor in others.items()},
    }
    rows = [
        ("what", "times faster than real time", "peak MB"),
        (f"audioclass classify, {hours:.0f} h", results["realtime_factor"], f"{memory:.0f}"),
        *((who, factor, "") for who, factor in (factors | others).items()),
        ("classify over extract", results["classify_over_extract"], ""),
    ]
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
