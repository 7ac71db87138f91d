"""Recordings with labelled events in a background, as Audacity and Raven write their labels: made, not stored."""

from pathlib import Path

import numpy as np
import signals
import soundfile
from trained import LABELS, RATE, RECIPE, sound

RAVEN = "Selection\tView\tChannel\tBegin Time (s)\tEnd Time (s)\tLow Freq (Hz)\tHigh Freq (Hz)\tAnnotation\n"


def write_events(folder: Path, seconds: float = 4.0, n_recordings: int = 8, n_events: int = 6) -> Path:
    """Events of every label in turn with a second or two between them; half of the label files are Raven's."""
    folder.mkdir(parents=True)
    for number in range(n_recordings):
        rng, parts, at, rows = np.random.default_rng(number), [], 0.0, []
        for place in range(n_events):
            gap = 1 + rng.integers(RATE) / RATE
            label = LABELS[(number + place) % len(LABELS)]
            parts += [np.zeros(round(gap * RATE)), sound(label, number + 8 * place, seconds)]
            rows.append((at + gap, at + gap + seconds, label))
            at += gap + seconds
        samples = np.concatenate([*parts, np.zeros(RATE)])
        samples += signals.noise(len(samples) / RATE, RATE, 0.01, seed=number)
        soundfile.write(folder / f"{number}.wav", samples, RATE)
        if number % 2:
            lines = [f"{i}\tView\t1\t{a:.6f}\t{b:.6f}\t0\t4000\t{label}\n" for i, (a, b, label) in enumerate(rows, 1)]
            (folder / f"{number}.Table.1.selections.txt").write_text(RAVEN + "".join(lines), encoding="utf-8")
        else:
            text = "".join(f"{a:.6f}\t{b:.6f}\t{label}\n" for a, b, label in rows)
            (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


def write_long_recipe(folder: Path, window: float = 10.0) -> str:
    """The path of the small recipe with windows as recipes for clips have them: longer than any clip, end to end."""
    path = folder / "long.toml"
    text = RECIPE.replace("window = 0.5", f"window = {window}").replace("window_hop = 0.25", f"window_hop = {window}")
    path.write_text(text, encoding="utf-8")
    return str(path)
