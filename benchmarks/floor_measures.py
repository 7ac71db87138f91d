"""How well silences are found by the noise floor of a recording: programmes as they are, and with noise over all.

With noise the truth has more silences: what is quieter than the noise in the programme as it is.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import segment_measures as measures
from segment_measures import Pause, Row

from audioclass.audio.blocks import read_blocks
from audioclass.audio.contours import ContourMeter
from audioclass.data import Block, Contours
from audioclass.segmentation.silence import SilenceFinder, SilenceRule

AS_IT_IS = "as_it_is"
ADDED = (-50.0, -45.0)  # decibels of white noise


def silences_by_floor(path: Path, sample_rate: int) -> dict[str, tuple[list[Row], list[Row]]]:
    """By added noise, the silences that the rule `auto` finds, and those that noise makes of quiet sounds."""
    meters = {level: ContourMeter(sample_rate) for level in (None, *ADDED)}
    rng = np.random.default_rng(0)
    for block in read_blocks(path, sample_rate):
        noise = rng.standard_normal(block.samples.shape, dtype=np.float32)
        for level, meter in meters.items():
            loudness = np.float32(0 if level is None else 10 ** (level / 20))
            meter.push(Block(block.samples + loudness * noise, sample_rate, block.start))
    contours = {level: meter.take() for level, meter in meters.items()}
    return {
        AS_IT_IS if level is None else f"{level:g}": (
            _silences(heard, SilenceRule(None)),
            [] if level is None else _silences(contours[None], SilenceRule(level)),
        )
        for level, heard in contours.items()
    }


def _silences(contours: Contours, rule: SilenceRule) -> list[Row]:
    finder = SilenceFinder(rule)
    finder.push(contours)
    finder.finish(contours.start + len(contours.levels) * contours.cell)
    return [(each.start, each.end, each.label) for each in finder.found]


def floor_measures(
    truth: Sequence[Row], estimated: Sequence[Row], pauses: Sequence[Pause], n_steps: int
) -> dict[str, float | None]:
    """Recall of the pauses that were put in, precision of the time called silent, and found silences over true ones."""
    never = np.zeros(n_steps, bool)
    reference, found = (
        np.where(measures.steps_of(rows, n_steps).get("silence", never), "silence", "sound").astype(object)
        for rows in (truth, estimated)
    )
    every = measures.silences(reference, pauses)
    put_in = [one for one in every if one.level is not None and one.duration >= 0.5 - measures.ROUNDING]
    called = found == "silence"
    return {
        "auto_silence_recall_500ms": measures.silence_recall(put_in, found),
        "auto_silence_precision": float((reference == "silence")[called].mean()) if called.any() else None,
        "auto_silences_over_truth": len(measures.silences(found, ())) / len(every) if every else None,
    }
