"""What the `music` recipe tells apart that `environment` does not: mode and tempo of synthesised music.

A clip is 10 s of a chord progression with bass, a random melody and drums, of random timbre, level and register; there
is no free corpus of music at hand, so this shows what the descriptors see, not what real music needs. Three of the
twelve keys are left out of the training in turn, with the machine of `recipes.py`. Chance is 0.5 and 0.25.
Keys: music_mode_accuracy, music_tempo_accuracy, environment_mode_accuracy, environment_tempo_accuracy.
"""

import bench
import numpy as np
from recipes import fold_accuracy

from audioclass.data import Block
from audioclass.extraction.extract import extract_features
from audioclass.extraction.recipes import load_recipe
from audioclass.plugins.manager import plugin_manager

RATE, SECONDS = 22050, 10
SCALES = {"major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10)}
PROGRESSIONS = ((0, 3, 4, 0), (0, 5, 3, 4), (0, 4, 5, 3), (0, 3, 0, 4))
TEMPI = (70, 95, 120, 150)


def note(pitch: int, seconds: float, timbre: dict) -> np.ndarray:
    """Eight partials that decay, of a MIDI pitch."""
    t = np.arange(int(seconds * RATE)) / RATE
    frequency = 440 * 2 ** ((pitch - 69) / 12)
    partials = [
        timbre["decay"] ** k * np.sin(2 * np.pi * frequency * (k + 1) * t + phase)
        for k, phase in enumerate(timbre["phases"])
        if frequency * (k + 1) < RATE / 2
    ]
    return np.sum(partials, axis=0) * np.exp(-t * timbre["fall"]) * np.minimum(1, t / timbre["attack"])


def drum(kind: str, rng: np.random.Generator) -> np.ndarray:
    t = np.arange(int(0.15 * RATE)) / RATE
    if kind == "kick":
        return np.sin(2 * np.pi * (60 + 80 * np.exp(-40 * t)) * t) * np.exp(-20 * t)
    level, fall = (0.5, 30) if kind == "snare" else (0.2, 90)
    return level * rng.standard_normal(len(t)) * np.exp(-fall * t)


def clip(mode: str, key: int, tempo: float, rng: np.random.Generator) -> np.ndarray:
    """One clip, mono float32."""
    timbre = {
        "decay": rng.uniform(0.3, 0.75),
        "phases": rng.uniform(0, 2 * np.pi, 8),
        "fall": rng.uniform(0.5, 4),
        "attack": rng.uniform(0.003, 0.05),
    }
    progression, drums = PROGRESSIONS[rng.integers(4)], rng.uniform(0, 0.5)
    tonic, beat, at = 60 + key + 12 * rng.integers(-1, 2), 60 / tempo, rng.uniform(0, 0.5)
    samples = np.zeros(RATE * (SECONDS + 8))

    def add(sound: np.ndarray, start: float, level: float) -> None:
        first = int(start * RATE)
        samples[first : first + len(sound)] += level * sound

    def pitch(degree: int) -> int:
        return tonic + SCALES[mode][degree % 7] + 12 * (degree // 7)

    for i in range(int(SECONDS / beat) + 1):
        start, degree = at + i * beat, progression[i // 4 % 4]
        if i % 4 == 0:
            for one in (degree, degree + 2, degree + 4):
                add(note(pitch(one), 4 * beat, timbre), start, 0.12)
            add(note(pitch(degree) - 24, 4 * beat, timbre), start, 0.15)
        if rng.random() < 0.7:
            add(note(pitch(rng.integers(8)) + 12, beat, timbre), start, 0.1)
        add(drum("kick" if i % 2 == 0 else "snare", rng), start, drums)
        add(drum("hat", rng), start + beat / 2, drums)
    mixed = samples[: RATE * SECONDS] + rng.uniform(0, 0.005) * rng.standard_normal(RATE * SECONDS)
    return (mixed / np.abs(mixed).max() * rng.uniform(0.1, 0.9)).astype(np.float32)


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], needs_data=False)
    rng = np.random.default_rng(0)
    n_clips = 96 if asked.quick else 192
    modes, keys = np.array(["major", "minor"] * (n_clips // 2)), np.arange(n_clips) // 2 % 12
    tempi = rng.integers(len(TEMPI), size=n_clips)
    clips = [
        clip(mode, int(key), TEMPI[tempo] * rng.uniform(0.97, 1.03), rng)
        for mode, key, tempo in zip(modes, keys, tempi, strict=True)
    ]
    results, rows = {}, [("recipe", "mode", "tempo", "features")]
    for name in ("music", "environment22"):
        recipe = load_recipe(name, plugin_manager())
        bench.note(f"{name}: extracting {n_clips} clips")
        X = np.concatenate([next(extract_features([Block(samples[:, None], RATE)], recipe)).X[:1] for samples in clips])
        for what, y in (("mode", modes), ("tempo", tempi)):
            folds = [fold_accuracy(X, y, recipe.groups, keys % 4 == fold) for fold in range(4)]
            results[f"{name}_{what}_accuracy"] = float(np.mean(folds))
        rows.append((name, results[f"{name}_mode_accuracy"], results[f"{name}_tempo_accuracy"], X.shape[1]))
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
