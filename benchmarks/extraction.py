"""What extraction costs beside its floor and beside other toolkits, on at least 20 minutes of real audio, one thread.

The floor is decoding, resampling and one float32 rfft a frame, with the recipe's sample rate, frame and hop. librosa
computes the descriptors of the recipe the usual way, one call each, with numpy and scipy for what it lacks (not for
`music`, most of which it lacks); openSMILE and pyAudioAnalysis compute their own sets where they are
installed. Recipes with versions at other speeds are also taken with all of them, as where a model averages them, and
`environment` and `small` on the clips of five seconds one by one: what the second costs with one version is what a
model of the configuration `small` needs in place of all versions of the first. Memory is the peak of `audioclass
extract` on a recording of 10 minutes and on one of 10 hours (1 hour with --quick).
Keys: broadcast_over_floor, environment22_over_floor, environment_over_floor, small_over_floor, music_over_floor, with
`_versions_over_floor` for all versions and `environment_clips_`, `small_clips_` before these for clips;
environment_over_small and environment_over_small_clips; librosa_over_broadcast, librosa_over_environment22,
memory_10min_mb, memory_10h_mb; opensmile_egemaps_over_broadcast, opensmile_compare_over_broadcast and
pyaudioanalysis_over_broadcast where these are installed.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import bench
import numpy as np
import scipy.fft
import soundfile
import soxr
import usual

from audioclass.descriptors.spectra import hann
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.features import extract
from audioclass.engine.fitting import fit_recipe
from audioclass.engine.runs import make_run
from audioclass.extraction.recipes import load_recipe

RECIPES = ("broadcast", "environment22", "environment", "small", "music")
OF_CLIPS = ("environment", "small")
BESIDE_LIBROSA = ("broadcast", "environment22")
MINUTES = 22
N_CLIPS = 60


def long_recording(data: Path, folder: Path, minutes: float) -> Path:
    """Clips of ESC-10 one after the other, as one FLAC at 44.1 kHz."""
    path, missing = folder / "long.flac", minutes * 60 * 44100
    with soundfile.SoundFile(path, "w", 44100, 1) as file:
        for clip in sorted((data / "audio" / "esc10" / "audio").glob("*.flac")):
            samples = soundfile.read(clip, dtype="float32")[0]
            file.write(samples)
            missing -= len(samples)
            if missing <= 0:
                return path
    raise SystemExit(f"{data}: less than {minutes} minutes of ESC-10")


def floor(path: Path, recipe) -> None:
    """Decode, resample, one windowed rfft a frame, a few seconds at a time."""
    framing = recipe.framing
    window = hann(framing.frame_length)
    with soundfile.SoundFile(path) as file:
        stream = soxr.ResampleStream(file.samplerate, framing.sample_rate, 1, dtype="float32")
        for block in file.blocks(65536 * 2, dtype="float32"):
            samples = stream.resample_chunk(block)
            if len(samples) >= framing.frame_length:
                frames = np.lib.stride_tricks.sliding_window_view(samples, framing.frame_length)
                scipy.fft.rfft(frames[:: framing.hop_length] * window, axis=1)


def opensmile_egemaps(path: Path) -> None:
    import opensmile

    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)
    smile.process_file(str(path))


def opensmile_compare(path: Path) -> None:
    import opensmile

    smile = opensmile.Smile(opensmile.FeatureSet.ComParE_2016, opensmile.FeatureLevel.Functionals)
    smile.process_file(str(path))


def pyaudioanalysis(path: Path) -> None:
    from pyAudioAnalysis import MidTermFeatures

    samples, rate = soundfile.read(path)
    MidTermFeatures.mid_feature_extraction(samples, rate, 2 * rate, rate, 0.064 * rate, 0.016 * rate)


OTHERS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "opensmile_egemaps": ("opensmile", opensmile_egemaps),
    "opensmile_compare": ("opensmile", opensmile_compare),
    "pyaudioanalysis": ("pyAudioAnalysis", pyaudioanalysis),
}


def fitted_recipe(data: Path, name: str):
    """A recipe with what its poolings learn from some clips of ESC-10."""
    run = make_run()
    recipe = load_recipe(name, run.registry)
    return (
        fit_recipe(recipe, read_corpus_at(data / "audio" / "esc10", run).clips[::8], run) if recipe.learns else recipe
    )


def recipe_costs(paths: Sequence[Path], recipe, rounds: int) -> dict[str, float]:
    """Seconds of the floor, of ours at one speed and at all; and how many floors each of ours takes."""

    def each(work: Callable[[Path], object]) -> Callable[[], object]:
        return lambda: [work(path) for path in paths]

    works = {
        "floor": each(lambda path: floor(path, recipe)),
        "ours": each(lambda path: extract(path, recipe.at_one_speed)),
    }
    if len(recipe.versions) > 1:
        works["versions"] = each(lambda path: extract(path, recipe))
    bench.note(f"{recipe.name}: {', '.join(works)}, {rounds} rounds")
    taken = bench.interleaved(rounds, **works)
    ratios = {f"{who} ratio": bench.median_ratio(taken[who], taken["floor"]) for who in works if who != "floor"}
    return {who: min(seconds) for who, seconds in taken.items()} | ratios


def other_costs(path: Path) -> dict[str, float]:
    """Seconds of the other toolkits that are installed."""
    seconds = {}
    for other, (package, work) in OTHERS.items():
        if importlib.util.find_spec(package) is None:
            bench.note(f"{package} is not installed")
        else:
            bench.note(other)
            seconds[other] = bench.once(lambda work=work: work(path))
    return seconds


def costs(data: Path, path: Path, rounds: int) -> tuple[dict[str, float], list[tuple]]:
    """Ratios by key and rows for the table."""
    recipes = {name: fitted_recipe(data, name) for name in RECIPES}
    taken = {name: recipe_costs([path], recipe, rounds) for name, recipe in recipes.items()}
    for name in BESIDE_LIBROSA:
        bench.note(f"{name}: librosa")
        taken[name]["librosa"] = bench.once(lambda name=name: usual.extract(path, recipes[name]))
    clips = sorted((data / "audio" / "esc10" / "audio").glob("*.flac"))
    clips = clips[:: max(len(clips) // N_CLIPS, 1)]
    taken |= {f"{name}_clips": recipe_costs(clips, recipes[name], rounds) for name in OF_CLIPS}
    others = other_costs(path)
    ratios, rows = {}, []
    for name, seconds in taken.items():
        audio = sum(soundfile.info(each).duration for each in (clips if name.endswith("_clips") else [path]))
        ratios[f"{name}_over_floor"] = seconds["ours ratio"]
        if "versions" in seconds:
            ratios[f"{name}_versions_over_floor"] = seconds["versions ratio"]
        who_ran = [who for who in ("floor", "ours", "versions", "librosa") if who in seconds]
        rows += [(name, who, audio / seconds[who], seconds[who] / seconds["floor"]) for who in who_ran]
        if "librosa" in seconds:
            ratios[f"librosa_over_{name}"] = seconds["librosa"] / seconds["ours"]
    for of in ("", "_clips"):
        ratios[f"environment_over_small{of}"] = taken[f"environment{of}"]["versions"] / taken[f"small{of}"]["ours"]
        rows.append(("environment, versions", f"over small{of}", "", ratios[f"environment_over_small{of}"]))
    audio = soundfile.info(path).duration
    for other, seconds in others.items():
        ratios[f"{other}_over_broadcast"] = seconds / taken["broadcast"]["ours"]
        rows.append(("", other, audio / seconds, seconds / taken["broadcast"]["floor"]))
    return ratios, rows


def peak_memory(data: Path, folder: Path, hours: float) -> float:
    """Megabytes that `audioclass extract` needs at most for a recording of so many hours, 16 kHz WAV."""
    clips = sorted((data / "audio" / "esc10" / "audio").glob("*.flac"))
    minute = np.concatenate([soundfile.read(clip, dtype="int16")[0][::3] for clip in clips[:12]])[: 60 * 14700]
    path = folder / f"{hours}.wav"
    with soundfile.SoundFile(path, "w", 16000, 1, "PCM_16") as file:
        while file.frames < hours * 3600 * 16000:
            file.write(minute)
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    command = [sys.executable, "-m", "audioclass", "extract", str(path), "--no-cache", "-o", str(folder / "out.npz")]
    done = subprocess.run([sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE, text=True)
    path.unlink()
    return float(done.stdout)


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = long_recording(asked.data, folder, 3 if asked.quick else MINUTES)
        results, rows = costs(asked.data, path, 1 if asked.quick else 3)
        bench.note("memory for 10 minutes")
        results["memory_10min_mb"] = peak_memory(asked.data, folder, 1 / 6)
        bench.note("memory for the long recording")
        results["memory_10h_mb"] = peak_memory(asked.data, folder, 1 if asked.quick else 10)
    heads = [("recipe", "who", "times real time", "over the floor")]
    memory = [("", f"{key[7:]}: {results[key]:.0f} MB", "", "") for key in ("memory_10min_mb", "memory_10h_mb")]
    bench.report(results, heads + rows + memory, asked.json)


if __name__ == "__main__":
    main()
