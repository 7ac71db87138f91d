"""Clips for the model `overlap`: speech, music and environment alone and over one another, each with all its labels."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from clips import CORPUS, file_name, write_recordings
from plan import SECONDS, Clip, Drawer, Material, channel

from audioclass.run import Progress, silent

N_CLIPS = 3600
N_POOLS = 6  # of sources: what is mixed comes from one of them, so that whole pools can be held out
KINDS = {  # what is heard, the louder one first as a rule
    ("speech",): 0.2,
    ("music",): 0.2,
    ("environment",): 0.15,
    ("speech", "music"): 0.25,
    ("speech", "environment"): 0.12,
    ("music", "environment"): 0.08,
}
ABOVE = (-3.0, 18.0)  # decibels of the first sound above the second


def plan_overlaps(materials: Sequence[Material], seed: int = 0, size: float = 1.0) -> list[Clip]:
    """The clips; a clip's label joins all that it holds with `+`, its group is its pool of sources."""
    rng = np.random.default_rng([seed, zlib.crc32(b"overlaps")])
    pools = [_drawers([one for one in materials if pool_of(one.source) == pool]) for pool in range(N_POOLS)]
    kinds, clips = list(KINDS), []
    for index in range(round(N_CLIPS * size)):
        kind = kinds[rng.choice(len(kinds), p=list(KINDS.values()))]
        pool = index % N_POOLS
        if set(kind) <= set(pools[pool]):
            clips.append(_clip(f"{index:05}-{'-'.join(kind)}", kind, pools[pool], f"pool-{pool}", rng))
    return clips


def pool_of(source: str) -> int:
    """The pool of a source, by its name."""
    return zlib.crc32(source.encode()) % N_POOLS


def write_overlaps(clips: Sequence[Clip], work: Path, corpus: Path, jobs: int = 1, progress: Progress = silent) -> None:
    """The corpus folder; clips that a run before wrote are kept."""
    folder = corpus / "audio"
    folder.mkdir(parents=True, exist_ok=True)
    write_recordings(clips, work, folder, jobs, progress)
    (corpus / "corpus.toml").write_text(CORPUS, encoding="utf-8")
    with (corpus / "segments.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file", "label", "group"])
        writer.writerows([f"audio/{file_name(clip)}", clip.label, clip.group] for clip in clips)


def _drawers(materials: Sequence[Material]) -> dict[str, Drawer]:
    labels = sorted({one.label for one in materials})
    return {label: Drawer([one for one in materials if one.label == label]) for label in labels}


def _clip(name: str, kind: tuple[str, ...], drawers: dict[str, Drawer], group: str, rng: np.random.Generator) -> Clip:
    seconds = round(float(rng.uniform(*SECONDS)), 2)
    pieces, *beside = (_pieces(drawers[label], seconds, rng) for label in kind)
    decibels = round(float(rng.uniform(*ABOVE)), 1)
    treatments = [("background", {"pieces": one, "decibels": decibels}) for one in beside]
    treatments += channel(kind[0], rng)
    return Clip(name, "+".join(kind), group, seconds, pieces, tuple(treatments), int(rng.integers(2**32)))


def _pieces(drawer: Drawer, seconds: float, rng: np.random.Generator) -> tuple[tuple[str, float, float], ...]:
    sources = sorted(drawer.sources)
    return drawer.pieces(sources[rng.integers(len(sources))], seconds, rng)
