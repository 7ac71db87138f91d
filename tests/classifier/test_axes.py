"""Models that compare examples along principal axes: as any other model, only smaller."""

import json
from dataclasses import replace

import numpy as np
import pytest
from archives import members_of, npy, sealed, zipped
from evenings import make_evening
from runs import run
from trained import train_small, write_corpus

from audioclass.classifier.saving import manifest_of, save_model
from audioclass.classifier.summary import Summary
from audioclass.engine.features import extract
from audioclass.engine.models import load_model, read_summary
from audioclass.engine.updating import update
from audioclass.errors import ModelError, UsageError
from audioclass.estimator import AudioclassClassifier

N_AXES = 5


@pytest.fixture(scope="module")
def along(small):
    """A model of the small corpus along five axes of its 28 features."""
    return train_small(small, axes=N_AXES)


@pytest.fixture(scope="module")
def along_file(along, tmp_path_factory):
    """Its file."""
    path = tmp_path_factory.mktemp("axes") / "along.audioclass"
    save_model(along.model, path)
    return path


def with_members(path, changed, target, **manifest):
    """The same file with other members and other entries of the manifest."""
    members = members_of(path) | changed
    members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | manifest).encode()
    target.write_bytes(zipped(sealed(members)))
    return target


def test_support_rows_have_as_many_numbers_as_axes(along):
    assert along.model.preprocessing.n_features == 28
    assert along.model.classifier.machines.X.shape[1] == N_AXES
    assert along.grouped.main.value("accuracy") > 0.8


def test_posteriors_are_the_same_after_a_file(along, along_file):
    back = load_model(along_file)
    assert np.array_equal(back.posteriors_of(along.dataset.X), along.model.posteriors_of(along.dataset.X))
    assert manifest_of(back) == manifest_of(along.model)


def test_a_model_says_along_how_many_axes_it_compares(along, along_file):
    told = "28 features along 5 axes"
    assert Summary.of(along.model).features_told == read_summary(along_file)[0].features_told == told
    without = replace(along.model.preprocessing, axes=None)
    assert Summary.of(replace(along.model, preprocessing=without)).features_told == "28 features"


@pytest.mark.parametrize("cut", [1, 7, 64, 70])
def test_a_row_has_the_same_bits_however_many_come_with_it(along, cut):
    X = np.concatenate([along.dataset.X] * 3)[:130]
    first, rest = along.model.posteriors_of(X[:cut]), along.model.posteriors_of(X[cut:], cut)
    assert np.concatenate([first, rest]).tobytes() == along.model.posteriors_of(X).tobytes()


def test_archives_find_what_is_alike(along_file, tmp_path):
    evening = make_evening(tmp_path, along_file)
    example = evening.recordings / "20190403_235955.wav"
    for exact in (False, True):
        found = evening.open().find(like=f"{example}@0-1.2", exact=exact, limit=3)
        assert found.result.files[0] == str(example)
        assert found.similarities[0] == pytest.approx(1, abs=1e-3)


def test_recordings_can_be_added(along_file, small, tmp_path):
    more = write_corpus(tmp_path / "more", 3, labels=("tone",), first=20)
    made = update(along_file, more, run=run(small / "cache"))
    assert made.model.preprocessing.n_prepared == N_AXES
    P = made.model.posteriors_of(made.dataset.X)
    assert made.model.labels[P.mean(axis=0).argmax()] == "tone"


def test_versions_are_laid_along_the_same_axes(small, tmp_path):
    model = train_small(small, axes=N_AXES, versions=(1.0, 1.1), judge_versions=False).model
    path = next(write_corpus(tmp_path, 1, labels=("noise",), first=30).rglob("*.wav"))
    features = extract(path, model.recipe)
    assert model.prepared(features.X).shape == (len(features.X), 2, N_AXES)
    assert model.labels[model.posteriors_of(features.X).mean(axis=0).argmax()] == "noise"


def test_the_estimator_has_axes_too():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 12)) @ rng.normal(size=(12, 40)) + 6 * y[:, None]
    fitted = AudioclassClassifier(axes=4).fit(X[::2], y[::2])
    assert fitted.preprocessing_.n_prepared == 4
    assert fitted.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        (np.zeros((27, N_AXES), np.float32), r"its axes have shape \(27, 5\), its recipe 28 features"),
        (np.zeros((28,), np.float32), r"its axes have shape \(28,\), its recipe 28 features"),
        (np.zeros((28, 0), np.float32), r"its axes have shape \(28, 0\), its recipe 28 features"),
        (np.zeros((28, 4), np.float32), "its bank has 5 numbers a row, its preprocessing 4"),
    ],
)
def test_axes_that_do_not_fit_are_refused(along_file, tmp_path, axes, message):
    path = with_members(along_file, {"preparation/axes.npy": npy(axes)}, tmp_path / "m.audioclass")
    with pytest.raises(ModelError, match=message):
        load_model(path)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [1e38, 0.0], ids=str)
def test_axes_of_any_size_are_refused_in_one_line(along_file, tmp_path, value):
    axes = npy(np.full((28, N_AXES), value, np.float32))
    path = with_members(along_file, {"preparation/axes.npy": axes}, tmp_path / "m.audioclass")
    with pytest.raises(ModelError, match="golden features differ"):
        load_model(path)


@pytest.mark.parametrize("axes", [28, 500])
def test_as_many_axes_as_features_are_refused(small, axes):
    with pytest.raises(UsageError, match=f"axes={axes} has no effect: there are 28 features"):
        train_small(small, axes=axes)


def test_what_short_recordings_are_worth_is_kept(along, tmp_path):
    save_model(replace(along.model, short_power=0.25), tmp_path / "m.audioclass")
    assert load_model(tmp_path / "m.audioclass").short_power == 0.25
    assert along.model.short_power is None
    assert "short_power" not in manifest_of(along.model)


@pytest.mark.parametrize("value", [-0.1, 2.5, "1", True, [1], {}], ids=str)
def test_no_other_power_is_read(along_file, tmp_path, value):
    path = with_members(along_file, {}, tmp_path / "m.audioclass", short_power=value)
    with pytest.raises(ModelError, match=r"short_power '.{1,40}' must be a number from 0 to 2"):
        load_model(path)
