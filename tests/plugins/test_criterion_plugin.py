"""A criterion of twenty lines, installed with pip, chooses kernels in `audioclass lab` and in training."""

import numpy as np
from environments import REPOSITORY

PLUGIN = REPOSITORY / "plugins" / "audioclass-hsic"
TRAIN = """
import numpy as np
from audioclass import AudioclassClassifier
X = np.random.default_rng(0).normal(size=(30, 2))
model = AudioclassClassifier(criterion="hsic", strategy="one_vs_rest").fit(X, np.where(X[:, 0] > 0, "a", "b"))
print(model.score(X, np.where(X[:, 0] > 0, "a", "b")))
"""


def test_it_is_short():
    lines = (PLUGIN / "audioclass_hsic.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip() and not line.startswith('"""')]) <= 20


def test_it_is_used_by_name_once_installed(environment, tmp_path):
    environment.install(PLUGIN, PLUGIN.with_name("audioclass-lab"))
    X = np.random.default_rng(0).normal(size=(20, 2))
    lines = [f"{a},{b},{'x' if a > 0 else 'y'}" for a, b in X]
    (tmp_path / "t.csv").write_text("a,b,label\n" + "\n".join(lines) + "\n")
    swept = environment.audioclass(
        "lab",
        "sweep-sigma",
        str(tmp_path / "t.csv"),
        "--criterion",
        "hsic",
        "--points",
        "3",
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert swept.stdout.splitlines()[1].startswith("hsic\t")
    trained = environment.run("python", "-c", TRAIN, check=True)
    assert float(trained.stdout) > 0.9
