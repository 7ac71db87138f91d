"""A corpus for a model that hears several labels at once: clips of speech, of music, of both and of neither."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
from mixing import mix_programme
from reference import Row, truth_of
from schedule import STEP, Drawer, Item, draw_item
from sources import LABELS, Material

KINDS = {"speech": 0.3, "music": 0.25, "speech_over_music": 0.3, "environment": 0.15}
SECONDS = (3.5, 8.0)
N_POOLS = 6
CORPUS = """title = "Speech, music, speech over music and environment from free recordings"
licence = "those of the sources named in sources.toml"
source = "corpora/programme"
"""


@dataclass(frozen=True)
class Clip:
    """One item by itself; clips of one pool share sources, those of two never do."""

    name: str
    pool: str
    item: Item


def draw_clips(materials: Sequence[Material], n_clips: int, seed: int) -> list[Clip]:
    """Clips of all pools in turn; what is mixed comes from one pool, so that whole pools can be held out."""
    rng = np.random.default_rng([seed, 2])
    drawers = [
        {label: Drawer([one for one in pool if one.label == label]) for label in LABELS} for pool in pools(materials)
    ]
    clips = []
    for i in range(n_clips):
        kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
        seconds = round(round(rng.uniform(*SECONDS) / STEP) * STEP, 2)
        pool = i % len(drawers)
        clips.append(Clip(f"{i:05}-{kind}", f"pool-{pool}", draw_item(kind, drawers[pool], rng, seconds, fade=0.0)))
    return clips


def pools(materials: Sequence[Material]) -> list[list[Material]]:
    """Materials in pools that share no source; a label of fewer sources than pools is dealt out by its parts."""
    dealt: list[list[Material]] = [[] for _ in range(N_POOLS)]
    for label in LABELS:
        of_label = [one for one in materials if one.label == label]
        by_source = len({one.group for one in of_label}) >= N_POOLS
        units = sorted({one.group if by_source else f"{one.group}/{one.part}" for one in of_label})
        if len(units) < N_POOLS:
            raise SystemExit(f"{label}: {len(units)} sources or parts, at least {N_POOLS} are needed")
        for one in of_label:
            unit = one.group if by_source else f"{one.group}/{one.part}"
            dealt[units.index(unit) % N_POOLS].append(one)
    return dealt


def write_corpus(clips: Sequence[Clip], work: Path, corpus: Path, rate: int, jobs: int) -> None:
    """The corpus folder, its rows where a label is heard; time without a row is silent."""
    shutil.rmtree(corpus / "audio", ignore_errors=True)
    (corpus / "audio").mkdir(parents=True)
    with ProcessPoolExecutor(jobs) as pool:
        truths = list(
            pool.map(partial(_write_clip, work=work, folder=corpus / "audio", rate=rate), clips, chunksize=10)
        )
    (corpus / "corpus.toml").write_text(CORPUS, encoding="utf-8")
    with (corpus / "segments.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file", "start", "end", "label", "group"])
        for clip, truth in zip(clips, truths, strict=True):
            rows = [row for row in truth if row[2] != "silence"]
            writer.writerows(
                [f"audio/{clip.name}.flac", f"{s:.2f}", f"{e:.2f}", label, clip.pool] for s, e, label in rows
            )


def _write_clip(clip: Clip, work: Path, folder: Path, rate: int) -> list[Row]:
    x = mix_programme([clip.item], work, rate)
    soundfile.write(folder / f"{clip.name}.flac", np.rint(x * 32768).astype(np.int16), rate, subtype="PCM_16")
    return truth_of([clip.item], x, rate)
