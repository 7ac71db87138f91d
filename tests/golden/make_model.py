"""Makes `small-SCHEMA.audioclass` and `.npz` beside it: `python tests/golden/make_model.py`, the package installed.

The model is of the small corpus of `tests/trained.py`; the table holds features of recordings that it never heard and
the posteriors that it gave them. Both stay as they are: every later version must read them. `small.audioclass` is of
schema 1.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from runs import run  # noqa: E402
from trained import train_small, write_corpus  # noqa: E402

from audioclass.classifier.saving import SCHEMA, save_model  # noqa: E402
from audioclass.engine.evaluating import evaluate_model  # noqa: E402

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        model = train_small(Path(folder)).model
        judged = evaluate_model(model, write_corpus(Path(folder) / "new", 2, first=8), run=run(Path(folder) / "cache"))
        save_model(model, HERE / f"small-{SCHEMA}.audioclass")
        np.savez_compressed(HERE / f"small-{SCHEMA}.npz", X=judged.dataset.X, P=judged.P, y=judged.dataset.y)
