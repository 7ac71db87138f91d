"""An archive as it grows in an evening: recordings with clock times in their names, made, not stored."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from runs import run
from trained import RATE, mixture, sound

from audioclass.engine.archives import Archive, open_archive

# Four times three seconds: over midnight, over a full hour, and after that in another month.
ORDER = ("tone", "noise", "clicks", "tone")
NAMES = ("20190403_235955.wav", "20190404_065954.wav", "20190512_120000.wav")


@dataclass(frozen=True)
class Evening:
    """A folder of `recordings`, and the folder of the `archive` that they were added to."""

    recordings: Path
    archive: Path

    def open(self) -> Archive:
        """The archive in Python."""
        return open_archive(self.archive, run=run())


def write_recordings(folder: Path) -> Path:
    """Three recordings with a clock time, a stereo one without, and one that cannot be read."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(NAMES):
        samples = np.concatenate([sound(label, number + place, 3.0) for place, label in enumerate(ORDER)])
        soundfile.write(folder / name, samples, RATE)
    both = mixture(("noise", "tone"))
    soundfile.write(folder / "undated.flac", np.column_stack([both, both / 2]), RATE)
    (folder / "broken.wav").write_text("no audio", encoding="utf-8")
    return folder


def make_evening(folder: Path, model_file: Path) -> Evening:
    """The recordings in an archive."""
    evening = Evening(write_recordings(folder / "recordings"), folder / "archive")
    added = evening.open().add(evening.recordings, model=model_file)
    assert list(added.failures) == [str(evening.recordings / "broken.wav")]
    return evening
