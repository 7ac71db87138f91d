"""From nothing to the shipped model: `python corpora/broadcast/build.py WORKDIR` fetches, cuts, trains and judges."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from attributions import MODEL, write_sources
from clips import write_clips
from materials import gather
from packages import read_packages
from plan import plan

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Each step keeps its result below the work folder, so that a run that stopped goes on."""
    options = parse(sys.argv[1:])
    options.work.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()

    def done(what: str) -> None:
        print(f"{time.perf_counter() - start:7.1f} s  {what}", file=sys.stderr, flush=True)

    debs = options.mirror or options.work / "debs"
    materials = gather(read_packages(HERE / "packages.toml"), options.work, debs, options.esc10, options.seed)
    done(f"{len(materials)} sounds of {len({one.group for one in materials})} sources")
    clips = plan(materials, options.seed, options.size)
    write_clips(clips, options.work, options.work / "corpus", options.jobs)
    done(f"{len(clips)} clips in {options.work / 'corpus'}")
    if not options.clips_only:
        from training import train_model

        train_model(options.work / "corpus", options.output, options.work / "cache", options.jobs)
        write_sources(options.output, with_esc10=options.esc10 is not None)
        done(f"{options.output}: {options.output.stat().st_size / 1e6:.1f} MB")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder for packages, clips and features (about 8 GB)")
    parser.add_argument("--mirror", type=Path, help="folder that holds the package files already")
    esc10 = os.environ.get("ESC10")
    parser.add_argument("--esc10", type=Path, default=Path(esc10) if esc10 else None, help="ESC-10 with segments.csv")
    parser.add_argument("--output", type=Path, default=MODEL, help="the model file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=float, default=1.0, help="how many times the usual number of clips")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--clips-only", action="store_true", help="stop before training")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
