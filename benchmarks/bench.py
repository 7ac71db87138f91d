"""The one form of a benchmark: --data, --quick, a table for people or one JSON object for programs."""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from audioclass.extraction.recipe import Recipe

DATA = "AUDIOCLASS_DATA"  # the environment variable that stands for --data


def options(
    description: str,
    *,
    needs_data: bool = True,
    write: str | None = None,
    model: str | None = None,
    parts: Sequence[str] = (),
    configs: Sequence[str] = (),
    only: Sequence[str] = (),
    numbers: Mapping[str, tuple[float, str]] | None = None,
) -> argparse.Namespace:
    """What every benchmark can be told; `write` says what --write does, `model` is the default of --model, `parts` are
    those of --corpus, `configs` those of --config and `only` those of --only, where there are these. `numbers` are
    further options, each a default and its help; they have the type of their default. A benchmark that needs data ends
    here with one line if there is none.
    """
    parser = argparse.ArgumentParser(description=description)
    if needs_data:
        default = Path(os.environ[DATA]) if os.environ.get(DATA) else None
        parser.add_argument("--data", type=Path, default=default, help=f"folder of the real data (default: ${DATA})")
    parser.add_argument("--quick", action="store_true", help="a small part of the work, for a first look")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    if write is not None:
        parser.add_argument("--write", action="store_true", help=write)
    if model is not None:
        parser.add_argument("--model", default=model, help="a model file or a shipped one (default: %(default)s)")
    if parts:
        parser.add_argument("--corpus", action="append", choices=parts, help="only this part; may be repeated")
        parser.add_argument("--rows", type=Path, help="folder that keeps the rows of each part and merges them")
    if configs:
        parser.add_argument("--config", choices=configs, help="a shipped configuration instead of the defaults")
    if only:
        parser.add_argument("--only", action="append", choices=only, help="only this part; may be repeated")
    for name, (default, meaning) in (numbers or {}).items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=type(default), default=default, help=f"{meaning} (default: %(default)s)")
    options = parser.parse_args()
    if needs_data:
        _check_data(options.data, parser)
    return options


def _check_data(folder: Path | None, parser: argparse.ArgumentParser) -> None:
    if folder is None:
        parser.error(f"no data: --data DIR or the environment variable {DATA} must name their folder")
    if not folder.is_dir():
        parser.error(f"{folder}: no such folder; --data or {DATA} must name the folder of the data")


def note(text: str) -> None:
    """Progress, beside the result."""
    print(text, file=sys.stderr, flush=True)


def interleaved(
    rounds: int, clock: Callable[[], float] = time.perf_counter, **works: Callable[[], object]
) -> dict[str, list[float]]:
    """Seconds of each work over several rounds, taken in turn so that a noisy moment hits all of them alike."""
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()  # once for caches and byte code
    for _ in range(rounds):
        for name, work in works.items():
            start = clock()
            work()
            seconds[name].append(clock() - start)
    return seconds


def once(work: Callable[[], object]) -> float:
    """Seconds of a work that takes too long to repeat."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Median of the ratios of the same rounds."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def report(results: dict[str, object], rows: Sequence[Sequence[object]], as_json: bool) -> None:
    """The object for programs, or the rows for people, their first row being the heads."""
    if as_json:
        print(json.dumps(results))
        return
    texts = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(texts[0]))]
    for row in texts:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def feature_tables(files: list[Path], recipe: "Recipe") -> "list[np.ndarray]":
    """The features of each recording, extracted by two processes or read from the cache."""
    from audioclass.engine.features import extract_many
    from audioclass.engine.runs import make_run
    from audioclass.run import executor_for

    with extract_many(files, recipe, make_run(executor=executor_for(2))) as extraction:
        tables = {extracted.path: extracted.cached.load(recipe).X for extracted in extraction}
    return [tables[file] for file in files]
