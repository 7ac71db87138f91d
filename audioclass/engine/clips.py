"""Segments cut out of their recordings, as files of their own in a new folder."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from audioclass.audio.stretches import cut_stretch
from audioclass.engine.finding import FoundSegments
from audioclass.errors import AudioclassError, StorageError, UsageError
from audioclass.formats.rows import rows_of
from audioclass.outputs import atomic_open
from audioclass.recordings import regular
from audioclass.run import Progress, silent

TABLE = "clips.csv"
# Such a table is a corpus too, and what `index add --metadata` takes.
COLUMNS = ["file", "label", "probability", "recording", "recording_start", "recording_end", "recorded_at", "similarity"]
LONGEST_NAME = 40  # characters of a label and of a recording's name, in that of a clip


def check_clips_folder(folder: Path) -> None:
    """Refuse a folder that holds anything: clips never mix with other files."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder}: must be a new or an empty folder")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be made: {error.strerror}") from error


def cut_clips(segments: FoundSegments, folder: Path, progress: Progress = silent) -> dict[str, str]:
    """Write a clip for each segment, and a table of them; the reasons of those that could not be cut, by segment."""
    failures: dict[str, str] = {}
    rows = list(rows_of(segments.result))
    digits = len(str(len(rows)))
    with atomic_open(folder / TABLE, "w") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for place, row in enumerate(rows):
            times = f"{row.start:.2f}-{row.end:.2f}"
            name = f"{place + 1:0{digits}d}_{_plain(row.label)}_{_plain(Path(row.file).stem)}_{times}"
            try:
                clip = cut_stretch(regular(Path(row.file)), row.start, row.end, folder / name)
            except StorageError:  # there is no room for the others either
                raise
            except (AudioclassError, OSError, RuntimeError) as error:
                failures[name] = f"{row.file}: {error}" if isinstance(error, OSError) else str(error)
                continue
            moment = segments.times[place]
            similarity = "" if segments.similarities is None else f"{segments.similarities[place]:.4f}"
            probability = "" if row.probability is None else f"{row.probability:.4f}"
            stretch = [f"{row.start:.3f}", f"{row.end:.3f}", "" if moment is None else moment.isoformat(sep=" ")]
            writer.writerow([clip.name, row.label, probability, row.file, *stretch, similarity])
            progress("clips", place + 1, len(rows))
    return failures


def _plain(text: str) -> str:
    """A text as a part of any file system's names."""
    return re.sub(r"[^\w.-]+", "-", text)[:LONGEST_NAME].strip(".-") or "x"
