"""The scripts of the corpus import one another by name, as they do when they are run."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "corpora" / "broadcast"))
