"""A multi-label corpus that tests make: tones and clicks that come alone, together, or not at all, over faint noise."""

from pathlib import Path

import numpy as np
import soundfile
from signals import clicks, noise, tone

from audioclass.engine.runs import make_run
from audioclass.engine.trained import Trained
from audioclass.engine.training import train

RATE = 8000
OPTIONS = {
    "recipe": str(Path(__file__).with_name("overlaps.toml")),
    "window": 1.0,
    "hop": 0.5,
    "group_weights": "equal",
}
# Of each recording the segments of both labels; what is between them is known to hold neither.
SCENES = (
    (("tone", 1.0, 5.0), ("clicks", 3.0, 7.0)),
    (("clicks", 0.0, 4.0), ("tone", 2.0, 6.0)),
    (("tone", 0.0, 3.0), ("clicks", 1.0, 5.0), ("tone", 5.5, 7.5)),
    (("clicks", 2.0, 6.0), ("tone", 4.0, 8.0)),
)
SECONDS = 8.0


def scene(segments, seed: int) -> np.ndarray:
    """The mixture of a recording."""
    samples = noise(SECONDS, RATE, 0.01, seed)
    for label, start, end in segments:
        sound = (
            tone(500 + 40 * seed, end - start, RATE, 0.3) if label == "tone" else 0.6 * clicks(end - start, 0.1, RATE)
        )
        first = round(start * RATE)
        samples[first : first + len(sound)] += sound
    return samples


def write_overlaps(folder: Path, scenes=SCENES, first: int = 0) -> Path:
    """Recordings with an Audacity label track beside each, numbered from the first on."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, segments in enumerate(scenes, start=first):
        soundfile.write(folder / f"{number}.wav", scene(segments, number), RATE)
        lines = (f"{start:.3f}\t{end:.3f}\t{label}\n" for label, start, end in segments)
        (folder / f"{number}.txt").write_text("".join(lines), encoding="utf-8")
    return folder


def train_overlaps(corpus: Path) -> Trained:
    """A model of such a corpus."""
    return train(corpus, run=make_run(cache=None), **OPTIONS)
