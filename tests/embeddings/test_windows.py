"""What holds for every embedding of ours: windows of any length, any rate, any number of threads, and librosa late."""

import os
import subprocess
import sys

import numpy as np
import pytest
from signals import noise, tone

from audioclass.embeddings.windows import frame_length_at, hop_length_at, mono_window

NAMES = ("cqt", "chroma_cqt", "tonnetz", "tempogram", "pcen", "pyin")
LISTING = """
import sys
import audioclass
from audioclass.extraction.recipe_tables import recipe_of_table
from audioclass.extraction.recipes import load_recipe as load
from audioclass.plugins.manager import plugin_manager
from audioclass.plugins.manager import plugin_manager
from typer.testing import CliRunner
from audioclass.cli import app

for command in (["--help"], ["plugins"], ["plugins", "--kind", "embedding"], ["recipes"], ["recipes", "music"]):
    assert CliRunner().invoke(app, command).exit_code == 0, command
manager = plugin_manager(installed=False)
for name in %r:
    manager.make("embedding", name).columns()
manager.make("descriptor", "hpss")
load("music", plugin_manager())
print(sorted({"librosa", "numba"} & set(sys.modules)))
table = {"sample_rate": 22050, "frame_length": 512, "hop_length": 256, "window": 1.0, "window_hop": 1.0}
part = {"group": "a", "descriptors": [{"name": "hpss"}], "poolings": [{"name": "statistics"}]}
recipe_of_table("mine", table | {"parts": [part]}, manager.make, manager.origin)
print(sorted({"librosa", "numba"} & set(sys.modules)))
"""
DIGESTS = """
import hashlib, numpy as np
from audioclass.plugins.manager import plugin_manager

samples = 0.1 * np.random.default_rng(0).standard_normal(30000).astype(np.float32)
for name in %r:
    embedding = plugin_manager(installed=False).make("embedding", name)
    print(name, hashlib.sha256(embedding.embed(samples, embedding.sample_rate).tobytes()).hexdigest())
"""


def run(code: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, env=os.environ | variables
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_librosa_is_imported_by_a_recipe_that_names_it_and_not_before():
    assert run(LISTING % (NAMES,)).splitlines() == ["[]", "['librosa', 'numba']"]


def test_the_number_of_threads_does_not_change_a_bit():
    one, three = (run(DIGESTS % (NAMES,), OPENBLAS_NUM_THREADS=n, OMP_NUM_THREADS=n) for n in ("1", "3"))
    assert one == three != ""


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize("length", [1, 300, 5000])
@pytest.mark.parametrize("name", NAMES)
def test_short_windows_at_any_rate_have_finite_values(manager, name, length, rate):
    octaves = {"octaves": 6} if name in ("cqt", "chroma_cqt", "tonnetz") else {}
    embedding = manager.make("embedding", name, {"sample_rate": rate, **octaves})
    for samples in (np.zeros(length, np.float32), noise(1.0, length), np.ones(length), 1e-9 * tone(99, 1.0, length)):
        vector = embedding.embed(samples, rate)
        assert vector.dtype == np.float32
        assert np.isfinite(vector).all()


def test_padding_of_a_short_window_is_not_pooled(manager):
    pcen = manager.make("embedding", "pcen")
    assert pcen.embed(np.ones(1), 22050)[64:] == pytest.approx(0)  # one frame has no deviation


@pytest.mark.parametrize(
    ("samples", "rate", "message"),
    [
        pytest.param(np.ones(10), 8000, "sample_rate=8000 must be 22050", id="rate"),
        pytest.param(np.ones((10, 2)), 22050, "must be mono", id="stereo"),
        pytest.param(np.ones(0), 22050, r"samples of shape \(0,\) must be mono, at least one", id="empty"),
        pytest.param(np.array([0.0, np.inf]), 22050, "samples must be finite numbers", id="infinite"),
    ],
)
def test_other_samples_are_refused(samples, rate, message):
    with pytest.raises(ValueError, match=message):
        mono_window(samples, rate, 22050)


@pytest.mark.parametrize(("rate", "length"), [(8000, 1024), (16000, 2048), (22050, 2048), (44100, 4096), (48000, 4096)])
def test_a_frame_is_about_93_milliseconds(rate, length):
    assert frame_length_at(rate) == length
    assert hop_length_at(rate) == length / 4
