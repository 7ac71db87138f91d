"""A model written by an earlier version is read by this one, and says what it said."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from runs import run
from trained import write_corpus

from audioclass.classifier.saving import SCHEMA
from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.models import load_model
from audioclass.engine.updating import update

GOLDEN = Path(__file__).parents[1] / "golden"
ROUNDING = 1e-4  # of posteriors from features that are at hand: other libraries add up in another order
DRIFT = 1e-2  # from samples: resampling and transforms are theirs too


@pytest.fixture(scope="module", params=["small", "small-2"])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def model(name):
    return load_model(GOLDEN / f"{name}.audioclass")


@pytest.fixture(scope="module")
def kept(name):
    with np.load(GOLDEN / f"{name}.npz") as arrays:
        return dict(arrays)


def test_the_file_is_small():
    assert sum(path.stat().st_size for path in GOLDEN.glob("small*")) < 200_000


def test_every_schema_that_was_shipped_has_its_file():
    schemas = []
    for path in GOLDEN.glob("*.audioclass"):
        with zipfile.ZipFile(path) as archive:
            schemas.append(json.loads(archive.read("manifest.json"))["schema"])
    assert sorted(schemas) == list(range(1, SCHEMA + 1))


def test_features_give_the_posteriors_that_they_gave(model, kept):
    np.testing.assert_allclose(model.posteriors_of(kept["X"]), kept["P"], rtol=0, atol=ROUNDING)


def test_recordings_give_the_posteriors_that_they_gave(model, kept, tmp_path):
    judged = evaluate_model(model, write_corpus(tmp_path / "new", 2, first=8), run=run(tmp_path))
    np.testing.assert_allclose(judged.P, kept["P"], rtol=0, atol=DRIFT)
    assert np.array_equal(judged.dataset.y, kept["y"])


def test_what_it_says_of_itself_is_read(model):
    assert model.labels == ("clicks", "noise", "tone")
    assert model.about["report"]["grouped"]["recording"]["accuracy"] == 1
    assert model.memory is not None
    assert model.inverse_temperature > 0


def test_it_can_be_added_to(name, model, tmp_path):
    more = write_corpus(tmp_path / "more", 2, first=20)
    grown = update(GOLDEN / f"{name}.audioclass", more, run=run(tmp_path / "cache")).model
    assert grown.labels == model.labels
    assert grown.recordings is not None
    assert len(grown.memory.y) > len(model.memory.y)


def test_it_knows_what_it_was_trained_on(name, model, tmp_path):
    again = update(GOLDEN / f"{name}.audioclass", write_corpus(tmp_path / "same"), run=run(tmp_path / "cache"))
    assert "18 of 18 recordings are in the model already" in " ".join(again.warnings)
    assert len(again.model.memory.y) == len(model.memory.y)
