"""Radio-like programmes with known boundaries, or with --clips a corpus to train a multi-label model on."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
from mixing import boundaries, mix_programme
from reference import Row, truth_of
from schedule import STEP, Item, draw_programme
from sources import HALVES, LABELS, Material, from_package, read_packages, read_sources
from training_corpus import draw_clips, write_corpus

EXAMPLES = """examples:
  python corpora/programme/make.py work programmes/test --half test --data data
  python corpora/programme/make.py work programmes/develop --half develop --programmes 5 --seed 1 --rate 48000
  python corpora/programme/make.py work overlaps --half develop --clips 1200
"""


def main() -> None:
    """Sources are fetched and kept; a programme is kept with its plan, so that a run that stopped goes on."""
    options = parse(sys.argv[1:])
    for folder in (options.work, options.output):
        folder.mkdir(parents=True, exist_ok=True)
    debs = options.mirror or options.work / "debs"
    materials = read_sources().materials(options.half, options.work, debs, options.data)
    for table in options.also:
        materials += [one for package in read_packages(table) for one in from_package(package, options.work, debs)]
    for label in LABELS:
        sounds = [one for one in materials if one.label == label]
        minutes = sum(one.seconds for one in sounds) / 60
        note(f"{label}: {len(sounds)} sounds of {len({one.group for one in sounds})} sources, {minutes:.0f} minutes")
    if options.clips:
        write_corpus(
            draw_clips(materials, options.clips, options.seed), options.work, options.output, options.rate, options.jobs
        )
    else:
        write_programmes(materials, options)


def write_programmes(materials: Sequence[Material], options: argparse.Namespace) -> None:
    """All programmes and their tables."""
    half, count = HALVES.index(options.half), range(options.programmes)
    names = [f"{options.half}-{options.seed}-{i}" for i in count]
    plans = [draw_programme(materials, options.minutes, [options.seed, half, i]) for i in count]
    with ProcessPoolExecutor(options.jobs) as pool:
        write = partial(write_programme, work=options.work, folder=options.output, rate=options.rate)
        truths = list(pool.map(write, names, plans))
    write_tables(options.output, names, plans, truths)
    note(f"{options.output}: {len(names)} programmes, truth.csv, items.csv")


def write_programme(name: str, items: Sequence[Item], work: Path, folder: Path, rate: int) -> list[Row]:
    """The recording of a programme; its truth is kept beside its plan, and both stand if the plan is the same."""
    path, known = folder / f"{name}.flac", folder / f"{name}.json"
    plan = json.loads(json.dumps({"rate": rate, "items": [dataclasses.asdict(item) for item in items]}))
    if known.exists():
        kept = json.loads(known.read_text(encoding="utf-8"))
        if kept["plan"] == plan:
            return [tuple(row) for row in kept["truth"]]
        known.unlink()
    x = mix_programme(items, work, rate)
    truth = truth_of(items, x, rate)
    passing = path.with_suffix(".passing")
    soundfile.write(passing, np.rint(x * 32768).astype(np.int16), rate, format="FLAC", subtype="PCM_16")
    passing.rename(path)
    known.write_text(json.dumps({"plan": plan, "truth": truth}), encoding="utf-8")
    note(f"{path}: {len(x) / rate / 60:.1f} min, {len(items)} items")
    return truth


def write_tables(
    folder: Path, names: Sequence[str], plans: Sequence[Sequence[Item]], truths: Sequence[Sequence[Row]]
) -> None:
    """What is heard, and what the programme was made of."""
    with (folder / "truth.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file", "start", "end", "label"])
        for name, truth in zip(names, truths, strict=True):
            writer.writerows([f"{name}.flac", f"{start:.2f}", f"{end:.2f}", label] for start, end, label in truth)
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file", "start", "end", "kind", "fade", "level", "source", "under", "above"])
        for name, items in zip(names, plans, strict=True):
            edges = boundaries(items)
            for item, start, end in zip(items, edges[:-1], edges[1:], strict=True):
                times = [f"{start * STEP:.2f}", f"{end * STEP:.2f}"]
                rest = [item.kind, item.fade, item.level, item.source, item.under, item.above]
                writer.writerow([f"{name}.flac", *times, *rest])


def note(text: str) -> None:
    """Progress, beside the result."""
    print(text, file=sys.stderr, flush=True)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("AUDIOCLASS_DATA")
    parser.add_argument("work", type=Path, help="folder for packages and their sounds (about 4 GB)")
    parser.add_argument("output", type=Path, help="folder for programmes and tables")
    parser.add_argument("--half", choices=HALVES, default="test", help="which sources (default: %(default)s)")
    parser.add_argument("--clips", type=int, default=0, help="so many clips to train on instead of programmes")
    parser.add_argument(
        "--also",
        type=Path,
        action="append",
        default=[],
        help="a table of further packages for --clips; may be repeated",
    )
    parser.add_argument("--programmes", type=int, default=3, help="how many (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=45.0, help="length of each (default: %(default)s)")
    parser.add_argument("--rate", type=int, choices=(44100, 48000), default=44100, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--mirror", type=Path, help="folder that holds the package files already")
    parser.add_argument(
        "--data", type=Path, default=Path(data) if data else None, help="folder that holds audio/esc40 and audio/fsdd"
    )
    options = parser.parse_args(arguments)
    if options.also and not options.clips:
        parser.error("--also is for --clips: programmes are made of what sources.toml names")
    return options


if __name__ == "__main__":
    main()
