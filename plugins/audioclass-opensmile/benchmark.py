"""What openSMILE's functionals cost: windows a second, beside the package called by itself.

A window is a second of noise at 16 kHz; the data folder is not read. Keys: egemaps, compare_2016 (windows a second),
and each with _over_package, the time of the embedding over that of the package's own table.
"""

import os

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import bench
import numpy as np
import opensmile
from audioclass_opensmile import Compare, EGemaps

RATE = 16000


def main() -> None:
    asked = bench.options(__doc__.splitlines()[0], needs_data=False)
    windows = 0.1 * np.random.default_rng(0).standard_normal((2 if asked.quick else 20, RATE)).astype(np.float32)
    results, rows = {}, [("set", "values", "windows a second", "time over the package's")]
    for embedding in (EGemaps(), Compare()):
        smile = opensmile.Smile(opensmile.FeatureSet[embedding.feature_set], opensmile.FeatureLevel.Functionals)
        bench.note(embedding.name)
        seconds = bench.interleaved(
            3,
            ours=lambda e=embedding: [e.embed(window, RATE) for window in windows],
            package=lambda s=smile: [s.process_signal(window, RATE) for window in windows],
        )
        rate, ratio = len(windows) / min(seconds["ours"]), bench.median_ratio(seconds["ours"], seconds["package"])
        results |= {embedding.name: rate, f"{embedding.name}_over_package": ratio}
        rows.append((embedding.name, len(embedding.columns()), rate, ratio))
    bench.report(results, rows, asked.json)


if __name__ == "__main__":
    main()
