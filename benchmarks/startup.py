"""How long `audioclass --help`, `audioclass plugins` and `audioclass classify` of the demo take.

All beside importing what any Typer program imports; the demo, a minute of audio, also beside importing what any
program that decodes and transforms audio imports.
Keys: help_over_baseline, plugins_over_baseline, classify_over_baseline, classify_over_numpy.
"""

import statistics
import subprocess
import sys
from pathlib import Path

import bench

DEMO = Path(__file__).parents[1] / "corpora" / "demo" / "demo.flac"
HEAVY = ("numpy", "scipy", "sklearn", "librosa")


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def heavy_imports(*arguments: str) -> list[str]:
    """Which of the heavy packages a command imports."""
    done = subprocess.run([sys.executable, "-X", "importtime", *arguments], check=True, capture_output=True, text=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    return sorted(imported & set(HEAVY))


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], needs_data=False)
    works = {
        "baseline": ("-c", "import typer, rich"),
        "help": ("-m", "audioclass", "--help"),
        "plugins": ("-m", "audioclass", "plugins"),
        "classify": ("-m", "audioclass", "classify", str(DEMO)),
        "numpy": ("-c", "import typer, rich, numpy, scipy.fft, soundfile, soxr"),
    }
    bench.note("starting Python again and again")
    seconds = bench.interleaved(
        5 if asked.quick else 25, **{name: (lambda a=arguments: run(*a)) for name, arguments in works.items()}
    )
    ratios = {name: bench.median_ratio(seconds[name], seconds["baseline"]) for name in works}
    results = {
        "help_over_baseline": ratios["help"],
        "plugins_over_baseline": ratios["plugins"],
        "classify_over_baseline": ratios["classify"],
        "classify_over_numpy": bench.median_ratio(seconds["classify"], seconds["numpy"]),
        "help_heavy_imports": heavy_imports(*works["help"]),
        "plugins_heavy_imports": heavy_imports(*works["plugins"]),
    }
    rows = [("command", "median seconds", "over `import typer, rich`")]
    rows += [(name, statistics.median(seconds[name]), ratios[name]) for name in works]
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
