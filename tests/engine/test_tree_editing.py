"""A model's tree, edited: what is unchanged stays to the bit, what is touched is trained on the remembered rows."""

from dataclasses import replace

import numpy as np
import pytest
import soundfile
from runs import config, run
from trained import RATE, sound, train_small, write_corpus, write_recipe

from audioclass.classifier.model import Model
from audioclass.classifier.saving import save_model
from audioclass.classifier.step_contest import recombined
from audioclass.engine.models import load_model
from audioclass.engine.training import train
from audioclass.engine.tree_editing import compare_trees, fitting_machines, tree_of_model
from audioclass.engine.updating import update
from audioclass.errors import UsageError
from audioclass.kernels.gaussian import Gaussian
from audioclass.strategies.posterior_calibration import (
    PosteriorCalibration,
    fit_posterior_calibration,
    fit_temperature_alone,
)
from audioclass.training.examples import Examples
from audioclass.training.inner_folds import cross_folds
from audioclass.trees.editing import add, make_group, merge_group, move, rename_group, set_machines
from audioclass.trees.reading import read_toml


def write_more(folder):
    """Two labels beside the small ones."""
    time = np.arange(RATE) / RATE
    for label, rate, glide in (("chirp", 200, 1200), ("hum", 60, 0)):
        (folder / label).mkdir(parents=True)
        for i in range(6):
            tone = 0.3 * np.sin(2 * np.pi * (rate * (1 + i / 10) + glide * time) * time)
            soundfile.write(folder / label / f"{label}-{i}.wav", tone + 0.05 * sound("noise", i), RATE)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a corpus of five labels, its recipe and a model of it."""
    folder = tmp_path_factory.mktemp("five")
    write_more(write_corpus(folder / "corpus"))
    write_recipe(folder)
    save_model(train_small(folder).model, folder / "five.audioclass")
    return folder


@pytest.fixture(scope="module")
def model(place):
    return load_model(place / "five.audioclass")


@pytest.fixture
def retrain(place):
    def call(tree, corpus=None, **options):
        return update(place / "five.audioclass", corpus, tree=tree, run=run(place / "cache"), **options).model

    return call


@pytest.fixture(scope="module")
def X(model):
    return np.random.default_rng(0).standard_normal((50, model.preprocessing.n_features)) + model.golden.X.mean(axis=0)


def machines(model):
    """The coefficients and intercept of every machine, by its sides."""
    bank, labels = model.classifier.machines, model.labels
    found = {}
    for part in bank.parts:
        for column, which in enumerate(part.machines):
            dichotomy = model.classifier.plan.dichotomies[which]
            name = frozenset(labels[k] for k in min(dichotomy.positive, dichotomy.negative, key=len))
            found[name] = (part.coefficients[:, column].tobytes(), part.intercepts[column].tobytes())
    return found


def test_an_unedited_tree_is_the_model_to_the_bit(model, retrain, X):
    tree = read_toml(tree_of_model(model).to_toml())
    changes = compare_trees(model, tree)
    assert (changes.touched, changes.is_same, changes.plan) == ((), True, model.classifier.plan)
    assert changes.describe() == "none of 5 machines must be trained again"
    again = retrain(tree)
    np.testing.assert_array_equal(again.posteriors_of(X), model.posteriors_of(X))
    assert again.about == model.about
    assert again.taxonomy == model.taxonomy


@pytest.mark.parametrize(
    ("calibration", "fit"),
    [
        (PosteriorCalibration(0.8), fit_temperature_alone),
        (PosteriorCalibration(0.8, 0.01, 0.0, 1.1, 0.2), fit_posterior_calibration),
    ],
)
def test_figures_of_an_untouched_model_are_of_its_own_kind_of_last_step(place, model, tmp_path, calibration, fit):
    classifier = replace(model.classifier, posterior_calibration=calibration)
    about = {**model.about, "choices": {**model.about["choices"], "second_stage": "none"}}
    parts = (model.taxonomy, about, model.memory, model.inverse_temperature, None, model.recordings)
    other = Model.of("other", model.recipe, model.preprocessing, classifier, *parts)
    save_model(other, tmp_path / "m.audioclass")
    updated = update(tmp_path / "m.audioclass", tree=tree_of_model(model), run=run(place / "cache"))
    memory, scores = model.memory, model.memory.held_out.astype(np.float64)
    examples = Examples.of(scores, memory.y, memory.weights, memory.groups)
    for fold in cross_folds(scores, examples):  # the model asked for no others
        inside = fold.inside
        without = recombined(classifier, scores[inside], memory.y[inside], memory.weights[inside])
        step = fit(without.strategy_posteriors(scores[inside]), memory.y[inside], memory.weights[inside])
        expected = step.apply(without.strategy_posteriors(scores[~inside]))
        np.testing.assert_allclose(updated.training.held_out[~inside], expected, rtol=1e-6)


def test_a_new_group_is_trained_and_nothing_else(model, retrain, X):
    tree = make_group(tree_of_model(model), "loud", ["clicks", "noise"])
    changes = compare_trees(model, tree)
    assert changes.describe() == "1 of 6 machines must be trained again: {clicks, noise}"
    new = retrain(tree)
    old, now = machines(model), machines(new)
    assert set(now) - set(old) == {frozenset({"clicks", "noise"})}
    assert all(now[name] == old[name] for name in old)
    np.testing.assert_allclose(new.posteriors_of(X).sum(axis=1), 1, atol=1e-12)
    assert new.taxonomy.path("noise") == ("loud", "noise")
    assert new.about["updates"][-1]["tree"] == "edited"
    assert new.about["corpus"] == model.about["corpus"]
    assert compare_trees(new, tree_of_model(new)).is_same


def test_only_a_machine_of_another_c_or_kernel_is_trained(model, retrain):
    tree = set_machines(tree_of_model(model), "hum", {"C": 3.0})
    assert len(compare_trees(model, tree).touched) == 1
    new = retrain(tree)
    assert {tuple(one["positive"]): one["C"] for one in new.about["machines"]}[
        ("chirp", "clicks", "noise", "tone")
    ] == 3.0
    old, now = machines(model), machines(new)
    assert {name for name in old if old[name] != now[name]} == {frozenset({"hum"})}
    kernel = {"name": "gaussian", "sigma": 2.0}
    other = retrain(read_toml(set_machines(tree, "tone", {"kernel": kernel}).to_toml()))
    assert Gaussian(sigma=2.0) in other.classifier.kernels


def test_a_name_changes_the_taxonomy_and_no_machine(model, retrain, X):
    tree = make_group(tree_of_model(model), "group 7", ["clicks", "noise"])
    unnamed = retrain(tree)
    assert unnamed.taxonomy == model.taxonomy
    renamed = rename_group(tree, "group 7", "loud")
    assert compare_trees(unnamed, renamed).is_same
    np.testing.assert_array_equal(retrain(renamed).posteriors_of(X), unnamed.posteriors_of(X))


def test_machines_of_a_merged_group_are_left_out(model, retrain, place, tmp_path):
    grouped = retrain(make_group(tree_of_model(model), "loud", ["clicks", "noise"]), name="grouped")
    merged = fitting_machines(grouped, merge_group(tree_of_model(grouped), "loud"))
    assert len(merged.machines) == 5
    save_model(grouped, tmp_path / "grouped.audioclass")
    new = update(tmp_path / "grouped.audioclass", tree=merged, run=run(place / "cache")).model
    assert machines(new) == machines(model)


def test_a_label_in_two_groups(model, retrain, X, tmp_path):
    tree = make_group(make_group(tree_of_model(model), "loud", ["clicks", "noise"]), "pitched", ["hum", "tone"])
    new = retrain(add(tree, "noise", "pitched"))
    np.testing.assert_allclose(new.posteriors_of(X).sum(axis=1), 1, atol=1e-12)
    assert new.taxonomy.repeated == ("noise",)
    save_model(new, tmp_path / "m.audioclass")
    read = load_model(tmp_path / "m.audioclass")
    assert read.taxonomy == new.taxonomy
    np.testing.assert_array_equal(read.posteriors_of(X), new.posteriors_of(X))


def test_a_corpus_is_added_and_the_tree_edited_at_once(model, retrain, tmp_path):
    more = write_corpus(tmp_path / "more", 2, first=6)
    tree = make_group(tree_of_model(model), "loud", ["clicks", "noise"])
    new = retrain(tree, more)
    assert new.classifier.n_support > model.classifier.n_support
    assert new.taxonomy.path("noise") == ("loud", "noise")


def test_a_corpus_is_trained_with_exactly_a_tree(model, place):
    tree = move(make_group(tree_of_model(model), "loud", ["clicks", "noise"]), "hum", "loud")
    tree = make_group(tree, "group 9", ["chirp", "tone"])
    setup = config(recipe=str(place / "small.toml"), criterion="fixed")
    new = train(place / "corpus", config=setup, tree=tree, run=run(place / "cache")).model
    groups = {node.labels for node in tree_of_model(new).tree.walk() if node.children}
    assert groups == {node.labels for node in tree.tree.walk() if node.children}
    assert [group.name for group in new.taxonomy.groups] == ["", "loud"]


def test_wrong_trees_are_refused(model, place, retrain, small, tmp_path):
    tree = tree_of_model(model)
    with pytest.raises(UsageError, match="tree: labels a, b, c, d, e must be chirp, clicks"):
        retrain(replace(tree, labels=tuple("abcde")))
    with pytest.raises(UsageError, match="a tree has its groups: no taxonomy can be given with it"):
        retrain(tree, taxonomy=model.taxonomy)
    save_model(train_small(small, strategy="one_vs_one").model, tmp_path / "pairs.audioclass")
    with pytest.raises(UsageError, match="pairs|small: strategy 'one_vs_one' has no tree of machines"):
        tree_of_model(load_model(tmp_path / "pairs.audioclass"))
    setup = config(recipe=str(place / "small.toml"), strategy="one_vs_one")
    with pytest.raises(UsageError, match="strategy 'one_vs_one' has no tree, only hybrid_dendrogram has one"):
        train(place / "corpus", config=setup, tree=tree, run=run(place / "cache"))
