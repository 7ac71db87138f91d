"""Poolings that learn: from training recordings alone, kept in the model, the same wherever a recording comes from."""

import json
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from archives import members_of, npy, sealed, zipped
from learnt import recipe
from runs import config, run, segmentation
from trained import RATE, mixture, sound, write_corpus

from audioclass.audio.blocks import read_blocks
from audioclass.classifier.saving import save_model
from audioclass.cli import run as run_command
from audioclass.data import Clip
from audioclass.engine.calibrating import calibrate
from audioclass.engine.classifying import classify
from audioclass.engine.evaluating import cross_validate, evaluate_model
from audioclass.engine.fitting import _choose, fit_recipe
from audioclass.engine.folded_corpus import prepare_folds
from audioclass.engine.models import load_model
from audioclass.engine.streaming import classify_stream
from audioclass.engine.training import train
from audioclass.engine.updating import update
from audioclass.errors import CorpusError, ModelError

UNFITTED = recipe()
CONFIG = config(recipe=UNFITTED, criterion="fixed", strategy="one_vs_rest")


def learnt_of(fitted):
    return [learnt.digest for part in fitted.parts for learnt in part.fitted]


def clips_of(folder):
    return [Clip(path, path.parent.name) for path in sorted(folder.rglob("*.wav"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("learnt")
    write_corpus(made / "corpus", n_each=4)
    return made


@pytest.fixture(scope="module")
def learned(folder):
    return train(folder / "corpus", config=CONFIG, name="learned", run=run(folder / "cache"))


@pytest.fixture(scope="module")
def model_file(learned, folder):
    save_model(learned.model, folder / "learned.audioclass")
    return folder / "learned.audioclass"


def test_a_recipe_that_learns_nothing_is_left_alone():
    fixed = UNFITTED.fixed
    assert fit_recipe(fixed, [], run()) is fixed


def test_the_same_is_learnt_by_any_number_of_processes_and_from_any_seed_something_else(folder):
    clips = clips_of(folder / "corpus")
    one, two, other = (learnt_of(fit_recipe(UNFITTED, clips, run(**each))) for each in ({}, {"jobs": 2}, {"seed": 1}))
    assert one == two != other


def test_held_out_recordings_change_nothing_that_is_learnt(folder, tmp_path):
    write_corpus(tmp_path, n_each=4)
    before = prepare_folds(tmp_path, CONFIG, run(), folds="2")
    held = before.folds == 0
    recipes = [before.fitted(UNFITTED, held, run())[0]]
    for place in np.unique(before.dataset.which[held]):
        soundfile.write(before.dataset.clips[place].file, sound("noise", 50 + place), RATE)
    after = prepare_folds(tmp_path, CONFIG, run(), folds="2")
    assert np.array_equal(after.folds, before.folds)
    recipes += [after.fitted(UNFITTED, mask, run())[0] for mask in (held, ~held)]
    recipes.append(before.fitted(recipes[0], held, run())[0])  # what was learnt before is forgotten
    first, second, other, again = (learnt_of(each) for each in recipes)
    assert first == second == again != other


def test_windows_of_clips_that_are_not_used_are_not_learnt_from(tmp_path):
    halves = {name: np.concatenate([sound("tone", 1), sound(name, 3)]) for name in ("noise", "clicks")}
    learnt = []
    for samples in halves.values():
        soundfile.write(tmp_path / "two.wav", samples, RATE)
        clips = [Clip(tmp_path / "two.wav", "a", 0.0, 0.7), Clip(tmp_path / "two.wav", "b", 1.3, 2.0)]
        learnt.append([learnt_of(fit_recipe(UNFITTED, clips, run(), used)) for used in ([0], [1])])
    assert learnt[0][0] == learnt[1][0]
    assert learnt[0][1] != learnt[1][1]


def test_recordings_that_cannot_be_read_are_passed_over(folder, tmp_path):
    clips = clips_of(folder / "corpus")
    (tmp_path / "bad.wav").write_bytes(b"no recording")
    assert fit_recipe(UNFITTED, [*clips, Clip(tmp_path / "bad.wav", "tone")], run()).is_fitted
    with pytest.raises(CorpusError, match="recipe small: no recording could be read to learn from"):
        fit_recipe(UNFITTED, [Clip(tmp_path / "bad.wav", "tone")], run())


def test_labels_are_learnt_from_in_turn(folder, monkeypatch):
    monkeypatch.setattr("audioclass.engine.fitting.MOST_WINDOWS", 3)
    told = []
    clips = [each for each in clips_of(folder / "corpus") if each.label != "tone"]
    fit_recipe(UNFITTED, clips, run(progress=lambda *at: told.append(at)))
    assert told[-1] == ("fitting", 3, 3)
    assert [item.clips[0].label for item in _choose(clips, range(len(clips)), 4, 0)] == ["clicks", "noise"] * 2
    assert [item.n_windows for item in _choose(clips, [0, 5], 5, 0)] == [3, 2]


def test_a_model_keeps_what_was_learnt_in_its_file(learned, model_file):
    back = load_model(model_file)
    assert back.recipe == learned.model.recipe
    assert back.recipe.is_fitted
    X = learned.dataset.X
    assert np.array_equal(back.posteriors_of(X), learned.model.posteriors_of(X))
    assert back.drift().is_rounding
    save_model(back, model_file.with_name("again.audioclass"))
    assert model_file.with_name("again.audioclass").read_bytes() == model_file.read_bytes()


def test_file_blocks_and_stream_give_the_same_bits(learned, tmp_path):
    soundfile.write(tmp_path / "m.wav", mixture(seconds=1.5), RATE, subtype="FLOAT")
    whole = classify(tmp_path / "m.wav", learned.model, smooth="none", windows=True)
    for size in (500, 4096):
        blocks = read_blocks(tmp_path / "m.wav", RATE, block_length=size)
        segments = list(classify_stream(blocks, learned.model, segmentation("none", windows=True)))
        assert np.array_equal([each.posteriors for each in segments], whole.P)
    assert len(whole.P) > 10


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("recipe/1/0/atoms.npy", None, "what was learnt is centre, whitening, must be whitening, centre, atoms"),
        ("recipe/1/0/atoms.npy", npy(np.ones((6, 7), np.float32)), r"atoms has shape \(6, 7\), must have \(6, 5\)"),
        ("recipe/1/0/atoms.npy", npy(np.full((6, 5), np.nan, np.float32)), "member 'recipe/1/0/atoms.npy' holds NaN"),
        ("recipe/1/0/atoms.npy", npy(np.ones((6, 5), np.float32)), "golden features differ"),
        ("recipe/1/0/more.npy", npy(np.ones(3)), "what was learnt is atoms, centre, more, whitening"),
        ("recipe/0/0/atoms.npy", npy(np.ones(3)), "1 members of 'recipe/' are of no pooling that learns"),
    ],
    ids=["missing", "shape", "NaN", "values", "unknown", "elsewhere"],
)
def test_files_that_somebody_changed_are_one_line(model_file, tmp_path, name, content, message):
    members = members_of(model_file) | {name: content}
    sealed_again = sealed({key: value for key, value in members.items() if value is not None})
    (tmp_path / "m.audioclass").write_bytes(zipped(sealed_again))
    with pytest.raises(ModelError, match=message) as caught:
        load_model(tmp_path / "m.audioclass")
    assert "\n" not in str(caught.value)


def test_a_model_without_what_it_learnt_is_refused(model_file, tmp_path):
    members = {key: value for key, value in members_of(model_file).items() if not key.startswith("recipe/")}
    (tmp_path / "m.audioclass").write_bytes(zipped(sealed(members)))
    with pytest.raises(ModelError, match="what it learnt is dict, must be named arrays, at least one"):
        load_model(tmp_path / "m.audioclass")


def test_every_fold_is_evaluated_by_what_the_others_taught(folder):
    evaluated = cross_validate(folder / "corpus", config=CONFIG, folds="2", run=run(folder / "cache"))
    assert evaluated.P.shape == (len(evaluated.dataset.y), 3)
    without_cache = cross_validate(folder / "corpus", config=CONFIG, folds="2", run=run())
    assert np.array_equal(evaluated.P, without_cache.P)
    assert (evaluated.P.argmax(axis=1) == evaluated.dataset.y).mean() > 0.8


def test_a_recipe_of_learning_parts_alone_can_be_evaluated(folder):
    alone = replace(CONFIG, recipe=UNFITTED.learnt)
    evaluated = cross_validate(folder / "corpus", config=alone, folds="2", run=run(folder / "cache"))
    assert (evaluated.P.argmax(axis=1) == evaluated.dataset.y).mean() > 0.8


def test_versions_are_described_by_what_was_learnt_at_their_own_speed(folder):
    several = config(recipe=UNFITTED, criterion="fixed", strategy="one_vs_rest", versions=[1.0, 1.0625])
    prepared = prepare_folds(folder / "corpus", several, run(folder / "cache"), folds="2")
    fitted, dataset = prepared.fitted(several.recipe, prepared.folds == 0, run(folder / "cache"))
    alone, first = prepare_folds(folder / "corpus", CONFIG, run(folder / "cache"), folds="2").fitted(
        UNFITTED, prepared.folds == 0, run(folder / "cache")
    )
    assert learnt_of(fitted) == learnt_of(alone)
    assert np.array_equal(dataset.X[:, : fitted.n_features], first.X)
    assert dataset.X.shape[1] == len(fitted.columns) == 2 * first.X.shape[1]
    learnt = fitted.is_learnt.reshape(2, -1)[1]
    assert not np.array_equal(dataset.X[:, fitted.n_features :][:, learnt], first.X[:, learnt])
    told = []
    evaluated = prepared.evaluate(several, run(folder / "cache", progress=lambda *at: told.append(at[0])), None)
    assert {stage for stage in told if "fitting" in stage} == {"fold 2 of 2, fitting"}  # fold 1 has learnt before
    assert (evaluated.P.argmax(axis=1) == evaluated.dataset.y).mean() > 0.8


def test_what_is_added_to_a_model_changes_nothing_that_it_learnt(model_file, folder, tmp_path):
    write_corpus(tmp_path / "more", n_each=2, first=7)
    updated = update(model_file, tmp_path / "more", run=run(folder / "cache"))
    assert updated.model.recipe == load_model(model_file).recipe
    calibrated = calibrate(model_file, tmp_path / "more", run=run(folder / "cache"))
    assert calibrated.model.recipe == load_model(model_file).recipe
    assert evaluate_model(calibrated.model, tmp_path / "more", run=run(folder / "cache")).P.shape[1] == 3


def test_groups_have_their_shares_of_the_distance(learned):
    model = learned.model
    X, groups = model.preprocessing.apply(learned.dataset.X), np.array(model.recipe.groups)
    shares = {name: 2 * X[:, groups == name].var(axis=0).sum() for name in np.unique(groups)}
    assert shares == pytest.approx({"shape": 0.25, "patches": 0.5, "mel": 0.25}, rel=1e-3)


def test_extract_takes_what_a_model_has_learnt(model_file, folder, tmp_path, capsys):
    path = tmp_path / "small.toml"
    path.write_text("\n".join(_toml(UNFITTED.plain())), encoding="utf-8")
    recording, table = str(folder / "corpus" / "tone" / "tone-0.wav"), str(tmp_path / "t.npz")
    assert run_command(["extract", recording, "--recipe", str(path)]) == 2
    assert "pooling patches learns from training recordings" in capsys.readouterr().err
    assert run_command(["extract", recording, "--model", str(model_file), "--recipe", str(path)]) == 2
    assert "give --recipe or --model, not both" in capsys.readouterr().err
    assert run_command(["extract", recording, "--model", str(model_file), "-o", table, "--no-cache"]) == 0
    assert np.load(table)["X"].shape[1] == len(UNFITTED.columns)


def _toml(table):
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value):
    if isinstance(value, dict):
        return "{" + ", ".join(_toml(value)) + "}"
    return "[" + ", ".join(map(_value, value)) + "]" if isinstance(value, list) else json.dumps(value)
