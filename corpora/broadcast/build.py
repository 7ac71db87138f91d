"""From nothing to the shipped models: `python corpora/broadcast/build.py WORKDIR` fetches, cuts, trains and judges."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from attributions import MODEL, write_sources
from clips import write_clips
from materials import check_data, gather
from packages import read_packages
from plan import plan

HERE = Path(__file__).resolve().parent
PROGRAMS = ("apt-get", "dpkg-deb", "npm", "ffmpeg", "espeak-ng", "fluidsynth")
LIBRARIES = ("pyworld",)
BETWEEN = 10.0  # seconds from one line that tells how far a stage is to the next


def main() -> None:
    """Each step keeps its result below the work folder, so that a run that stopped goes on."""
    options = parse(sys.argv[1:])
    check_tools()
    if options.data is not None:
        check_data(options.data)
    options.work.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()

    def done(what: str) -> None:
        print(f"{time.perf_counter() - start:7.1f} s  {what}", file=sys.stderr, flush=True)

    told = start

    def tell(stage: str, reached: float, total: float | None) -> None:
        nonlocal told
        if time.perf_counter() - told >= BETWEEN:
            told = time.perf_counter()
            done(f"{stage}, {reached:.0f}{'' if total is None else f' of {total:.0f}'}")

    debs = options.mirror or options.work / "debs"
    packages = read_packages(HERE / "packages.toml")
    materials = gather(packages, options.work, debs, options.data, options.seed, options.jobs, done)
    done(f"{len(materials)} sounds of {len({one.group for one in materials})} sources")
    clips = plan(materials, options.seed, options.size)
    write_clips(clips, options.work, options.work / "corpus", options.jobs, tell)
    done(f"{len(clips)} clips in {options.work / 'corpus'}")
    if not options.clips_only:
        from training import train_models

        for output in train_models(
            materials, options.work, options.output, options.seed, options.size, options.jobs, tell
        ):
            write_sources(output, with_data=options.data is not None)
            done(f"{output}: {output.stat().st_size / 1e6:.1f} MB")


def check_tools() -> None:
    """Refuse to begin what could not be finished."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    missing += [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise SystemExit(f"not installed: {', '.join(missing)}")


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="folder for packages, clips and features (about 20 GB)")
    parser.add_argument("--mirror", type=Path, help="folder that holds the package files already")
    data = os.environ.get("AUDIOCLASS_DATA")
    parser.add_argument(
        "--data", type=Path, default=Path(data) if data else None, help="holds audio/esc10, esc40 and fsdd"
    )
    parser.add_argument("--output", type=Path, default=MODEL, help="the model file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=float, default=1.0, help="how many times the usual number of clips")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--clips-only", action="store_true", help="stop before training")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
